"""Online training in a format with a team preview: the rollout holds it for networks that decide it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numba")

from support.compilers import need_compiler  # noqa: E402
from support.online import collected, trainer  # noqa: E402

from agents.observation.columns import at_preview  # noqa: E402
from agents.policy import checkpoint  # noqa: E402
from agents.policy.network import Network  # noqa: E402
from agents.policy.shape import PRESETS  # noqa: E402
from training.online.trainer import LEARNER, Trainer  # noqa: E402
from training.runs.config_reader import BadConfig  # noqa: E402

need_compiler()

SELF = [{"who": "opponent", "weight": 1.0}]
MIXED = [{"who": "opponent", "weight": 0.5}, {"who": "agent", "weight": 0.5, "agent": "heuristic:max-damage"}]


def small(**changes: Any) -> Trainer:
    settings = {
        "format": "gen9ou", "learner__network__preset": "micro", "learner__network__start_from": "", "rollout__battles": 4,
        "rollout__max_turns": 8, "league__members": SELF, **changes,
    }  # fmt: skip
    return trainer(**settings)


def previews(one: Trainer, **more: Any) -> tuple[int, int]:
    """The decisions at previews, and the trajectories, each of which must begin with one if there are any."""
    rollout = collected(one, **more)
    found = at_preview(rollout.features.numpy())
    starts = rollout.lengths.cumsum(0) - rollout.lengths
    assert not found.any() or found[starts].all()
    assert rollout.legal.gather(1, rollout.actions[:, None]).all()
    return int(found.sum()), len(rollout.lengths)


@pytest.mark.parametrize("venue", ["engine", pytest.param("showdown", marks=pytest.mark.slow)])
def test_a_new_network_decides_its_previews_and_one_that_is_there_does_as_it_did(venue: str, tmp_path: Path) -> None:
    new = small(venue=venue, league__members=MIXED)
    assert new.roles[LEARNER].network.shape.team_preview
    count, trajectories = previews(new)
    assert count == trajectories > 4
    former = checkpoint.save(checkpoint.folder_of(tmp_path / "run", 1), Network(PRESETS["micro"]), 1)
    old = small(venue=venue, league__members=MIXED, learner__network__start_from=str(former))
    assert not old.roles[LEARNER].network.shape.team_preview and previews(old)[0] == 0
    assert not small(learner__network__team_preview=False).roles[LEARNER].network.shape.team_preview
    weights = Network(replace(PRESETS["micro"], team_preview=True))
    old.roles[LEARNER].load_weights(weights)
    with pytest.raises(BadConfig, match=r"reference.checkpoint: .+ does not decide team previews"):
        small(
            learner__network__start_from=str(former),
            learner__network__team_preview=True,
            reference__coefficient={"kind": "constant", "value": 0.1},
        )


def test_a_network_that_decides_meets_one_that_does_not(tmp_path: Path) -> None:
    former = checkpoint.save(checkpoint.folder_of(tmp_path / "run", 1), Network(PRESETS["micro"]), 1)
    member = {"who": "checkpoint", "weight": 1.0, "checkpoint": str(former), "temperature": 1.0}
    count, trajectories = previews(small(league__members=[member]))
    assert count == trajectories == 4


@pytest.mark.parametrize("branch_at", [0, 3])
def test_groups_branch_at_and_after_the_preview(branch_at: int) -> None:
    one = small(rollout__battles=6)
    count, trajectories = previews(one, group=3, branch_at=branch_at)
    assert count == trajectories == 12


def test_a_teacher_searches_no_preview() -> None:
    one = trainer(
        "expert_iteration", format="gen9ou", learner__network__preset="micro", learner__network__start_from="",
        rollout__battles=2, rollout__max_turns=3, league__members=SELF, algorithm__iterations=8,
        algorithm__determinizations=0,
    )  # fmt: skip
    rollout = collected(one)
    found = torch.from_numpy(at_preview(rollout.features.numpy()))
    assert found.sum() == len(rollout.lengths)
    assert rollout.searched_value[found].isnan().all() and not rollout.searched_value[~found].isnan().all()
