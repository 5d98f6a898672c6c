"""What cannot be used is refused with one line that names the input and the mend, and exit code 2."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from support.command_line import PROJECT, Said, run_arena

from arena.store import database, rows, writer_lock
from arena.store.schema import VERSION

TWO = ("random", "poke-env:RandomPlayer")
RANDOM = ("--format", "gen1randombattle", "--battles", 2)
Arena = Callable[..., Said]


def assert_refused(said: Said, *words: str) -> None:
    """One line on stderr with these words in it, nothing begun."""
    assert said.code == 2, said
    assert said.err.startswith(("arena: ", "Usage: ")), said.err
    if said.err.startswith("arena: "):
        assert said.err.count("\n") == 1, said.err
    assert "Traceback" not in said.err
    for word in words:
        assert word in said.err, said.err


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("randon", ["agent 'randon'", "did you mean random"]),
        ("poke-env:RandomPlayr", ["no poke-env named 'RandomPlayr'", "did you mean RandomPlayer"]),
        ("heuristic", ["agent 'heuristic': the name of a heuristic is missing"]),
        ("no_such_module:Player", ["agent 'no_such_module:Player'", "there is no family or module 'no_such_module'"]),
        ("bad_agents:Nobody", ["module 'bad_agents' has no 'Nobody'"]),
        ("bad_agents:SECONDS", ["neither an agents.Agent nor a poke_env.Player"]),
        ("random?depth=3", ["unknown option 'depth'", "it has none"]),
        ("bad_agents:Slow?speed=3", ["unknown option 'speed'", "it has ms"]),
        ("bad_agents:Slow?ms=fast", ["option 'ms' must be of type float, not 'fast'"]),
    ],
)
def test_agent_that_cannot_be_found_or_made(arena: Arena, agent: str, words: list[str]) -> None:
    assert_refused(arena("evaluate", agent, "random", *RANDOM), *words)


def test_a_class_without_a_decision_is_refused_before_it_plays(arena: Arena, tmp_path: Path) -> None:
    (tmp_path / "idle_agent.py").write_text("from agents import Agent\n\n\nclass Idle(Agent):\n    pass\n")
    assert_refused(arena("evaluate", "idle_agent:Idle", "random", *RANDOM), "idle_agent:Idle", "has no method act")


def test_a_database_that_a_refused_run_began_is_not_left_behind(arena: Arena, tmp_path: Path) -> None:
    assert_refused(arena("evaluate", *TWO, "--format", "gen1oo"), "gen1oo")
    assert not list(tmp_path.rglob("*.duckdb"))
    assert arena("evaluate", *TWO, *RANDOM).code == 0
    (db,) = tmp_path.rglob("*.duckdb")
    assert_refused(arena("evaluate", *TWO, "--format", "gen1oo", "--db", db), "gen1oo")
    assert rows("SELECT count(*) FROM battles", db) == [(2,)]


def test_module_that_fails_while_it_is_imported(arena: Arena, tmp_path: Path) -> None:
    (tmp_path / "broken_module.py").write_text("raise RuntimeError('half written')\n")
    assert_refused(
        arena("evaluate", "broken_module:Mine", "random"), "importing 'broken_module' failed", "half written"
    )


@pytest.mark.parametrize(
    ("format_id", "words"),
    [
        ("ou", ["format 'ou'", "gen1ou"]),
        ("gen10ou", ["format 'gen10ou'"]),
        ("gen1oo", ["gen1oo"]),
        ("gen9triples", ["format 'gen9triples'", "only singles and doubles", "gen9doublesou"]),
        ("gen9chimera1v1randombattlebo5", ["format 'gen9chimera1v1randombattle'"]),
        ("gen3randombatle", ["gen3randombatle"]),
    ],
)
def test_format_that_is_not_played(arena: Arena, format_id: str, words: list[str]) -> None:
    assert_refused(arena("evaluate", *TWO, "--format", format_id, "--battles", 2), *words)


def test_an_agent_that_plays_singles_only(arena: Arena) -> None:
    said = arena("evaluate", "heuristic:pessimist", "random", "--format", "gen9randomdoublesbattle", "--battles", 2)
    assert_refused(said, "agent 'heuristic:pessimist': cannot play gen9randomdoublesbattle", "plays singles only")


def test_unknown_team_set(arena: Arena) -> None:
    said = arena("evaluate", *TWO, "--teams", "competetive")
    assert_refused(said, "team set 'competetive'", "did you mean competitive")


def test_empty_team_folder(arena: Arena, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    assert_refused(arena("evaluate", *TWO, "--teams", "mine"), "mine")


@pytest.fixture
def mixed_teams(tmp_path: Path) -> Path:
    """A folder with two good teams and one that the validator refuses."""
    folder = tmp_path / "mixed"
    folder.mkdir()
    shipped = sorted((PROJECT / "teamsets" / "competitive" / "gen1ou").glob("*.txt"))
    for path in shipped[:2]:
        shutil.copy(path, folder)
    (folder / "zz-bad.txt").write_text("Tauros\nAbility: No Ability\n- Fly\n")
    return folder


def test_folder_with_an_invalid_team(arena: Arena, mixed_teams: Path) -> None:
    said = arena("evaluate", *TWO, "--format", "gen1ou", "--teams", mixed_teams)
    assert_refused(said, "zz-bad.txt", "Tauros", "--skip-invalid")


def test_skip_invalid_leaves_the_refused_team_out_and_counts_it(
    arena: Arena, mixed_teams: Path, tmp_path: Path
) -> None:
    said = arena("evaluate", *TWO, "--format", "gen1ou", "--teams", mixed_teams, "--skip-invalid", "--battles", 2)
    assert (said.code, said.err) == (0, "")
    assert "1 team left out" in said.out and "zz-bad.txt" in said.out
    assert rows("SELECT count(*) FROM teams", tmp_path / "arena.duckdb") == [(2,)]


def test_fewer_than_two_agents(arena: Arena) -> None:
    assert_refused(arena("evaluate", "random"), "at least two different ones", "not 1")
    assert_refused(arena("evaluate", "random", "random"), "at least two different ones", "not 1")
    assert_refused(arena("evaluate"), "agents: none given")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "[evaluate]\nagent = ['random']\n",
            ["arena.toml", "agent is not a setting: there are agents, optional, formats, "],
        ),
        ("[evaluate]\nagents = 'random'\n", ["arena.toml", "agents is 'random': must be a list"]),
        ("[evaluate]\nagents = [1, 2]\n", ["arena.toml", "agents holds 1: each must be a text"]),
        ("[evaluate]\nagents = []\n", ["arena.toml", "agents is empty"]),
        ("[evaluate]\nagents = ['random']\nbattles = true\n", ["battles is True: must be a whole number"]),
        ("[evaluate]\nagents = ['random']\nbattles = 0\n", ["battles"]),
        (
            "[evaluate]\nagents = ['random']\nthink_limit = -1\n",
            ["think_limit is -1: must be more than 0 and at most"],
        ),
        ("[evaluate]\nagents = ['random']\nformats = []\n", ["formats"]),
        ("evaluate = 3\n", ["arena.toml", "evaluate"]),
        ("[evalute]\nagents = ['random']\n", ["arena.toml", "evalute"]),
        ("[evaluate\n", ["arena.toml", "not valid TOML"]),
    ],
)
def test_bad_pool_file(arena: Arena, tmp_path: Path, text: str, words: list[str]) -> None:
    (tmp_path / "arena.toml").write_text(text)
    assert_refused(
        arena("evaluate", "--all", "random", "poke-env:RandomPlayer", "--format", "gen1ou")
        if "formats" not in text
        else arena("evaluate", "--all", "poke-env:RandomPlayer"),
        *words,
    )


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", *TWO, "--minutes", "nan"),
        ("evaluate", *TWO, "--minutes", "inf"),
        ("evaluate", *TWO, "--minutes", 0),
        ("evaluate", *TWO, "--think-limit", "inf"),
        ("evaluate", *TWO, "--think-limit", "soon"),
        ("evaluate", *TWO, "--battles", 10**30),
        ("evaluate", *TWO, "--seed", 10**30),
        ("match", *TWO, "--minutes", "nan"),
        ("match", *TWO, "--think-limit", "nan"),
        ("match", *TWO, "--sprt", "elo0=nan"),
        ("match", *TWO, "--sprt", "elo1=inf"),
        ("match", *TWO, "--sprt", "alpha=nan"),
        ("battle", *TWO, "--seed", 10**30),
        ("serve", "--agents", "random", "--patience", "nan"),
        ("watch", 1, "--delay", "nan"),
    ],
)
def test_number_that_is_none_or_absurd(arena: Arena, words: tuple[object, ...]) -> None:
    said = arena(*words)
    assert_refused(said, str(words[-1]).partition("=")[0])
    assert not Path("arena.duckdb").exists()


def test_query_in_an_empty_folder_makes_no_file(arena: Arena, tmp_path: Path) -> None:
    assert_refused(arena("sql", "select 1"), "database arena.duckdb")
    assert list(tmp_path.iterdir()) == []


def test_pool_file_that_is_not_there(arena: Arena) -> None:
    assert_refused(arena("evaluate", "--all", "--pool", "none.toml"), "pool file none.toml", "--pool FILE")


class TestDatabase:
    """Every command refuses what is no battle database, and leaves it as it was."""

    @pytest.fixture(params=["evaluate", "battle", "sql", "replay"])
    def command(self, request: pytest.FixtureRequest) -> tuple[object, ...]:
        return {
            "evaluate": ("evaluate", *TWO, *RANDOM),
            "battle": ("battle", *TWO, "--format", "gen1randombattle"),
            "sql": ("sql", "SELECT 1"),
            "replay": ("replay", 1),
        }[request.param]

    def test_a_text_file(self, arena: Arena, command: tuple[object, ...], tmp_path: Path) -> None:
        path = tmp_path / "clock.txt"  # its name must not look like a lock
        path.write_text("no database\n" * 1000)
        assert_refused(arena(*command, "--db", path), str(path), "not a battle database", "--db FILE")
        assert path.read_text() == "no database\n" * 1000

    def test_another_duckdb_database(self, arena: Arena, command: tuple[object, ...], tmp_path: Path) -> None:
        path = tmp_path / "shop.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute("CREATE TABLE orders AS SELECT 1 AS id")
        assert_refused(arena(*command, "--db", path), str(path), "not a battle database", "orders", "--db FILE")
        with duckdb.connect(str(path), read_only=True) as connection:
            assert connection.execute("SHOW TABLES").fetchall() == [("orders",)]

    def test_one_of_a_newer_schema(self, arena: Arena, command: tuple[object, ...], tmp_path: Path) -> None:
        path = tmp_path / "new.duckdb"
        database.connect(path, read_only=False).close()
        with duckdb.connect(str(path)) as connection:
            connection.execute("INSERT INTO arena_schema (version) VALUES (?)", [VERSION + 1])
        assert_refused(
            arena(*command, "--db", path), str(path), f"schema {VERSION + 1}", "update the arena", "--db FILE"
        )

    def test_one_that_another_program_holds(
        self, arena: Arena, command: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "held.duckdb"
        database.connect(path, read_only=False).close()
        hold = f"import duckdb; c = duckdb.connect({str(path)!r}); print('held', flush=True); input()"
        monkeypatch.setattr(database, "PATIENCE", 0.2)
        with subprocess.Popen(
            [sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as holder:
            assert holder.stdout is not None and holder.stdout.readline() == "held\n"
            said = arena(*command, "--db", path)
            holder.kill()
        assert_refused(said, str(path), f"process {holder.pid} has it open", "--db FILE")

    def test_one_in_a_folder_that_cannot_be_written(
        self, arena: Arena, command: tuple[object, ...], tmp_path: Path
    ) -> None:
        (tmp_path / "file").write_text("")
        path = tmp_path / "file" / "arena.duckdb"
        assert_refused(arena(*command, "--db", path), str(path), "--db FILE")


def test_a_database_that_another_run_plays_into(arena: Arena, tmp_path: Path) -> None:
    path = tmp_path / "arena.duckdb"
    with writer_lock(path):
        said = arena("evaluate", *TWO, *RANDOM, "--db", path)
        assert_refused(said, str(path), f"process {os.getpid()} is writing to it", "--db FILE")
    assert arena("evaluate", *TWO, *RANDOM, "--db", path).code == 0  # free again


def test_query_of_a_database_that_is_not_there(arena: Arena) -> None:
    assert_refused(arena("sql", "SELECT 1", "--db", "none.duckdb"), "none.duckdb", "no such file", "--db FILE")
    assert not Path("none.duckdb").exists()


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("SELEC 1", "SELEC"),
        ("SELECT * FROM battels", "battels"),
        ("SELECT nothing FROM battles", "nothing"),
        ("", "query"),
    ],
)
def test_query_that_fails(arena: Arena, played: Path, query: str, word: str) -> None:
    assert_refused(arena("sql", query, "--db", played), "sql: ", word)


class TestResume:
    def test_without_any_run(self, arena: Arena) -> None:
        assert_refused(arena("evaluate", "--resume"), "no run to resume")

    def test_of_an_unknown_run(self, arena: Arena, played: Path, tmp_path: Path) -> None:
        db = shutil.copy(played, tmp_path / "arena.duckdb")
        assert_refused(
            arena("evaluate", "--resume", "19990101-000000", "--db", db), "run '19990101-000000'", "latest are"
        )

    def test_with_other_agents(self, arena: Arena) -> None:
        assert_refused(arena("evaluate", *TWO, "--resume"), "--resume")

    @pytest.mark.slow
    def test_when_the_code_of_an_agent_has_changed(self, arena: Arena, tmp_path: Path) -> None:
        source = """
            from agents import Agent
            class Mine(Agent):
                def act(self, battle):
                    return battle.legal[{}]
        """
        (tmp_path / "changing_agent.py").write_text(textwrap.dedent(source.format(0)))
        assert arena("evaluate", "changing_agent:Mine", "random", *RANDOM).code == 0
        (tmp_path / "changing_agent.py").write_text(textwrap.dedent(source.format(-1)))
        said = arena("evaluate", "--resume")
        assert_refused(said, "changing_agent:Mine has changed", "without --resume")


@pytest.mark.slow
def test_the_console_script_refuses_as_well(tmp_path: Path) -> None:
    assert_refused(run_arena("evaluate", "randon", "random", cwd=tmp_path), "agent 'randon'", "did you mean random")
    assert_refused(run_arena("evaluate", "--battels", "3", cwd=tmp_path), "--battels")
