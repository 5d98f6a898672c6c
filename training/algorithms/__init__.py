"""Learning rules, each in one file that reads from top to bottom. `LOSSES` finds them by the name in the configuration."""

from collections.abc import Callable

from torch import Tensor

from training.algorithms import cloning, offline_rl
from training.algorithms.tensors import Sums

LOSSES: dict[str, Callable[..., tuple[Tensor, Sums]]] = {"cloning": cloning.loss, "offline-rl": offline_rl.loss}

__all__ = ["LOSSES"]
