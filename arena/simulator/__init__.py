"""Showdown in this process: the host, seats, and the venue on both."""
