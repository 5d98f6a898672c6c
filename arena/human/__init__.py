"""Battles of people: replays read, each player's point of view reconstructed, teams taken from them."""
