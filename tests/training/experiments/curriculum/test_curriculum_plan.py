"""The dry run: what is counted is what will be played, and no speed is made up."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
import yaml
from rich.console import Console
from support.stand_in_curriculum import SHIPPED, toy

pytest.importorskip("torch")

from support.tournaments import tournament

from arena.run.costs import covered
from arena.store import rows
from training.experiments.curriculum.config import Curriculum
from training.experiments.curriculum.plan import planned, show_plan
from training.experiments.curriculum.speeds import QUICK_BATTLES, QUICK_STEPS, Speeds, kind_of, pairing
from training.runs.config_reader import load


def said(config: Curriculum, *, calibrate: bool = False, quick: bool = False) -> str:
    out = io.StringIO()
    show_plan(config, Console(file=out, width=160), calibrate=calibrate, quick=quick)
    return out.getvalue()


def test_the_story_at_full_size() -> None:
    config = load(Curriculum, SHIPPED / "qabra.yaml")
    steps = planned(config, "policy:runs/qabra@1000")
    played = {step.stage: step.battles for step in steps if step.what == "play"}
    assert played == {"heuristics": 65000, "coach-1": 100000, "coach-2": 125000, "coach-3": 150000, "foul-play": 100000}
    pool, sets = 6, 2
    assert steps[0].battles == pool * (pool - 1) // 2 * 200 * sets and steps[1].battles == pool * 200 * sets
    learned = {step.stage: step for step in steps if step.what == "learn"}
    # Both sides of every battle, lost ones for the value; 98% are learned from, four times, 256 at a time.
    assert learned["heuristics"].kept == 127400 and learned["heuristics"].steps == -(-4 * 127400 // 256)
    assert learned["coach-2"].steps > learned["coach-1"].steps, "earlier data are learned from, too"
    words = said(config)
    assert "65,000" in words and "not measured" in words and "runs/qabra@best" in words
    (total,) = [line for line in words.splitlines() if "in all" in line]
    assert f"{sum(step.battles for step in steps):,}" in total and f"{sum(step.steps for step in steps):,}" in total


def test_the_one_for_two_cores_says_what_it_does_not_know(tmp_path: Path) -> None:
    told = yaml.safe_load((SHIPPED / "gen1ou-cpu.yaml").read_text())
    config = Curriculum.model_validate(told | {"out": str(tmp_path)})
    words = said(config)
    assert "policy labelled by search:mcts" in words and "not measured" in words and " min " not in words
    battles = sum(step.battles for step in planned(config, "policy:gen1ou-tiny"))
    assert f"{battles:,}" in words and battles < 20_000, "every gate to its last battle"


def test_times_are_those_of_the_stored_battles(tmp_path: Path) -> None:
    config = Curriculum.model_validate(toy(tmp_path / "toy"))
    config.db.parent.mkdir()
    tournament(
        config.db,
        "heuristic:max-damage",
        "poke-env:MaxBasePowerPlayer",
        formats=("gen1ou",),
        battles=10,
        think_limit=60.0,
    )
    speeds = Speeds()
    speeds.add_stored(config.db, "gen1ou", "store")
    (key,) = speeds.seconds
    assert key == pairing("heuristic:max-damage", "poke-env:MaxBasePowerPlayer") and speeds.source[key] == "store"
    spans = rows("SELECT epoch(started), epoch(started) + seconds FROM battles", config.db)
    assert 10 * speeds.seconds[key] == pytest.approx(covered(spans)), "shares of the run's time add up to it"
    ((decisions,),) = rows("SELECT count(*) / 20 FROM decisions", config.db)
    assert speeds.decisions == pytest.approx(float(decisions)) and speeds.battle_bytes is not None
    assert f"{1 / speeds.seconds[key]:.2f}" in said(config)


def test_time_between_two_sittings_is_not_counted() -> None:
    assert covered([(0, 4), (1, 3), (2, 6), (100, 101)]) == pytest.approx(7)


def test_checkpoints_are_as_slow_as_one_another() -> None:
    assert kind_of("policy:a@5?temperature=1") == kind_of("policy:gen1ou-tiny") == "policy"
    assert kind_of("coached?coach=random&learner=policy:a") == "policy labelled by random"
    assert kind_of("search:mcts?ms=100") == "search:mcts?ms=100"


@pytest.mark.slow
def test_a_quick_plan_measures_what_the_store_does_not_tell_and_shows_how_far_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = toy(tmp_path / "toy", base="gen1ou-tiny")
    told["stages"] = told["stages"][:1]
    words = said(Curriculum.model_validate(told), calibrate=True, quick=True)
    assert "measured now" in words and "not measured" not in words
    assert f"by {QUICK_BATTLES} or more of each kind (95% interval)" in words
    kinds = int(re.search(r"measuring (\d+) kinds of battles", words)[1])
    progress = [line for line in capsys.readouterr().err.splitlines() if line.startswith("measuring ")]
    assert progress[0].startswith("measuring 1") and f" of {kinds}: policy against " in progress[0]
    assert progress[-1] == f"measuring {QUICK_STEPS} training steps"
    assert not (tmp_path / "toy").exists(), "a plan leaves nothing behind"
