"""The engine venue plays the simulator's battles: winner, turns, decisions and input log, whatever its agents do."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("numba")

from support.real_battles import fixtures

import arena.venues.engine.venue as engine_venue
from agents.engine.gen1.layout import STUCK
from arena.battles.guard import StepGuard
from arena.fixture import Fixture
from arena.record import BattleRecord
from arena.venue import NotOnEngine, Rules, Venue, VenuesDiffer
from arena.venues.engine.requests import members_of
from arena.venues.engine.venue import EngineVenue, ready_engine
from arena.venues.simulator.host import Host
from arena.venues.simulator.replaying import difference, replay_all
from arena.venues.simulator.simulator import Simulator
from teamsets.errors import ArenaError

PATIENT = Rules(think_limit=60.0)


class Both:
    """Both venues on one event loop and one host."""

    def __init__(self) -> None:
        self.runner = asyncio.Runner()
        self.host = self.runner.run(Host.launch())
        self.runner.run(ready_engine())

    def close(self) -> None:
        self.runner.run(self.host.close())
        self.runner.close()

    def simulated(self, played: list[Fixture], rules: Rules = PATIENT) -> list[BattleRecord]:
        return self._play(Simulator(self.host, StepGuard(), rules), played)

    def on_engine(self, played: list[Fixture], rules: Rules = PATIENT, **options: Any) -> list[BattleRecord]:
        return self._play(EngineVenue(self.host, StepGuard(), rules, **options), played)

    def _play(self, venue: Venue, played: list[Fixture]) -> list[BattleRecord]:
        async def play() -> list[BattleRecord]:
            return await asyncio.gather(*(venue.play(fixture, n) for n, fixture in enumerate(played)))

        return self.runner.run(play())


@pytest.fixture(scope="module")
def both() -> Iterator[Both]:
    found = Both()
    yield found
    found.close()


def between(format_id: str, number: int, *agents: str) -> list[Fixture]:
    """Fixtures of two agents."""
    return [replace(fixture, agents=agents) for fixture in fixtures(format_id, number)]  # type: ignore[arg-type]


def same(record: BattleRecord) -> dict[str, Any]:
    """What must be the same on both venues."""
    return {
        "result": (record.winner, record.reason, record.fault, record.detail, record.turns),
        "input log": record.input_log,
        "decisions": [row[:5] for row in record.decisions],
        "diagnostics": [row[6] for row in record.decisions],
    }


def assert_same(found: list[BattleRecord], expected: list[BattleRecord]) -> None:
    assert [same(record) for record in found] == [same(record) for record in expected]
    assert {record.venue for record in found} == {"engine"}
    assert all(record.logs == ([], []) for record in found)


@pytest.mark.parametrize("format_id", ["gen1ou", "gen1randombattle"])
def test_players_on_arrays_decide_as_in_the_simulator(both: Both, format_id: str) -> None:
    """They see the same on both, published sets of the format included."""
    played = between(format_id, 12, "array:revenger", "array:set-up")
    assert_same(both.on_engine(played), both.simulated(played))


@pytest.mark.parametrize("format_id", ["gen1ou", "gen1randombattle"])
@pytest.mark.parametrize(
    ("agents", "number"),
    [
        (("random", "random"), 10),
        (("array_agents:RandomAction", "array_agents:LastAction"), 2),
        (("random", "array_agents:Later"), 2),
    ],
)
def test_a_fixture_goes_the_same_way_as_in_the_simulator(
    both: Both, format_id: str, agents: tuple[str, str], number: int
) -> None:
    played = between(format_id, number, *agents)
    found = both.on_engine(played)
    assert_same(found, both.simulated(played))
    assert all(record.reason == "win" and row[5] >= 0 for record in found for row in record.decisions)


def test_an_unnamed_pokemon_is_called_as_showdown_calls_it() -> None:
    """The order of a network's switches is that of these names."""
    team = "|mrmime||noability|psychic|||||||]Zoe|chansey||noability|rest|||||||]Tauros|||noability|rest|||||||"
    assert members_of("p1", team) == [("p1: Mr. Mime", "mrmime"), ("p1: Zoe", "chansey"), ("p1: Tauros", "tauros")]


def test_more_battles_than_rows_wait_for_their_turn(both: Both) -> None:
    played = between("gen1randombattle", 8, "random", "array_agents:LastAction")
    assert_same(both.on_engine(played, rows=3), both.on_engine(played))


@pytest.mark.parametrize("turns", [1, 6])
def test_the_turn_limit_ties_at_the_same_place(both: Both, turns: int) -> None:
    played, rules = between("gen1ou", 2, "random", "random"), Rules(think_limit=60.0, max_turns=turns)
    found = both.on_engine(played, rules)
    assert_same(found, both.simulated(played, rules))
    assert {record.reason for record in found} == {"turn-limit"}


FAILING = ["Raises", "RaisesLater", "Illegal", "Sleeps", "RaisesAtStart"]


def test_faults_lose_as_they_do_in_the_simulator_and_nobody_else_loses(both: Both) -> None:
    pairs = [(f"array_agents:{name}", "array_agents:RandomAction") for name in FAILING]
    pairs += [(f"bad_agents:{name}", "random") for name in ("RaisesWhenMade", "RaisesAtStart")]
    pairs = [pair if number % 2 else pair[::-1] for number, pair in enumerate(pairs)]
    pairs += [("array_agents:RandomAction", "array_agents:LastAction"), ("array_agents:Raises", "array_agents:Raises")]
    (first,) = fixtures("gen1randombattle", 1)
    played, rules = [replace(first, agents=pair) for pair in pairs], Rules(think_limit=2.0)
    found, expected = both.on_engine(played, rules), both.simulated(played, rules)
    *told, last = zip(pairs, found, expected, strict=True)
    for pair, record, other in told:
        assert (pair, same(record)) == (pair, same(other))
    assert [record.fault is None for record in found] == [False] * 7 + [True, False]
    assert (last[1].reason, last[1].turns) == (last[2].reason, last[2].turns)


@pytest.mark.parametrize("agent", ["Floats", "Padded"])
def test_actions_as_floats_or_padded_to_a_batch_are_actions_on_both_venues(both: Both, agent: str) -> None:
    played = between("gen1ou", 2, f"array_agents:{agent}", "array_agents:LastAction")
    found = both.on_engine(played)
    assert_same(found, both.simulated(played))
    assert {record.reason for record in found} == {"win"}


ODD = {
    "mask": "an array of 1 whole numbers expected, not bool of shape [1, 13]",
    "booleans": "an array of 1 whole numbers expected, not bool of shape [1]",
    "column": "an array of 1 whole numbers expected, not int64 of shape [1, 1]",
    "short": "an array of 1 whole numbers expected, not int64 of shape [0]",
    "fraction": "whole numbers expected, not ",
    "nan": "whole numbers expected, not nan",
    "text": "an array of 1 whole numbers expected, not <U21 of shape [1]",
}


def test_what_is_no_action_is_the_same_error_on_both_venues(both: Both) -> None:
    (first,) = fixtures("gen1ou", 1)
    played = [replace(first, agents=(f"array_agents:AnswersOddly?kind={kind}", "random")) for kind in ODD]
    found = both.on_engine(played)
    assert_same(found, both.simulated(played))
    for record, words in zip(found, ODD.values(), strict=True):
        assert (record.fault, record.reason, record.turns) == ("p1", "error", 1)
        assert str(record.detail).startswith(f"ValueError: act_many: {words}")


def test_the_clock_of_a_decision_does_not_count_what_is_read_of_the_earlier_ones(both: Both) -> None:
    """Of others neither: 12 agents are asked in a batch, and the diagnostics of all take longer than a decision may."""
    played = between("gen1ou", 6, "array_agents:SlowDiagnostics", "array_agents:SlowDiagnostics")
    found = both.on_engine(played, Rules(think_limit=1.0, max_turns=4))
    assert {(record.fault, record.detail) for record in found} == {(None, None)}
    times = [row[5] for record in found for row in record.decisions]
    assert min(times) >= 100  # ms, as in the simulator: reading them belongs to the decision


def test_an_agent_that_fails_in_a_batch_loses_and_the_others_of_its_class_play_on(both: Both) -> None:
    played = between("gen1ou", 10, "array_agents:FailsInOneBattle", "array_agents:LastAction")
    found = both.on_engine(played)
    assert_same(found, both.simulated(played))
    assert 0 < sum(record.fault == "p1" for record in found) < 10
    words = "RuntimeError: not this one at array_agents.py:"
    assert all(str(record.detail).startswith(words) for record in found if record.fault)


def test_a_battle_that_the_engine_cannot_play_is_named(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    (fixture,) = between("gen1ou", 1, "random", "random")
    first, second = fixture.teams
    packed = "Missingno||||tackle|||||||"
    with pytest.raises(NotOnEngine, match="Missingno"):
        both.on_engine([replace(fixture, teams=(replace(first, packed=packed), second))])
    describe_rows = engine_venue.describe_rows
    monkeypatch.setattr(
        engine_venue, "describe_rows", lambda words: ([[STUCK, 1]] * len(words), describe_rows(words)[1])
    )
    with pytest.raises(NotOnEngine, match="Showdown itself fails"):
        both.on_engine([fixture])


def test_a_sample_is_replayed_and_a_difference_names_the_fixture(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    played = between("gen1ou", 4, "random", "random")
    assert len(both.on_engine(played, verify_every=1)) == 4
    from breaks_engine import wrong_step  # in reach only within tests

    monkeypatch.setattr(engine_venue.Engine, "step", wrong_step)
    with pytest.raises(VenuesDiffer) as raised:
        both.on_engine(played[:1], verify_every=1)
    words = str(raised.value)
    assert words.startswith(
        f"the engine and Showdown differ in gen1ou, fixture {played[0].key}, seed {played[0].seed}, random against random: "
    )
    assert ", decision " in words and "\n" not in words
    # Only those that the key chooses.
    every = next(n for n in range(2, 1000) if int(played[0].key, 16) % n)
    both.on_engine(played[:1], verify_every=every)


def test_the_logs_are_those_that_the_simulator_would_have_kept(both: Both) -> None:
    played = between("gen1ou", 3, "random", "random")
    replays = replay_all([record.input_log for record in both.on_engine(played)])
    for replay, record in zip(replays, both.simulated(played), strict=True):
        assert not isinstance(replay, ArenaError)
        assert replay.logs == record.logs
        decisions = [[row[2:5] for row in record.decisions if row[0] == seat] for seat in range(2)]
        facts: dict[str, Any] = {"winner": record.winner, "turns": record.turns, "input_log": record.input_log}
        assert difference(replay, **facts, decisions=decisions) is None
        assert difference(replay, **{**facts, "turns": 3}, decisions=decisions) == (
            f"the end: turn 3; on Showdown {record.turns}"
        )
        assert "input log, line 5: None" in str(
            difference(replay, **{**facts, "input_log": record.input_log[:4]}, decisions=decisions)
        )
        turn, legal, choice = decisions[1][2]
        decisions[1][2] = (turn, legal[1:], choice)
        assert str(difference(replay, **facts, decisions=decisions)).startswith(
            f"p2, decision 2 (turn {turn}): legal were "
        )
