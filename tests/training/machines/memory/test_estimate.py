"""The count of what a forward pass saves is that of autograd, and the plan follows from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from agents.observation.observation import FEATURES, IDS_PER_TOKEN, TOKENS  # noqa: E402
from agents.policy.network import Network  # noqa: E402
from agents.policy.shape import PRESETS  # noqa: E402
from training.machines.memory.estimate import Setup, estimate, saved_bytes  # noqa: E402
from training.machines.memory.fitting import largest_batch, recommended, variants  # noqa: E402

BATCH, LENGTH = 2, 16
#: Bytes per decision of the losses, which the estimate adds and the network alone does not save.
LOSS = 2_000


def setup(preset: str = "large", **changes: Any) -> Setup:
    plain = Setup(PRESETS[preset], 8, 128, 128, 1, False, "bf16", "none", "cuda")
    return replace(plain, **changes)


def saved_by_autograd(network: Network) -> int:
    """Return the bytes of all tensors that a forward pass saves, but for the parameters and their converted copies."""
    seen: dict[int, Any] = {}
    own = {parameter.untyped_storage().data_ptr() for parameter in network.parameters()}
    shapes = {tuple(parameter.shape) for parameter in network.parameters()}
    shapes |= {shape[::-1] for shape in shapes}

    def keep(tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own and not (tensor.dtype == torch.bfloat16 and tuple(tensor.shape) in shapes):
            seen[storage.data_ptr()] = storage
        return tensor

    ids = torch.ones(BATCH, LENGTH, TOKENS, IDS_PER_TOKEN, dtype=torch.int64)
    legal = torch.ones(BATCH, LENGTH, 13, dtype=torch.bool)
    valid = torch.ones(BATCH, LENGTH, dtype=torch.bool)
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        network(ids, torch.ones(BATCH, LENGTH, TOKENS, FEATURES), legal, valid)
    return sum(storage.nbytes() for storage in seen.values())


@pytest.mark.parametrize(
    ("preset", "dropout", "precision"), [("tiny", 0.0, "fp32"), ("micro", 0.1, "fp32"), ("tiny", 0.1, "bf16")]
)
def test_what_a_forward_pass_saves_is_counted_within_three_percent(preset: str, dropout: float, precision: Any) -> None:
    shape = replace(PRESETS[preset], dropout=dropout)
    with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
        measured = saved_by_autograd(Network(shape).train())
    found = setup(shape=shape, precision=precision, device="cpu", processes=1, batch_size=BATCH, max_length=LENGTH)
    counted = (saved_bytes(found)[0] - LOSS) * found.decisions
    assert counted == pytest.approx(measured, rel=0.03)


def test_every_way_to_save_memory_saves_some() -> None:
    peaks = [one.estimate.peak for one in variants(setup(), 40e9)]
    fp32, bf16, accumulated, checkpointed, both, sharded, sharded_checkpointed = peaks
    assert fp32 > bf16 > accumulated and bf16 > checkpointed > both
    assert bf16 > sharded > sharded_checkpointed


@pytest.mark.parametrize("memory", [5e9, 20e9, 40e9])
def test_the_largest_batch_fits_and_one_more_does_not(memory: float) -> None:
    one = setup(sharding="fsdp2")
    most = largest_batch(one, memory)
    assert estimate(replace(one, batch_size=most * 8)).peak <= memory
    assert estimate(replace(one, batch_size=(most + 1) * 8)).peak > memory


def test_less_memory_recommends_more_saving_until_nothing_fits() -> None:
    names = [
        None if (best := recommended(variants(setup(), memory), memory)) is None else best.name
        for memory in (40e9, 8e9, 4e9, 1e9)
    ]
    assert names == ["DDP bf16", "DDP bf16 acc", "FSDP2 bf16 ckpt", None]
