"""Metamon's parsed trajectories as training data: read as the log of a seat, so that they are seen as any battle is."""
