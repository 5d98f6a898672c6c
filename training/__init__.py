"""How a player gets better: data, algorithms, trainer, curriculum. Empty so far."""
