"""Tree search with poke-engine: `search:mcts`."""

from __future__ import annotations

from agents.search.mcts import MonteCarloTreeSearch

#: Name -> agent class, for the registry.
PLAYERS = {"mcts": MonteCarloTreeSearch}
