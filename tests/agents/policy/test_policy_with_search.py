"""`search:exact?policy=`: it acts by log π + β·Q, where π is what `policy:` would play."""

from __future__ import annotations

import asyncio
import math
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.rule_matches import pair_of_fixtures, play_all
from support.small_battles import at_first_request, fought, team

from agents import resolve
from agents.fingerprint import sources_of
from agents.observation.actions import legal_actions
from agents.observation.observation import Observations, observe
from agents.policy import checkpoint
from agents.search.exact.agent import ExactSearch
from arena.record import BattleRecord
from teamsets.errors import BadInput

torch = pytest.importorskip("torch")
pytest.importorskip("numba")

#: Electrode is faster: Thunderbolt knocks Gyarados out in a hit or two, Explosion knocks out Electrode alone.
ELECTRODE, GYARADOS = team(("electrode", "thunderbolt", "explosion")), team(("gyarados", "tackle"))


def decisions_of(record: BattleRecord, spec: str) -> list[tuple[str, Any]]:
    """An agent's choices with their diagnostics."""
    seat = record.fixture.agents.index(spec)
    return [(decision[4], decision[6]) for decision in record.decisions if decision[0] == seat]


def against(spec: str, opponent: str = "array:max-damage") -> list[BattleRecord]:
    records = play_all(pair_of_fixtures(spec, opponent, "gen1randombattle", 5), max_turns=60)
    assert [record.fault for record in records] == [None, None]
    return records


def test_with_beta_0_it_plays_what_the_policy_plays(run_folder: Path, one_thread: None) -> None:
    """In whole battles, so the network has the same memory of them."""
    alone, both = f"policy:{run_folder}", f"search:exact?policy={run_folder}&beta=0&iterations=20"
    searched = 0
    for one, two in zip(against(alone), against(resolve(both).spec), strict=True):
        ours, theirs = decisions_of(two, resolve(both).spec), decisions_of(one, alone)
        assert [choice for choice, _ in ours] == [choice for choice, _ in theirs]
        assert [thought["network"] for _, thought in ours] == [thought for _, thought in theirs]
        searched += sum("visits" in thought["search"] for _, thought in ours)
    assert searched > 20


def with_probability(folder: Path, micro: Any, label: str, wanted: float) -> Path:
    """A checkpoint whose network plays one of two actions with this probability at Electrode's first decision."""
    from agents.policy.network import Network

    torch.manual_seed(1)
    network = Network(micro)
    battle = at_first_request(fought(ELECTRODE, GYARADOS))
    actions = legal_actions(battle.last_request, battle.legal)
    ids, features, legal = (torch.from_numpy(part)[None] for part in Observations.single(observe(battle)))
    with torch.no_grad():
        logits = network(ids, features, legal, torch.ones(1, 1, dtype=torch.bool))[0][0, 0]
        (at,) = (action for action, choice in actions.items() if choice.label == label)
        (other,) = (action for action in actions if action != at)
        network.policy_head.mul_(math.log(wanted / (1 - wanted)) / float(logits[at] - logits[other]))
    return checkpoint.save(folder / "checkpoints" / "step-000000001", network, 1)


def test_it_finds_a_winning_move_to_which_the_policy_gives_1_percent(
    tmp_path: Path, micro: Any, one_thread: None
) -> None:
    folder = with_probability(tmp_path, micro, "move thunderbolt", 0.01)
    options = f"policy={folder}&iterations=500"
    for beta, wanted in ((0, "move explosion"), (60, "move thunderbolt")):
        spec = resolve(f"search:exact?{options}&beta={beta}").spec
        choice, thought = decisions_of(fought(ELECTRODE, GYARADOS, (spec, "random")), spec)[0]
        assert thought["network"]["probabilities"]["move thunderbolt"] == pytest.approx(0.01, abs=1e-3)
        assert choice == wanted and thought["probabilities"][choice] > 0.98
        assert thought["values"]["move thunderbolt"] > thought["values"]["move explosion"] + 0.2


def test_the_same_seed_gives_the_same_battle(run_folder: Path, one_thread: None) -> None:
    spec = resolve(f"search:exact?policy={run_folder}&iterations=40&temperature=0.5&beta=20").spec
    first, second = against(spec, "random"), against(spec, "random")
    assert [record.input_log for record in first] == [record.input_log for record in second]
    for record in first:
        for choice, thought in decisions_of(record, spec):
            assert "failed" not in thought["search"] and 0 <= thought["win_probability"] <= 1
            assert thought["probabilities"][choice] > 0 and set(thought["probabilities"]) == set(
                thought["network"]["probabilities"]
            )
            assert sum(thought["probabilities"].values()) == pytest.approx(1, abs=0.01)


def test_the_wait_for_the_network_is_no_time_of_the_search(
    run_folder: Path, one_thread: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other battles of the process think meanwhile: without this, one of many hardly searched at all."""
    clock = [0.0]

    def now() -> float:
        clock[0] += 0.001
        return clock[0]

    monkeypatch.setattr("agents.search.exact.agent.time", SimpleNamespace(perf_counter=now))
    agent = resolve(f"search:exact?policy={run_folder}&ms=60").make()
    agent.rng = agent._network.rng = random.Random(3)
    judge = agent._network.judge

    async def late(battle: Any) -> Any:
        clock[0] += 1  # another battle's search has the event loop to itself
        return await judge(battle)

    agent._network.judge = late
    answer = agent.act(at_first_request(fought(ELECTRODE, GYARADOS)))
    clock[0] += 1  # before the event loop comes to it
    asyncio.run(answer)
    assert agent.diagnostics["search"]["iterations"] > 50 * 2 * 200, "some 55 looks at the clock"


def test_another_checkpoint_or_option_is_another_agent(run_folder: Path) -> None:
    last, first = (resolve(f"search:exact?policy={run_folder}{at}") for at in ("", "@1"))
    assert last.fingerprint == resolve(f"search:exact?policy={run_folder}").fingerprint
    others = [first, resolve("search:exact"), resolve(f"search:exact?policy={run_folder}&beta=1")]
    assert len({source.fingerprint for source in (last, *others)}) == 4
    assert not any(module.startswith("agents.policy") for module in sources_of(ExactSearch)), "else it imports them"


def test_what_it_cannot_play_with_is_said_in_one_line(
    run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, nowhere = f"search:exact?policy={run_folder}", f"search:exact?policy={tmp_path}/no"
    assert resolve(good).missing("gen1ou") == ""
    assert resolve(good).missing("gen3ou") == "the engines play gen1ou, gen1randombattle and gen9ou only"
    assert resolve(nowhere).missing("gen1ou") == (
        f"checkpoint '{tmp_path}/no': no such folder, and no shipped network of that name: give a run's folder, a "
        f"checkpoint's folder, or one of {', '.join(checkpoint.shipped())}"
    )
    with pytest.raises(BadInput, match=r"no such folder, and no shipped network"):
        resolve(nowhere).make()
    with pytest.raises(BadInput, match="device=tpu: must be"):
        resolve(f"{good}&device=tpu").make()
    monkeypatch.setattr("agents.serving.client._GPU_FILES", ())
    assert resolve(f"{good}&iterations=10").repeatable and not resolve(good).repeatable
    assert not resolve(f"{good}&iterations=10&device=cuda").repeatable


def test_without_the_registry_it_says_how_to_get_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ExactSearch, "networks", None)
    with pytest.raises(BadInput, match=r"policy=gen1ou-tiny: .*agents\.resolve"):
        ExactSearch.missing(policy="gen1ou-tiny")
