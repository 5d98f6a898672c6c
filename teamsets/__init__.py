"""What is brought: named sets of teams per format, loading, validating, sampling."""
