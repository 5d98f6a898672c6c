"""A stand-in for metamon's package."""
