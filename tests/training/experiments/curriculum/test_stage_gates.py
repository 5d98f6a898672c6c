"""What a stage's checkpoint must beat, with which share of alpha; and how often a worse one passes."""

from __future__ import annotations

import io
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import yaml
from rich.console import Console
from support.command_line import PROJECT
from support.scripts import script

from arena.fixture import FixtureTeam
from arena.ratings.sprt import Sprt, SprtSettings
from arena.run.tournament import PlayedRun
from arena.schedules.match import Match
from arena.schedules.plan import Plan
from arena.store import Store
from training.experiments.curriculum.clock import StageClock
from training.experiments.curriculum.config import Curriculum, attempts
from training.experiments.curriculum.gate import final_test_settings, match_result, match_settings, parent_test
from training.experiments.curriculum.store import CurriculumStore
from training.runs.config_reader import validated

SHIPPED = PROJECT / "training" / "presets" / "curricula"


def shipped(out: Path, **gate: Any) -> Curriculum:
    told = yaml.safe_load((SHIPPED / "gen1ou-cpu.yaml").read_text()) | {"out": str(out)}
    told["stages"][0]["gate"]["parent"] |= gate  # one dict, which all stages share
    return validated(Curriculum, told, "test")


def test_the_tries_of_a_stage_share_alpha(tmp_path: Path) -> None:
    config = shipped(tmp_path)
    stage, retry = attempts(config.stages[0])
    for one in (stage, retry):
        asked = match_settings(config, parent_test(one), "policy:child", "policy:parent").sprt
        assert asked is not None and (asked.elo0, asked.elo1, asked.alpha, asked.beta) == (-15, 15, 0.025, 0.05)
    alone = stage.model_copy(update={"retries": []})
    assert parent_test(alone).alpha == 0.05


@pytest.fixture
def store(tmp_path: Path) -> CurriculumStore:
    """Base at 1000; the checkpoint of stage 1 at 1200 and that of stage 2 at 1150 were kept, one of 1400 was rejected."""
    config = shipped(tmp_path)
    Store(config.db)
    store = CurriculumStore(config.db, config.name)
    store.begin(config, "policy:base")
    store.begin_base("policy:base")
    store.rate("policy:base", (1000.0, 950.0, 1050.0))
    for stage, elo, kept in ((1, 1200.0, True), (2, 1150.0, True), (3, 1400.0, False)):
        one = store.begin_attempt(stage, 1, f"stage-{stage}", "policy:base", {})
        store.note_checkpoint(one, f"policy:{stage}")
        store.rate(f"policy:{stage}", (elo, elo - 50, elo + 50))
        learned = store.attempt(stage, 1)
        assert learned is not None
        store.decide(learned, kept)
    return store


@pytest.mark.parametrize(
    ("points", "decision", "h1", "not_h0"),
    [
        ([2.0, 1.0] * 40, "H1", True, True),
        ([0.0, 1.0] * 40, "H0", False, False),
        ([2.0, 0.0] * 4 + [2.0, 1.0], None, False, True),  # undecided, nearer to H1
        ([2.0, 0.0] * 4 + [0.0, 1.0], None, False, False),  # undecided, nearer to H0: it passed in generation 9
    ],
)
def test_an_undecided_match_passes_only_if_that_is_allowed_and_likelier(
    points: list[float], decision: str | None, h1: bool, not_h0: bool
) -> None:
    pools = {("gen1ou", "none"): (FixtureTeam("none", "none", packed=""),)}
    match = Match(Plan(("a", "b"), pools, 2, 0), {}, Sprt(SprtSettings(elo0=-15, elo1=15)))
    assert match.test is not None
    for each in points:
        match.points.append(each)
        if match.test.add(each):
            break
    assert match.test.decision == decision
    played = cast(PlayedRun, SimpleNamespace(schedule=match))
    assert [match_result(require, played)[0] for require in ("H1", "not H0")] == [h1, not_h0]


def test_the_final_test_has_teams_and_a_seed_of_its_own_and_reuses_no_battle(tmp_path: Path) -> None:
    config = shipped(tmp_path)
    gate = match_settings(config, parent_test(config.stages[0]), "policy:child", "policy:parent")
    final = final_test_settings(config, "policy:child", "policy:parent")
    assert not set(final.team_sets) & set(gate.team_sets) and final.seed != gate.seed and final.fresh and not gate.fresh
    assert final.battles * len(final.team_sets) >= config.final_test.battles
    assert (final.agents, final.schedule, final.sprt is not None) == (gate.agents, "match", True)


def test_the_best_so_far_is_met_where_it_is_not_the_parent(store: CurriculumStore, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from training.experiments.curriculum.loop import _Loop

    def met(config: Curriculum, parent: str) -> list[tuple[str, str]]:
        loop = _Loop(config, store, StageClock(tmp_path, store), Console(file=io.StringIO()), "")
        return loop.earlier(config.stages[2], parent)

    config = shipped(tmp_path)
    assert store.best() == "policy:1"
    assert met(config, "policy:2") == [("parent", "policy:2"), ("best", "policy:1")]
    assert met(config, "policy:1") == [("parent", "policy:1")]
    assert met(shipped(tmp_path, best=False), "policy:2") == [("parent", "policy:2")]
    assert met(shipped(tmp_path, require="nothing"), "policy:2") == []


def test_a_gate_of_an_earlier_version_is_read_and_a_begun_curriculum_resumed(tmp_path: Path) -> None:
    told = yaml.safe_load((SHIPPED / "gen1ou-cpu.yaml").read_text()) | {"out": str(tmp_path)}
    old = {
        "require": "not H0",
        "elo0": 0,
        "elo1": 30,
        "alpha": 0.05,
        "beta": 0.05,
        "model": "normalized",
        "battles": 400,
    }
    told["stages"][0]["gate"]["parent"].clear()
    told["stages"][0]["gate"]["parent"] |= old
    config = validated(Curriculum, told, "test")
    Store(config.db)
    store = CurriculumStore(config.db, config.name)
    store.begin(config, "policy:base")
    store.begin_attempt(1, 1, "first-steps", "policy:base", {})
    with store._writing() as connection:  # as the version without the key has left it
        connection.execute("UPDATE curricula SET config = replace(config, ', \"best\": null', '')")
        (text,) = connection.execute("SELECT config FROM curricula").fetchone() or ("",)
    assert '"battles": 400' in text and '"best"' not in text
    store.begin(config, "policy:base")
    assert config.stages[0].gate.parent.best is None


@pytest.fixture(scope="module")
def simulation() -> ModuleType:
    return script("simulate/gates.py")


def test_a_worse_checkpoint_passed_most_stages_and_passes_few_now(simulation: ModuleType, tmp_path: Path) -> None:
    before, _, now = simulation.GATES
    asked = shipped(tmp_path).stages[0].gate.parent
    assert (now.test.elo0, now.test.elo1, now.battles, not now.undecided) == (
        asked.elo0, asked.elo1, asked.battles, asked.require == "H1",
    )  # fmt: skip

    def with_one_retry(gate: Any, lead: float) -> float:
        shares = simulation.with_lead(simulation.KINDS["independent"], lead, "logistic")
        passed, battles = simulation.passed(gate.of_tries(2), shares, 240, np.random.default_rng(7))
        assert battles.max() <= gate.battles
        return float(passed.reshape(120, 2).any(axis=1).mean())

    assert with_one_retry(before, -10) == pytest.approx(0.77, abs=0.09)
    assert with_one_retry(before, -20) == pytest.approx(0.51, abs=0.09)
    assert with_one_retry(now, -10) < 0.2 and with_one_retry(now, -20) < 0.05
    assert with_one_retry(now, 40) > 0.99, "what is better still passes"
