"""gen9ou on the engine: its host's messages are Showdown's, and runs, `arena verify` and environments play on it."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command_line import PROJECT, Said
from support.compilers import need_compiler

from arena.fixture import Fixture, FixtureTeam, showdown_seed
from arena.store import rows
from arena.venue import VenuesDiffer
from arena.venues.engine import engine_host
from arena.venues.engine.hosted import HostedEngine
from arena.venues.simulator.host import Host
from teamsets.loading import load_set
from training.envs.learner import open_battles
from training.envs.mixed_battles import MixedBattles

need_compiler()

Arena = Callable[..., Said]
AGENTS = ("random", "heuristic:max-damage", "poke-env:SimpleHeuristicsPlayer")
PLAYED = ("--format", "gen9ou", "--teams", "competitive", "--battles", 2)


def fixture(number: int) -> Fixture:
    """A battle of random players on two of the competitive teams."""
    teams = load_set("competitive", "gen9ou").teams
    pair = tuple(FixtureTeam(team.id, team.name, team.packed) for team in (teams[number], teams[number + 5]))
    seed = showdown_seed("hosted engine", number)
    return Fixture("gen9ou", ("random", "random"), (pair[0], pair[1]), seed, str(number), "competitive")


@pytest.fixture
def parity(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(PROJECT / "scripts" / "parity"))
    import engine_host as script

    return script


def test_each_message_is_showdowns(parity: Any, capsys: pytest.CaptureFixture[str]) -> None:
    options = argparse.Namespace(battles=8, seed=3, teams="competitive", max_turns=40, show=5)
    assert asyncio.run(parity.compared(options)) == 0, capsys.readouterr().out


def test_requests_of_names_levels_and_a_terastallized_curse_are_showdowns(parity: Any) -> None:
    """Curse is aimed at itself but by a Ghost, which terastallizing makes or unmakes; a species may stand as its id."""
    end = "Jolly|,,,252,4,252||||{0}|,,,,,Ghost"
    team = f"Dragapult|dragapult|leftovers|clearbody|curse,dragondarts|{end.format('')}"
    team += f"]A Name of Its Own, Too Long|Ting-Lu|leftovers|vesselofruin|curse,earthquake|{end.format(50)}"

    async def differences() -> list[str]:
        async with await Host.launch() as showdown:
            hosts = showdown, engine_host.EngineHost()
            return [await asyncio.wait_for(parity.Play(hosts, (team, team), seed, 30).over, 60) for seed in range(6)]

    assert asyncio.run(differences()) == [""] * 6


def test_a_line_that_differs_is_found(
    parity: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = engine_host._Battle._tell

    def wrong(self: Any, lines: Any) -> None:
        told(self, [line.replace("|-damage|", "|-heal|") for line in lines])

    monkeypatch.setattr(engine_host._Battle, "_tell", wrong)
    options = argparse.Namespace(battles=2, seed=3, teams="competitive", max_turns=40, show=5)
    assert asyncio.run(parity.compared(options)) == 2
    assert "p1 log:" in capsys.readouterr().out


def test_any_agent_plays_a_run_on_the_engine_and_each_battle_is_verified(arena: Arena, tmp_path: Path) -> None:
    db = tmp_path / "arena.duckdb"
    said = arena("evaluate", *AGENTS, *PLAYED, "--venue", "engine", "--verify-every", 1, "--db", db)
    assert said.code == 0, said
    assert rows("SELECT venue, reason, count(*) FROM battles GROUP BY ALL", db) == [("engine", "win", 6)]
    said = arena("verify", "--db", db)
    assert said.code == 0 and "6 battles replayed (6 on Showdown): all are equal" in said.out
    said = arena("replay", 1, "--db", db)
    assert said.code == 0, said


def test_battles_of_the_simulator_are_verified_on_the_engine(arena: Arena, tmp_path: Path) -> None:
    db = tmp_path / "arena.duckdb"
    assert arena("evaluate", "random", "heuristic:max-damage", *PLAYED, "--db", db).code == 0
    said = arena("verify", "--db", db)
    assert said.code == 0 and "2 battles replayed (2 on the engine): all are equal" in said.out


@pytest.mark.parametrize(
    "words",
    [("evaluate", "random", "heuristic:max-damage", "--venue", "engine"), ("match", "search:exact", "random")],
)
def test_a_cache_folder_that_cannot_be_written_ends_a_run_before_its_battles(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    said = arena(*words, *PLAYED, "--db", tmp_path / "arena.duckdb")
    assert said.code == 2 and said.err.count("\n") == 1, said
    assert f"the cache folder {tmp_path}/file/battle-arena/engine-gen9 is not writable" in said.err


def test_a_difference_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from arena.battles.guard import StepGuard
    from arena.venue import Rules

    ended = engine_host._Battle.report

    def wrong(self: Any) -> Any:
        message = ended(self)
        if "end" in message:
            message["end"]["turns"] += 1
        return message

    monkeypatch.setattr(engine_host._Battle, "report", wrong)

    async def play() -> None:
        async with await Host.launch() as host:
            venue = HostedEngine(host, StepGuard(), Rules(), verify_every=1)
            await venue.play(fixture(0), 0)

    with pytest.raises(VenuesDiffer, match="the end: turn"):
        asyncio.run(play())


def test_a_switch_that_a_hidden_trap_forbids_is_no_difference() -> None:
    """Magnet Pull holds Steel types: the request says that they may be trapped, and whoever tries is asked again."""
    from arena.battles.guard import StepGuard
    from arena.venue import Rules
    from arena.venues.simulator.replaying import without_requests

    packed = "{0}||leftovers|{1}|{2}|Timid|,,,252,4,252|||||,,,,,Water"
    trapper = packed.format("Magnezone", "magnetpull", "thunderbolt")
    held = "]".join(packed.format(name, "pressure", "roost,bodypress") for name in ("Corviknight",))
    held += "]" + packed.format("Kingambit", "supremeoverlord", "swordsdance")
    teams = (FixtureTeam("1", "trapper", trapper), FixtureTeam("2", "held", held))

    async def play() -> list[Any]:
        async with await Host.launch() as host:
            venue = HostedEngine(host, StepGuard(), Rules(), verify_every=1)
            fixtures = [
                Fixture("gen9ou", ("random", "random"), teams, showdown_seed("trap", n), str(n), "x") for n in range(4)
            ]
            return [await venue.play(each, n) for n, each in enumerate(fixtures)]

    asked = 0
    for record in asyncio.run(play()):
        log, decisions = record.logs[1], [row for row in record.decisions if row[0] == 1]
        asked += len(log) - len(without_requests(log)) - len(decisions)
    assert asked > 0, "somebody tried"


def test_environments_play_it_as_they_play_showdown() -> None:
    places: list[Any] = [open_battles(venue, 2, "gen9ou") for venue in ("engine", "showdown")]
    assert isinstance(places[0], MixedBattles)
    fixtures = [fixture(1), fixture(2)]
    rng, all_rows = np.random.default_rng(0), np.arange(2)
    try:
        for place in places:
            place.begin(all_rows, fixtures, [(None, None)] * 2)
        for _ in range(12):
            needs = [place.needs_decision(all_rows) for place in places]
            assert (needs[0] == needs[1]).all()
            at, seats = np.nonzero(needs[0])
            seen = [place.observe(at, seats) for place in places]
            for ours, theirs in zip(*seen, strict=True):
                np.testing.assert_array_equal(ours, theirs)
            actions = np.full((2, 2), -1, np.int64)
            actions[at, seats] = [rng.choice(np.flatnonzero(legal)) for legal in seen[0].legal]
            for place in places:
                place.play(all_rows, actions)
        assert (places[0].turns == places[1].turns).all() and places[0].turns.min() > 3
    finally:
        for place in places:
            place.close()


def test_a_team_beyond_the_tables_is_played_in_the_simulator(arena: Arena, tmp_path: Path) -> None:
    folder = tmp_path / "sets"
    folder.mkdir()
    sets = (PROJECT / "teamsets" / "competitive" / "gen9ou").glob("*.txt")
    team = sorted(sets)[0].read_text()
    _, *rest = team.split("\n\n")
    moves = "- Knock Off\n- Sucker Punch\n- U-turn\n- Taunt"
    other = f"Zoroark @ Leftovers\nAbility: Illusion\nTera Type: Grass\nEVs: 252 Atk / 252 Spe\nJolly Nature\n{moves}"
    (folder / "zoroark.txt").write_text("\n\n".join([other, *rest]))
    db = tmp_path / "arena.duckdb"
    said = arena(
        "evaluate", "random", "heuristic:max-damage", "--format", "gen9ou", "--teams", folder, "--battles", 2,
        "--venue", "engine", "--db", db,
    )  # fmt: skip
    assert said.code == 0, said
    assert rows("SELECT DISTINCT venue FROM battles", db) == [("simulator",)]
    assert "Zoroark: the generation-9 engine does not play 'Illusion' (abilities)" in said.out
