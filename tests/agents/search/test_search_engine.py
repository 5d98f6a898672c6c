"""The processes that hold poke-engine's builds: asked over pipes, outliving failures, never outliving their owner.

Most of it runs on a stand-in for poke-engine; what needs the real one is skipped where it is not built.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.command_line import PROJECT, TESTS, is_running, wait

from agents import resolve
from agents.search.poke_engine import builds, engine
from agents.search.poke_engine.engine import EngineFailed, PokeEngine, SearchSettings, engines
from agents.search.poke_engine.layout import EngineMove, EnginePokemon, EngineSide, EngineState
from agents.search.poke_engine.mcts import WEIGHTS
from teamsets.errors import BadInput, MissingTool

PLAIN = SearchSettings(exploration=0.5, first=0.05, weights=None)
real = pytest.mark.skipif(bool(builds.missing(1)), reason=builds.missing(1))


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of builds in which generation 1 is served by the stand-in."""
    (tmp_path / "gen1").mkdir()
    shutil.copy(TESTS / "support" / "stand_in_engine.py", tmp_path / "gen1" / "poke_engine.py")
    (tmp_path / "gen1" / ".ready").write_text(f"{builds.INTERFACE} stand-in")
    monkeypatch.setenv(builds.FOLDER_VARIABLE, str(tmp_path))
    engine.engines.close_all()
    yield tmp_path
    engine.engines.close_all()


def duel() -> EngineState:
    """Tauros, the faster, against Chansey."""
    tauros = EnginePokemon(
        "tauros", types=("normal",), base_types=("normal",), hp=353, maxhp=353, stats=(298, 288, 238, 238, 318),
        moves=(EngineMove("bodyslam"), EngineMove("earthquake")),
    )  # fmt: skip
    chansey = EnginePokemon(
        "chansey", types=("normal",), base_types=("normal",), hp=703, maxhp=703, stats=(108, 108, 308, 308, 198),
        moves=(EngineMove("icebeam"), EngineMove("thunderwave")),
    )  # fmt: skip
    return EngineState(EngineSide((tauros,), 0), EngineSide((chansey,), 0))


def test_answers_come_in_spite_of_what_is_printed(stand_in: Path):
    for _ in range(2):
        found = engines.get(1).search(duel().text(), PLAIN, 5)
        assert list(found.side_one) == ["bodyslam", "earthquake"]
        assert found.side_one["bodyslam"].visits == 4096 and found.side_one["bodyslam"].value == 0.5
    assert engines.get(1) is engines.get(1)


def test_a_panic_is_told_and_the_next_question_answered(stand_in: Path):
    with pytest.raises(EngineFailed, match="unwrap"):
        engines.get(1).search("panic", PLAIN, 5)
    pid = engines.get(1).pid
    assert engines.get(1).text("some state") == "some state"
    assert engines.get(1).pid == pid


def test_a_process_that_dies_is_told_and_replaced(stand_in: Path):
    with pytest.raises(EngineFailed, match="code 7"):
        engines.get(1).search("die", PLAIN, 5)
    assert engines.get(1).text("some state") == "some state"


class OutOfTime(BaseException):
    """As the arena's clock raises it in the middle of anything."""


def test_a_question_cut_off_leaves_no_answer_for_the_next(stand_in: Path, monkeypatch: pytest.MonkeyPatch):
    search_began = stand_in / "search-began"
    monkeypatch.setenv("STAND_IN_SLEEPS", "600")
    monkeypatch.setenv("STAND_IN_ASKED", str(search_began))

    def ring(*_: object) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, ring)
    first = engines.get(1)
    # Not an interval timer: that of this process belongs to a StepGuard, if another test has left one (gc.callbacks).
    main = threading.main_thread().ident
    assert main is not None

    def cut_off() -> None:
        wait(search_began.exists)
        signal.pthread_kill(main, signal.SIGALRM)

    alarm = threading.Thread(target=cut_off)
    alarm.start()
    try:
        with pytest.raises(OutOfTime):
            first.search(duel().text(), PLAIN, 5)
    finally:
        alarm.join()
        signal.signal(signal.SIGALRM, before)
    assert not first.alive
    assert engines.get(1).text("another") == "another"


def test_it_ends_with_an_owner_that_is_killed(stand_in: Path):
    code = "from agents.search.poke_engine.engine import engines; print(engines.get(1).pid, flush=True); input()"
    owner = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )
    assert owner.stdout is not None
    pid = int(owner.stdout.readline())
    owner.kill()
    owner.communicate()
    wait(lambda: not is_running(pid))


def test_without_a_build_it_is_listed_as_not_available_and_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arena
):
    monkeypatch.setenv(builds.FOLDER_VARIABLE, str(tmp_path))
    listed = arena("agents", "list").out
    assert "search:mcts" in listed.partition("not ready to play here")[2]
    assert listed.count("-> poke-engine is not built") == 1
    assert "no: poke-engine is not built" in arena("agents", "show", "search:mcts").out
    with pytest.raises(MissingTool, match="make search"):
        PokeEngine(1)
    said = arena("match", "search:mcts", "random", "--battles", "2", "--db", tmp_path / "a.duckdb")
    assert said.code == 2
    assert "search:mcts" in said.err and "make search" in said.err and "Traceback" not in said.err


def test_a_build_of_one_generation_does_not_serve_another(stand_in: Path, arena):
    assert builds.missing() == "" and builds.missing(1) == ""
    assert "generation 9" in builds.missing(9) and 'make search ARGS="9"' in builds.missing(9)
    assert "generation 7" in builds.missing(7) and "make search" not in builds.missing(7)
    assert "search:mcts" in arena("agents", "list").out.partition("not ready to play here")[0]
    said = arena("match", "search:mcts", "random", "--format", "gen9randombattle", "--db", stand_in / "a.duckdb")
    assert said.code == 2 and "cannot play gen9randombattle" in said.err


def test_it_says_when_it_is_repeatable():
    assert not resolve("search:mcts").repeatable
    assert not resolve("search:mcts?iterations=1000&threads=2").repeatable
    assert resolve("search:mcts?iterations=1000").repeatable


@pytest.mark.parametrize(
    "options", ["ms=0", "samples=-1", "threads=0", "iterations=-1", "good=1.5", "exploration=-1", "weights=heavy"]
)
def test_impossible_options_are_refused_when_it_is_made(options: str):
    with pytest.raises(BadInput, match=options.partition("=")[0]):
        resolve(f"search:mcts?{options}").make()


def test_from_a_wheel_another_line_says_how_to_build_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(builds.FOLDER_VARIABLE, str(tmp_path))
    assert "run `make search` (it needs cargo" in builds.missing(1) and 'make search ARGS="1"' in builds.missing(1)
    for gen in (None, 1):
        line = builds.missing(gen, script=tmp_path / "none")
        assert "run `make search` in a checkout of this version" in line
        assert "set ARENA_POKE_ENGINE to" in line and "ARGS" not in line


def test_set_up_says_what_is_missing(tmp_path: Path):
    """Without cargo: one line, exit code 2, and no download before it."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("sh", "dirname", "cat", "cksum", "tr"):
        (tools / tool).symlink_to(shutil.which(tool) or tool)
    done = subprocess.run(
        ["sh", str(PROJECT / "scripts" / "setup_search.sh"), "1"],
        env={"PATH": str(tools), builds.FOLDER_VARIABLE: str(tmp_path / "builds")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "cargo was not found" in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "builds").exists()


@real
def test_the_real_engine_searches_foresees_and_computes():
    served = PokeEngine(1)
    text = duel().text()
    first, second = (served.search(text, PLAIN, 1, iterations=2000) for _ in range(2))
    assert first == second and first.iterations == 2000
    assert max(first.side_one, key=lambda name: first.side_one[name].visits) == "bodyslam"
    outcomes = served.outcomes(text, "bodyslam", "thunderwave")
    assert sum(o.chance for o in outcomes) == pytest.approx(1, abs=1e-3)
    (usual, critical), _ = served.damage(text, "bodyslam", "thunderwave")
    assert usual < critical
    assert any(f"Damage SideTwo: {int(usual * 0.925)}" in o.instructions for o in outcomes)
    served.close()
    served.close()
    assert not served.alive


@real
def test_less_exploration_gives_the_best_choice_more_of_the_visits():
    shares = []
    served = PokeEngine(1)
    for exploration in (30.0, 0.2):
        options = served.search(
            duel().text(), replace(PLAIN, exploration=exploration), 1, iterations=4000
        ).side_one.values()
        shares.append(max(o.visits for o in options) / sum(o.visits for o in options))
    served.close()
    assert shares[0] < 0.75 < shares[1]


@real
@pytest.mark.parametrize("weights", [None, WEIGHTS / "gen1.txt"])
def test_mirrored_positions_are_searched_alike(weights: Path | None):
    """Who is called side one must not matter: one's mean value is 1 less the other's, as near as chance lets it."""
    served, settings = PokeEngine(1), replace(PLAIN, weights=weights)
    state = duel()
    means = []
    for text in (state.text(), EngineState(state.side_two, state.side_one).text()):
        found = served.search(text, settings, 1, iterations=6000)
        for side in (found.side_one, found.side_two):
            assert sum(option.visits for option in side.values()) == 6000
            assert sum(option.prior for option in side.values()) == pytest.approx(1, abs=1e-4)
        means.append(sum(option.visits * option.value for option in found.side_one.values()) / 6000)
    served.close()
    assert sum(means) == pytest.approx(1, abs=0.05)


@real
def test_threads_share_the_iterations():
    served = PokeEngine(1)
    found = served.search(duel().text(), PLAIN, 1, iterations=4000, threads=3)
    assert found.iterations == 4002 and sum(option.visits for option in found.side_one.values()) == 4002
    served.close()


@real
def test_weights_that_are_not_of_this_build_are_told(tmp_path: Path):
    (tmp_path / "odd.txt").write_text("value alive 0.5\nvalue luck 3\n")
    served = PokeEngine(1)
    with pytest.raises(EngineFailed, match="value luck 3"):
        served.search(duel().text(), replace(PLAIN, weights=tmp_path / "odd.txt"), 1)
    served.close()


@real
def test_features_are_ours_less_theirs_and_give_the_fitted_value(tmp_path: Path):
    served = PokeEngine(1)
    state = duel()
    (_, ours), (_, mirrored) = served.features([state.text(), EngineState(state.side_two, state.side_one).text()])
    assert ours["faster"] == 1 and "alive" not in ours and ours["alive:tauros"] == 1 and ours["alive:chansey"] == -1
    assert {name: -amount for name, amount in ours.items()} == pytest.approx(mirrored)
    options, theirs = served.choices([state.text()])[0]
    assert options["bodyslam"]["move:bodyslam"] == 1 and options["bodyslam"]["damage"] > 0
    assert theirs["thunderwave"].keys() == {"move:thunderwave", "in_danger"}
    served.close()


@real
def test_the_real_engine_reads_every_field_as_meant():
    """What it writes of what it has read is what was written, but for the case of letters."""
    served = PokeEngine(1)
    side = EngineSide(
        (EnginePokemon("gengar", types=("ghost", "poison"), base_types=("ghost", "poison"), hp=1, maxhp=323),),
        0,
        conditions={"reflect": 3, "toxiccount": 2},
        volatiles=frozenset({"confusion", "leechseed", "substitute"}),
        durations={"confusion": 2, "taunt": 1},
        substitute=80,
        boosts={"atk": -1, "spe": 6, "evasion": 2},
        wish=(1, 100),
        future_sight=(2, 3),
        must_switch=True,
        trapped=True,
        last="switch:0",
    )
    text = EngineState(side, duel().side_two, ("rain", 3), ("grassyterrain", 2), 4).text()
    back = served.text(text).lower()
    # poke-engine ends each volatile with a colon; that is the only way in which it writes otherwise
    assert back.replace(":=", "=").split("=") == text.split("=")
    served.close()
