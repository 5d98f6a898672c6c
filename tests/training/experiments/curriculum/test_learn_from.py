"""The value learns from lost sides, too; from which sides the policy learns, each source says. Nothing here needs torch."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from click.testing import CliRunner
from support.stand_in_curriculum import toy
from support.tournaments import tournament

from training.cli import cli
from training.data.shards import all_trajectories, opened
from training.data.stream import Batch, Stream, Use
from training.experiments.curriculum.config import Curriculum, attempts
from training.experiments.curriculum.learn import build_datasets, mixture
from training.experiments.curriculum.store import Attempt
from training.offline.config import Source
from training.runs.config_reader import BadConfig, validated

LEARNER, COACH = "heuristic:least-damage", "heuristic:expert"

pytestmark = pytest.mark.usefixtures("in_this_process")


@pytest.fixture(scope="module")
def play_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A database, and its run of a learner that always loses against a coach that always wins."""
    db = tmp_path_factory.mktemp("lost") / "arena.duckdb"
    return db, tournament(db, LEARNER, COACH, formats=("gen1randombattle",), battles=4, workers=1, think_limit=60.0)


def curriculum(db: Path, out: Path, learner: Any, coaches: Any) -> Curriculum:
    """Stages that learn like that from the battles of `db`."""
    told = yaml.safe_load(yaml.safe_dump(toy(out, database=str(db))))
    told["stages"][0] |= {"coaches": [{"agent": COACH, "weight": 1}], "past": told["stages"][0]["past"] | {"weight": 0}}
    told["stages"][0]["learn_from"] = {"learner": learner, "coaches": coaches, "earlier": 0, "also": []}
    return validated(Curriculum, told | {"stages": told["stages"][:1]}, "toy")


def sides(policy_from: str, value_from: str = "all", weight: float = 1) -> dict[str, Any]:
    return {"policy_from": policy_from, "value_from": value_from, "weight": weight}


def sources(config: Curriculum, run_id: str, said: list[str] | None = None) -> list[Source]:
    """What an attempt at the first stage learns from."""
    stage = config.stages[0]
    one = Attempt(1, 1, stage.name, "playing", "", {}, LEARNER, None, run_id, None, None)
    datasets = build_datasets(config, stage, one, (said if said is not None else []).append)
    return mixture(stage, datasets, [])


def batches(found: list[Source]) -> Iterator[Batch]:
    datasets = [opened(Path(source.path)) for source in found]
    uses = [Use(source.policy_from, source.value_from) for source in found]
    return iter(Stream(datasets, [source.weight for source in found], uses, batch_size=4, max_length=200, seed=1))


@pytest.mark.slow
def test_the_value_sees_both_results_and_the_policy_won_sides_alone(play_run: tuple[Path, str], tmp_path: Path) -> None:
    db, run_id = play_run
    said: list[str] = []
    found = sources(curriculum(db, tmp_path, sides("won"), sides("won")), run_id, said)
    results = [[one.result for one in all_trajectories(opened(Path(source.path)))] for source in found]
    assert results == [[0.0] * 4, [1.0] * 4]
    assert said == ["stage first: the learner won no battle; their sides train the value only"]
    for batch in islice(batches(found), 16):
        assert batch.value_mask.all()
        assert np.array_equal(batch.policy_mask, batch.results == 1.0)
    seen = np.concatenate([batch.results for batch in islice(batches(found), 8)])
    assert seen.mean() == 0.5, "the value's target: 1.0 when lost sides were filtered out"


@pytest.mark.parametrize(
    ("learner", "coaches", "policy", "value"),
    [
        (sides("all"), sides("won"), {0.0, 1.0}, {0.0, 1.0}),
        (sides("none"), sides("all"), {1.0}, {0.0, 1.0}),
        (sides("all", "none"), sides("none"), {0.0}, {1.0}),
        (sides("none", "none", 0), sides("all"), {1.0}, {1.0}),
    ],
)
def test_each_source_has_its_own_masks(
    play_run: tuple[Path, str], tmp_path: Path, learner: Any, coaches: Any, policy: set[float], value: set[float]
) -> None:
    db, run_id = play_run
    taught = list(islice(batches(sources(curriculum(db, tmp_path, learner, coaches), run_id)), 8))
    assert {float(r) for batch in taught for r in batch.results[batch.policy_mask]} == policy
    assert {float(r) for batch in taught for r in batch.results[batch.value_mask]} == value


def test_sides_that_teach_neither_are_not_in_the_dataset(play_run: tuple[Path, str], tmp_path: Path) -> None:
    db, run_id = play_run
    said: list[str] = []
    found = sources(curriculum(db, tmp_path, sides("won", "none"), sides("won", "none")), run_id, said)
    assert [Path(source.path).name.split("-")[0] for source in found] == ["coaches"]
    assert said == ["stage first: no sides of the learner match learn_from (won)"]
    with pytest.raises(BadConfig, match=r"stage first: learn_from: no side of a battle matches; .* policy_from: all"):
        sources(curriculum(db, tmp_path, sides("won"), sides("none")), run_id)


def test_retries_that_differ_in_the_policy_s_sides_share_a_dataset(play_run: tuple[Path, str], tmp_path: Path) -> None:
    db, run_id = play_run
    config = curriculum(db, tmp_path, sides("won"), sides("won"))
    stage = config.stages[0].model_copy(update={"retries": [{"learn_from.coaches.policy_from": "all"}]})
    first, second = attempts(stage)
    assert second.learn_from.coaches.policy_from == "all"
    paths = [
        [source.path for source in sources(config.model_copy(update={"stages": [each]}), run_id)]
        for each in (first, second)
    ]
    assert paths[0] == paths[1]


def old(learner: str, coaches: str) -> dict[str, Any]:
    """`learn_from` as files of before have it."""
    return {
        "learner": learner,
        "learner_weight": 2,
        "coaches": coaches,
        "coaches_weight": 0.5,
        "earlier": 1,
        "also": [],
    }


def test_a_filter_by_result_says_what_the_value_misses(play_run: tuple[Path, str], tmp_path: Path) -> None:
    words = ["data", "build", "--db", str(play_run[0]), "--out", str(tmp_path / "d"), "--workers", "1"]
    said = CliRunner().invoke(cli, [*words, "--result", "won"])
    assert said.exit_code == 0
    assert said.stderr.startswith("--result won: the value is trained on these sides only")
    assert "policy_from: won" in said.stderr
    assert "--result" not in CliRunner().invoke(cli, [*words[:-1], "1", "--replace"]).stderr
