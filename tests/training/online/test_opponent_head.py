"""The head that predicts the opponent's choice: its labels, its loss, what it can learn, and that it is resumed."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numba")

import numpy as np  # noqa: E402
from support.online import trainer, without_clock  # noqa: E402

from agents.policy.network import Network  # noqa: E402
from agents.policy.shape import PRESETS  # noqa: E402
from training.envs.network_steps import SeenTensors  # noqa: E402
from training.online.opponent_head import OpponentHead, chosen_ids, indexed, of_opponents  # noqa: E402
from training.online.rollout import Rollout  # noqa: E402
from training.online.trainer import LEARNER  # noqa: E402

SELF = [{"who": "opponent", "weight": 1.0}]


def played(**changes: Any) -> Rollout:
    one, kept = trainer(algorithm__opponent_weight=0.2, **changes), []
    one.learn = lambda role, rollout, reference: kept.append(rollout) or {}  # type: ignore[func-returns-value,method-assign]
    one.iterate()
    return kept[0]


def test_the_label_is_what_the_other_seat_chose_in_the_same_turn() -> None:
    rollout = played(league__members=SELF)
    seen = SeenTensors(rollout.token_ids, rollout.features, rollout.legal)
    chosen = chosen_ids(seen, rollout.actions)
    assert (chosen > 0).all()
    turn = rollout.features[:, 0, 1]  # of the token of the field: 1 / (1 + turn)
    asked_to_switch = rollout.features[:, 0, 3] > 0
    spans = {
        (int(battle), int(seat)): range(int(start), int(end) + 1)
        for battle, seat, start, end in zip(rollout.battle, rollout.seat, rollout.starts, rollout.ends, strict=True)
    }
    compared = 0
    for (battle, seat), mine in spans.items():
        theirs = {float(turn[at]): at for at in spans[battle, 1 - seat] if not asked_to_switch[at]}
        for at in mine:
            if not asked_to_switch[at] and float(turn[at]) in theirs:
                assert rollout.opponent_choices[at] == chosen[theirs[float(turn[at])]]
                compared += 1
    assert (
        compared > 200 and (rollout.opponent_choices < 0).any()
    )  # a replacement for one that has fainted is chosen alone


def test_agents_have_no_labels() -> None:
    rollout = played(league__members=[{"who": "agent", "weight": 1.0, "agent": "array:max-damage"}])
    assert (rollout.opponent_choices == -1).all()


def test_a_rollout_against_agents_alone_has_nothing_to_predict() -> None:
    network = Network(PRESETS["micro"])
    labels, classes = indexed(torch.full((3,), -1), None)
    loss, right = OpponentHead(network).loss(network, torch.zeros(3, PRESETS["micro"].width), labels, classes)
    assert float(loss) == float(right) == 0


def test_only_seats_of_the_same_battle_label_each_other() -> None:
    rows, seats = np.array([4, 1, 4, 7]), np.array([1, 0, 0, 1])
    assert of_opponents(rows, seats, torch.tensor([10, 11, 12, 13])).tolist() == [12, -1, 10, -1]


def test_the_loss_is_the_cross_entropy_over_what_was_chosen() -> None:
    torch.manual_seed(0)
    network = Network(PRESETS["micro"])
    head = OpponentHead(network)
    context = torch.randn(4, PRESETS["micro"].width)
    labels, classes = indexed(torch.tensor([30, -1, 50, 30]), None)
    assert labels.tolist() == [0, -1, 1, 0] and classes.tolist() == [30, 50]
    loss, right = head.loss(network, context, labels, classes)
    embedded = network.token_embedding.weight
    logits = [[(head.query(row) @ embedded[k]).item() for k in (30, 50)] for row in context]
    wanted = [np.log(np.exp(pair).sum()) - pair[k] for pair, k in ((logits[0], 0), (logits[2], 1), (logits[3], 0))]
    assert loss.item() == pytest.approx(np.mean(wanted), abs=1e-5)
    assert float(right) == pytest.approx(
        np.mean([(pair[1] > pair[0]) == k for pair, k in ((logits[0], 0), (logits[2], 1), (logits[3], 0))])
    )


def test_what_can_be_known_is_learned_and_shuffled_labels_teach_only_how_often_each_occurs() -> None:
    torch.manual_seed(0)
    network = Network(PRESETS["micro"])
    context = torch.randn(600, PRESETS["micro"].width)
    truth = torch.where(context[:, 0] > 0.5, 30, 50)
    generator = torch.Generator().manual_seed(1)
    reached = {}
    for name, shuffled in (("played", None), ("shuffled", generator)):
        head = OpponentHead(network)
        labels, classes = indexed(truth, shuffled)
        optimizer = torch.optim.Adam(head.parameters(), lr=0.02)
        for _ in range(150):
            loss, _ = head.loss(network, context[:400], labels[:400], classes)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        true_labels, _ = indexed(truth, None)
        reached[name] = float(head.loss(network, context[400:], true_labels[400:], classes)[1])
    assert reached["played"] > 0.88 > 0.78 > reached["shuffled"]


def test_a_run_with_the_head_goes_on_with_the_same_numbers_and_the_network_alone_is_its_checkpoint() -> None:
    changes = {"league__members": SELF, "algorithm__opponent_weight": 0.2}
    one, other = trainer(**changes), trainer(**changes)
    first = one.iterate()
    other.restore(deepcopy(one.state()))
    assert first["opponent_loss"] > 0 and 0 <= first["opponent_predicted"] <= 1
    assert without_clock(one.iterate()) == without_clock(other.iterate())
    network = one.roles[LEARNER].network
    assert network.state_dict().keys() == Network(PRESETS["micro"]).state_dict().keys()
