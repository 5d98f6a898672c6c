"""Keeps many battles in the air: workers, time limits, faults, resume. Knows no statistics."""
