"""A Showdown server of our own, and the venue on it."""
