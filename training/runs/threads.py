"""How many threads torch and Numba use in this process."""

from __future__ import annotations

import importlib.util
from typing import Any

import torch


def use_threads(threads: int) -> int | None:
    """Limit torch and Numba to so many threads; 0: leave both as they are, e.g. as OMP_NUM_THREADS has set them.

    Returns how many cores an engine is to use: as many, or all that there are if it is fewer; None without a limit.

    Where both use OpenMP, Numba's first call of this kind also sets the number of threads for torch, to all cores: so
    torch's is set last. (Numba's further calls leave torch alone.)
    """
    torch_threads, cores = threads or torch.get_num_threads(), threads
    if importlib.util.find_spec("numba") is not None:
        import numba

        settings: Any = numba.config
        cores = min(threads, settings.NUMBA_NUM_THREADS)
        numba.set_num_threads(cores or numba.get_num_threads())
    torch.set_num_threads(torch_threads)
    return cores or None
