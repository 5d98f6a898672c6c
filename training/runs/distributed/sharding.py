"""FSDP2 through accelerate: weights, gradients and optimizer state are divided over the processes of a run.

A layer's weights are gathered when it is computed and freed afterwards. A checkpoint has the whole weights, as every other
one, so that agents load it; the optimizer's state is in CHECKPOINT/training as one file per process.
"""

from __future__ import annotations

from typing import Any

import torch
from accelerate import Accelerator, DistributedType, PartialState
from accelerate.utils import FullyShardedDataParallelPlugin
from torch import nn

from agents.policy.network import Network
from training.runs.common_settings import ComputeSettings
from training.runs.config_reader import BadConfig
from training.runs.distributed.rank import launched, world_size


def sharding_plugin(compute: ComputeSettings) -> FullyShardedDataParallelPlugin | None:
    """Return the plugin of accelerate for a run; None if its weights are not divided.

    Raises BadConfig for fp16, whose loss scale would be another one on every process.
    """
    # One process alone is a rank, too, where a launcher started it on a GPU.
    single_process = world_size() == 1 and not (launched() and torch.cuda.is_available())
    if compute.sharding == "none" or single_process:
        return None
    if compute.precision == "fp16":
        raise BadConfig("compute.sharding: fsdp2 is not supported with fp16: set compute.precision to bf16 or fp32")
    return FullyShardedDataParallelPlugin(
        fsdp_version=2,
        auto_wrap_policy="transformer_based_wrap",
        transformer_cls_names_to_wrap=["Block"],
        reshard_after_forward=True,
        state_dict_type="SHARDED_STATE_DICT",
        cpu_ram_efficient_loading=False,
    )


def use_sharding(accelerator: Accelerator, plugin: FullyShardedDataParallelPlugin | None) -> None:
    """Let accelerate use FSDP2 on the CPU too: it does so by itself only on GPUs, although torch can (over gloo)."""
    if plugin is not None and accelerator.distributed_type == DistributedType.MULTI_CPU:
        # Both: every later AcceleratorState() copies the type from PartialState.
        PartialState().distributed_type = DistributedType.FSDP
        accelerator.state.distributed_type = DistributedType.FSDP
        accelerator.state.fsdp_plugin = plugin
        if accelerator.mixed_precision != "no":
            plugin.set_mixed_precision(accelerator.mixed_precision)


def is_sharded(accelerator: Accelerator) -> bool:
    return bool(accelerator.is_fsdp2)


def whole_network(accelerator: Accelerator, network: nn.Module) -> Network:
    """Return the network with all its weights. All processes must call it.

    With FSDP2 it is a copy, in the main process; the others get one whose weights must not be used.
    """
    unwrapped = accelerator.unwrap_model(network)
    assert isinstance(unwrapped, Network)
    if not is_sharded(accelerator):
        return unwrapped
    weights: dict[str, Any] = accelerator.get_state_dict(network)
    with torch.random.fork_rng(devices=[]), torch.device("cpu"):
        copy = Network(unwrapped.shape)
    if accelerator.is_main_process:
        copy.load_state_dict(weights)
    return copy.to(accelerator.device).eval()


def all_finite(accelerator: Accelerator, network: nn.Module) -> bool:
    """Return whether all weights of all processes are finite. All processes must call it, and get the same answer."""
    parts = [getattr(parameter, "to_local", lambda one=parameter: one)() for parameter in network.parameters()]
    bad = sum(int(not torch.isfinite(part.detach()).all()) for part in parts)
    return not int(accelerator.reduce(torch.tensor(bad, device=accelerator.device), reduction="sum"))
