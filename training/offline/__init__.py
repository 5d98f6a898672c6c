"""Learning from stored decisions: the trainer, its losses, and held-out data."""
