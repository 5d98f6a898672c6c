"""Human battles: reads replays, reconstructs each player's point of view, extracts teams."""
