"""Training runs side by side on a Ray cluster: cells of ablations, members of populations (docs/scale.md)."""
