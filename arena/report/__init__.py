"""Reports on stored battles, and the live display of a run."""
