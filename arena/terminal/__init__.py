"""The terminal, for the commands of `arena` and `train`."""
