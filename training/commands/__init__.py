"""The commands of `train`, a module each."""
