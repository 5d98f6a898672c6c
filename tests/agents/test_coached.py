"""A learner that is watched: its play, its coach's thought beside it, and what a trajectory makes of that."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from support.command_line import run_arena
from support.tournaments import tournament

from agents.battle.choices import read_answer
from agents.coached import Coached, coached_spec
from agents.registry import resolve
from arena.record import unpacked
from arena.store import rows
from training.data.from_store import selected, sides, trajectory
from training.data.trajectory import decision_points

LEARNER, COACH, OTHER = "heuristic:max-damage", "heuristic:expert", "heuristic:staller"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("coached")


@pytest.fixture(scope="module")
def watched(folder: Path) -> Path:
    """A battle of a watched learner, which has the first seat and plays by rules without chance."""
    return played(folder / "watched.duckdb", coached_spec(LEARNER, COACH))


def played(db: Path, agent: str) -> Path:
    tournament(db, agent, OTHER, formats=("gen1ou",), battles=2, workers=1, seed=3)
    return db


def alike(db: Path, agent: str) -> float:
    """The share of the watched learner's choices that another agent makes in the same positions."""
    side = sides(db, selected(db, "agent LIKE 'coached%'"))[0]
    same = []
    for battle, chosen in zip(decision_points(side.seat, side.format, unpacked(side.log)), side.choices, strict=True):
        player = resolve(agent).make()
        same.append(read_answer(player.act(battle), battle.legal, battle.last_request).label == chosen)
    return sum(same) / len(same)


def test_both_prepare_for_the_format(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Coached(learner=LEARNER, coach=COACH)
    formats: list[tuple[str, str]] = []
    monkeypatch.setattr(watched.learner, "prepare", lambda format_id: formats.append(("learner", format_id)))
    monkeypatch.setattr(watched.coach, "prepare", lambda format_id: formats.append(("coach", format_id)))
    watched.prepare("gen1ou")
    assert formats == [("learner", "gen1ou"), ("coach", "gen1ou")]


@pytest.mark.slow
def test_a_learner_plays_the_same_when_it_is_watched(watched: Path) -> None:
    assert alike(watched, LEARNER) == 1.0 > alike(watched, COACH)


@pytest.mark.slow
def test_a_coach_that_leads_plays_itself(folder: Path) -> None:
    led = played(folder / "led.duckdb", coached_spec(LEARNER, COACH, lead=1.0))
    assert alike(led, COACH) == 1.0 > alike(led, LEARNER)


def test_the_coach_is_the_target_and_the_learner_s_choice_the_action(watched: Path) -> None:
    found = rows(
        "SELECT choice, diagnostics FROM decisions JOIN results USING (battle_id, seat) WHERE agent LIKE 'coached%'",
        watched,
    )
    thoughts = [(choice, orjson.loads(thought)) for choice, thought in found]
    assert all(thought["probabilities"] == {thought["coach"]: 1.0} for _, thought in thoughts)
    differ = sum(choice != thought["coach"] for choice, thought in thoughts)
    assert 0 < differ < len(thoughts)

    side = sides(watched, selected(watched, "agent LIKE 'coached%'"))[0]
    made = trajectory(side)
    assert made is not None
    assert (made.target_policy.sum(axis=1) == 1).all() and (made.target_policy.argmax(axis=1) != made.actions).any()
    for shares, legal in zip(made.target_policy, made.legal, strict=True):
        assert legal[shares.argmax()]


def test_what_a_spec_lacks_is_said() -> None:
    assert "learner and coach are required" in resolve("coached").missing("gen1ou")
    assert "learner and coach are required" in resolve("coached?learner=random").missing("gen1ou")
    external = resolve(coached_spec("random", "foul-play?ms=50")).missing("gen1ou")
    assert "cannot be used as learner" in external and "foul-play:piped" in external
    assert resolve(coached_spec("random", COACH)).missing("gen1ou") == ""
    both = resolve(coached_spec("search:mcts?iterations=100&samples=2", COACH)).make()
    assert isinstance(both, Coached) and both.learner.name == "search:mcts?iterations=100&samples=2"
    assert resolve(coached_spec("random", COACH)).repeatable
    assert not resolve(coached_spec("random", "search:mcts?ms=100")).repeatable
    said = run_arena("battle", "coached?learner=nobody&coach=random", "random")
    assert said.code == 2 and "nobody" in said.err and len(said.err.strip().splitlines()) == 1
