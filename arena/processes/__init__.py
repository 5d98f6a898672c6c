"""Processes that the arena starts: their output, their logs, and that none outlives the one that started it."""
