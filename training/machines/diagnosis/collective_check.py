"""One process of the check of collectives: `python -m training.machines.diagnosis.collective_check gloo`."""

from __future__ import annotations

import os
import sys
import time

import torch
import torch.distributed as dist

#: 64 MiB of float32: larger than any buffer of NCCL, so that the real path is used.
_NUMBERS = 1 << 24


def main(backend: str) -> None:
    """All-reduce and broadcast a tensor, check the results, and print the rate."""
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    device = torch.device("cpu")
    if backend == "nccl":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    print("at: rendezvous", flush=True)
    dist.init_process_group(backend)
    print("at: all-reduce", flush=True)
    tensor = torch.full((_NUMBERS,), float(rank + 1), device=device)
    began = time.monotonic()
    dist.all_reduce(tensor)
    total = float(tensor[-1])  # waits for the device
    seconds = time.monotonic() - began
    assert total == world * (world + 1) / 2, f"all-reduce of 1 to {world} gave {total}"
    print("at: broadcast", flush=True)
    tensor.fill_(float(rank))
    dist.broadcast(tensor, src=world - 1)
    assert float(tensor[0]) == world - 1, f"broadcast of {world - 1} gave {float(tensor[0])}"
    dist.destroy_process_group()
    rate = _NUMBERS * 4 / seconds / 1e9
    print(
        f"check: all-reduce and broadcast of 64 MiB over {world} processes on {device.type}, {rate:.1f} GB/s",
        flush=True,
    )


if __name__ == "__main__":
    main(sys.argv[1])
