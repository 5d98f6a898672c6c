"""Small tournaments through the real coordinator, and what they left in the database."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from arena.record import unpacked
from arena.run.tournament import EvaluateSettings, play, prepare
from arena.schedules.plan import Plan
from arena.store import open_store, rows
from arena.venue import Rules
from arena.workers.cluster.connection import Cluster


@dataclass(frozen=True)
class ChosenPairings(Plan):
    """A plan in which only some agents meet."""

    chosen: list[tuple[str, str]] = field(default_factory=list)

    @property
    def pairings(self) -> list[tuple[str, str]]:
        return self.chosen


def tournament(
    db: Path,
    *agents: str,
    formats: tuple[str, ...] = ("gen1randombattle",),
    battles: int = 2,
    workers: int = 1,
    seed: int = 0,
    think_limit: float = 10.0,
    max_turns: int = 1000,
    pairings: list[tuple[str, str]] | None = None,
    cluster: Cluster | None = None,
    **more: Any,
) -> str:
    """Plays through the real coordinator and its worker processes; returns the run's id.

    pairings: only these, instead of every agent against every other. cluster: in the place of the worker processes, e.g. a
    StandInVenue.
    """
    rules = Rules(think_limit=think_limit, max_turns=max_turns)
    settings = EvaluateSettings(agents=agents, formats=formats, battles=battles, seed=seed, rules=rules, **more)
    with open_store(db) as store:
        run = prepare(store, settings)
        if pairings is not None:
            plan = ChosenPairings(
                run.plan.agents,
                run.plan.pools,
                battles,
                seed,
                external_agents=run.plan.external_agents,
                chosen=pairings,
            )
            run = replace(run, plan=plan)
        asyncio.run(play(run, store, workers=workers, cluster=cluster))
    return run.run_id


#: Everything that must be the same when a battle is played again.
RESULT = "key, winner, reason, fault, turns, input_log, p1_log, p2_log"


def table(db: Path, columns: str = RESULT, where: str = "true") -> list[tuple[Any, ...]]:
    """The battles of a database in the order of their keys."""
    return rows(f"SELECT {columns} FROM battles WHERE {where} ORDER BY key", db)


_LOGS = ("input_log", "p1_log", "p2_log")
_CHOICES = "SELECT key, seat, index, turn, legal, choice FROM decisions JOIN battles USING (battle_id) ORDER BY ALL"


def first_difference(one: Path, other: Path) -> str:
    """The first battle that two databases hold differently, and where each of its parts first differs; or nothing."""
    battles, others = _told(one), _told(other)
    for key in sorted(battles.keys() | others.keys()):
        if key not in battles or key not in others:
            return f"battle {key} is only in {one if key in battles else other}"
        found = [
            f"{part}, line {number}: {line!r} in {one}, {other_line!r} in {other}"
            for part, lines in battles[key].items()
            for number, line, other_line in _first_differing(lines, others[key][part])
        ]
        if found:
            return "\n".join([f"battle {key}, {' '.join(battles[key]['fixture'])}", *found])
    return ""


def _first_differing(lines: list[Any], others: list[Any]) -> list[tuple[int, Any, Any]]:
    pairs = itertools.zip_longest(lines, others)
    return [(number, *pair) for number, pair in enumerate(pairs, 1) if pair[0] != pair[1]][:1]


def _told(db: Path) -> dict[str, dict[str, list[Any]]]:
    """Key -> everything that must be the same when the battle is played again, each part as a list of lines."""
    found: dict[str, dict[str, list[Any]]] = {}
    facts = "key, p1, p2, format, winner, reason, fault, detail, turns, parse_warnings"
    for row in table(db, f"{facts}, {', '.join(_LOGS)}"):
        key, fixture, result = row[0], list(row[1:4]), list(row[4:10])
        logs = {name: unpacked(bytes(blob)) for name, blob in zip(_LOGS, row[10:], strict=True)}
        found[key] = {"fixture": fixture, "result": result, **logs, "choices": []}
    for key, *choice in rows(_CHOICES, db):
        found[key]["choices"].append(choice)
    return found
