"""How many threads torch and Numba use in this process."""

from __future__ import annotations

import importlib.util
from typing import Any

import torch


def use_threads(threads: int) -> None:
    """Limit torch and Numba to so many threads; 0: leave both as they are.

    Where both use OpenMP, Numba's first call of this kind also sets the number of threads for torch, to all cores: so
    torch's is set last. (Numba's further calls leave torch alone.)
    """
    if not threads:
        return
    if importlib.util.find_spec("numba") is not None:
        import numba

        settings: Any = numba.config
        numba.set_num_threads(min(threads, settings.NUMBA_NUM_THREADS))
    torch.set_num_threads(threads)
