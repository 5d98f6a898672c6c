"""Which battles are played, in which order. Pure: from plans and results to fixtures; no store, no processes."""
