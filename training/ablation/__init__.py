"""Ablations: what does a change of a setting do? Every variant with several seeds, all on the same held-out battles."""
