"""What a network sees of a battle, from the protocol and from the engine, and the actions that it may answer with."""
