"""The learning rules against numbers worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from agents.observation.observation import FEATURES, TOKENS  # noqa: E402
from agents.policy.network import Output  # noqa: E402
from training.data.targets import Target  # noqa: E402
from training.offline import offline_rl  # noqa: E402
from training.offline.cloning import sharpened  # noqa: E402
from training.offline.config import Cloning, OfflineRL  # noqa: E402
from training.offline.losses import LOSSES  # noqa: E402
from training.offline.tensors import Tensors  # noqa: E402

LOG2 = math.log(2)


def case(
    logits: list[list[float]], actions: list[int], result: float = 1.0, values: list[int] | None = None
) -> tuple[Output, Tensors]:
    """One trajectory; logits of each decision's first actions, the others illegal. values: the class that is certain."""
    length = len(actions)
    full = torch.full((1, length, 13), -torch.inf)
    for t, row in enumerate(logits):
        full[0, t, : len(row)] = torch.tensor(row)
    value = torch.zeros(1, length, 51)
    if values is not None:
        value = torch.full((1, length, 51), -100.0)
        for t, place in enumerate(values):
            value[0, t, place] = 100.0
    batch = Tensors(
        token_ids=torch.zeros(1, length, 19, 12, dtype=torch.int16),
        features=torch.zeros(1, length, TOKENS, FEATURES),
        legal=torch.isfinite(full),
        actions=torch.tensor([actions]),
        target_policy=torch.zeros(1, length, 13),
        targets=torch.zeros(1, length, dtype=torch.int8),
        values=torch.full((1, length), torch.nan),
        results=torch.tensor([result]),
        valid_mask=torch.ones(1, length, dtype=torch.bool),
        policy_mask=torch.ones(1, dtype=torch.bool),
        value_mask=torch.ones(1, dtype=torch.bool),
    )
    return Output(full.requires_grad_(), value), batch


def cloning(**changes: object) -> Cloning:
    return Cloning(
        **{
            "name": "cloning",
            "targets": "choices",
            "expert_value_weight": 0.0,
            "value_weight": 0.0,
            **changes,
        }
    )


def test_cloning_is_the_cross_entropy_with_what_was_chosen() -> None:
    output, batch = case([[0.0, 0.0], [math.log(3), 0.0]], [0, 1])
    loss, sums = LOSSES["cloning"](output, batch, cloning())
    assert loss.item() == pytest.approx(LOG2 + math.log(4))
    assert sums["agreement"][0].item() == 1 and sums["agreement"][1].item() == 2
    loss.backward()
    # softmax minus the choice; nothing for what is illegal
    gradient = output.logits.grad
    assert (
        torch.allclose(gradient[0, :, :2], torch.tensor([[-0.5, 0.5], [0.75, -0.75]])) and not gradient[0, :, 2:].any()
    )


def test_what_is_measured_is_of_decisions_with_a_choice() -> None:
    # The second decision is forced; of the third only the expert's word is known.
    output, batch = case([[0.0, math.log(3)], [0.0], [0.0, math.log(3)]], [0, 0, -1])
    batch.target_policy[0, 2, :2] = torch.tensor([0.25, 0.75])
    batch.targets[0, 2] = Target.EXPERT
    _, sums = LOSSES["cloning"](output, batch, cloning())
    assert [float(part) for part in sums["agreement"]] == [0, 1], "the forced one would be right for nothing"
    entropy = -0.25 * math.log(0.25) - 0.75 * math.log(0.75)
    assert sums["entropy"][0].item() == pytest.approx(2 * entropy) and sums["entropy"][1].item() == 2
    assert [float(part) for part in sums["expert_agreement"]] == [1, 1]
    assert sums["expert_kl"][0].item() == pytest.approx(0, abs=1e-6) and sums["expert_kl"][1].item() == 1
    batch.target_policy[0, 2, :2] = torch.tensor([1.0, 0.0])
    _, sums = LOSSES["cloning"](output, batch, cloning())
    assert sums["expert_kl"][0].item() == pytest.approx(math.log(4)) and sums["expert_agreement"][0].item() == 0


def test_cloning_of_shares_and_of_choices_where_there_are_none() -> None:
    output, batch = case([[0.0, 0.0], [math.log(3), 0.0]], [0, 1])
    batch.target_policy[0, 1, :2] = torch.tensor([0.75, 0.25])
    batch.targets[0, 1] = Target.EXPERT
    loss, _ = LOSSES["cloning"](output, batch, cloning(targets="target_policy"))
    entropy = -0.75 * math.log(0.75) - 0.25 * math.log(0.25)
    assert loss.item() == pytest.approx(LOG2 + entropy)


def test_cloning_leaves_out_what_is_not_known_padding_and_lost_sides() -> None:
    output, batch = case([[0.0, 0.0]] * 3, [-1, 1, 0])
    batch.valid_mask[0, 2] = False
    loss, sums = LOSSES["cloning"](output, batch, cloning())
    assert loss.item() == pytest.approx(LOG2)
    assert sums["policy_loss"][1].item() == 1
    output, batch = case([[0.0, 0.0]], [0], result=0.0)
    batch.policy_mask[0] = False
    loss, _ = LOSSES["cloning"](output, batch, cloning(value_weight=1.0))
    assert loss.item() == pytest.approx(math.log(51)), "the value is learned from lost battles, too"


def test_cloning_learns_the_value_from_a_coach_where_it_told_one() -> None:
    output, batch = case([[0.0, 0.0]] * 2, [0, 0], result=1.0, values=[25, 25])
    batch.values[0, 0] = 0.5  # class 25 of 51, of which the value head is certain; the result is class 50
    _, sums = LOSSES["cloning"](output, batch, cloning(expert_value_weight=0.75))
    # Where the coach spoke a quarter of the target lies on the result, elsewhere all of it; 200 is log 1 - log π there.
    assert sums["value_loss"][0].item() == pytest.approx(0.25 * 200 + 200)
    assert sums["value_loss"][1].item() == 2
    _, sums = LOSSES["cloning"](output, batch, cloning())
    assert sums["value_loss"][0].item() == pytest.approx(400), "a share of 0: the result alone"


def test_lambda_returns() -> None:
    values = torch.tensor([[0.2, 0.4, 0.6, 9.0]])
    real = torch.tensor([[True, True, True, False]])
    whole = torch.tensor([0])
    returns = offline_rl.lambda_returns(values, torch.tensor([1.0]), real, 0.5, whole)
    # G2 = 1; G1 = 0.5 · 1 + 0.5 · 0.6 = 0.8; G0 = 0.5 · 0.8 + 0.5 · 0.4 = 0.6
    assert torch.allclose(returns, torch.tensor([[0.6, 0.8, 1.0, 0.0]]))
    assert torch.allclose(offline_rl.lambda_returns(values, torch.tensor([0.0]), real, 1.0, whole), torch.zeros(1, 4))


def test_lambda_returns_of_a_trajectory_that_was_cut_begin_with_the_value_there() -> None:
    values = torch.tensor([[0.2, 0.4, 0.6, 9.0]] * 2)
    real = torch.tensor([[True, True, True, False]] * 2)
    results, remaining = torch.tensor([1.0, 1.0]), torch.tensor([2, 0])
    returns = offline_rl.lambda_returns(values, results, real, 0.5, remaining)
    # Two decisions follow: G2 = 0.25 · 1 + 0.75 · 0.6 = 0.7; G1 = 0.5 · 0.7 + 0.5 · 0.6 = 0.65; G0 = 0.325 + 0.2 = 0.525
    assert torch.allclose(returns, torch.tensor([[0.525, 0.65, 0.7, 0.0], [0.6, 0.8, 1.0, 0.0]]))
    far = offline_rl.lambda_returns(values, results, real, 0.5, torch.tensor([500]))
    assert torch.allclose(far[0], torch.tensor([0.5, 0.6, 0.6, 0.0])), "of a far end only the values are left"
    result_alone = offline_rl.lambda_returns(values, results, real, 1.0, remaining)
    assert torch.allclose(result_alone[:, :3], torch.ones(2, 3)), (
        "λ = 1: the result, which is known wherever it was cut"
    )
    one_step = offline_rl.lambda_returns(values, results, real, 0.0, remaining)
    assert torch.allclose(one_step, torch.tensor([[0.4, 0.6, 0.6, 0.0], [0.4, 0.6, 1.0, 0.0]]))


def test_the_state_at_a_cut_is_the_next_state_and_not_learned_itself() -> None:
    output, batch = case([[0.0, 0.0], [0.0, 0.0, 0.0]], [0, 1], result=1.0, values=[0, 25])
    cut = replace(batch, remaining=torch.tensor([3]))
    loss, sums = LOSSES["offline-rl"](output, cut, offline(td_lambda=0.5))
    # G1 = 1/8 · 1 + 7/8 · 0.5 = 0.5625 and V0 = 0: A0 = 0.5 · 0.5625 + 0.5 · 0.5 = 0.53125 (0.75 of the raw result)
    assert sums["advantage"][0].item() == pytest.approx(0.53125, abs=1e-5)
    assert sums["advantage"][1].item() == sums["policy_loss"][1].item() == sums["value_loss"][1].item() == 1
    assert loss.item() == pytest.approx(LOG2)
    loss.backward()
    assert output.logits.grad is not None and not output.logits.grad[0, 1].any()
    assert cut.has_next.tolist() == [[True, False]] and batch.has_next.tolist() == [[True, True]]


def offline(**changes: object) -> OfflineRL:
    settings = {
        "name": "offline-rl",
        "filter": "binary",
        "temperature": 0.5,
        "max_advantage_weight": 2.0,
        "td_lambda": 1.0,
        "value_weight": 0.0,
    }
    return OfflineRL(**{**settings, **changes})


def test_the_binary_filter_imitates_what_was_better_than_expected() -> None:
    # Won; the critic was sure to lose before the first decision, and of the win before the second.
    output, batch = case([[0.0, 0.0], [0.0, 0.0, 0.0]], [0, 1], result=1.0, values=[0, 50])
    loss, sums = LOSSES["offline-rl"](output, batch, offline())
    assert loss.item() == pytest.approx(LOG2)
    assert sums["weight"][0].item() == 1 and sums["advantage"][0].item() == pytest.approx(1.0, abs=1e-5)


def test_the_exponential_filter_weighs_by_the_advantage() -> None:
    output, batch = case([[0.0, 0.0], [0.0, 0.0, 0.0]], [0, 1], result=0.0, values=[25, 0])
    loss, _ = LOSSES["offline-rl"](output, batch, offline(filter="exponential"))
    assert loss.item() == pytest.approx(math.exp(-0.5 / 0.5) * LOG2 + math.log(3), abs=1e-5)
    output, batch = case([[0.0, 0.0]], [0], result=1.0, values=[0])
    loss, _ = LOSSES["offline-rl"](output, batch, offline(filter="exponential"))
    assert loss.item() == pytest.approx(2.0 * LOG2), "exp(2) is cut to the largest weight"


def test_weights_are_divided_by_their_mean() -> None:
    output, batch = case([[0.0, 0.0], [0.0, 0.0, 0.0]], [0, 1], result=0.0, values=[25, 0])
    loss, sums = LOSSES["offline-rl"](output, batch, offline(filter="exponential", normalize_weights=True))
    one, other = math.exp(-0.5 / 0.5), 1.0  # their mean is 0.684
    mean = (one + other) / 2
    assert loss.item() == pytest.approx((one * LOG2 + other * math.log(3)) / mean, abs=1e-5)
    assert sums["weight"][0].item() == pytest.approx(one + other, abs=1e-5), "measured before"
    output, batch = case([[0.0, 0.0]], [0], result=0.0, values=[50])
    loss, _ = LOSSES["offline-rl"](output, batch, offline(normalize_weights=True))
    assert loss.item() == 0, "nothing turned out well: no division by zero"


def test_advantages_over_several_lambdas_reward_luck_less() -> None:
    """The critic holds every state for even, so each result is luck: the mean weight of a won and a lost battle is what luck
    alone is rewarded with. d = ±1/2; at the first of three decisions A = λ² d."""

    def reward(traces: list[float]) -> float:
        weights = []
        for result in (1.0, 0.0):
            output, batch = case([[0.0, 0.0]] * 3, [0, -1, -1], result=result, values=[25] * 3)
            settings = offline(filter="exponential", max_advantage_weight=100.0, gae_lambda=traces)
            weights.append(LOSSES["offline-rl"](output, batch, settings)[1]["weight"][0].item())
        return sum(weights) / 2

    assert reward([]) == reward([1.0]) == pytest.approx(math.cosh(0.5 / 0.5), abs=1e-4)
    assert reward([0.0, 0.5, 1.0]) == pytest.approx(math.cosh((0 + 0.25 + 1) / 3 * 0.5 / 0.5), abs=1e-4)
    assert reward([0.0]) == pytest.approx(1.0, abs=1e-4)


def test_no_gradient_flows_through_the_advantage() -> None:
    output, batch = case([[0.0, 0.0]], [0], result=1.0)
    output = Output(output.logits, output.value.requires_grad_())
    loss, _ = LOSSES["offline-rl"](output, batch, offline(filter="exponential"))
    loss.backward()
    assert output.value.grad is None or not output.value.grad.any()


@pytest.mark.parametrize("rule", ["cloning", "offline-rl"])
def test_each_trajectory_teaches_what_its_masks_say(rule: str) -> None:
    """A lost side of which the value alone learns, a won one of which both do, and a tie of which the policy alone does."""
    settings = cloning(value_weight=1.0) if rule == "cloning" else offline(filter="exponential", value_weight=1.0)
    sides = [case([[1.0, 0.0], [0.0, 2.0]], [0, 1], result=result) for result in (0.0, 1.0, 0.5)]
    alone = []
    for output, batch in sides:
        output = Output(output.logits, output.value.requires_grad_())
        LOSSES[rule](output, batch, settings)[0].backward()
        alone.append((output.logits.grad, output.value.grad))
    logits = torch.cat([output.logits.detach() for output, _ in sides]).requires_grad_()
    value = torch.zeros(3, 2, 51, requires_grad=True)
    joined = {name: torch.cat([getattr(batch, name) for _, batch in sides]) for name in vars(sides[0][1])}
    masks = {"policy_mask": torch.tensor([False, True, True]), "value_mask": torch.tensor([True, True, False])}
    loss, sums = LOSSES[rule](Output(logits, value), Tensors(**joined | masks), settings)
    loss.backward()
    assert logits.grad is not None and value.grad is not None
    assert not logits.grad[0].any() and not value.grad[2].any()
    for place in (1, 2):
        assert torch.equal(logits.grad[place], alone[place][0][0]) and logits.grad[place].any()
    for place in (0, 1):
        assert torch.equal(value.grad[place], alone[place][1][0]) and value.grad[place].any()
    assert (sums["policy_loss"][1], sums["value_loss"][1], sums["agreement"][1]) == (4, 4, 4)


def test_an_experts_target_policy_is_sharpened() -> None:
    visits = torch.zeros(2, 13)
    visits[0, :3] = torch.tensor([0.5, 0.3, 0.2])
    found = sharpened(visits, 2.0)
    torch.testing.assert_close(found[0, :3], torch.tensor([0.25, 0.09, 0.04]) / 0.38)
    assert (found[1] == 0).all(), "none stays none"
    torch.testing.assert_close(sharpened(visits, 1.0), visits)

    output, batch = case([[1.0, 0.0, 0.0]], [1])
    batch = replace(
        batch, target_policy=visits[:1][None], targets=torch.full((1, 1), int(Target.EXPERT), dtype=torch.int8)
    )
    for power, share in ((1.0, 0.5), (2.0, 0.25 / 0.38)):
        loss, _ = LOSSES["cloning"](output, batch, cloning(targets="target_policy", target_sharpness=power))
        assert loss.item() == pytest.approx(math.log(math.e + 2) - share, abs=1e-5)
