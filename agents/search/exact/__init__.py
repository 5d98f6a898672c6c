"""`search:exact`: tree search on the engine of generation 1 (agents/engine)."""
