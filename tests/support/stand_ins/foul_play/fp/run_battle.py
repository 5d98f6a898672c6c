"""What a checkout of foul-play is known by."""
