"""Who is charged when solo workers end: the rulings, case by case, without any process."""

from __future__ import annotations

import pytest

from arena.fixture import Fixture, FixtureTeam, showdown_seed
from arena.workers.crash_attribution import AgentLoses, CrashAttribution, End, PlaySolo, Ruling, WorkersBroken

TEAM = FixtureTeam("0" * 16, "drawn", seed=showdown_seed("team"))
IN_P1, IN_P2, OUTSIDE_STEPS = (End("error", "ended its worker process", seat) for seat in (0, 1, None))


def _fixture(*agents: str) -> Fixture:
    one, two = agents
    external_seats = (one.startswith("external"), two.startswith("external"))
    return Fixture(
        "gen1randombattle", (one, two), (TEAM, TEAM), showdown_seed("battle"), "pair", "drawn", external_seats
    )


@pytest.fixture
def attribution() -> CrashAttribution:
    return CrashAttribution()


def _only(rulings: list[Ruling]) -> Ruling:
    (ruling,) = rulings
    return ruling


def _trial(ruling: Ruling) -> tuple[str, str]:
    assert isinstance(ruling, PlaySolo) and ruling.trial is not None
    return ruling.fixture.agents


def _trials(rulings: list[Ruling]) -> list[tuple[str, str]]:
    assert [ruling.trial for ruling in rulings if isinstance(ruling, PlaySolo)] == list(range(len(rulings)))
    return [_trial(ruling) for ruling in rulings]


def _charged(ruling: Ruling) -> str | None:
    assert isinstance(ruling, AgentLoses)
    return None if ruling.seat is None else ruling.fixture.agents[ruling.seat]


def test_against_a_harmless_opponent_one_solo_death_in_its_step_is_enough(attribution: CrashAttribution) -> None:
    assert _charged(_only(attribution.handle_solo_end(1, _fixture("random", "a"), IN_P2))) == "a"
    assert attribution.must_play_solo(_fixture("a", "b")) and not attribution.must_play_solo(_fixture("b", "random"))


def test_outside_of_a_step_it_is_looked_first_whether_workers_live_at_all(attribution: CrashAttribution) -> None:
    assert _trial(_only(attribution.handle_solo_end(1, _fixture("a", "random"), OUTSIDE_STEPS))) == ("random", "random")
    assert _charged(_only(attribution.handle_trial_end(1, 0, None))) == "a"

    trials = [("random", "random"), ("b", "random"), ("random", "c")]
    assert _trials(attribution.handle_solo_end(2, _fixture("b", "c"), OUTSIDE_STEPS)) == trials
    assert attribution.handle_trial_end(2, 1, OUTSIDE_STEPS) == [], "b is not charged yet: workers may not live at all"
    assert _only(attribution.handle_trial_end(2, 0, OUTSIDE_STEPS)) == WorkersBroken("ended its worker process")


def test_of_two_the_one_that_ends_its_trial_is_charged_whoevers_step_it_was(attribution: CrashAttribution) -> None:
    assert _trials(attribution.handle_solo_end(1, _fixture("a", "b"), IN_P2)) == [("random", "b"), ("a", "random")]
    assert attribution.handle_trial_end(1, 1, OUTSIDE_STEPS) == []
    assert _charged(_only(attribution.handle_trial_end(1, 0, None))) == "a"
    # From now on that is known.
    assert _charged(_only(attribution.handle_solo_end(2, _fixture("c", "a"), IN_P1))) == "a"


def test_other_battles_of_an_agent_on_trial_wait_for_the_verdict(attribution: CrashAttribution) -> None:
    trials = [("random", "random"), ("a", "random"), ("random", "b")]
    assert _trials(attribution.handle_solo_end(1, _fixture("a", "b"), OUTSIDE_STEPS)) == trials
    assert attribution.handle_solo_end(2, _fixture("c", "a"), OUTSIDE_STEPS) == []
    assert attribution.handle_solo_end(3, _fixture("b", "d"), OUTSIDE_STEPS) == []
    assert len(attribution.handle_solo_end(4, _fixture("e", "f"), IN_P1)) == 2, "neither is on trial"
    assert attribution.handle_trial_end(1, 0, None) == []
    first, second, *third = attribution.handle_trial_end(1, 1, OUTSIDE_STEPS)
    assert (_charged(first), _charged(second)) == ("a", "a") and isinstance(second, AgentLoses) and second.serial == 2
    assert _trials(third) == [("random", "random"), ("b", "random"), ("random", "d")]  # b was not convicted


def _acquitted(attribution: CrashAttribution, serial: int, fixture: Fixture, first: End, second: End) -> list[Ruling]:
    """Two solo deaths, and trials that are all played out between them."""
    rulings = attribution.handle_solo_end(serial, fixture, first)
    for number in range(len(rulings)):
        rulings = attribution.handle_trial_end(serial, number, None)
    assert rulings == [PlaySolo(serial, fixture)]
    return attribution.handle_solo_end(serial, fixture, second)


def test_where_trials_say_nothing_the_steps_do(attribution: CrashAttribution) -> None:
    assert _charged(_only(_acquitted(attribution, 1, _fixture("a", "b"), IN_P1, IN_P1))) == "a"
    assert not attribution.convicted


def test_where_neither_does_the_agent_that_two_battles_share_is_charged_with_both(
    attribution: CrashAttribution,
) -> None:
    assert _acquitted(attribution, 1, _fixture("a", "b"), IN_P1, IN_P2) == []
    assert _acquitted(attribution, 2, _fixture("b", "a"), IN_P1, OUTSIDE_STEPS) == []
    rulings = _acquitted(attribution, 3, _fixture("c", "a"), OUTSIDE_STEPS, IN_P2)
    assert {ruling.serial for ruling in rulings if isinstance(ruling, AgentLoses)} == {1, 2, 3}
    assert {_charged(ruling) for ruling in rulings} == {"a"}
    assert attribution.abort_undecided() == []


def test_what_stays_undecided_is_aborted_and_names_both(attribution: CrashAttribution) -> None:
    assert _acquitted(attribution, 1, _fixture("a", "b"), IN_P1, IN_P2) == []
    ruling = _only(attribution.abort_undecided())
    assert isinstance(ruling, AgentLoses) and ruling.seat is None
    record = ruling.record(0.0)
    assert (record.reason, record.winner, record.fault) == ("aborted", None, "venue")
    assert "a or b" in (record.detail or "")


def test_a_battle_that_comes_to_its_end_alone_is_forgotten(attribution: CrashAttribution) -> None:
    assert _trials(attribution.handle_solo_end(1, _fixture("a", "b"), IN_P1)) == [("a", "random"), ("random", "b")]
    assert attribution.handle_trial_end(1, 0, None) == []
    assert _only(attribution.handle_trial_end(1, 1, None)) == PlaySolo(1, _fixture("a", "b"))
    attribution.handle_solo_finish(1)
    assert attribution.abort_undecided() == []


def test_where_no_agent_runs_in_the_worker_nobody_is_charged(attribution: CrashAttribution) -> None:
    fixture = _fixture("external?command=x", "random")
    for _ in range(2):
        assert _only(attribution.handle_solo_end(1, fixture, OUTSIDE_STEPS)) == PlaySolo(1, fixture)
    assert _charged(_only(attribution.handle_solo_end(1, fixture, OUTSIDE_STEPS))) is None
