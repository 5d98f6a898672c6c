"""Ablations: the effect of a changed setting. Each variant is trained with several seeds and plays the same battles."""
