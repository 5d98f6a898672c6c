"""A stand-in: its presence says that there are pretrained models."""
