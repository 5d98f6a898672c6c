"""Who is charged when lone workers end: the rulings, case by case, without any process."""

from __future__ import annotations

import pytest

from arena.fixture import Fixture, FixtureTeam, showdown_seed
from arena.workers.crash_attribution import Broken, Charge, Culprits, End, Play, Ruling

TEAM = FixtureTeam("0" * 16, "drawn", seed=showdown_seed("team"))
IN_P1, IN_P2, OUTSIDE_STEPS = (End("error", "ended its worker process", seat) for seat in (0, 1, None))


def _fixture(*agents: str) -> Fixture:
    one, two = agents
    external_seats = (one.startswith("external"), two.startswith("external"))
    return Fixture(
        "gen1randombattle", (one, two), (TEAM, TEAM), showdown_seed("battle"), "pair", "drawn", external_seats
    )


@pytest.fixture
def culprits() -> Culprits:
    return Culprits()


def _only(rulings: list[Ruling]) -> Ruling:
    (ruling,) = rulings
    return ruling


def _trial(ruling: Ruling) -> tuple[str, str]:
    assert isinstance(ruling, Play) and ruling.trial is not None
    return ruling.fixture.agents


def _trials(rulings: list[Ruling]) -> list[tuple[str, str]]:
    assert [ruling.trial for ruling in rulings if isinstance(ruling, Play)] == list(range(len(rulings)))
    return [_trial(ruling) for ruling in rulings]


def _charged(ruling: Ruling) -> str | None:
    assert isinstance(ruling, Charge)
    return None if ruling.seat is None else ruling.fixture.agents[ruling.seat]


def test_against_a_harmless_opponent_one_lone_death_in_its_step_is_enough(culprits: Culprits) -> None:
    assert _charged(_only(culprits.ended_alone(1, _fixture("random", "a"), IN_P2))) == "a"
    assert culprits.wants_alone(_fixture("a", "b")) and not culprits.wants_alone(_fixture("b", "random"))


def test_outside_of_a_step_it_is_looked_first_whether_workers_live_at_all(culprits: Culprits) -> None:
    assert _trial(_only(culprits.ended_alone(1, _fixture("a", "random"), OUTSIDE_STEPS))) == ("random", "random")
    assert _charged(_only(culprits.trial_over(1, 0, None))) == "a"

    trials = [("random", "random"), ("b", "random"), ("random", "c")]
    assert _trials(culprits.ended_alone(2, _fixture("b", "c"), OUTSIDE_STEPS)) == trials
    assert culprits.trial_over(2, 1, OUTSIDE_STEPS) == [], "b is not charged yet: workers may not live at all"
    assert _only(culprits.trial_over(2, 0, OUTSIDE_STEPS)) == Broken("ended its worker process")


def test_of_two_the_one_that_ends_its_trial_is_charged_whoevers_step_it_was(culprits: Culprits) -> None:
    assert _trials(culprits.ended_alone(1, _fixture("a", "b"), IN_P2)) == [("random", "b"), ("a", "random")]
    assert culprits.trial_over(1, 1, OUTSIDE_STEPS) == []
    assert _charged(_only(culprits.trial_over(1, 0, None))) == "a"
    # From now on that is known.
    assert _charged(_only(culprits.ended_alone(2, _fixture("c", "a"), IN_P1))) == "a"


def test_other_battles_of_an_agent_on_trial_wait_for_the_verdict(culprits: Culprits) -> None:
    trials = [("random", "random"), ("a", "random"), ("random", "b")]
    assert _trials(culprits.ended_alone(1, _fixture("a", "b"), OUTSIDE_STEPS)) == trials
    assert culprits.ended_alone(2, _fixture("c", "a"), OUTSIDE_STEPS) == []
    assert culprits.ended_alone(3, _fixture("b", "d"), OUTSIDE_STEPS) == []
    assert len(culprits.ended_alone(4, _fixture("e", "f"), IN_P1)) == 2, "neither is on trial"
    assert culprits.trial_over(1, 0, None) == []
    first, second, *third = culprits.trial_over(1, 1, OUTSIDE_STEPS)
    assert (_charged(first), _charged(second)) == ("a", "a") and isinstance(second, Charge) and second.serial == 2
    assert _trials(third) == [("random", "random"), ("b", "random"), ("random", "d")]  # b was not convicted


def _acquitted(culprits: Culprits, serial: int, fixture: Fixture, first: End, second: End) -> list[Ruling]:
    """Two lone deaths, and trials that are all played out between them."""
    rulings = culprits.ended_alone(serial, fixture, first)
    for number in range(len(rulings)):
        rulings = culprits.trial_over(serial, number, None)
    assert rulings == [Play(serial, fixture)]
    return culprits.ended_alone(serial, fixture, second)


def test_where_trials_say_nothing_the_steps_do(culprits: Culprits) -> None:
    assert _charged(_only(_acquitted(culprits, 1, _fixture("a", "b"), IN_P1, IN_P1))) == "a"
    assert not culprits.convicted


def test_where_neither_does_the_agent_that_two_battles_share_is_charged_with_both(culprits: Culprits) -> None:
    assert _acquitted(culprits, 1, _fixture("a", "b"), IN_P1, IN_P2) == []
    assert _acquitted(culprits, 2, _fixture("b", "a"), IN_P1, OUTSIDE_STEPS) == []
    rulings = _acquitted(culprits, 3, _fixture("c", "a"), OUTSIDE_STEPS, IN_P2)
    assert {ruling.serial for ruling in rulings if isinstance(ruling, Charge)} == {1, 2, 3}
    assert {_charged(ruling) for ruling in rulings} == {"a"}
    assert culprits.give_up() == []


def test_what_stays_undecided_is_aborted_and_names_both(culprits: Culprits) -> None:
    assert _acquitted(culprits, 1, _fixture("a", "b"), IN_P1, IN_P2) == []
    ruling = _only(culprits.give_up())
    assert isinstance(ruling, Charge) and ruling.seat is None
    record = ruling.record(0.0)
    assert (record.reason, record.winner, record.fault) == ("aborted", None, "venue")
    assert "a or b" in (record.detail or "")


def test_a_battle_that_comes_to_its_end_alone_is_forgotten(culprits: Culprits) -> None:
    assert _trials(culprits.ended_alone(1, _fixture("a", "b"), IN_P1)) == [("a", "random"), ("random", "b")]
    assert culprits.trial_over(1, 0, None) == []
    assert _only(culprits.trial_over(1, 1, None)) == Play(1, _fixture("a", "b"))
    culprits.finished_alone(1)
    assert culprits.give_up() == []


def test_where_no_agent_runs_in_the_worker_nobody_is_charged(culprits: Culprits) -> None:
    fixture = _fixture("external?command=x", "random")
    for _ in range(2):
        assert _only(culprits.ended_alone(1, fixture, OUTSIDE_STEPS)) == Play(1, fixture)
    assert _charged(_only(culprits.ended_alone(1, fixture, OUTSIDE_STEPS))) is None
