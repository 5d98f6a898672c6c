"""Agents that fail in every way, in one tournament with good ones: each loses with a reason, and the rest goes on."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from support.tournaments import table, tournament

from arena.store import rows
from arena.workers.cluster.connection import ThisMachine

#: agent -> (reason, what the detail must say)
INTERRUPTIBLE = {
    "Raises": ("error", "RuntimeError: out of ideas at bad_agents.py:"),
    "RaisesLater": ("error", "KeyError: 'charizard' at bad_agents.py:"),
    "RaisesAtStart": ("error", "OSError: no weights here at bad_agents.py:"),
    "RaisesWhenMade": ("error", "ValueError: no such checkpoint at bad_agents.py:"),
    "Quits": ("error", "SystemExit: I am done at bad_agents.py:"),
    "Cancelled": ("error", "CancelledError"),
    "TimesOutItself": ("error", "TimeoutError"),
    "SleepsAsync": ("timeout", "no choice within 3 s"),
    "SleepsSync": ("timeout", "no choice within 3 s"),
    "LoopsForEver": ("timeout", "no choice within 3 s"),
    "SwallowsCancel": ("timeout", "no choice within 3 s"),
    "LoopsAfterAwait": ("timeout", "no choice within 3 s"),
    "SwallowsOnce": ("timeout", "no choice within 3 s"),
    "Illegal": ("illegal", "answered 'move splashdance', 3 times in a row; legal: move "),
    "AnswersNothing": ("illegal", "answered None, 3 times in a row; legal: move "),
    "AnswersOddly": ("illegal", "3 times in a row; legal: move "),
    "OddWords": ("error", "RuntimeError: no file called "),
}
#: Those that nothing inside their process can stop.
UNSTOPPABLE = {
    "SwallowsAll": ("timeout", "until it was ended"),
    "HoldsTheLock": ("timeout", "until it was ended"),
    "BlocksTheAlarm": ("timeout", "until it was ended"),
    "Exits": ("error", "ended its worker process"),
    "KillsItself": ("error", "ended its worker process"),
}
GOOD = (
    "random",
    "bad_agents:Patient",
    "bad_agents:HasAFallback",
    "bad_agents:Talks",
    "bad_agents:OddThoughts",
    "bad_agents:RaisesAtFinish",
)


def _agent(name: str) -> str:
    return f"bad_agents:{name}"


def _each_against(opponent: str, names: dict[str, tuple[str, str]]) -> list[tuple[str, str]]:
    return [(_agent(name), opponent) for name in names]


@pytest.fixture(scope="session")
def interruptible(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every interruptible agent against an asynchronous one that shares its worker, and the good ones among themselves."""
    db = tmp_path_factory.mktemp("faults") / "interruptible.duckdb"
    pairings = [*_each_against("bad_agents:Patient", INTERRUPTIBLE), *itertools.combinations(GOOD, 2)]
    agents = dict.fromkeys(agent for pairing in pairings for agent in pairing)
    tournament(db, *agents, pairings=pairings, think_limit=3.0)
    return db


@pytest.fixture(scope="session")
def unstoppable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every agent that takes its worker with it, against a good one, and the good ones among themselves."""
    db = tmp_path_factory.mktemp("faults") / "unstoppable.duckdb"
    pairings = [*_each_against("random", UNSTOPPABLE), *itertools.combinations(GOOD, 2)]
    agents = dict.fromkeys(agent for pairing in pairings for agent in pairing)
    tournament(db, *agents, pairings=pairings, think_limit=3.0, cluster=ThisMachine(1, grace=1.0))
    return db


def _assert_loses_both(db: Path, agent: str, reason: str, detail: str) -> None:
    battles = rows("SELECT p1, p2, winner, reason, fault, detail FROM battles WHERE ? IN (p1, p2)", db, [agent])
    assert len(battles) == 2
    for p1, _, winner, why, fault, words in battles:
        seat, other = ("p1", "p2") if p1 == agent else ("p2", "p1")
        assert (winner, why, fault) == (other, reason, seat), words
        assert detail in words


@pytest.mark.slow
@pytest.mark.parametrize("name", INTERRUPTIBLE)
def test_a_faulty_agent_loses_with_reason_and_words(interruptible: Path, name: str) -> None:
    _assert_loses_both(interruptible, _agent(name), *INTERRUPTIBLE[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", UNSTOPPABLE)
def test_an_agent_that_takes_its_worker_with_it_is_blamed_by_the_coordinator(unstoppable: Path, name: str) -> None:
    _assert_loses_both(unstoppable, _agent(name), *UNSTOPPABLE[name])


@pytest.mark.slow
@pytest.mark.parametrize("tournament_of", ["interruptible", "unstoppable"])
def test_good_agents_beside_faulty_ones_play_all_their_battles_without_fault(
    tournament_of: str, request: pytest.FixtureRequest
) -> None:
    db = request.getfixturevalue(tournament_of)
    among_good = rows(
        "SELECT reason, fault, detail FROM battles WHERE list_contains(?, p1) AND list_contains(?, p2)",
        db,
        [list(GOOD), list(GOOD)],
    )
    assert len(among_good) == 2 * len(list(itertools.combinations(GOOD, 2)))
    assert {(reason, fault) for reason, fault, _ in among_good} <= {("win", None), ("tie", None)}, among_good


@pytest.mark.slow
def test_innocent_battles_are_the_same_beside_faulty_agents_as_without_them(
    interruptible: Path, unstoppable: Path, tmp_path: Path
) -> None:
    db = tmp_path / "alone.duckdb"
    tournament(db, *GOOD, workers=1, think_limit=60.0)
    alone = {row[0]: row for row in table(db)}
    for crowded in (interruptible, unstoppable):
        among_good = [row for row in table(crowded) if row[0] in alone]
        assert among_good == list(alone.values())


@pytest.mark.slow
def test_thoughts_that_are_no_json_are_kept_as_words(interruptible: Path) -> None:
    thoughts = rows(
        "SELECT diagnostics FROM decisions JOIN battles USING (battle_id) "
        "WHERE CASE seat WHEN 'p1' THEN p1 ELSE p2 END = 'bad_agents:OddThoughts'",
        interruptible,
    )
    assert thoughts
    assert all(thought is not None and "seen" in thought for (thought,) in thoughts)
