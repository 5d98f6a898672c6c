"""Which battles are played, and in which order. Pure: plans and results in, fixtures out; no store, no processes."""
