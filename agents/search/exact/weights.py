"""What the exact search judges positions with: a network, fitted weights, or files of either."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agents.search import fitted
from teamsets.errors import BadInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from agents.search.exact.network import PositionNetwork

_FOLDER = fitted.FOLDER
FITTED, NETWORK = _FOLDER / "gen1.txt", _FOLDER / "exact1.npz"
NINTH, NINTH_NETWORK = _FOLDER / "exact9.weights", _FOLDER / "exact9.npz"


class PositionWeights(NamedTuple):
    """value, choice: fitted weights (fitted_values.py). network: what judges positions instead, and corrects the priors; of
    width 1 where there is none."""

    value: NDArray[np.float32]
    choice: NDArray[np.float32]
    network: PositionNetwork


def files_of(weights: str, gen: int = 1) -> tuple[Path, Path | None]:
    """The files of fitted weights and of a network (None: none). weights: "network", "fitted" or a file. Raises BadInput."""
    fitted, network = (NINTH, NINTH_NETWORK) if gen == 9 else (FITTED, NETWORK)
    if weights == "network":
        return fitted, network
    if weights == "fitted":
        return fitted, None
    file = Path(weights)
    if not file.is_file():
        raise BadInput(f"search:exact: weights={weights}: must be network, fitted or a file")
    return (fitted, file) if file.suffix == ".npz" else (file, None)


def digest_of(weights: str) -> str:
    """A digest of the files' contents."""
    files = dict.fromkeys(file for gen in (1, 9) for file in files_of(weights, gen))
    contents = b"".join(file.read_bytes() for file in files if file is not None)
    return hashlib.sha256(contents).hexdigest()


@cache
def read(weights: str) -> PositionWeights:
    """The weights of a name or file. Raises BadInput."""
    from agents.search.exact.fitted_values import read_weights
    from agents.search.exact.network import no_network, read_network

    fitted, network = files_of(weights)
    return PositionWeights(*read_weights(fitted), no_network() if network is None else read_network(network))
