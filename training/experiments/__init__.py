"""Experiments made of many training runs: curricula, ablations, populations."""
