"""What an agent can do to its opponent where they share a process, and cannot do under --isolate.

Every attack is first played without isolation, where it must succeed: otherwise its failure would prove nothing.
"""

from __future__ import annotations

from typing import Any

import pytest
from support.isolation_playing import facts, fixture, play, play_elsewhere

HONEST = "attackers:Honest"
ATTACKERS = [f"attackers:{name}" for name in ("Spy", "SeedSpy", "Saboteur", "Forger")]
Facts = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def shared() -> Facts:
    """Each attacker in the process of its opponent; the forger last, for nothing is true in that process afterwards."""
    return dict(zip(ATTACKERS, play_elsewhere(*((one, HONEST) for one in ATTACKERS)), strict=True))


@pytest.fixture(scope="module")
def isolated() -> Facts:
    """The same battles, all at once, each agent in a process of its own."""
    records = play([fixture(one, HONEST) for one in ATTACKERS], isolate=True)
    return dict(zip(ATTACKERS, map(facts, records), strict=True))


@pytest.mark.slow
def test_the_opponents_team_can_be_read_in_a_shared_process_and_not_under_isolation(
    shared: Facts, isolated: Facts
) -> None:
    ((team,),) = shared["attackers:Spy"]["loot"]
    assert len(team) == 6
    assert isolated["attackers:Spy"]["loot"] == [[]]


@pytest.mark.slow
def test_the_battles_seed_can_be_read_in_a_shared_process_and_not_under_isolation(
    shared: Facts, isolated: Facts
) -> None:
    assert shared["attackers:SeedSpy"]["loot"] == [[fixture("a", "b").seed]]
    assert isolated["attackers:SeedSpy"]["loot"] == [[]]


@pytest.mark.slow
def test_the_opponents_answers_can_be_changed_in_a_shared_process_and_not_under_isolation(
    shared: Facts, isolated: Facts
) -> None:
    assert all(choice == legal[-1] for legal, choice in shared["attackers:Saboteur"]["answers"]["p2"][1:])
    answers = isolated["attackers:Saboteur"]["answers"]["p2"]
    assert answers
    assert all(choice == legal[0] for legal, choice in answers)


@pytest.mark.slow
def test_the_result_can_be_forged_in_a_shared_process_and_not_under_isolation(shared: Facts, isolated: Facts) -> None:
    forged = shared["attackers:Forger"]
    assert forged["winner"] == "p1" != forged["won"]
    for true in isolated.values():
        assert true["winner"] == true["won"]
