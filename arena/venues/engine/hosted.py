"""The generation-9 engine as a venue: fixtures are played as in the simulator, by any agent, on the engine's own host."""

from __future__ import annotations

import asyncio

from agents.engine.gen9.library import build
from agents.engine.gen9.teams import side_words
from arena.battles.guard import StepGuard
from arena.fixture import SEATS, Fixture
from arena.record import BattleRecord
from arena.venue import NotOnEngine, Rules, VenuesDiffer
from arena.venues.engine.engine_host import EngineHost
from arena.venues.simulator.host import Host
from arena.venues.simulator.replaying import (
    differing_line,
    record_difference,
    replay_input_log,
    without_requests,
)
from arena.venues.simulator.simulator import Simulator
from teamsets.errors import BadInput


class HostedEngine(Simulator):
    """showdown: replays one battle in `verify_every` (0: none), chosen by the fixture's key."""

    venue = "engine"

    def __init__(self, showdown: Host, guard: StepGuard, rules: Rules, *, verify_every: int = 0) -> None:
        super().__init__(EngineHost(), guard, rules)
        self._showdown, self._verify_every = showdown, verify_every

    @property
    def gone(self) -> bool:
        return self._showdown.dead.done()

    def end(self) -> None:
        self._showdown.kill()

    async def play(self, fixture: Fixture, serial: int) -> BattleRecord:
        """Play one fixture to its end.

        Raises NotOnEngine for teams that must be played in the simulator, VenuesDiffer if Showdown does not play it the
        same way, and HostDied. serial: see `StepGuard.call`.
        """
        try:
            for seat, team in enumerate(fixture.teams):
                if team.packed is None:
                    raise NotOnEngine(f"{fixture.format} generates its teams")
                side_words(team.packed, seat)
        except BadInput as error:
            raise NotOnEngine(str(error)) from None
        record = await super().play(fixture, serial)
        if self._verify_every and int(fixture.key, 16) % self._verify_every == 0:
            await self._verify(fixture, record)
        return record

    async def _verify(self, fixture: Fixture, record: BattleRecord) -> None:
        replay = await replay_input_log(self._showdown, record.input_log)
        found = record_difference(replay, record)
        for role, log, replayed in zip(SEATS, record.logs, replay.lines, strict=True):
            place = differing_line(without_requests(log), replayed)
            if found is None and place is not None:
                found = f"{role}'s log, line {place + 1} without its requests"
        if found is not None:
            raise VenuesDiffer(f"{fixture.format}, {' and '.join(fixture.agents)}, seed {fixture.seed}: {found}")


async def ready_hosted_engine() -> None:
    """Compile the engine where the cache lacks it, in a thread. Raises CompilerMissing."""
    await asyncio.to_thread(build)
