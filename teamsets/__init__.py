"""Team sets: named sets of teams per format; loading, validating and generating teams."""
