"""The generation-9 engine as a venue: fixtures are played as in the simulator, by any agent, on the engine's own host."""

from __future__ import annotations

import asyncio

from agents.engine.gen9.library import build
from agents.engine.gen9.teams import side_words
from arena.battles.guard import StepGuard
from arena.fixture import Fixture
from arena.record import BattleRecord
from arena.venue import NotOnEngine, Rules, VenuesDiffer
from arena.venues.engine.engine_host import EngineHost
from arena.venues.simulator.host import Host
from arena.venues.simulator.replaying import difference, replay_input_log, without_requests
from arena.venues.simulator.simulator import Simulator
from teamsets.errors import BadInput


class HostedEngine(Simulator):
    """showdown: replays one battle in `verify_every` (0: none), chosen by the fixture's key."""

    venue = "engine"

    def __init__(self, showdown: Host, guard: StepGuard, rules: Rules, *, verify_every: int = 0) -> None:
        super().__init__(EngineHost(), guard, rules)
        self._showdown, self._verify_every = showdown, verify_every

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
        found = difference(
            replay,
            winner=record.winner,
            turns=record.turns,
            input_log=record.input_log,
            decisions=[[row[2:5] for row in record.decisions if row[0] == seat] for seat in range(2)],
        )
        found = found or next(
            (
                f"p{seat + 1}'s line {number}: {ours}; on Showdown {theirs}"
                for seat in range(2)
                for number, (ours, theirs) in enumerate(
                    zip(without_requests(record.logs[seat]), replay.lines[seat], strict=False), 1
                )
                if ours != theirs
            ),
            None,
        )
        if found is not None:
            raise VenuesDiffer(f"{fixture.format}, {' and '.join(fixture.agents)}, seed {fixture.seed}: {found}")


async def ready_hosted_engine() -> None:
    """Compile the engine where the cache lacks it, in a thread. Raises CompilerMissing."""
    await asyncio.to_thread(build)
