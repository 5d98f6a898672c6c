"""Runs many battles concurrently: workers, time limits, faults, resume. Contains no statistics."""
