"""What every training run has: a folder, settings, state, metrics, curves, evaluation battles, processes, an archive."""
