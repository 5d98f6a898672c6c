"""Learning doubles by playing on Showdown: every rule's iteration, self-play and other agents, slot by slot."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from support.online import settings, trainer  # noqa: E402

from agents.observation.doubles.actions import MOVES, PASS, POKEMON, SPECIAL  # noqa: E402
from agents.observation.layout import DOUBLES  # noqa: E402
from agents.policy import checkpoint  # noqa: E402
from agents.policy.network import Network  # noqa: E402
from agents.policy.shape import PRESETS  # noqa: E402
from teamsets.errors import ArenaError  # noqa: E402
from teamsets.formats import get_format  # noqa: E402
from training.envs.network_steps import SeenTensors  # noqa: E402
from training.experiments.exploit.settings import ExploitSettings, plan_exploit  # noqa: E402
from training.online.opponent_head import chosen_ids  # noqa: E402
from training.online.role import Role  # noqa: E402
from training.online.rollout import Rollout  # noqa: E402
from training.online.trainer import Trainer  # noqa: E402
from training.runs.config_reader import BadConfig  # noqa: E402

FORMAT = "gen9randomdoublesbattle"
MEMBERS = [{"who": "opponent", "weight": 1.0}, {"who": "agent", "agent": "heuristic:max-power", "weight": 1.0}]
SMALL: dict[str, Any] = {
    "venue": "showdown", "format": FORMAT, "rollout__battles": 4, "rollout__teams": [], "rollout__max_turns": 4,
    "league__members": MEMBERS, "learner__network__preset": "micro", "seed": 2,
}  # fmt: skip
#: So that each rule learns in its first iterations.
AT_ONCE: dict[str, dict[str, Any]] = {
    "maac": {"algorithm__critic_warmup": 0},
    "ddqn": {"algorithm__learning_starts": 20, "algorithm__updates": 2},
    "magrpo": {"algorithm__group": 4},
}
RULES = ["ppo", *(pytest.param(name, marks=pytest.mark.slow) for name in ("iac", "maac", "ddqn", "magrpo"))]


def watched(one: Trainer) -> list[Rollout]:
    """The rollouts of the learner, as they are learned from."""
    kept: list[Rollout] = []
    learn = one.learn
    one.learn = lambda role, rollout, reference: (kept.append(rollout), learn(role, rollout, reference))[1]  # type: ignore[method-assign]
    return kept


@pytest.mark.parametrize("name", RULES)
def test_an_iteration_of_each_rule_is_played_and_learned(name: str) -> None:
    one = trainer(name, **SMALL, **AT_ONCE.get(name, {}))
    kept = watched(one)
    before = [weight.clone() for weight in one.roles["learner"].network.parameters()]
    for _ in range(2):
        one.iterate()
    one.close()
    assert one.roles["learner"].network.shape.slots == 2
    for rollout in kept:
        assert (
            rollout.token_ids.shape[1:] == (DOUBLES.tokens, DOUBLES.ids) and rollout.logits.shape[1] == DOUBLES.actions
        )
        assert rollout.legal[torch.arange(len(rollout.actions)), rollout.actions].all()
    assert kept and any(
        not torch.equal(old, new) for old, new in zip(before, one.roles["learner"].network.parameters(), strict=True)
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["magrpo", "ppo"])
def test_two_slots_with_networks_of_their_own_begin_alike_and_both_learn(name: str, tmp_path: Any) -> None:
    torch.manual_seed(5)
    one_network = Network(replace(PRESETS["micro"], slots=2))
    folder = checkpoint.save(tmp_path / "run" / "checkpoints" / "step-000000001", one_network, 1)
    changes = {"learner__network__start_from": str(folder), "learner__network__policies": 2}
    one = trainer(name, **SMALL, **AT_ONCE.get(name, {}), **changes)
    network = one.roles["learner"].network
    assert network.second is not None
    for name_of, weight in one_network.state_dict().items():
        assert torch.equal(network.state_dict()[name_of], weight)
        assert torch.equal(network.second.state_dict()[name_of], weight)
    (kept, _), _ = (watched(one), one.iterate()), one.close()
    moved = {
        begun: any(not torch.equal(part.state_dict()[key], weight) for key, weight in one_network.state_dict().items())
        for begun, part in (("first", network), ("second", network.second))
    }
    assert moved == {"first": True, "second": True} and kept


def test_two_policies_in_singles_are_refused() -> None:
    with pytest.raises(ArenaError, match=r"learner.network.policies: 2: in gen1ou there is one slot: set 1"):
        trainer("ppo", learner__network__policies=2)
    with pytest.raises(ArenaError, match=r"algorithm.opponent_weight: its head belongs to one network"):
        settings("ppo", **SMALL, learner__network__policies=2, algorithm__opponent_weight=0.3)


def test_a_network_for_each_slot_starts_none_for_both_and_its_own_response(tmp_path: Any) -> None:
    two = Network(replace(PRESETS["micro"], slots=2, policies=2))
    folder = checkpoint.save(checkpoint.folder_of(tmp_path / "two", 1), two, 1)
    learner = settings("ppo", **SMALL, learner__network__start_from=str(folder)).learner
    with pytest.raises(BadConfig, match=r"learner.network.policies: 1: .* has a network for each slot: set 2"):
        Role("learner", learner, 0, get_format(FORMAT), torch.device("cpu"))
    found = plan_exploit(ExploitSettings(agent=f"policy:{folder}", format=FORMAT, decisions=1)).config.learner.network
    assert (found.start_from, found.preset, found.policies) == (str(folder), "micro", 2)


def test_what_may_start_two_networks_may_replace_their_weights_too() -> None:
    """A network for both slots, and one that was trained with dropout."""
    learner = settings("ppo", **SMALL, learner__network__policies=2, learner__optimizer__average=0.9).learner
    role = Role("learner", learner, 0, get_format(FORMAT), torch.device("cpu"))
    by = Network(replace(PRESETS["micro"], slots=2, dropout=0.1))
    role.load_weights(by)
    for network in (role.network, role.published):
        assert network.second is not None
        for name, weight in by.state_dict().items():
            assert torch.equal(network.state_dict()[name], weight)
            assert torch.equal(network.second.state_dict()[name], weight)
    with pytest.raises(BadConfig, match="cannot be replaced by one of another shape"):
        role.load_weights(Network(replace(PRESETS["micro"], slots=2, window=8)))


def test_the_gradients_of_two_policies_are_clipped_each_by_itself() -> None:
    changes = {"learner__optimizer__max_grad_norm": 0.5, "learner__network__policies": 2}
    role = Role("learner", settings("ppo", **SMALL, **changes).learner, 0, get_format(FORMAT), torch.device("cpu"))
    first, second = role.network.value_head.weight, role.network.second.value_head.weight
    norm = role.update(0.3 * first.flatten()[0] + 400 * second.flatten()[0])
    assert norm == pytest.approx(400.0, rel=1e-3)
    assert (float(first.grad.norm()), float(second.grad.norm())) == pytest.approx((0.3, 0.5), rel=1e-3)


def test_what_an_opponent_has_chosen_is_named_by_the_token_of_its_action() -> None:
    """A move by its own, whatever it is aimed at; a Pokémon that comes in by its own; to pass by the field's."""
    actions = torch.tensor([MOVES[0], MOVES[7], SPECIAL[15], POKEMON[0], POKEMON[5], PASS])
    shown = torch.arange(DOUBLES.tokens, dtype=torch.int16)[None, :, None].expand(len(actions), -1, DOUBLES.ids)
    seen = SeenTensors(shown, torch.zeros(0), torch.ones(len(actions), DOUBLES.actions, dtype=torch.bool))
    assert chosen_ids(seen, actions).tolist() == [15, 16, 18, 3, 8, 0]


def test_networks_of_singles_and_engines_are_refused_in_one_line(tmp_path: Any) -> None:
    folder = checkpoint.save(tmp_path / "run" / "checkpoints" / "step-000000001", Network(PRESETS["micro"]), 1)
    with pytest.raises(ArenaError, match="plays singles only, not doubles"):
        trainer(**{**SMALL, "learner__network__start_from": str(folder)})
    with pytest.raises(ArenaError, match=f"format: {FORMAT}: the engines play .*, or set venue: showdown"):
        settings(**{**SMALL, "venue": "engine"})
