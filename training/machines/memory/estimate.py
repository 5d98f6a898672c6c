"""The peak memory of a training step, computed from the network's shape and the run's settings.

Counted is what is alive at the two moments that can be the peak:

    during the backward pass   weights, optimizer state, buffers, the tensors that the forward pass has saved, and the
                               workspace of the layer that is differentiated
    at the optimizer step      weights, optimizer state, buffers, gradients, and AdamW's workspace

What a layer saves is counted from agents/policy/network.py; tests/training/machines/memory compares the count with the
tensors that autograd really saves. The upper limit is computed: every trajectory of a batch has `data.max_length`
decisions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import torch

from agents.observation.layout import layout_of
from agents.policy.network import Network
from agents.policy.shape import Shape

#: Bytes of an id, of an embedding's offset, and of a float32.
_INT64, _INT32, _FP32 = 8, 4, 4
#: Bytes per decision of the losses, and of the batch's smaller arrays (masks, actions, target policy).
_LOSS_BYTES, _BATCH_BYTES = 2_000, 250
#: Measured on an H200 (docs/experiments.md): a CUDA context with cuBLAS' workspace, and what the caching allocator wastes.
_CUDA_CONTEXT, _CUDA_WASTE = 0.8e9, 1.1
#: Assumed, not measured: NCCL's buffers.
_NCCL = 0.4e9
#: Measured on the CPU (scripts/bench/memory.py): what malloc keeps of tensors that were freed, as a factor of activations.
_CPU_WASTE = 1.25


@dataclass(frozen=True)
class Setup:
    """What a step's memory depends on. batch_size: trajectories of all processes and micro-batches together.

    process: bytes that the process has before it trains (interpreter, torch, data); on a GPU those of the CUDA context.
    """

    shape: Shape
    processes: int
    batch_size: int
    max_length: int
    accumulation: int
    checkpointing: bool
    precision: Literal["fp32", "bf16", "fp16"]
    sharding: Literal["none", "fsdp2"]
    device: Literal["cuda", "cpu"]
    reference: bool = False
    process: float | None = None

    @property
    def decisions(self) -> int:
        """The decisions of the largest micro-batch of a process."""
        return -(-self.batch_size // (self.processes * self.accumulation)) * self.max_length

    @property
    def compute_bytes(self) -> int:
        """Bytes of a number in matrix products."""
        return 4 if self.precision == "fp32" else 2


@dataclass(frozen=True)
class MemoryEstimate:
    """The memory of one process in bytes. Each part is its own maximum; `peak` is less than their sum."""

    parameters: float
    gradients: float
    optimizer: float
    buffers: float
    activations: float
    workspace: float
    process: float
    peak: float


@dataclass(frozen=True)
class TensorCounts:
    """Numbers of parameters. block: of the largest layer, the unit in which FSDP2 gathers weights; outside: of no layer."""

    total: int
    block: int
    outside: int


@lru_cache
def counts(shape: Shape) -> TensorCounts:
    """Count the parameters of a network without allocating it."""
    with torch.device("meta"):
        network = Network(shape)
    blocks = [sum(one.numel() for one in layer.parameters()) for layer in (*network.token_layers, *network.layers)]
    return TensorCounts(network.parameter_count, max(blocks), network.parameter_count - sum(blocks))


def estimate(setup: Setup) -> MemoryEstimate:
    """Return the memory of one process."""
    count = counts(setup.shape)
    shards = setup.processes if setup.sharding == "fsdp2" else 1
    parameters = count.total * _FP32 / shards
    gradients, optimizer = parameters, 2 * parameters
    buffers = _buffers(setup, count)
    saved, narrow_saved = saved_bytes(setup)
    saved, narrow_saved = saved * setup.decisions, narrow_saved * setup.decisions
    narrow_work, wide_work = (setup.decisions * one for one in _workspace(setup))
    backward = max(saved + wide_work, narrow_saved + narrow_work)
    if setup.device == "cpu":  # malloc has no place for the gradients in what the activations leave
        backward = _CPU_WASTE * backward + gradients
    elif setup.accumulation > 1:
        backward += gradients
    # AdamW computes on lists of tensors on a GPU, with one temporary copy of the parameters, and on the CPU one by one.
    step = gradients + (parameters if setup.device == "cuda" else 3 * _FP32 * count.block / shards)
    process = setup.process if setup.process is not None else _CUDA_CONTEXT + (_NCCL if setup.processes > 1 else 0.0)
    waste = _CUDA_WASTE if setup.device == "cuda" else 1.0
    peak = process + waste * (parameters + optimizer + buffers + max(backward, step))
    return MemoryEstimate(parameters, gradients, optimizer, buffers, saved, max(narrow_work, wide_work), process, peak)


def _buffers(setup: Setup, count: TensorCounts) -> float:
    """Weights in the compute precision, gradients' communication, a reference policy, and the batch itself."""
    layout = layout_of(setup.shape.slots)
    total = setup.decisions * (layout.tokens * (layout.features * _FP32 + layout.ids * 2) + _BATCH_BYTES)
    if setup.reference:
        total += count.total * _FP32
    if setup.sharding == "fsdp2":
        # Two layers (the one at work and the next) and what is in none are gathered, with the gradients of one layer.
        return total + setup.compute_bytes * (2 * count.block + count.outside) + _FP32 * count.block
    if setup.precision != "fp32":
        total += count.total * setup.compute_bytes  # autocast keeps the converted weights for the whole step
    return total + (count.total * _FP32 if setup.processes > 1 else 0)  # DDP's buckets


def saved_bytes(setup: Setup) -> tuple[float, float]:
    """Return the bytes per decision that the forward pass saves, and those that are left when the wide layers are done."""
    shape, size = setup.shape, setup.compute_bytes
    narrow, wide = shape.token_width, shape.width
    layout = layout_of(shape.slots)
    rows = layout.tokens + 1  # of the narrow layers
    each_token = _block(setup, narrow, shape.token_heads, rotary=False)
    each_decision = _block(setup, wide, shape.heads, rotary=True)
    if setup.checkpointing:  # only a layer's input is kept; one layer at a time is computed again
        tokens = rows * (_FP32 * narrow * shape.token_layers + each_token)
        decisions = _FP32 * wide * shape.layers
        decisions_peak = decisions + each_decision
        kept = tokens - rows * each_token
    else:
        kept = tokens = rows * each_token * shape.token_layers
        decisions_peak = each_decision * shape.layers
    index = _INT32 if setup.device == "cpu" else _INT64  # of the embeddings (agents/policy/network.py)
    embedded = layout.tokens * ((2 * layout.ids + 3) * index + layout.features * size)
    # In half precision the heads keep converted copies of what they use of the normed tokens, not the tokens themselves.
    normed = rows * narrow * _FP32 if size == _FP32 else narrow * size
    summary = rows * (_FP32 * narrow + 8) + normed
    heads = (_FP32 + size) * wide + 8 + (9 + 2 * layout.actions) * narrow * size + 3 * wide * size + _LOSS_BYTES
    return kept + embedded + summary + heads + decisions_peak, tokens + embedded + summary


def _block(setup: Setup, width: int, heads: int, rotary: bool) -> float:
    """Return the bytes that a layer (`Block`) saves per token: inputs of norms, products, attention and GELU."""
    size = setup.compute_bytes
    norms = 2 * (_FP32 * width + 8) + 2 * size * width
    attention = 4 * size * width + _FP32 * heads + (3 * size * width if rotary else 0)
    feed_forward = 2 * setup.shape.expansion * size * width
    mask = 0 if not setup.shape.dropout else 1 if setup.device == "cuda" else size
    return norms + attention + feed_forward + 2 * mask * width


def _workspace(setup: Setup) -> tuple[float, float]:
    """Return the bytes per decision of gradients of activations, in a narrow layer and in a wide one."""
    shape, size = setup.shape, setup.compute_bytes
    each = 2 * shape.expansion * size + 2 * _FP32
    return (layout_of(shape.slots).tokens + 1) * each * shape.token_width, each * shape.width
