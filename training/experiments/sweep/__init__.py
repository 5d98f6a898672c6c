"""A sweep: settings of a training run are searched by Optuna, by what the trained checkpoints score in paired battles."""
