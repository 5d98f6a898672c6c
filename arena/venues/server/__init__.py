"""A local Showdown server, and the venue that plays on it."""
