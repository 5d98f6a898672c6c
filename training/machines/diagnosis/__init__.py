"""`train doctor`: what would stop a run on several GPUs, and what to do about it."""
