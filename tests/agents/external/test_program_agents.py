"""Programs of other people as agents: their specs, what they lack, how they are started, what they are known by."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support.command_line import TESTS, Said
from support.foul_play_environment import prepare_stand_in

from agents import resolve
from agents.external import BattleAddress
from agents.external.foul_play import FoulPlay, contents
from agents.external.foul_play_launch import _with_moves
from agents.external.foul_play_setup import _requirements, set_up
from arena.run.pool import SHIPPED, load_defaults
from teamsets.errors import BadInput, MissingTool

STAND_INS = TESTS / "support" / "stand_ins"


def battle_address(folder: Path, format_id: str = "gen1ou", role: str = "challenge") -> BattleAddress:
    team_file = folder / "team.txt"
    team_file.write_text("Tauros\n- Body Slam\n")
    uri = "ws://127.0.0.1:1/showdown/websocket"
    return BattleAddress(uri, "visitor1", "arena2", role, format_id, "Tauros|||bodyslam", team_file, folder)  # type: ignore[arg-type]


def test_a_command_is_split_and_filled_in(tmp_path: Path) -> None:
    spec = "external?command=python 'my bot.py' --at {uri} --as {user} --to {opponent} {role} {format} {team}x{battles}"
    agent = resolve(spec).make()
    program = agent.program(battle_address(tmp_path))  # type: ignore[attr-defined]
    words = ["python", "my bot.py", "--at", "ws://127.0.0.1:1/showdown/websocket", "--as", "visitor1", "--to", "arena2"]
    assert program.command == [*words, "challenge", "gen1ou", "Tauros|||bodyslamx1"]
    assert program.environment["ARENA_TEAM_FILE"] == str(tmp_path / "team.txt")
    assert program.environment["ARENA_FOLDER"] == str(tmp_path)


@pytest.mark.parametrize(
    "command", ["python bot.py {uri}", "bot --x=1 --y=a%2Bb", "bot 'a%26b' 100%25 %23", "bot ä", "bot\t-v"]
)
def test_a_spec_means_the_same_when_it_is_read_again(command: str) -> None:
    once = resolve(f"external?command={command}&start=9")
    again = resolve(once.spec)
    assert again.spec == once.spec and again.fingerprint == once.fingerprint
    assert once.make().argv == again.make().argv  # type: ignore[attr-defined]
    assert once.is_external and not once.repeatable


def test_plus_and_percent_are_decoded_once() -> None:
    assert resolve("external?command=bot+-v 1%2B1").make().argv == ["bot", "-v", "1+1"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("external", "command is required"),
        ("external?command=python {name}", "known are uri, user"),
        ("external?command=python 'x", "quotation"),
        ("external?command=python x&role=watch", "use challenge or accept"),
        ("external?command=no-such-program-anywhere", "was not found"),
        ("external?command=python x&cwd=/no/such", "is not a folder"),
    ],
)
def test_what_is_wrong_with_a_command_is_said_before_a_run(
    spec: str, words: str, arena: Callable[..., Said], tmp_path: Path
) -> None:
    assert words in resolve(spec).missing("gen1ou")
    said = arena("evaluate", spec, "random", "--db", tmp_path / "a.duckdb")
    assert said.code == 2
    assert words in said.err and len(said.err.strip().split("\n")) == 1


def test_a_program_is_known_by_the_files_that_its_command_names(tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text("1")
    spec = f"external?command=python {bot}"
    before = resolve(spec).fingerprint
    assert resolve(spec).fingerprint == before
    bot.write_text("2")
    assert resolve(spec).fingerprint != before


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for a checkout of foul-play, named to the arena; not set up."""
    folder = tmp_path / "foul-play"
    shutil.copytree(STAND_INS / "foul_play", folder)
    monkeypatch.setenv("ARENA_FOUL_PLAY", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


def test_the_doctor_leads_to_foul_play_step_by_step(
    arena: Callable[..., Said], checkout: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ARENA_FOUL_PLAY")
    said = arena("agents", "doctor", "foul-play")
    assert said.code == 1 and "git clone" in said.out and "ARENA_FOUL_PLAY" in said.out
    (tmp_path / "arena.toml").write_text('[evaluate]\nagents = ["random"]\n[external]\nfoul-play = "elsewhere"\n')
    assert "elsewhere is not a checkout" in arena("agents", "doctor", "foul-play").out
    (tmp_path / "arena.toml").write_text('[evaluate]\nagents = ["random"]\n[external]\nfoul-play = "foul-play"\n')
    assert "run `arena agents setup foul-play`" in arena("agents", "doctor", "foul-play").out
    prepare_stand_in(checkout, 4)
    said = arena("agents", "doctor", "foul-play")
    ready = "foul-play: ready for generations 4\nfoul-play:piped: ready for generations 4\n"
    assert (said.code, said.out) == (0, ready)
    assert "arena agents setup foul-play --gen 9" in FoulPlay.missing("gen9ou")
    assert "random battles" in FoulPlay.missing("gen4randombattle")
    assert load_defaults().agents == ("random",)
    # a file that says where programs lie, and no more, leaves the pool as it is
    (tmp_path / "arena.toml").write_text('[external]\nfoul-play = "foul-play"\n')
    assert load_defaults() == load_defaults(SHIPPED)
    with pytest.raises(BadInput, match="agents is missing"):
        load_defaults(tmp_path / "arena.toml")


def test_set_up_says_what_it_cannot_do(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match="--gen 12: must be a generation"):
        set_up([12], print)
    prepare_stand_in(checkout, 1)
    said: list[str] = []
    set_up([1], said.append)
    assert said == ["ready for generations 1"]
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingTool, match="cargo: not found"):
        set_up([1, 9], said.append)
    monkeypatch.delenv("ARENA_FOUL_PLAY")
    with pytest.raises(MissingTool, match="git clone"):
        set_up([1], said.append)


def test_its_requirements_are_its_own_and_the_engine_apart() -> None:
    engine, others = _requirements((STAND_INS / "foul_play" / "requirements.txt").read_text())
    assert engine == "poke-engine==0.0.48"
    assert others == ["requests==2.33.0", "websockets==14.1"]


def test_foul_play_is_started_from_a_copy_with_filled_caches(checkout: Path, tmp_path: Path) -> None:
    prepare_stand_in(checkout, 1)
    before = sorted(path for path in checkout.rglob("*"))
    agent = resolve("foul-play?ms=250&parallelism=2").make()
    program = agent.program(battle_address(tmp_path))  # type: ignore[attr-defined]
    assert sorted(path for path in checkout.rglob("*")) == before
    launch = program.command.index(str(Path(resolve.__code__.co_filename).parent / "external" / "foul_play_launch.py"))
    copy, engine, team, *words = program.command[launch + 1 :]
    options = dict(zip(words[::2], words[1::2], strict=True))
    assert engine.endswith("/gen1") and team == "Tauros|||bodyslam"
    assert options["--search-time-ms"] == "250" and options["--search-parallelism"] == "2"
    assert options["--bot-mode"] == "challenge_user" and options["--user-to-challenge"] == "arena2"
    data = Path(copy) / "fp" / "data"
    sets = json.loads((data / "pkmn_sets_cache" / "gen1ou" / "pokemon_full_sets.json").read_text())
    assert sets.keys() <= {"tauros", "chansey", "snorlax", "starmie"} and "tauros" in sets
    tera, ability, item, _, evs, *moves = next(iter(sets["tauros"])).split("|")
    assert (tera, ability, item, evs) == ("", "noability", "none", ",".join(["252"] * 6)) and len(moves) == 4
    usage = json.loads((data / "smogon_stats_cache" / "gen1ou-0.json").read_text())
    assert "necrozmaultra" not in usage
    for name, entry in usage.items():
        assert all(0 < count <= entry["Raw count"] for count in entry["Moves"].values()), name
        assert sum(entry["Teammates"].values()) > 0


def test_its_fingerprint_is_that_of_its_contents(checkout: Path) -> None:
    before = resolve("foul-play").fingerprint
    assert resolve("foul-play?ms=50").fingerprint != before
    (checkout / "fp" / "main.py").write_text("# another version\n")
    contents.cache_clear()
    assert resolve("foul-play").fingerprint != before
    (checkout / "fp" / "data" / "smogon_stats_cache").mkdir()
    (checkout / "fp" / "data" / "smogon_stats_cache" / "gen1ou-0.json").write_text("{}")
    after = resolve("foul-play").fingerprint
    contents.cache_clear()
    assert resolve("foul-play").fingerprint == after


def test_a_request_for_fight_becomes_one_for_its_moves() -> None:
    mons = [
        {"ident": "p1: A", "active": False, "moves": ["surf"]},
        {"ident": "p1: B", "active": True, "moves": ["rest", "ice"]},
    ]
    asked = {"active": [{"moves": [{"move": "Fight", "id": "fight"}], "trapped": False}], "side": {"pokemon": mons}}
    changed = _with_moves(f">battle-1\n|request|{json.dumps(asked)}")
    assert changed is not None
    head, _, text = changed.partition("|request|")
    assert head == ">battle-1\n"
    assert [move["id"] for move in json.loads(text)["active"][0]["moves"]] == ["rest", "ice"]
    assert _with_moves(">battle-1\n|request|") is None
    assert _with_moves('>battle-1\n|request|{"wait":true}') is None
