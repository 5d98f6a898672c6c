"""The search agent in real battles, on a stand-in for poke-engine, and on the real one where it is built."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.command_line import TESTS
from support.scripts import script
from support.tournaments import tournament

from agents.search.poke_engine import builds, engine
from agents.search.poke_engine.engine import PokeEngine
from agents.search.poke_engine.mcts import WEIGHTS
from arena.record import BattleRecord
from arena.run.entrants import load_pools
from arena.schedules.plan import Plan, round_robin
from arena.store import rows
from arena.venue import Rules
from arena.venues.simulator.simulator import play_all

_prediction = script("simulate/prediction.py")
compare, turns = _prediction.compare, _prediction.turns
real = pytest.mark.skipif(bool(builds.missing(1)), reason=builds.missing(1))


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The stand-in serves generations 1 and 9."""
    for gen in (1, 9):
        (tmp_path / f"gen{gen}").mkdir()
        shutil.copy(TESTS / "support" / "stand_in_engine.py", tmp_path / f"gen{gen}" / "poke_engine.py")
        (tmp_path / f"gen{gen}" / ".ready").write_text(f"{builds.INTERFACE} stand-in")
    monkeypatch.setenv(builds.FOLDER_VARIABLE, str(tmp_path))
    engine.engines.close_all()
    yield
    engine.engines.close_all()


def play(agents: tuple[str, str], format_id: str, battles: int = 2, think_limit: float = 60.0) -> list[BattleRecord]:
    plan = Plan(agents, load_pools((format_id,))[0], battles, 0)
    return asyncio.run(play_all(round_robin(plan), Rules(think_limit=think_limit, max_turns=120)))


@pytest.mark.parametrize("format_id", ["gen1ou", pytest.param("gen9ou", marks=pytest.mark.slow)])
def test_it_chooses_what_was_visited_most_and_keeps_what_it_saw(stand_in: None, format_id: str):
    """The stand-in visits the first choice 4096 times, the second 2048 times …: it is always the first that is played."""
    for record in play(("search:mcts?iterations=1000&samples=2", "heuristic:max-damage"), format_id):
        seat = record.fixture.agents.index("search:mcts?iterations=1000&samples=2")
        assert record.reason in ("win", "tie", "turn-limit"), record.detail
        free = [d for d in record.decisions if d[0] == seat and len(d[3]) > 1 and not d[4].startswith("team")]
        assert len(free) > 10
        for _, _, _, legal, choice, _, thought in free:
            assert thought is not None and "failed" not in thought
            assert set(thought["visits"]) <= set(legal) and thought["visits"].keys() == thought["values"].keys()
            assert sum(thought["visits"].values()) == pytest.approx(1, abs=0.01)
            assert choice == max(thought["visits"], key=thought["visits"].__getitem__)
            assert set(thought["values"].values()) == {0.5} and thought["win_probability"] == 0.5


def test_out_of_time_it_loses_by_the_clock(stand_in: None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("STAND_IN_SLEEPS", "60")
    for record in play(("search:mcts", "random"), "gen1ou", think_limit=2.0):  # `random` has it as well
        assert record.reason == "timeout" and record.fixture.agents[int((record.fault or "p0")[1]) - 1] == "search:mcts"


@real
def test_with_iterations_the_same_seed_gives_the_same_battle():
    first, second = (play(("search:mcts?iterations=2000&samples=2", "heuristic:max-power"), "gen1ou") for _ in range(2))
    assert [record.input_log for record in first] == [record.input_log for record in second]


@real
def test_what_the_real_engine_predicts_is_what_mostly_happens():
    """The whole way: two seats' logs to states and choices, and poke-engine's outcomes beside the simulator's."""
    served = PokeEngine(1)
    verdicts = []
    for record in play(("heuristic:expert", "heuristic:emerald"), "gen1ou", battles=6):
        said = ([d[4] for d in record.decisions if d[0] == 0], [d[4] for d in record.decisions if d[0] == 1])
        verdicts += [compare(turn, served).predicted for turn in turns(record.logs, said, 1, "gen1ou")]
    served.close()
    assert len(verdicts) > 100
    assert sum(verdicts) / len(verdicts) > 0.93


@pytest.mark.parametrize("file", sorted(WEIGHTS.glob("*.txt")), ids=lambda file: file.stem)
def test_shipped_weights_are_fitted_to_enough_battles(file: Path):
    """Once a test had written weights of 6 pairs of battles over those of generation 1."""
    pairs = re.match(r"# gen\d+\w+, (\d+) pairs of battles", file.read_text("utf-8"))
    assert pairs and int(pairs[1]) >= 1000


@pytest.mark.slow
@real
def test_the_search_is_no_weaker_than_the_expert(tmp_path: Path):
    """It scored 72% of 400 battles, and 21.5% of 100 with weights fitted to too few battles."""
    db = tmp_path / "arena.duckdb"
    tournament(db, "search:mcts?iterations=4000&samples=2", "heuristic:expert", formats=("gen1ou",), battles=40)
    ((score,),) = rows("SELECT avg(score) FROM results WHERE agent LIKE 'search:%'", db)
    # Of 40 battles: below 50% by chance in less than 1 of 1,000 cases at 72%, 50% or more in less than 1 of 10,000 at 21.5%.
    assert score >= 0.5
