"""The network: its sizes, what it may not see, and that playing and training read a battle alike."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

torch = pytest.importorskip("torch")


from agents.observation.vocabulary import vocabulary  # noqa: E402
from agents.policy.network import (  # noqa: E402
    Memory,
    Network,
    embedded_with_spread_zeros,
    expected_value,
    two_hot,
)
from agents.policy.shape import PRESETS, Shape, nearest_preset, resized  # noqa: E402
from teamsets.errors import BadInput  # noqa: E402

MILLIONS = {"micro": 0.159, "tiny": 1, "small": 15, "medium": 57, "large": 200}


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)


def battles(lengths: list[int]) -> tuple[Any, Any, Any, Any]:
    """Made-up battles of these lengths: ids, numbers, legal, real."""
    shape = (len(lengths), max(lengths))
    ids = torch.randint(0, vocabulary().size, (*shape, 19, 12), dtype=torch.int16)
    legal = torch.rand(*shape, 13) < 0.6
    legal[..., 2] = True
    real = torch.arange(shape[1]) < torch.tensor(lengths)[:, None]
    return ids, torch.randn(*shape, 19, 56), legal, real


def lively(shape: Shape) -> Network:
    """A network whose heads say something from the start."""
    network = Network(shape).eval()
    with torch.no_grad():
        for parameter in (network.policy_head, network.value_head.weight):
            parameter.mul_(10)
    return network


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_as_large_as_its_name_says(name: str) -> None:
    with torch.device("meta"):
        count = Network(PRESETS[name]).parameter_count
    assert count == pytest.approx(MILLIONS[name] * 1_000_000, rel=0.09 if name == "tiny" else 0.07)


def test_a_shape_is_of_the_preset_with_its_sizes_however_many_slots_and_policies_it_has() -> None:
    doubles = replace(PRESETS["small"], dropout=0.3, slots=2, policies=2)
    assert nearest_preset(doubles) == nearest_preset(PRESETS["small"]) == ("small", {})
    assert nearest_preset(replace(PRESETS["small"], window=64)) == ("small", {"window": 64})


def test_a_shape_is_named_by_its_nearest_preset_and_what_differs() -> None:
    deeper = resized("tiny", {"layers": 4, "token_layers": 3})
    assert nearest_preset(deeper) == ("tiny", {"token_layers": 3, "layers": 4})
    assert deeper.name == "tiny with token_layers=3, layers=4" and PRESETS["tiny"].name == "tiny"
    assert deeper.extends(PRESETS["tiny"]) and deeper.extends(replace(deeper, slots=2, dropout=0.1))
    assert not PRESETS["tiny"].extends(deeper)
    assert not replace(deeper, window=65).extends(PRESETS["tiny"])
    with pytest.raises(BadInput, match=r"width=161: must be a multiple of 2 \* heads, heads=5"):
        resized("tiny", {"width": 161})


def test_playing_with_a_memory_is_reading_the_whole_battle(micro: Shape) -> None:
    lengths = [17, 3, 9, 1]
    network = lively(micro)
    ids, numbers, legal, real = battles(lengths)
    with torch.no_grad():
        whole = network(ids, numbers, legal, real)
    memory, slots = Memory(micro, 2), torch.tensor([3, 0, 2, 1])
    memory.grow(4)
    for position in range(max(lengths)):
        now = [battle for battle, length in enumerate(lengths) if length > position]
        # Half of the battles come late: those that are asked together are not equally far.
        for group in (now[::2], now[1::2]):
            if not group:
                continue
            where = torch.tensor(group)
            at = torch.full((len(group),), position)
            asked = (ids[where, position], numbers[where, position], legal[where, position])
            # What the simulator refuses is asked again at the same position, and must leave nothing behind.
            network.step(asked[0].flip(1), asked[1] + 1, asked[2], memory, slots[where], at)
            played = network.step(*asked, memory, slots[where], at)
            torch.testing.assert_close(played.logits, whole.logits[where, position], atol=1e-4, rtol=0)
            torch.testing.assert_close(played.value, whole.value[where, position], atol=1e-4, rtol=0)
    assert whole.logits[real].isfinite().equal(legal[real]) and not whole.logits[~real].any()


@pytest.mark.parametrize("window", [8, 16])
def test_battles_end_to_end_are_read_as_side_by_side(micro: Shape, window: int) -> None:
    """Lengths below, at and above the window and twice it, at any place in a chunk; gradients too."""
    network = lively(replace(micro, window=window))
    ids, numbers, legal, real = battles([5, 40, 1, 16, 33, 8, 7, 2])
    positions = torch.arange(real.shape[1]).expand_as(real)[real]
    beside = network(ids, numbers, legal, real)
    behind = network.forward_packed(ids[real], numbers[real], legal[real], positions)
    torch.testing.assert_close(behind.logits, beside.logits[real], atol=1e-4, rtol=0)
    torch.testing.assert_close(behind.value, beside.value[real], atol=1e-4, rtol=0)
    weights = list(network.parameters())
    pulls = [
        torch.autograd.grad(each.square().sum(), weights, allow_unused=True) for each in (behind.value, beside.value)
    ]
    for one, other in zip(*pulls, strict=True):
        if one is not None:
            torch.testing.assert_close(one, other, atol=1e-4 * float(other.abs().max()) + 1e-7, rtol=0)


def test_battles_of_different_ages_are_asked_together(micro: Shape) -> None:
    network = lively(micro)
    ids, numbers, legal, real = battles([12, 12])
    with torch.no_grad():
        whole = network(ids, numbers, legal, real)
    memory = Memory(micro, 2)
    for early in range(8):
        network.step(
            ids[:1, early], numbers[:1, early], legal[:1, early], memory, torch.tensor([0]), torch.tensor([early])
        )
    at = torch.tensor([8, 0])
    both = torch.arange(2)
    played = network.step(ids[both, at], numbers[both, at], legal[both, at], memory, both, at)
    torch.testing.assert_close(played.logits, whole.logits[both, at], atol=1e-4, rtol=0)


def test_a_decision_sees_neither_what_comes_nor_what_the_window_has_left_behind(micro: Shape) -> None:
    network = lively(replace(micro, layers=1))
    ids, numbers, legal, real = battles([12])
    legal[:] = True
    numbers.requires_grad_()
    network(ids, numbers, legal, real).logits[0, 8].sum().backward()
    seen = numbers.grad.abs().sum((0, 2, 3)).nonzero().flatten().tolist()
    assert seen == [4, 5, 6, 7, 8], "itself and the window - 1 before it"


def test_a_gpus_way_to_embed_has_the_same_sums_and_gradients(micro: Shape) -> None:
    embedding = Network(micro).token_embedding
    ids = torch.randint(0, vocabulary().size, (3000, 12)) * (torch.rand(3000, 12) < 0.6)
    weights = torch.randn(3000, embedding.weight.shape[1])
    found = []
    for embedded in (embedding(ids), embedded_with_spread_zeros(ids.to(torch.int16), embedding.weight)):
        embedding.weight.grad = None
        (embedded * weights).sum().backward()
        found.append((embedded, embedding.weight.grad))
    torch.testing.assert_close(found[1], found[0])
    assert not embedding.weight.grad[0].any()


def test_padding_ids_add_nothing_and_the_order_of_the_words_neither(micro: Shape) -> None:
    network = lively(micro)
    ids, numbers, legal, real = battles([2])
    ids[..., 6:] = 0
    with torch.no_grad():
        one = network(ids, numbers, legal, real).logits
        other = network(ids.flip(-1), numbers, legal, real).logits
        network.token_embedding.weight[0].zero_()
        torch.testing.assert_close(one, other)
    network(ids, numbers, legal, real).value.sum().backward()
    assert not network.token_embedding.weight.grad[0].any()


def test_an_action_is_judged_by_the_token_that_it_is_about(micro: Shape) -> None:
    """Two moves that change places change logits, and so do two Pokémon on the bench, once places are told apart no more."""
    network = lively(micro)
    with torch.no_grad():
        network.position_embedding[4:9], network.position_embedding[15:19] = (
            network.position_embedding[4],
            network.position_embedding[15],
        )
    ids, numbers, legal, real = battles([1])
    legal[:] = True
    tokens = torch.arange(19)
    actions = torch.arange(13)
    tokens[[15, 17]], tokens[[4, 8]] = tokens[[17, 15]], tokens[[8, 4]]
    actions[[0, 2]], actions[[9, 11]], actions[[4, 8]] = actions[[2, 0]], actions[[11, 9]], actions[[8, 4]]
    with torch.no_grad():
        one = network(ids, numbers, legal, real)
        other = network(ids[:, :, tokens], numbers[:, :, tokens], legal, real)
    torch.testing.assert_close(one.logits[..., actions], other.logits)
    assert one.logits.std() > 0.01


def test_checkpointing_changes_no_gradient(micro: Shape) -> None:
    network = lively(micro).train()
    batch = battles([6, 4])
    found = []
    for network.checkpointing in (False, True):
        network.zero_grad()
        network(*batch).value.square().sum().backward()
        found.append(torch.cat([p.grad.flatten() for p in network.parameters() if p.grad is not None]))
    torch.testing.assert_close(*found)


def test_products_may_be_computed_in_half_the_precision(micro: Shape) -> None:
    network = lively(micro)
    batch = battles([7, 3])
    with torch.autocast("cpu", torch.bfloat16):
        output = network(*batch)
        output.value.sum().backward()
    exact = network(*batch)
    assert output.logits.dtype == output.value.dtype == torch.float32
    torch.testing.assert_close(output.value, exact.value, atol=0.1, rtol=0.1)


def test_values_are_classes_whose_mean_is_the_result() -> None:
    results = torch.tensor([0.0, 0.5, 1.0, 0.333, 0.01])
    classes = two_hot(results)
    assert classes.shape == (5, 51) and torch.allclose(classes.sum(-1), torch.ones(5))
    torch.testing.assert_close(expected_value(classes.clamp(min=1e-30).log()), results)


def test_a_shape_that_cannot_be_is_refused(micro: Shape) -> None:
    for wrong, words in (({"width": 25}, "width=25"), ({"layers": 0}, "layers=0"), ({"dropout": 1.0}, "dropout=1.0")):
        with pytest.raises(BadInput, match=words):
            replace(micro, **wrong)
