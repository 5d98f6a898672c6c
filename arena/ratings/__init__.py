"""What results mean: ratings with intervals, tests, cycles. Pure: arrays in, numbers out; no store, no files."""
