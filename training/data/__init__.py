"""Datasets: stored battles and human replays -> trajectories -> shards on disk -> batches."""
