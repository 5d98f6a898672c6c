"""A static site of rankings from one or several databases."""
