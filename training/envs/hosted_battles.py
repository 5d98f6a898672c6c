"""Battles on the generation-9 engine, whose seats follow its lines as they follow Showdown's."""

from __future__ import annotations

from agents.engine.gen9.engine import CORES
from agents.engine.gen9.library import announce, build
from arena.venues.engine.engine_host import EngineHost
from arena.venues.simulator.simulator import BattleHost
from training.envs.showdown_battles import ShowdownBattles


class HostedBattles(ShowdownBattles):
    """See `Battles` (venue.py). cores: threads of the engine; None: all. Raises CompilerMissing, and
    MissingTool where the cache folder cannot be written.

    A team that the engine does not play is refused by name: BadInput.
    """

    def __init__(self, size: int, format_id: str, cores: int | None = None) -> None:
        build(say=announce)
        super().__init__(size, format_id)
        self._threads = cores or CORES

    async def _launch(self) -> BattleHost:
        return EngineHost(self._threads)
