"""A run: its settings, its agents and teams, its battles from the first to the last, and the same from Python."""
