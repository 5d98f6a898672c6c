"""A battle in play, at any venue: seats with their clocks, limits on every step of an agent's code, faults, the record."""
