"""From battles (stored ones, people's replays) to trajectories, to shards on disk, to batches."""
