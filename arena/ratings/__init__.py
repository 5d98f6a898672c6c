"""Statistics: ratings with intervals, tests, cycles. Pure functions of arrays; no store, no files."""
