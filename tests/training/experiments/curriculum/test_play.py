"""Who is played against how often."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from support.stand_in_curriculum import toy
from support.tournaments import tournament

from agents import resolve
from agents.coached import coached_spec
from agents.policy import checkpoint
from arena.fixture import FixtureTeam
from arena.schedules.plan import Plan
from arena.schedules.schedule import Quotas
from arena.store import rows
from training.experiments.curriculum.config import Curriculum
from training.experiments.curriculum.past_checkpoints import (
    PRIOR_BATTLES,
    chances,
    checkpoint_of,
    earlier,
    past_weights,
    with_temperature,
)
from training.experiments.curriculum.play import (
    apportioned,
    base_of,
    drawn_quotas,
    learner_spec,
    path_of,
    pinned,
    team_set,
)
from training.experiments.curriculum.stage import PastOpponents, StageTeams


def curriculum(folder: Path, **stage: Any) -> Curriculum:
    told = yaml.safe_load(yaml.safe_dump(toy(folder)))
    told["stages"][0] |= stage
    return Curriculum.model_validate(told)


def past(sampling: str, power: float = 2.0, weight: float = 1.0) -> PastOpponents:
    return PastOpponents.model_validate({"weight": weight, "sampling": sampling, "power": power, "temperature": 0})


def test_whole_numbers_in_proportion() -> None:
    assert apportioned([2, 1, 1], 4) == [2, 1, 1]
    assert apportioned([1, 1, 1], 4) == [2, 1, 1]
    assert apportioned([0.7, 0.2, 0.1], 10) == [7, 2, 1]
    assert sum(apportioned([3, 5, 7, 11], 997)) == 997


def test_battles_are_shared_out_by_both_weights(tmp_path: Path) -> None:
    config = curriculum(
        tmp_path,
        battles=48,
        opponents=[{"agent": "random", "weight": 1}],
        coaches=[{"agent": "heuristic:expert", "weight": 2}],
        teams=[{"set": "variety:5", "weight": 3, "growth": 2}, {"set": "competitive", "weight": 1, "growth": 1}],
    )
    quotas = drawn_quotas(config, config.stages[0], 2, "heuristic:max-power", [])
    assert {(a, b): n for a, b, n in quotas} == {
        ("random", "variety:10"): 12,
        ("random", "competitive"): 4,
        ("heuristic:expert", "variety:10"): 24,
        ("heuristic:expert", "competitive"): 8,
    }


def test_variety_grows_by_stage() -> None:
    grows = StageTeams.model_validate({"set": "variety:50", "weight": 1, "growth": 1.5})
    assert [team_set(grows, number) for number in (1, 2, 3)] == ["variety:50", "variety:75", "variety:112"]


def test_earlier_selves_by_each_sampling(tmp_path: Path) -> None:
    lineage, nowhere = ["policy:a", "policy:b@5"], tmp_path / "none.duckdb"
    # The checkpoints need not be there: nobody plays.
    uniform = past_weights(nowhere, past("uniform", weight=3), lineage[1], lineage)
    assert uniform == {"policy:a": 1.5, "policy:b@5": 1.5}
    assert past_weights(nowhere, past("latest"), lineage[1], lineage) == {"policy:b@5": 1.0}
    assert past_weights(nowhere, past("prioritised"), lineage[1], lineage) == {"policy:a": 0.5, "policy:b@5": 0.5}


def test_the_base_is_no_opponent_where_there_is_another_earlier_self() -> None:
    lineage = ["policy:base", "policy:a@1", "policy:b@2"]
    copies = past("uniform").model_copy(update={"temperature": 0.5})
    assert earlier(copies, "policy:b@2", lineage) == ["policy:a@1", "policy:b@2"], "a copy draws its actions"
    assert earlier(past("uniform"), "policy:b@2", lineage) == ["policy:a@1"], "a copy would be the learner itself"
    assert earlier(past("uniform"), "policy:a@1", lineage[:2]) == ["policy:base"], "better than nobody"
    assert earlier(past("uniform"), "policy:base", lineage[:1]) == []


@pytest.mark.slow
def test_the_hardest_self_is_met_most_also_one_that_was_never_met(tmp_path: Path) -> None:
    db = tmp_path / "arena.duckdb"
    me, pool, weak, strong = "heuristic:max-damage", "poke-env:MaxBasePowerPlayer", "random", "heuristic:expert"
    # Against the pool all three, as gates and evaluations play it; none of them against another.
    tournament(
        db, pool, me, weak, strong, battles=16, think_limit=60.0, pairings=[(pool, me), (pool, weak), (pool, strong)]
    )
    assert not rows("SELECT 1 FROM results WHERE agent = ? AND opponent IN (?, ?)", db, [me, weak, strong])
    p = chances(db, me, [weak, strong, me])
    assert p[strong] < 0.5 < p[weak] and p[me] == 0.5
    weights = past_weights(db, past("prioritised", power=3), me, [strong, weak])
    expected = {each: (1 - p[each]) ** 3 for each in (strong, weak)}
    assert weights[strong] == pytest.approx(expected[strong] / sum(expected.values()))
    assert weights[strong] > 0.6 and sum(weights.values()) == pytest.approx(1)


def test_few_battles_tell_little_of_an_earlier_self(tmp_path: Path) -> None:
    db = tmp_path / "arena.duckdb"
    tournament(db, "heuristic:expert", "random", battles=2, think_limit=60.0)
    assert rows("SELECT sum(score) FROM results WHERE agent = 'random'", db) == [(0,)], (
        "otherwise this test says nothing"
    )
    (p,) = chances(db, "heuristic:expert", ["random"]).values()
    # Two wins and PRIOR_BATTLES even ones, but for Jeffreys' prior of half a battle or so.
    assert p == pytest.approx((2 + PRIOR_BATTLES / 2) / (2 + PRIOR_BATTLES), abs=0.02) and PRIOR_BATTLES == 8


def test_a_checkpoint_is_known_under_all_its_specs(tmp_path: Path) -> None:
    spec = "policy:gen1ou-tiny"
    assert pinned("gen1ou-tiny") == spec and path_of(spec) == "gen1ou-tiny"
    warm = with_temperature(spec, 0.5)
    assert warm == "policy:gen1ou-tiny?temperature=0.5" and with_temperature(spec, 0) == spec
    watched = curriculum(
        tmp_path, learner={"temperature": 0.5, "expert": "search:mcts?iterations=40&samples=2"}
    ).stages[0]
    coached = coached_spec(warm, "search:mcts?iterations=40&samples=2")
    assert learner_spec(spec, watched) == resolve(coached).spec
    assert checkpoint_of(learner_spec(spec, watched)) == checkpoint_of(warm) == spec


@pytest.mark.torch
def test_a_base_that_has_learned_nothing_is_made_once(tmp_path: Path) -> None:
    config = curriculum(tmp_path).model_copy(update={"base": "new"})
    spec = pinned(base_of(config))
    assert spec == f"policy:{config.out}/00-base/new@0"
    made = checkpoint.find(path_of(spec))
    first = (made / checkpoint.WEIGHTS).stat().st_mtime_ns
    assert base_of(config) == path_of(spec) and (made / checkpoint.WEIGHTS).stat().st_mtime_ns == first
    again = base_of(config.model_copy(update={"out": str(tmp_path / "again")}))
    other = base_of(config.model_copy(update={"out": str(tmp_path / "other"), "seed": 1}))
    assert checkpoint.identity(checkpoint.find(again)) == checkpoint.identity(made)
    assert checkpoint.identity(checkpoint.find(other)) != checkpoint.identity(made)


def test_a_pinned_checkpoint_is_named_by_its_step(tmp_path: Path) -> None:
    folder = checkpoint.folder_of(tmp_path / "run", 7)
    folder.mkdir(parents=True)
    (folder / checkpoint.ABOUT).write_text("{}")
    assert pinned(f"{tmp_path / 'run'}@last") == f"policy:{tmp_path / 'run'}@7"
    checkpoint.folder_of(tmp_path / "run", 9).mkdir()
    assert checkpoint.find(path_of(f"policy:{tmp_path / 'run'}@7")) == folder


def test_quotas_are_played_in_pairs_evenly_mixed_and_once() -> None:
    teams = [FixtureTeam(str(number), str(number), packed=str(number)) for number in range(6)]
    plan = Plan(("me", "a", "b"), {("gen1ou", "x"): teams, ("gen1ou", "y"): teams}, 2, 7)
    quotas = [("a", "x", 12), ("b", "x", 4), ("b", "y", 8)]
    fixtures = [each for each in Quotas(plan, {}, quotas) if each is not None]
    met = [(set(each.agents) - {"me"}, each.team_set) for each in fixtures]
    assert [met.count(({a}, name)) for a, name, _ in quotas] == [12, 4, 8]
    for one, other in zip(fixtures[::2], fixtures[1::2], strict=True):
        assert one.pair == other.pair and one.agents == other.agents[::-1] and one.teams == other.teams
    assert len({each.key for each in fixtures}) == 24
    half = met[:12]
    assert [half.count(({a}, name)) for a, name, _ in quotas] == [6, 2, 4], "cut short, the shares are the same"
    known = {each.key: 1.0 for each in fixtures[:9]}
    left = Quotas(plan, known, quotas)
    assert (left.total, left.already_played) == (24, 9) and list(left) == fixtures[9:]
