"""How a player gets better: data, algorithms, trainer, curriculum. Empty until the arena's battles are there to learn from."""
