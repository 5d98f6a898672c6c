"""Training of policies: datasets from battles, learning rules, the trainer, curricula and ablations."""
