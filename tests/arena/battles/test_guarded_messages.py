"""Whatever of an agent's is looked at or put into words is its code, and runs under its clock."""

from __future__ import annotations

import asyncio

import pytest

from arena.battles.guard import StepGuard
from arena.fixture import Fixture, FixtureTeam, showdown_seed
from arena.venue import Rules
from arena.venues.simulator.simulator import play_all

TEAMS = (FixtureTeam("a", "a", seed=showdown_seed(1)), FixtureTeam("b", "b", seed=showdown_seed(2)))

#: agent -> (reason, what the detail must say)
FAULTS = {
    "AnswersSlowly": ("timeout", "no choice within 1.5 s"),
    "RaisesSlowly": ("error", "Slow: (its words took longer than 0.5 s) at worse_agents.py:"),
    "RaisesSlowlyLater": ("error", "Slow: (its words took longer than 0.5 s) at worse_agents.py:"),
    "LooksAwaitable": ("timeout", "no choice within 1.5 s"),
    "AwaitsSlowly": ("timeout", "no choice within 1.5 s"),
    "NamedByMeta": ("error", "Odd: named at worse_agents.py:"),
    "TakesNoGenerator": ("error", "RuntimeError: no chance at worse_agents.py:"),
}


@pytest.mark.slow
def test_nothing_of_an_agents_is_put_into_words_outside_its_clock() -> None:
    specs = [f"worse_agents:{name}" for name in (*FAULTS, "AlwaysEqual")]
    seed = showdown_seed(3)
    fixtures = [Fixture("gen1randombattle", (spec, "random"), TEAMS, seed, "pair", "drawn") for spec in specs]
    *faulty, equal = asyncio.run(
        play_all(fixtures, Rules(think_limit=1.5, max_turns=3), guard=StepGuard(untimed_limit=0.5))
    )
    for record, (reason, words) in zip(faulty, FAULTS.values(), strict=True):
        assert (record.winner, record.fault, record.reason) == ("p2", "p1", reason), record.detail
        assert words in (record.detail or "")
    assert equal.reason == "turn-limit"
    assert {choice for seat_, *_, choice, _, _ in equal.decisions if seat_ == 0} <= {
        legal for seat_, _, _, words, *_ in equal.decisions if seat_ == 0 for legal in words
    }
