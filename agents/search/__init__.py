"""Tree search: `search:mcts` on poke-engine, `search:exact` and `search:omniscient` on our engines."""

from __future__ import annotations

from agents.search.exact.agent import ExactSearch
from agents.search.exact.omniscient import OmniscientSearch
from agents.search.poke_engine.mcts import MonteCarloTreeSearch

#: Name -> agent class, for the registry.
PLAYERS = {"mcts": MonteCarloTreeSearch, "exact": ExactSearch, "omniscient": OmniscientSearch}
