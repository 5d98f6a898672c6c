"""How people see what the store holds, and a run while it goes on."""
