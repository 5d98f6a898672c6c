"""Tree search: `search:mcts` on poke-engine, `search:exact` on the engine of generation 1."""

from __future__ import annotations

from agents.search.exact.agent import ExactSearch
from agents.search.mcts import MonteCarloTreeSearch

#: Name -> agent class, for the registry.
PLAYERS = {"mcts": MonteCarloTreeSearch, "exact": ExactSearch}
