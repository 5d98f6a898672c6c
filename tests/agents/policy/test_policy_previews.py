"""Networks at the team preview of singles: those that decide it choose their lead, the others play on as before."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.rule_matches import play_all

from agents import resolve
from agents.policy import checkpoint
from arena.record import BattleRecord
from arena.run.entrants import load_pools
from arena.schedules.plan import Plan, round_robin
from teamsets.errors import BadInput

torch = pytest.importorskip("torch")

from agents.policy.network import Network  # noqa: E402
from agents.policy.shape import PRESETS  # noqa: E402


def saved(folder: Path, shape: Any, *, team_preview: bool) -> str:
    """A run with an untrained network whose logits are far from even. Its weights do not depend on team_preview."""
    torch.manual_seed(3)
    network = Network(replace(shape, team_preview=team_preview))
    with torch.no_grad():
        network.policy_head.mul_(30)
    return str(checkpoint.save(checkpoint.folder_of(folder, 1), network, 1).parents[1])


@pytest.fixture
def deciding(tmp_path: Path, micro: Any) -> str:
    return saved(tmp_path / "deciding", micro, team_preview=True)


@pytest.fixture
def former(tmp_path: Path, micro: Any) -> str:
    return saved(tmp_path / "former", micro, team_preview=False)


def played(spec: str, max_turns: int = 3) -> list[BattleRecord]:
    """A pair of battles, whose teams and seeds are the same for every spec."""
    plan = Plan(("random", "array:max-damage"), load_pools(("gen9ou",))[0], 2, 0)
    named = {"random": resolve(spec).spec}
    fixtures = [
        replace(one, agents=(named.get(one.agents[0], one.agents[0]), named.get(one.agents[1], one.agents[1])))
        for one in list(round_robin(plan))[:2]
    ]
    records = play_all(fixtures, max_turns)
    assert [record.fault for record in records] == [None, None], [record.detail for record in records]
    return records


def decisions_of(record: BattleRecord, spec: str) -> list[tuple[Any, ...]]:
    seat = record.fixture.agents.index(resolve(spec).spec)
    return [row for row in record.decisions if row[0] == seat]


def test_a_checkpoint_says_whether_it_decides_previews(micro: Any, deciding: str, former: str) -> None:
    shapes = [json.loads((checkpoint.find(run) / "checkpoint.json").read_text())["shape"] for run in (deciding, former)]
    assert shapes[0]["team_preview"] is True and "team_preview" not in shapes[1]
    assert [checkpoint.read(checkpoint.find(run)).decides_previews for run in (deciding, former)] == [True, False]
    loaded, _ = checkpoint.load(checkpoint.find(deciding))
    assert loaded.shape.team_preview and not checkpoint.load(checkpoint.find(former))[0].shape.team_preview
    assert checkpoint.identity(checkpoint.find(deciding)) != checkpoint.identity(checkpoint.find(former))
    assert replace(PRESETS["tiny"], team_preview=True).name == "tiny"
    with pytest.raises(BadInput, match="team_preview='yes': must be true or false"):
        replace(micro, team_preview="yes")


def test_it_leads_with_what_it_finds_most_probable_and_a_former_network_keeps_its_order(
    deciding: str, former: str, one_thread: None
) -> None:
    leads = []
    for record in played(f"policy:{deciding}"):
        first, *_ = decisions_of(record, f"policy:{deciding}")
        _, _, turn, legal, choice, _, diagnostics = first
        assert turn == 0 and set(diagnostics["probabilities"]) == set(legal) and len(legal) == 6
        assert choice == max(diagnostics["probabilities"], key=diagnostics["probabilities"].__getitem__)
        leads.append(choice)
    assert leads != ["team 123456"] * 2
    for record in played(f"policy:{former}"):
        first, second, *_ = decisions_of(record, f"policy:{former}")
        assert first[4] == "team 123456" and first[6] is None and second[6] is not None


def test_an_ensemble_decides_if_all_of_its_networks_do(deciding: str, former: str, one_thread: None) -> None:
    both, mixed = f"ensemble:{deciding},{deciding}", f"ensemble:{deciding},{former}"
    alone = [decisions_of(record, f"policy:{deciding}")[0][4] for record in played(f"policy:{deciding}", 1)]
    assert [decisions_of(record, both)[0][4] for record in played(both, 1)] == alone
    assert {decisions_of(record, mixed)[0][4] for record in played(mixed, 1)} == {"team 123456"}


def test_a_search_takes_the_lead_of_a_network_that_decides_it_and_else_the_experts(
    deciding: str, former: str, one_thread: None
) -> None:
    pytest.importorskip("numba")
    options = "&iterations=4&samples=1"
    search, of_expert = f"search:exact?policy={deciding}{options}", f"search:exact?policy={former}{options}"
    leads = [decisions_of(record, f"policy:{deciding}")[0] for record in played(f"policy:{deciding}", 1)]
    found = [decisions_of(record, search)[0] for record in played(search, 1)]
    assert [row[4] for row in found] == [row[4] for row in leads]
    assert [row[6]["probabilities"] for row in found] == [row[6]["probabilities"] for row in leads]
    experts = [decisions_of(record, "heuristic:expert")[0][4] for record in played("heuristic:expert", 1)]
    assert [decisions_of(record, of_expert)[0][4] for record in played(of_expert, 1)] == experts


def test_a_coach_labels_the_preview_of_a_learner_that_decides_it(deciding: str, former: str, one_thread: None) -> None:
    from agents.coached import coached_spec

    spec = coached_spec(f"policy:{deciding}", "heuristic:expert")
    experts = [decisions_of(record, "heuristic:expert")[0][4] for record in played("heuristic:expert", 1)]
    for record, lead in zip(played(spec, 1), experts, strict=True):
        diagnostics = decisions_of(record, spec)[0][6]
        assert diagnostics["coach"] == lead and diagnostics["probabilities"] == {lead: 1.0}
        assert set(diagnostics["learner"]) == {"win_probability", "probabilities"}
    of_former = coached_spec(f"policy:{former}", "heuristic:expert")
    assert all(decisions_of(record, of_former)[0][6] is None for record in played(of_former, 1))


def test_a_reference_of_a_network_that_decides_previews_must_do_so_too(deciding: str, former: str) -> None:
    abouts = [checkpoint.read(checkpoint.find(run)) for run in (deciding, former)]
    assert [about.unfit_as_reference(team_preview=False) for about in abouts] == ["", ""]
    assert abouts[0].unfit_as_reference(team_preview=True) == ""
    assert "does not decide team previews" in abouts[1].unfit_as_reference(team_preview=True)
