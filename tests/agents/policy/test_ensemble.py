"""`ensemble:A,B`: the mean of the networks' probabilities, in batches and in battles."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.made_decisions import decisions
from support.rule_matches import pair_of_fixtures, play_all

from agents import resolve
from agents.policy import checkpoint
from agents.policy.ensemble import ensemble
from agents.policy.player import policy
from teamsets.errors import BadInput

torch = pytest.importorskip("torch")


@pytest.fixture
def networks(tmp_path: Path, micro: Any) -> tuple[str, str]:
    """Two checkpoints of other weights, whose logits are far from even."""
    from agents.policy.network import Network

    folders = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        network = Network(micro)
        with torch.no_grad():
            network.policy_head.mul_(30)
        checkpoint.save(tmp_path / f"run{seed}" / "checkpoints" / "step-000000001", network, 1)
        folders.append(str(tmp_path / f"run{seed}"))
    return folders[0], folders[1]


def made(agent_class: Any, n: int) -> list[Any]:
    agents = [agent_class(device="cpu") for _ in range(n)]
    for number, agent in enumerate(agents):
        agent.rng = random.Random(number)
    return agents


def test_probabilities_and_values_are_the_mean_of_the_networks(networks: tuple[str, str], one_thread: None) -> None:
    many, n = decisions(12, 3), 12

    async def play() -> None:
        alone = []
        for path in networks:
            agents = made(policy(path), n)
            await policy(path).act_many(agents, many)
            alone.append([agent.diagnostics for agent in agents])
        both = ensemble(",".join(networks))
        agents = made(both, n)
        actions = await both.act_many(agents, many)
        differ = 0
        for row, agent in enumerate(agents):
            first, second = (each[row]["probabilities"] for each in alone)
            found = agent.diagnostics["probabilities"]
            assert found == pytest.approx({action: (first[action] + second[action]) / 2 for action in first}, abs=2e-4)
            assert found[int(actions[row])] == max(found.values())
            values = [each[row]["win_probability"] for each in alone]
            assert agent.diagnostics["win_probability"] == pytest.approx(np.mean(values), abs=2e-4)
            differ += max(first, key=first.get) != max(second, key=second.get)
        assert differ > 2, "else a mean would be no test"

    asyncio.run(play())


def test_it_plays_and_is_another_agent_when_a_network_is_another(
    networks: tuple[str, str],
    one_thread: None,
    micro: Any,
) -> None:
    from agents.policy.network import Network

    spec = f"ensemble:{','.join(networks)}?temperature=0.5"
    assert resolve(spec).missing("gen1ou") == ""
    before = resolve(spec).fingerprint
    records = play_all(pair_of_fixtures(spec, "random", "gen1randombattle", 3)[:1])
    assert [record.fault for record in records] == [None]
    thoughts = [decision[-1] for record in records for decision in record.decisions if decision[-1]]
    assert any("probabilities" in str(thought) for thought in thoughts)
    checkpoint.save(Path(networks[1]) / "checkpoints" / "step-000000002", Network(micro), 2)
    assert resolve(spec).fingerprint != before


@pytest.mark.parametrize("names", ["gen1ou", "gen1ou,", ",", ",".join(["gen1ou"] * 17)])
def test_an_ensemble_is_of_two_networks_or_more(names: str) -> None:
    with pytest.raises(BadInput, match=r"^ensemble:.*: name 2 to 16 networks, as after policy:, separated by commas$"):
        resolve(f"ensemble:{names}")


def test_a_network_that_is_not_there_is_named() -> None:
    assert "nowhere" in resolve("ensemble:gen1ou,nowhere").missing("gen1ou")
