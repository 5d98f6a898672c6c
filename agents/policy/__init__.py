"""Players that learn: how a model sees a battle, what it may do, and the network."""
