"""Series: as long as Showdown's own, one result each for everything that counts, and the same after any kill."""

from __future__ import annotations

import itertools
import json
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
from support.tournaments import table, tournament

from arena.fixture import Fixture, FixtureTeam
from arena.ratings.sprt import Sprt, SprtSettings
from arena.record import BattleRecord
from arena.report.match import match_of
from arena.report.summary import summarize
from arena.run.settings import evaluate_settings, match_settings
from arena.run.tournament import EvaluateSettings, play_into, prepare, resume
from arena.schedules.match import Match
from arena.schedules.plan import Plan, round_robin
from arena.schedules.schedule import RoundRobin
from arena.schedules.series import SeriesSchedule, series_score
from arena.store import open_store, rows
from arena.testing import StandInVenue
from teamsets.errors import BadInput
from teamsets.showdown import node, package

TEAMS = tuple(FixtureTeam(f"{number:016x}", f"team {number}", packed=f"packed {number}") for number in range(9))
PLAN = Plan(("a", "b", "c"), {("gen1ou", "one"): TEAMS}, battles=20, seed=3, best_of=3)
#: Decided by the fixture alone, ties among them.
WINNER = StandInVenue(lambda fixture: ("p1", "p2", None, "p1", "p2")[int(fixture.key, 16) % 5])
RANDOM = "gen1randombattle"

_SHOWDOWN = """
const {BestOfGame} = require(process.argv[1] + '/dist/server/room-battle-bestof.js');
const outcomes = JSON.parse(require('fs').readFileSync(0, 'utf8')).map(({scores, bestOf}) => {
  const players = ['p1', 'p2'].map(id => ({id, wins: 0, num: id === 'p1' ? 1 : 2}));
  let end = null;
  const game = Object.assign(Object.create(BestOfGame.prototype), {
    bestOf, winThreshold: Math.floor(bestOf / 2) + 1, ties: 0, games: [], players, room: {add: () => ({update() {}})},
    playerTable: {p1: players[0], p2: players[1]}, end: winner => { end = winner; }, promptNextGame() {},
  });
  Object.defineProperty(game, 'ended', {get: () => end !== null});
  let played = 0;
  for (const score of scores) {
    if (end !== null) break;
    played++;
    game.games.push({room: '', winner: undefined});
    game.onBattleWin({battle: {players: [{num: 1, dcSecondsLeft: 9}, {num: 2, dcSecondsLeft: 9}]}},
      score === 1 ? 'p1' : score === 0 ? 'p2' : '');
  }
  return [end === null ? null : {p1: 1, p2: 0, '': 0.5}[end], played];
});
console.log(JSON.stringify(outcomes));
"""


def test_a_series_ends_when_showdown_ends_it() -> None:
    cases = [
        {"scores": scores, "bestOf": best_of}
        for best_of in (3, 5)
        for length in range(best_of + 1)
        for scores in itertools.product((1, 0.5, 0), repeat=length)
    ]
    command = [node(), "-e", _SHOWDOWN, str(package())]
    done = subprocess.run(command, input=json.dumps(cases), capture_output=True, text=True, check=True)
    for case, (expected, played) in zip(cases, json.loads(done.stdout), strict=True):
        scores, best_of = case["scores"], case["bestOf"]
        decided = [n for n in range(1, len(scores) + 1) if series_score(scores[:n], best_of) is not None]
        ours = (series_score(scores[: decided[0]], best_of), decided[0]) if decided else (None, len(scores))
        assert ours == (expected, played), case


def by_series(fixtures: list[Fixture]) -> dict[str, list[Fixture]]:
    found: dict[str, list[Fixture]] = defaultdict(list)
    for fixture in fixtures:
        assert fixture.series is not None
        found[fixture.series].append(fixture)
    return found


def play_plan(plan: Plan, at_once: int = 1, seed: int = 0) -> list[Fixture]:
    return WINNER.play_schedule(SeriesSchedule(RoundRobin(plan, {}), {}), at_once=at_once, seed=seed)


def test_the_battles_of_a_series_have_the_same_teams_and_their_own_seeds_and_no_more_are_played_than_it_takes() -> None:
    series = by_series(play_plan(PLAN))
    assert len(series) == len(PLAN) == 60
    lengths = set()
    for battles in series.values():
        assert len({(battle.agents, battle.teams, battle.pair) for battle in battles}) == 1
        assert len({battle.seed for battle in battles}) == len(battles)
        assert [battle.game for battle in battles] == list(range(1, len(battles) + 1))
        scores = [{"p1": 1.0, "p2": 0.0, None: 0.5}[WINNER.record(battle).winner] for battle in battles]
        assert series_score(scores, 3) is not None
        assert all(series_score(scores[:n], 3) is None for n in range(len(scores)))
        lengths.add(len(scores))
    assert lengths == {2, 3}


def test_the_two_series_of_a_pair_exchange_the_agents_and_keep_teams_and_seeds() -> None:
    pairs = defaultdict(list)
    for first in round_robin(PLAN):
        pairs[first.pair].append([first, first.next_game(), first.next_game().next_game()])
    for one, other in pairs.values():
        for battle, swapped in zip(one, other, strict=True):
            assert (battle.seed, battle.teams) == (swapped.seed, swapped.teams)
            assert battle.agents == swapped.agents[::-1]
        assert one[0].series != other[0].series


def test_they_are_other_battles_than_single_ones_and_series_of_another_length() -> None:
    lengths = [Plan(PLAN.agents, PLAN.pools, PLAN.battles, PLAN.seed, best_of=best_of) for best_of in (1, 3, 5)]
    keys = [{fixture.key for fixture in round_robin(plan)} for plan in lengths]
    assert not keys[0] & keys[1] and not keys[1] & keys[2]
    assert all(fixture.series is None for fixture in round_robin(lengths[0]))


@pytest.mark.parametrize("at_once", [2, 7, 40])
def test_the_same_battles_however_many_are_played_at_once(at_once: int) -> None:
    expected = {fixture.key for fixture in play_plan(PLAN)}
    assert {fixture.key for fixture in play_plan(PLAN, at_once, seed=at_once)} == expected


@pytest.mark.parametrize("played", [1, 17, 90])
def test_a_killed_schedule_plays_exactly_the_rest(played: int) -> None:
    everything = play_plan(PLAN)
    stored = {f.key: {"p1": 1.0, "p2": 0.0, None: 0.5}[WINNER.record(f).winner] for f in everything[:played]}
    schedule = SeriesSchedule(RoundRobin(PLAN, {}), stored)
    rest = WINNER.play_schedule(schedule)
    assert schedule.already_played == played
    assert {f.key for f in rest} == {f.key for f in everything} - stored.keys()


def test_a_sequential_test_counts_each_series_as_one_result_and_decides_the_same_at_any_width() -> None:
    plan = Plan(("a", "b"), PLAN.pools, battles=4000, seed=1, best_of=3)
    decided = StandInVenue(lambda f: "p1" if (f.agents[0] == "a") == bool(int(f.key, 16) % 4) else "p2")
    ends = []
    for at_once in (1, 9):
        match = Match(plan, {}, Sprt(SprtSettings(elo0=0, elo1=60)))
        schedule = SeriesSchedule(match, {})
        decided.play_schedule(schedule, at_once=at_once)
        assert schedule.over and match.test is not None
        ends.append((match.test.decision, match.points))
    assert ends[0] == ends[1]
    assert ends[0][0] == "H1" and set(ends[0][1]) <= {0.0, 0.5, 1.0, 1.5, 2.0}


def test_an_aborted_battle_leaves_its_series_without_a_result_and_its_pair_out_of_a_match() -> None:
    plan = Plan(("a", "b"), PLAN.pools, battles=4, seed=1, best_of=3)
    aborted = next(round_robin(plan)).next_game().key

    def result(fixture: Fixture) -> BattleRecord | str:
        if fixture.key == aborted:
            return BattleRecord(fixture, None, "aborted", fault="venue")
        return "p1"

    match = Match(plan, {}, None)
    played = StandInVenue(result).play_schedule(SeriesSchedule(match, {}))
    assert len(played) == 4 * 2
    assert match.points == [1.0]
    assert match.remark() == "a 50.0% (pairs: 1)"


# Whole runs.


def test_a_run_counts_series_in_views_ratings_and_report(tmp_path: Path) -> None:
    db = tmp_path / "arena.duckdb"
    run = tournament(db, "random", "heuristic:max-power", "heuristic:max-damage", battles=12, best_of=3, cluster=WINNER)
    series = rows(
        "SELECT series, wins, losses, ties, score::DOUBLE, outcome, winner, agent, opponent FROM series_results "
        "WHERE for_run = ? AND seat = 'p1'",
        db,
        [run],
    )
    assert len(series) == 36
    battles = defaultdict(list)
    for name, winner in rows("SELECT series, winner FROM battles ORDER BY game", db):
        battles[name].append({"p1": 1.0, "p2": 0.0, None: 0.5}[winner])
    for name, wins, losses, ties, score, outcome, winner, agent, opponent in series:
        assert [battles[name].count(value) for value in (1.0, 0.0, 0.5)] == [wins, losses, ties]
        assert score == series_score(battles[name], 3)
        assert (outcome, winner) == {1: ("win", agent), 0: ("loss", opponent), 0.5: ("tie", None)}[score]
    summary = summarize(db, run)
    [format_summary] = summary["formats"]
    assert (format_summary["unit"], format_summary["battles"]) == ("series", 36)
    assert [row["games"] for row in format_summary["ranking"]] == [24, 24, 24]
    assert sum(row["battles"] for row in format_summary["series"]) == sum(map(len, battles.values()))
    for row in format_summary["series"]:
        assert row["series"] == row["won"] + row["lost"] + row["tied"] == sum(each["series"] for each in row["scores"])
        [cell] = [c for c in format_summary["cross"] if (c["agent"], c["opponent"]) == (row["agent"], row["opponent"])]
        assert (cell["battles"], cell["wins"], cell["losses"]) == (12, row["won"], row["lost"])


def test_battles_of_series_and_single_ones_do_not_count_for_each_other(tmp_path: Path) -> None:
    db = tmp_path / "arena.duckdb"
    agents = ("random", "heuristic:max-power")
    for best_of in (1, 3, 5):
        tournament(db, *agents, best_of=best_of, cluster=WINNER)
    assert rows("SELECT count(*) FROM evidence", db) == [(0,)]
    again = tournament(db, *agents, best_of=3, cluster=WINNER)
    assert rows("SELECT count(*) FROM battles WHERE run_id = ?", db, [again]) == [(0,)]
    assert rows("SELECT count(*) FROM series_results WHERE for_run = ? AND score IS NOT NULL", db, [again]) == [(4,)]


@pytest.mark.parametrize("schedule", ["round-robin", "adaptive", "match"])
def test_a_run_that_is_cut_off_and_resumed_has_the_battles_of_a_whole_one(tmp_path: Path, schedule: str) -> None:
    agents = ("random", "heuristic:max-power", "heuristic:max-damage")[: 2 if schedule == "match" else 3]
    budget = 40 if schedule == "adaptive" else None
    settings = EvaluateSettings(
        agents=agents, formats=(RANDOM,), battles=10, budget=budget, best_of=3, schedule=schedule
    )  # type: ignore[arg-type]
    whole = tmp_path / "whole.duckdb"
    play_into(whole, settings, kind="match", cluster=WINNER)
    cut = tmp_path / "cut.duckdb"
    left = itertools.count(1)

    def result(fixture: Fixture) -> str | None:
        if next(left) > 9:
            raise ConnectionError
        return WINNER.record(fixture).winner

    with pytest.raises(ConnectionError):
        play_into(cut, settings, kind="match", cluster=StandInVenue(result))
    with open_store(cut) as store:
        run = resume(store, None, None, kind="match")
        assert 0 < len(run.results) < 12
        schedule_left = run.schedule()
        for record in map(WINNER.record, WINNER.play_schedule(schedule_left)):
            store.add(record.to_line(run.run_id))
    with open_store(cut):
        assert table(cut, "key, winner, series, game") == table(whole, "key, winner, series, game")
    reports = [match_of(db, rows("SELECT run_id FROM runs", db)[0][0]) for db in (whole, cut)]
    assert reports[0] == reports[1]
    assert (reports[0] is not None) == (schedule == "match")
    if reports[0] is not None:
        assert (reports[0]["unit"], reports[0]["pairs"]) == ("series", 5)


def test_single_battles_are_no_series(tmp_path: Path) -> None:
    db = tmp_path / "arena.duckdb"
    run = tournament(db, "random", "heuristic:max-power", cluster=WINNER)
    assert rows("SELECT series, game, best_of, open_sheets FROM battles", db) == [(None, None, None, False)] * 2
    assert rows("SELECT count(*) FROM series_results", db) == [(0,)]
    assert summarize(db, run)["formats"][0]["series"] == []


# Settings.


def test_formats_of_series_are_series_of_their_battles(tmp_path: Path) -> None:
    name = "gen9championsvgc2026regma"
    for given in ({"format": f"{name}bo3"}, {"format": f"{name}bo3", "best_of": 3}, {"format": name, "best_of": 3}):
        for settings in (
            evaluate_settings(("a", "b"), False, given)[0],  # type: ignore[arg-type]
            match_settings(("a", "b"), None, given),  # type: ignore[arg-type]
        ):
            assert (settings.formats, settings.best_of) == ((name,), 3)
    pool = tmp_path / "pool.toml"
    pool.write_text(f'[evaluate]\nagents = ["a"]\nformats = ["{name}bo3"]\n')
    settings, _ = evaluate_settings(("a", "b"), False, {"pool": pool})
    assert (settings.formats, settings.best_of) == ((name,), 3)
    pool.write_text('[evaluate]\nagents = ["a"]\nbest_of = 5\n')
    assert evaluate_settings(("a", "b"), False, {"pool": pool})[0].best_of == 5


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"best_of": 4}, "--best-of 4: a series has an odd number of battles"),
        ({"best_of": 11}, "best_of is 11: must be at least 1 and at most 9"),
        ({"format": ("gen1ou", "gen9vgc2025regibo3")}, "all formats of a run are played in series of one length"),
        ({"format": "gen9vgc2025regibo3", "best_of": 5}, "--best-of 5: all formats"),
    ],
)
def test_what_is_no_series_is_refused_in_one_line(given: dict[str, object], message: str) -> None:
    with pytest.raises(BadInput, match=message) as error:
        evaluate_settings(("a", "b"), False, given)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)


def test_sheets_are_open_in_series_of_formats_that_have_them_and_nowhere_else(tmp_path: Path) -> None:
    with open_store(tmp_path / "arena.duckdb") as store:
        for format_id, best_of, expected in ((RANDOM, 3, False), (RANDOM, 1, False)):
            settings = EvaluateSettings(agents=("random", "heuristic:max-power"), formats=(format_id,), best_of=best_of)
            assert next(round_robin(prepare(store, settings).plan)).open_sheets is expected
    for format_id, best_of, expected in (
        ("gen9vgc2025regi", 3, True),
        ("gen9vgc2025regi", 1, False),
        ("gen9doublesou", 3, False),
    ):
        first = next(round_robin(Plan(("a", "b"), {(format_id, "x"): TEAMS}, 2, 0, best_of=best_of)))
        assert first.open_sheets is first.next_game().open_sheets is expected
