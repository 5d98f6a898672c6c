"""The generation-9 engine plays Showdown's own battles: state, legal choices, random numbers, results at every decision."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from support.compilers import need_compiler
from support.gen9_battles import OTHER, PAIRS, SEEDS, TEAM, firsts
from support.scripts import script

from agents.engine.gen9 import library, played
from agents.engine.gen9.engine import UNDECIDED, Engine, initial_rows, records
from agents.engine.gen9.layout import SOURCES, WORDS
from teamsets.errors import BadInput, MissingTool
from teamsets.showdown import node

need_compiler()

gen9_parity = script("parity/gen9_parity.py")
PROJECT = Path(__file__).parents[4]


def started() -> Engine:
    engine = Engine(2)
    engine.reset(PAIRS, SEEDS)
    return engine


def test_the_data_is_that_of_the_installed_showdown() -> None:
    made = PROJECT / "scripts" / "build" / "make_gen9_data.mjs"
    printed = subprocess.run([node(), str(made), "--print"], capture_output=True, text=True, check=True).stdout
    for file, content in json.loads(printed).items():
        assert content == (SOURCES.parent / file).read_text(), f"run: node {made}"


def test_no_effect_has_two_handlers_of_an_event() -> None:
    assert library.library().gen9_handlers(None) == sum(map(len, played.handlers().values())) > 400


def test_handlers_have_showdowns_order_priority_and_sub_order() -> None:
    assert sum(any(order) for of in played.handlers().values() for order in of.values()) > 100
    assert played.misordered() == {}


def test_another_lead_begins_and_what_is_no_order_is_refused() -> None:
    engine = Engine(1)
    engine.reset([(TEAM, OTHER)], SEEDS[:1], orders=[([3, 0, 1, 2, 4, 5], [0, 1, 2, 3, 4, 5])])
    sides = records(engine.words)["sides"][0]
    assert sides["order"].tolist() == [[4, 1, 2, 3, 5, 6], [7, 8, 9, 10, 11, 12]]
    assert sides["pokemon"]["isActive"].argmax(axis=1).tolist() == [3, 0]
    for wrong in ([[0, 1, 2, 3, 4, 5]], None):
        with pytest.raises(BadInput, match=r"orders of battle 0, .*: one for each side's team is needed"):
            engine.reset([(TEAM, OTHER)], SEEDS[:1], orders=[wrong])  # type: ignore[list-item]
    with pytest.raises(BadInput, match="order of type object: whole numbers"):
        engine.reset([(TEAM, OTHER)], SEEDS[:1], orders=[(None, [0])])  # type: ignore[list-item]
    for orders in [([0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 5])], [([0, 0, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5])]:
        with pytest.raises(BadInput, match="each place from 0 to 5 is needed once"):
            engine.reset([(TEAM, OTHER)], SEEDS[:1], orders=orders)
    with pytest.raises(BadInput, match="0 pairs of orders for 1 battles"):
        engine.reset([(TEAM, OTHER)], SEEDS[:1], orders=[])


def test_a_fork_has_the_same_future_for_the_same_choices() -> None:
    engine = started()
    fork = engine.fork([1, 1, 0])
    assert (fork.words == engine.words[[1, 1, 0]]).all()
    for _ in range(20):
        choices = firsts(fork.legal())
        choices[1] = choices[0]
        fork.step(choices)
    assert (fork.words[0] == fork.words[1]).all()
    assert (fork.words[0] != fork.words[2]).any()


def test_the_number_of_threads_changes_no_battle() -> None:
    pairs = [(TEAM, OTHER)] * 33
    seeds = [f"gen5,{n:016x}" for n in range(33)]
    fresh = initial_rows(pairs, seeds, 33)
    played = []
    for threads in (1, 2, 40):
        engine = Engine(33, threads)
        engine.reset(pairs, seeds)
        states = np.arange(1, 34, dtype=np.uint64)
        counts = engine.rollout(fresh, states, 60)
        played.append((counts, engine.words.copy(), states))
    for counts, words, states in played[1:]:
        assert counts == played[0][0]
        assert (words == played[0][1]).all() and (states == played[0][2]).all()


def test_rows_of_a_batch_are_begun_and_stepped_alone() -> None:
    engine = Engine(4)
    engine.reset([(TEAM, OTHER)] * 4, [*SEEDS, *SEEDS])
    rows, before = np.array([2, 0]), engine.words.copy()
    assert (engine.legal(rows) == engine.legal()[rows]).all()
    apart = engine.fork(rows)
    choices = firsts(engine.legal(rows))
    engine.step(choices, rows)
    apart.step(choices)
    assert (engine.words[rows] == apart.words).all() and (engine.words[[1, 3]] == before[[1, 3]]).all()
    engine.reset([(OTHER, TEAM)], SEEDS[:1], rows=[3])
    assert (engine.words[3] != before[3]).any() and (engine.words[1] == before[1]).all()


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        ([1, 1], "rows: 1 comes more than once"),
        ([0, 4], "rows: there is no 4; there are 2, from 0"),
        ([0], r"of shape \[2, 2, 2\]: \[1, 2, 2\] is needed"),
    ],
)
def test_rows_that_are_not_there_step_no_battle(rows: list[int], names: str) -> None:
    engine = started()
    before = engine.words.copy()
    with pytest.raises(BadInput, match=names):
        engine.step(np.zeros((2, 2, 2), np.int32), np.array(rows))
    with pytest.raises(BadInput, match="actions of type float64: whole numbers are needed"):
        engine.step(np.zeros((2, 2, 2)))
    with pytest.raises(BadInput, match="1 pairs of teams and 2 seeds for 2 rows"):
        engine.reset([(TEAM, OTHER)], SEEDS)
    assert (engine.words == before).all()


def test_an_illegal_choice_steps_no_battle() -> None:
    engine = started()
    before = engine.words.copy()
    choices = firsts(engine.legal())
    choices[1, 0, 0] = 13
    with pytest.raises(BadInput, match=r"battle 1, seat 0: action 13 is not legal; none was played"):
        engine.step(choices)
    with pytest.raises(BadInput, match=r"of shape \[1, 2, 2\]: \[2, 2, 2\] is needed"):
        engine.step(choices[:1])
    assert (engine.words == before).all()


def test_a_battle_is_replayed_from_showdowns_input_log() -> None:
    for battle in gen9_parity.oracle({"battles": 6, "seed": 8, "policy": "tera", "log": True, "state": True}):
        engine = Engine(1)
        engine.replay(battle["inputLog"])
        assert records(engine.words)["winner"][0] == {"p1": 0, "p2": 1}[battle["end"]]
        assert gen9_parity.COLUMNS.of(engine.words)[0].tolist() == battle["decisions"][-1][0]


def test_choices_in_words_are_actions() -> None:
    engine = started()
    words = ["move 1", "move protect terastallize", "switch 4", "move 5", "switch 1", "move tackle", "pass"]
    assert engine.read_choices([0] * 7, [0, 1, 1, 0, 0, 0, 0], words).tolist()[0] == 0
    with pytest.raises(BadInput, match="1 choices for 2 seats"):
        engine.read_choices([0, 1], [0, 0], ["move 1"])
    with pytest.raises(BadInput, match="rows: there is no 2"):
        engine.read_choices([2], [0], ["move 1"])
    with pytest.raises(BadInput, match="no >start with a seed"):
        Engine(1).replay([">p1 move 1"])


START = '>start {"formatid": "gen9ou", "seed": "gen5,0123456789abcdef"}'


@pytest.mark.parametrize(
    ("log", "message"),
    [
        (None, "input log 'None': a list of its lines is needed"),
        ([">start {"], "the input log's line >start has no options in JSON: '{'"),
        ([START, ">player p1 []"], r"line >player p1 has no options in JSON: '\[\]'"),
        ([START, '>player p1 {"team": ""}', ">player p2"], "line >player p2 has no options in JSON: ''"),
        ([START, '>player p1 {"team": ""}', ">player p2 {}"], "two packed teams are needed"),
    ],
)
def test_an_input_log_that_cannot_be_read_is_refused(log: list[str], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        Engine(1).replay(log)


@pytest.mark.parametrize("count", [-1, 1.5, "1", None])
def test_what_is_no_number_of_battles_is_refused(count: int) -> None:
    with pytest.raises(BadInput, match=r"battles=.*: must be a whole number, 0 or more"):
        Engine(count)
    with pytest.raises(BadInput, match=r"threads=0: must be a whole number, 1 or more"):
        Engine(1, threads=0)


@pytest.mark.parametrize("pair", [(None, TEAM), (TEAM.encode(), TEAM), (TEAM,), TEAM, None])
def test_what_is_no_pair_of_packed_teams_is_refused(pair: tuple[str, str]) -> None:
    with pytest.raises(BadInput, match="two packed teams are needed, both as text"):
        Engine(1).reset([pair], SEEDS[:1])


def test_what_is_no_text_or_array_is_refused() -> None:
    engine = started()
    with pytest.raises(BadInput, match="choice None: must be text"):
        engine.read_choices([0], [0], [None])  # type: ignore[list-item]
    with pytest.raises(BadInput, match="choices of type NoneType: a list with one for each seat"):
        engine.read_choices([0], [0], None)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="rows of type object: whole numbers are needed"):
        engine.read_choices([None], [0], ["move 1"])  # type: ignore[list-item]
    with pytest.raises(BadInput, match=r"rows of shape \[\]: \[n\] is needed"):
        engine.fork(1)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="rows cannot be read as an array"):
        engine.fork([[0], [0, 1]])  # type: ignore[list-item]
    with pytest.raises(BadInput, match="None is no seed"):
        engine.reset([(TEAM, OTHER)], [None], rows=[0])  # type: ignore[list-item]
    with pytest.raises(BadInput, match="teams of type NoneType"):
        engine.reset(None, SEEDS)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Azumarill", "Koraidon", "does not play Koraidon"),
        ("knockoff", "metronome", r"Azumarill: the generation-9 engine does not play 'metronome' \(moves\)"),
        ("choiceband", "lightball", r"Azumarill: .* 'lightball' \(items\)"),
        ("hugepower", "illusion", r"Azumarill: .* 'illusion' \(abilities\)"),
        ("Water", "Pizza", "Azumarill: 'Pizza' is no tera type"),
        ("Water", "water", "Azumarill: 'water' is no tera type: as Water, with a capital letter"),
        ("Adamant", "Foo", "Azumarill: 'Foo' is no nature"),
    ],
)
def test_what_is_not_played_is_refused_by_name(old: str, new: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        Engine(1).reset([(gen9_parity.SETS[0].replace(old, new), TEAM)], SEEDS[:1])


def test_a_battle_ends_and_says_who_won() -> None:
    engine = started()
    for _ in range(2000):
        engine.step(firsts(engine.legal()))
    named = records(engine.words)
    assert (named["winner"] != UNDECIDED).all()
    assert not engine.legal().any()
    for battle in named:
        losers = [seat for seat in range(2) if battle["sides"][seat]["pokemonLeft"] == 0]
        assert battle["winner"] == 1 - losers[0]


def test_rows_have_as_many_words_for_python_as_for_the_rules() -> None:
    assert library.library().gen9_words() == WORDS


def test_a_change_of_one_file_compiles_that_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = tmp_path / "src"
    sources.mkdir()
    for name in ("values.h", "first.cpp", "second.cpp"):
        (sources / name).write_text("" if name.endswith(".h") else f'extern "C" int {name[:-4]}() {{ return 1; }}\n')
    monkeypatch.setattr(library, "SOURCES", sources)
    once = library.build(tmp_path / "cache")
    assert library.build(tmp_path / "cache") == once
    (sources / "first.cpp").write_text('extern "C" int first() { return 2; }\n')
    assert library.build(tmp_path / "cache") != once
    assert len(list((tmp_path / "cache").glob("first-*.o"))) == 2
    assert len(list((tmp_path / "cache").glob("second-*.o"))) == 1
    (sources / "values.h").write_text("// changed\n")
    library.build(tmp_path / "cache")
    assert len(list((tmp_path / "cache").glob("second-*.o"))) == 2


def test_without_a_compiler_one_line_says_what_helps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(library.shutil, "which", lambda name: None)
    monkeypatch.setattr(library, "find_spec", lambda name: None)
    with pytest.raises(library.CompilerMissing, match=r"needs a C\+\+ compiler.*apt-get install g\+\+.*ziglang"):
        library.build(tmp_path)


def test_a_source_that_does_not_compile_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "broken.cpp").write_text("int broken(\n")
    monkeypatch.setattr(library, "SOURCES", tmp_path)
    with pytest.raises(library.CompilerMissing, match=r"broken\.cpp"):
        library.build(tmp_path / "cache")
    assert not list((tmp_path / "cache").glob("*.o"))


def test_a_compiler_that_fails_is_named_in_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "empty.cpp").touch()
    monkeypatch.setattr(library, "SOURCES", tmp_path)
    for command, reason in (("false", "exit code 1"), (str(tmp_path / "broken"), "cannot be run: Exec format error")):
        (tmp_path / "broken").write_bytes(b"\x7fELF")
        (tmp_path / "broken").chmod(0o755)
        monkeypatch.setenv("CXX", command)
        lines: list[str] = []
        with pytest.raises(
            library.CompilerMissing, match=rf"{command} for .*empty\.cpp: {reason}: CXX names"
        ) as failure:
            library.build(tmp_path / "cache", lines.append)
        assert "\n" not in str(failure.value) and len(lines) == 1


def test_a_cache_folder_that_cannot_be_written_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(MissingTool, match=rf"{tmp_path}/file/of is not writable: .* or set XDG_CACHE_HOME to another"):
        library.build(tmp_path / "file" / "of")


def test_a_library_that_is_there_needs_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    built = library.build()
    monkeypatch.setattr(library, "compiler", lambda: pytest.fail("a compiler was looked for"))
    library.check_compiler()
    assert library.build() == built


def test_a_library_that_cannot_be_loaded_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "gen9.so").write_text("no library")
    monkeypatch.setattr(library, "build", lambda: tmp_path / "gen9.so")
    with pytest.raises(MissingTool, match=r"cannot be loaded: .*: delete .*/gen9\.so, or set XDG_CACHE_HOME"):
        library.library.__wrapped__()
