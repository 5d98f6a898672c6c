"""Battles of the arena's agents on external servers."""
