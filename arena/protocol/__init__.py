"""A user of a Showdown server: connection, sign-in, and a battle room translated to the simulator's protocol."""
