"""Tree search over poke-engine, which runs in a process of its own."""
