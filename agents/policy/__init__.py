"""Learned players: observations, the action space, the network, checkpoints and the inference server."""
