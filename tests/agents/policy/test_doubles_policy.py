"""Networks of doubles: the same outputs each way, their checkpoints, and real battles decided slot by slot."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.doubles import doubles_fixtures
from support.rule_matches import play_all

from agents import Agent, resolve
from agents.battle.joint_choices import is_stored
from agents.observation.doubles.actions import MOVES, PASS, POKEMON, SPECIAL
from agents.observation.doubles.columns import FIELD, FieldFeature
from agents.observation.layout import DOUBLES, SINGLES
from agents.observation.observation import Observations
from agents.policy import checkpoint, wire
from agents.policy.player import Policy
from teamsets.errors import BadInput

torch = pytest.importorskip("torch")

from agents.policy.network import Memory, Network  # noqa: E402

FORMAT = "gen9championsvgc2026regma"


@pytest.fixture
def shape(micro: Any) -> Any:
    return replace(micro, slots=2)


@pytest.fixture
def run(tmp_path: Path, shape: Any) -> Iterator[Path]:
    torch.manual_seed(3)
    network = Network(shape)
    with torch.no_grad():
        network.joint_policy.head.mul_(30)
    yield checkpoint.save(checkpoint.folder_of(tmp_path / "run", 1), network, 1).parents[1]


def decisions(count: int, seed: int = 0) -> Observations:
    draw = np.random.default_rng(seed)
    legal = draw.random((count, DOUBLES.actions)) < 0.3
    legal[:, PASS] = True
    ids = draw.integers(0, 4000, (count, DOUBLES.tokens, DOUBLES.ids)).astype(np.int16)
    return Observations(ids, draw.standard_normal((count, DOUBLES.tokens, DOUBLES.features)).astype(np.float32), legal)


@pytest.mark.parametrize("policies", [1, 2])
def test_side_by_side_end_to_end_and_step_by_step_are_the_same(shape: Any, policies: int) -> None:
    torch.manual_seed(0)
    shape = replace(shape, policies=policies)
    network, many = Network(shape).eval(), tuple(map(torch.from_numpy, decisions(12)))
    memory = Memory(shape, 1)
    with torch.no_grad():
        whole = network(*(part[None] for part in many), torch.ones(1, 12, dtype=torch.bool))
        behind = network.forward_packed(*many, torch.arange(12))
        torch.testing.assert_close(behind.logits, whole.logits[0], atol=1e-4, rtol=0)
        for place in range(12):
            one = (part[place, None] for part in many)
            played = network.step(*one, memory, torch.tensor([0]), torch.tensor([place]))
            torch.testing.assert_close(played.logits[0], whole.logits[0, place], atol=1e-4, rtol=0)
    assert whole.logits.shape == (1, 12, DOUBLES.actions) and whole.logits[0].isfinite().equal(many[2])


def test_two_policies_decide_each_for_its_slot_and_remember_both(shape: Any) -> None:
    """Decision for decision the output is that of a network alone with the slot's weights, over all of the battle."""
    torch.manual_seed(0)
    both = Network(replace(shape, policies=2)).eval()
    assert both.second is not None
    first = Network(shape).eval()
    first.load_state_dict(
        {name: weight for name, weight in both.state_dict().items() if not name.startswith("second.")}
    )
    token_ids, features, legal = map(torch.from_numpy, decisions(10))
    features[:, FIELD, FieldFeature.SECOND_SLOT] = torch.arange(10) % 2
    seen = token_ids[None], features[None], legal[None], torch.ones(1, 10, dtype=torch.bool)
    with torch.no_grad():
        whole, of_first, of_second = (network(*seen) for network in (both, first, both.second))
    for part, ours, theirs in zip(whole[:2], of_first[:2], of_second[:2], strict=True):
        assert torch.equal(part[:, ::2], ours[:, ::2]) and torch.equal(part[:, 1::2], theirs[:, 1::2])
        assert not torch.equal(ours[:, 1::2], theirs[:, 1::2])
    both(*seen).value[:, 1::2].square().sum().backward()
    assert all(weight.grad is None or not weight.grad.any() for weight in first_weights(both))
    assert any(weight.grad is not None and weight.grad.any() for weight in both.second.parameters())


def first_weights(network: Network) -> Iterator[Any]:
    return (weight for name, weight in network.named_parameters() if not name.startswith("second."))


def test_two_policies_need_two_slots_and_come_back_from_a_checkpoint(micro: Any, shape: Any, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="policies=2: must be 1, or in doubles 1 or 2"):
        replace(micro, policies=2)
    network = Network(replace(shape, policies=2))
    loaded, about = checkpoint.load(checkpoint.save(checkpoint.folder_of(tmp_path / "run", 1), network, 1))
    assert about.shape["policies"] == 2 and loaded.shape == network.shape
    assert all(torch.equal(part, network.state_dict()[name]) for name, part in loaded.state_dict().items())


def test_an_action_is_judged_by_the_tokens_that_it_is_about(shape: Any) -> None:
    """By the move's and the target's, or by the Pokémon's: without token layers nothing else reaches its logit alone."""
    torch.manual_seed(0)
    head, tokens = Network(shape).joint_policy, torch.randn(1, DOUBLES.tokens, shape.token_width, requires_grad=True)
    context = torch.randn(1, shape.width)
    about = {
        MOVES[0]: {15}, MOVES[4 + 1]: {16, 9}, MOVES[8 + 2]: {17, 10}, SPECIAL[12 + 3]: {18, 4},
        POKEMON[0]: {3}, POKEMON[5]: {8}, PASS: set(),
    }  # fmt: skip
    for action, expected in about.items():
        (gradient,) = torch.autograd.grad(head(context, tokens)[0, action], tokens, allow_unused=True)
        found = set() if gradient is None else set(gradient[0].abs().sum(-1).nonzero().flatten().tolist())
        assert found == expected, action


def test_a_checkpoint_knows_which_formats_it_plays(run: Path, run_folder: Path) -> None:
    folder = checkpoint.find(str(run))
    about = json.loads((folder / "checkpoint.json").read_text())
    assert about["shape"]["slots"] == 2
    assert (about["observation"], about["actions"]) == (DOUBLES.version, DOUBLES.actions)
    loaded, read = checkpoint.load(folder)
    assert loaded.shape.slots == 2 and read.layout is DOUBLES
    assert "slots" not in json.loads((checkpoint.find(str(run_folder)) / "checkpoint.json").read_text())["shape"]
    doubles, singles = resolve(f"policy:{run}"), resolve(f"policy:{run_folder}")
    assert doubles.missing(FORMAT) == "" == singles.missing("gen9ou")
    assert "plays doubles only, not singles" in doubles.missing("gen9ou")
    assert "plays singles only, not doubles" in singles.missing(FORMAT)
    (folder / "checkpoint.json").write_text(json.dumps({**about, "observation": 0}))
    with pytest.raises(BadInput, match="made for observation 0, but this version has 1"):
        checkpoint.read(folder)


def test_messages_have_the_sizes_of_the_networks_battles() -> None:
    many = decisions(wire.MAX_BATCH)
    sessions, _, found = wire.unpacked_many(
        wire.MAX_BATCH, wire.packed_many(range(wire.MAX_BATCH), [0] * wire.MAX_BATCH, many), DOUBLES
    )
    assert len(sessions) == wire.MAX_BATCH
    for one, other in zip(found, many, strict=True):
        assert one.dtype == other.dtype and (one == other).all()
    with pytest.raises(ValueError, match=rf"must be {wire.observation_bytes(SINGLES)}"):
        wire.check_size(bytes(wire.observation_bytes(DOUBLES)), SINGLES)


def test_it_decides_slot_by_slot_and_its_diagnostics_name_both(run: Path, one_thread: None) -> None:
    """Sampled, so that every kind of choice is met; at team preview too. Each decision has its place in the memory."""
    made: list[Policy] = []
    counted: list[int] = []
    source = resolve(f"policy:{run}?temperature=1.0")

    def agent(spec: str) -> Agent:
        if spec != "policy":
            return resolve(spec).make()
        one = source.make()
        assert isinstance(one, Policy)
        made.append(one)
        count = one._count
        one._count = lambda turn, number: (count(turn, number), counted.append(one._position))[0]  # type: ignore[method-assign]
        return one

    records = play_all(doubles_fixtures(FORMAT, ("policy", "random"), 1), 60, create_agent=agent)
    for record in records:
        assert record.fault is None, record.detail
        own = [row for row in record.decisions if row[0] == 0]
        assert own[0][4].startswith("team ") and all(is_stored(row[4], row[3]) for row in own)
        reported = [row[6] for row in own]
        assert {label[:3] for label in reported[0]["probabilities"]} == {"1: ", "2: ", "3: ", "4: "}
        joint = [one for one in reported if {label[:3] for label in one.get("probabilities", ())} == {"a: ", "b: "}]
        assert joint and all(0 <= one["win_probability"] <= 1 for one in joint)
        for letter in "ab":
            of_slot = [p for label, p in joint[0]["probabilities"].items() if label.startswith(letter)]
            assert sum(of_slot) == pytest.approx(1, abs=0.01)
    assert counted == list(range(len(counted))) and len(counted) > len(records[0].decisions) / 2


def test_a_choice_that_is_refused_leaves_its_places_in_the_memory_to_the_next(run: Path, one_thread: None) -> None:
    agent = resolve(f"policy:{run}").make()
    assert isinstance(agent, Policy)
    places = []
    for turn, number in [(0, 0), (0, 1), (1, 0), (1, 1), (1, 0), (1, 1), (None, 0), (None, 1), (2, 1), (2, 1), (3, 0)]:
        agent._count(turn, number)
        places.append(agent._position)
    assert places == [0, 1, 2, 3, 2, 3, 4, 5, 6, 6, 7]
