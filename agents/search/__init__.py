"""Tree search over poke-engine: `search:mcts`."""

from __future__ import annotations

from agents.search.mcts import MonteCarloTreeSearch

#: The players of this family by name.
PLAYERS = {"mcts": MonteCarloTreeSearch}
