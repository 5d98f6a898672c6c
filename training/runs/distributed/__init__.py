"""Training in several processes (ranks): starting them, watching them, and saying which one failed first."""
