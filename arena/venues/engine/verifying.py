"""`arena verify`: stored battles of the engines' formats, replayed on the other of the two simulators, and compared."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agents.engine import ALL_FORMATS, HOSTED_FORMATS
from arena.fixture import SEATS
from arena.venue import NotOnEngine
from arena.venues.engine.availability import check_engine
from arena.venues.engine.stored import StoredResult, battles_to_check, stored_results
from arena.venues.simulator.host import Host, drawn_team
from arena.venues.simulator.replaying import BattleReplay, ReplayHost, difference, replay_input_log, run_in_new_loop
from teamsets.errors import ArenaError

#: Battles that are loaded and replayed together.
_AT_ONCE = 200


@dataclass
class VerificationResult:
    """The result. checked: battles by where they were replayed; unchecked: battles by reason; differences: descriptions."""

    checked: Counter[str] = field(default_factory=Counter)
    unchecked: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)


def verify(
    db: Path,
    run_id: str | None = None,
    sample: int | None = None,
    show: Callable[[VerificationResult], None] = lambda _: None,
) -> VerificationResult:
    """Replay stored battles of the engine's formats: those of the engine on Showdown, all others on the engine.

    run_id: only that run's. sample: only so many. show: called after each part. Raises BadInput without what it needs.
    """
    result = VerificationResult()
    chosen = []
    for battle_id, format_id in battles_to_check(db, run_id, sample):
        if format_id in ALL_FORMATS:
            chosen.append(battle_id)
        else:
            result.unchecked[f"the engine does not play {format_id}"] += 1
    for start in range(0, len(chosen), _AT_ONCE):
        run_in_new_loop(_check(stored_results(db, chosen[start : start + _AT_ONCE]), result))
        show(result)
    return result


async def _check(battles: list[StoredResult], result: VerificationResult) -> None:
    with_log = [battle for battle in battles if battle.input_log]
    if len(with_log) < len(battles):
        result.unchecked["it has no input log"] += len(battles) - len(with_log)
    of_engine = [battle for battle in with_log if battle.venue == "engine"]
    others = [battle for battle in with_log if battle.venue != "engine"]
    hosted = [battle for battle in others if battle.options["formatid"] in HOSTED_FORMATS]
    others = [battle for battle in others if battle.options["formatid"] not in HOSTED_FORMATS]
    async with await Host.launch() as host:
        _compare(
            of_engine, await asyncio.gather(*(_replayed(host, battle) for battle in of_engine)), "Showdown", result
        )
        if hosted:
            _compare(hosted, await _on_hosted_engine(hosted), "the engine", result)
        if others:
            _compare(others, await _on_engine(host, others), "the engine", result)


def _compare(
    battles: Sequence[StoredResult],
    replays: Sequence[BattleReplay | ArenaError],
    where: str,
    result: VerificationResult,
) -> None:
    for battle, replay in zip(battles, replays, strict=True):
        if isinstance(replay, ArenaError):
            result.unchecked[str(replay)] += 1
            continue
        result.checked[where] += 1
        where_different = difference(
            replay,
            winner=battle.winner,
            turns=battle.turns,
            input_log=battle.input_log,
            decisions=battle.decisions,
            where=where,
        )
        if where_different is not None:
            result.differences.append(f"battle {battle.battle_id}: {where_different}")


async def _on_hosted_engine(battles: Sequence[StoredResult]) -> list[BattleReplay | ArenaError]:
    check_engine("arena verify", HOSTED_FORMATS)
    from arena.venues.engine.engine_host import EngineHost  # compiles the engine

    host = EngineHost()
    return [await _replayed(host, battle) for battle in battles]


async def _replayed(host: ReplayHost, battle: StoredResult) -> BattleReplay | ArenaError:
    try:
        return await replay_input_log(host, battle.input_log)
    except ArenaError as error:
        return error


async def _on_engine(host: Host, battles: Sequence[StoredResult]) -> list[BattleReplay | ArenaError]:
    check_engine("arena verify")
    from arena.venues.engine.replaying import replay_on_engine  # imports Numba

    async def team(battle: StoredResult, role: str) -> str:
        options = battle.options
        if "team" in options[role]:
            return str(options[role]["team"])
        return await drawn_team(host, options["formatid"], options[role]["seed"])

    async def teams(battle: StoredResult) -> tuple[str, str] | ArenaError:
        try:
            return await team(battle, SEATS[0]), await team(battle, SEATS[1])
        except ArenaError as error:
            return error

    drawn = await asyncio.gather(*map(teams, battles))
    known = [n for n, pair in enumerate(drawn) if not isinstance(pair, ArenaError)]
    pairs = [pair for pair in drawn if not isinstance(pair, ArenaError)]
    replays: dict[int, BattleReplay | NotOnEngine] = dict(
        zip(known, replay_on_engine([battles[n] for n in known], pairs), strict=True)
    )
    return [pair if isinstance(pair, ArenaError) else replays[n] for n, pair in enumerate(drawn)]
