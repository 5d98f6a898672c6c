"""What runs in metamon's own environment, started by start.py. Neither it nor the arena imports anything of the other."""
