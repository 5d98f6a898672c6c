"""`arena dashboard`: one page that shows runs while they are played and trained, served on the loopback, read-only."""
