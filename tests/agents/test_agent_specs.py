"""From a spec to an agent that plays: built-in ones, poke-env's, a user's own, and those of installed packages."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest
import zstandard
from support.command_line import Said
from support.tournaments import first_difference, table, tournament

from agents import known_specs, registry, resolve
from agents.poke_env_adapter import PokeEnvAgent
from agents.registry import UnknownAgent
from arena.record import unpacked
from arena.store import rows

POKE_ENV = ("poke-env:RandomPlayer", "poke-env:MaxBasePowerPlayer", "poke-env:SimpleHeuristicsPlayer")
OWN = ("own_players:MoveOrPokemon", "own_players:Words?depth=3", "own_players:Wire", "own_players:Last")


def test_options_get_the_type_of_their_defaults_and_a_canonical_order() -> None:
    source = resolve("own_players:Words?style=wild&risk=1&depth=3&bold=false")
    agent = source.make()
    assert source.spec == agent.name == "own_players:Words?bold=false&depth=3&risk=1&style=wild"
    assert (agent.bold, agent.depth, agent.risk, agent.style) == (False, 3, 1.0, "wild")  # type: ignore[attr-defined]
    assert isinstance(agent.risk, float)  # type: ignore[attr-defined]
    assert source.options == {"bold": True, "depth": 1, "risk": 0.5, "style": "plain"}


def test_every_known_spec_resolves_and_says_what_it_does() -> None:
    for spec, about in known_specs().items():
        source = resolve(spec)
        assert source.spec == spec and about == source.about != ""


def test_fingerprints_tell_agents_and_options_apart_and_nothing_else() -> None:
    specs = [*POKE_ENV, *OWN, "own_players:Words", "own_players:Words?depth=4", "random"]
    prints = [resolve(spec).fingerprint for spec in specs]
    assert len(set(prints)) == len(specs)
    assert prints == [resolve(spec).fingerprint for spec in specs]


def test_a_new_agent_is_made_for_every_battle() -> None:
    source = resolve("own_players:Words")
    assert source.make() is not source.make()


def test_any_player_class_gets_the_adapter() -> None:
    assert isinstance(resolve("own_players:Last").make(), PokeEnvAgent)
    assert isinstance(resolve("poke-env:RandomPlayer").make(), PokeEnvAgent)


def test_a_mistyped_module_or_class_of_ones_own_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "club_of_mine.py").write_text("from own_players import Wire as Member\n")
    with pytest.raises(UnknownAgent, match=r"no family or module 'club_of_min': did you mean club_of_mine:Member\?"):
        resolve("club_of_min:Member")
    with pytest.raises(UnknownAgent, match=r"module 'own_players' has no 'Wore': did you mean Wire"):
        resolve("own_players:Wore")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package that announces two agents, as pip would have installed it."""
    (tmp_path / "club_of_players.py").write_text("from own_players import Wire as Member\nnobody = 3\n")
    info = tmp_path / "club-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: club\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[arena.agents]\nclub = club_of_players:Member\nbroken-club = club_of_players:nobody\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    registry._announced.cache_clear()
    yield
    registry._announced.cache_clear()


def test_an_agent_of_an_installed_package_plays_under_its_name(installed: None, tmp_path: Path) -> None:
    assert "club" in known_specs()
    db = tmp_path / "arena.duckdb"
    tournament(db, "club", "random", workers=1)
    assert rows("SELECT count(*), count(fault) FROM battles WHERE 'club' IN (p1, p2)", db) == [(2, 0)]


def test_an_installed_package_that_announces_no_agent_is_refused(installed: None) -> None:
    with pytest.raises(UnknownAgent, match=r"'broken-club': 3 is neither an agents\.Agent nor a poke_env\.Player"):
        resolve("broken-club")


@pytest.mark.slow
def test_an_agent_of_a_users_own_in_the_current_folder_is_found(
    arena: Callable[..., Said], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where that folder holds folders named like the arena's own packages."""
    for name in ("agents", "arena", "training"):
        (tmp_path / name).mkdir()
    (tmp_path / "ten_lines.py").write_text("from own_players import Words as Mine\n")
    monkeypatch.chdir(tmp_path)
    said = arena("evaluate", "ten_lines:Mine", "random", "--format", "gen1randombattle", "--battles", 2)
    assert (said.code, said.err) == (0, "")
    assert rows("SELECT count(*), count(fault) FROM battles", tmp_path / "arena.duckdb") == [(2, 0)]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """The same tournament of poke-env's players and users' own by one, two and three workers."""
    found = {}
    opponents = [(agent, "random") for agent in (*POKE_ENV, *OWN)]
    for workers in (1, 2, 3):
        found[workers] = tmp_path_factory.mktemp("mixed") / f"{workers}.duckdb"
        tournament(
            found[workers], "random", *POKE_ENV, *OWN,
            formats=("gen1randombattle", "gen9ou"), pairings=opponents, workers=workers, think_limit=60.0, seed=11,
        )  # fmt: skip
    return found


@pytest.mark.slow
@pytest.mark.parametrize("workers", [2, 3])
def test_the_same_seed_gives_the_same_battles_whatever_the_number_of_workers(
    mixed: dict[int, Path], workers: int
) -> None:
    assert len(table(mixed[1], "key")) == 28
    assert first_difference(mixed[1], mixed[workers]) == ""


@pytest.mark.slow
def test_a_single_other_line_is_found_and_named(mixed: dict[int, Path], tmp_path: Path) -> None:
    """What the test above rests on."""
    db = shutil.copy(mixed[1], tmp_path)
    key, log = table(db, "key, p2_log")[5]
    lines = unpacked(bytes(log))
    lines[8] += "!"
    with duckdb.connect(str(db)) as connection:
        blob = zstandard.compress("\n".join(lines).encode())
        connection.execute("UPDATE battles SET p2_log = ? WHERE key = ?", [blob, key])
    said = first_difference(mixed[1], db).split("\n")
    assert len(said) == 2 and key in said[0]
    assert said[1].startswith("p2_log, line 9: ") and lines[8] in said[1]


@pytest.mark.slow
def test_another_seed_gives_other_battles(mixed: dict[int, Path], tmp_path: Path) -> None:
    db = tmp_path / "arena.duckdb"
    tournament(db, "random", POKE_ENV[0], workers=1, seed=12)
    assert not {row[0] for row in table(db)} & {row[0] for row in table(mixed[1])}


@pytest.mark.slow
@pytest.mark.parametrize("agent", [*POKE_ENV, *OWN])
def test_players_of_every_kind_play_to_the_end_without_fault(mixed: dict[int, Path], agent: str) -> None:
    found = rows("SELECT reason, fault, detail FROM battles WHERE ? IN (p1, p2)", mixed[1], [agent])
    assert len(found) == 4
    assert {(reason, fault) for reason, fault, _ in found} <= {("win", None), ("tie", None)}, found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("agent", "order"), [("own_players:Wire", "team 654321"), ("own_players:Last", "team 213456"), ("random", None)]
)
def test_the_team_preview_is_the_agents_own_order(mixed: dict[int, Path], agent: str, order: str | None) -> None:
    found = rows(
        "SELECT DISTINCT choice FROM decisions JOIN battles USING (battle_id) "
        "WHERE CASE seat WHEN 'p1' THEN p1 ELSE p2 END = ? AND format = 'gen9ou' AND index = 0",
        mixed[1],
        [agent],
    )
    assert found == [(order or "team 123456",)]
