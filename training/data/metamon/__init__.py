"""Metamon's parsed trajectories as training data: converted to a seat's log, and then observed like any other battle."""
