"""Stored battles from one seat's side, and what they can be grouped by: opponent, teams, leads, length, team set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import NamedTuple

from arena.ratings.cycles import pair_likeness
from arena.ratings.evidence import make_evidence
from arena.report.profiles import species
from arena.store import rows
from teamsets.errors import BadInput
from teamsets.formats import get_format

#: Fewer pairs than these are few: a result of theirs is marked.
FEW_PAIRS = 10
#: Pairs that go as independent battles do, beside those seen, where pairs go less alike than these.
_PRIOR_PAIRS = 4
#: Lengths in turns: up to and including these, and longer.
_LENGTHS = (10, 20, 30, 50, 100)
#: A battle that several runs have played counts once, as it was played last. The first seat comes first in each pair.
_QUERY = """
    WITH previews AS (SELECT battle_id, seat, choice FROM decisions WHERE index = 0 AND choice LIKE 'team %')
    SELECT r.agent, r.opponent, r.pair, r.team_set, own.packed, other.packed, mine.choice, theirs.choice, r.turns,
        r.score::DOUBLE, r.battle_id
    FROM {source} r JOIN battles b ON b.battle_id = r.battle_id
    LEFT JOIN teams own ON own.team_id = r.team_id LEFT JOIN teams other ON other.team_id = r.opponent_team_id
    LEFT JOIN previews mine ON mine.battle_id = r.battle_id AND mine.seat = r.seat
    LEFT JOIN previews theirs ON theirs.battle_id = r.battle_id AND theirs.seat <> r.seat
    WHERE r.format = ? AND r.agent = coalesce(?, r.agent) AND r.score IS NOT NULL AND r.agent <> r.opponent
    QUALIFY row_number() OVER (PARTITION BY b.key, r.seat ORDER BY r.battle_id DESC) = 1
    ORDER BY r.pair, r.agent, r.opponent, r.seat
"""


class SeatBattle(NamedTuple):
    """A battle as one of its agents has it. team, leads: species of its own team; empty where Showdown drew the teams."""

    agent: str
    opponent: str
    pair: str
    team_set: str
    team: tuple[str, ...]
    opponent_team: tuple[str, ...]
    leads: tuple[str, ...]
    opponent_leads: tuple[str, ...]
    turns: int
    score: float
    battle_id: int

    @property
    def cluster(self) -> tuple[str, str, str]:
        """Shared by the battles of a pair."""
        return self.pair, min(self.agent, self.opponent), max(self.agent, self.opponent)


def _length(battle: SeatBattle) -> list[str]:
    low = 1
    for high in _LENGTHS:
        if battle.turns <= high:
            return [f"{low}-{high} turns"]
        low = high + 1
    return [f"{low} or more turns"]


#: What battles are grouped by -> the groups of a battle.
GROUPS: dict[str, Callable[[SeatBattle], Sequence[str]]] = {
    "opponent": lambda battle: [battle.opponent],
    "species": lambda battle: tuple(dict.fromkeys(battle.opponent_team)),
    "lead": lambda battle: battle.opponent_leads,
    "own-species": lambda battle: tuple(dict.fromkeys(battle.team)),
    "own-lead": lambda battle: battle.leads,
    "length": _length,
    "team-set": lambda battle: [battle.team_set],
}


def seat_battles(db: Path, format_id: str, *, agent: str | None = None, run: str | None = None) -> list[SeatBattle]:
    """Return the stored battles of a format that have a score, once for each of their agents, or for one agent.

    run: only battles that count for this run. Battles of an agent against itself are left out.
    """
    source = "results" if run is None else "(SELECT * FROM evidence_results WHERE for_run = ?)"
    slots = get_format(format_id).slots

    @cache
    def members(packed: str | None) -> tuple[str, ...]:
        return tuple(species(packed))

    found = []
    for name, opponent, pair, team_set, own, other, choice, other_choice, turns, score, battle_id in rows(
        _QUERY.format(source=source), db, [*([] if run is None else [run]), format_id, agent]
    ):
        team, opponent_team = members(own), members(other)
        leads, opponent_leads = _leads(team, choice, slots), _leads(opponent_team, other_choice, slots)
        found.append(
            SeatBattle(
                name, opponent, pair, team_set, team, opponent_team, leads, opponent_leads, turns, score, battle_id
            )
        )
    return found


def _leads(team: tuple[str, ...], choice: str | None, slots: int) -> tuple[str, ...]:
    """Those that a team begins with: by its choice at team preview ("team 3142"), or by its order."""
    places = [int(each) for each in (choice or "").removeprefix("team ") if each.isdigit()] or [*range(1, slots + 1)]
    return tuple(team[place - 1] for place in places[:slots] if 0 < place <= len(team))


def chosen_format(db: Path, format_id: str | None, agent: str | None = None, run: str | None = None) -> str:
    """Return the format that is meant: the given one, or the only one with battles.

    Raises BadInput for an unknown run, where there is no battle (of that agent), or none in that format, or in several.
    """
    if run is not None and not rows("SELECT 1 FROM runs WHERE run_id = ?", db, [run]):
        raise BadInput(f'--run {run}: {db} has no such run: `arena sql "SELECT run_id FROM runs"` lists them')
    whose = f"agent '{agent}'" if agent else f"database {db}"
    source = "results" if run is None else "evidence_results"
    where = " AND ".join(["TRUE", *(["agent = ?"] if agent else []), *(["for_run = ?"] if run else [])])
    values = [value for value in (agent, run) if value]
    known = [name for (name,) in rows(f"SELECT DISTINCT format FROM {source} WHERE {where} ORDER BY 1", db, values)]
    if not known:
        among = f'in {db}: `arena sql "SELECT DISTINCT agent FROM results"` lists agents' if agent else "yet"
        raise BadInput(f"{whose}: has no battles {among}")
    if format_id is None and len(known) > 1:
        raise BadInput(f"{whose}: has battles in {', '.join(known)}: choose one with --format")
    if format_id is not None and format_id not in known:
        raise BadInput(f"{whose}: has no such battles in {format_id}; formats: {', '.join(known)}")
    return format_id or known[0]


def matching(patterns: Iterable[str], names: Iterable[str], option: str = "--against") -> set[str]:
    """Return the names that one of the patterns names: a name itself, or one with * for any characters.

    Raises BadInput for a pattern that names none. Without a pattern all names are returned.
    """
    known, found, given = sorted(set(names)), set[str](), list(patterns)
    for pattern in given:
        named = {name for name in known if name == pattern or fnmatchcase(name, pattern)}
        if not named:
            raise BadInput(f"{option} {pattern}: names none of {', '.join(known)}")
        found |= named
    return found if given else set(known)


def likeness(battles: Iterable[SeatBattle]) -> float:
    """Return how much the two battles of a pair go alike, of `pair_likeness`. battles: from one side or from both.

    1, the careful guess, where there are series: what the battles of a series have in common is not measured. Below 0 (the
    teams decide) it is drawn towards 0 where there are few pairs: that all of a few were split is no certainty.
    """
    points: dict[tuple[str, str, str], dict[int, float]] = {}
    for battle in battles:
        _, first, _ = battle.cluster
        mine = battle.score if battle.agent == first else 1 - battle.score
        points.setdefault(battle.cluster, {})[battle.battle_id] = mine
    if any(len(each) > 2 for each in points.values()):
        return 1.0
    pairs = [
        (first, second, sum(each.values()), 2, "") for (_, first, second), each in points.items() if len(each) == 2
    ]
    found = pair_likeness(make_evidence(pairs))
    return found if found > 0 else found * len(pairs) / (len(pairs) + _PRIOR_PAIRS)
