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
NINTH = _FOLDER / "exact9.weights"


class PositionWeights(NamedTuple):
    """value, choice: fitted weights (fitted_values.py). network: what judges positions instead, and corrects the priors; of
    width 1 where there is none."""

    value: NDArray[np.float32]
    choice: NDArray[np.float32]
    network: PositionNetwork


def files_of(weights: str, gen: int = 1) -> tuple[Path, Path | None]:
    """The files of fitted weights and of a network (None: none). weights: "network", "fitted" or a file. Raises BadInput.

    Generation 9 has no network.
    """
    if gen == 9 and weights in ("network", "fitted"):
        return NINTH, None
    if weights == "network":
        return FITTED, NETWORK
    if weights == "fitted":
        return FITTED, None
    file = Path(weights)
    if not file.is_file():
        raise BadInput(f"search:exact: weights={weights}: must be network, fitted or a file")
    if gen == 9 and file.suffix == ".npz":
        raise BadInput(f"search:exact: weights={weights}: gen9ou has no network: must be fitted or a text file")
    return (FITTED, file) if file.suffix == ".npz" else (file, None)


def digest_of(weights: str) -> str:
    """A digest of the files' contents."""
    own = files_of(weights)
    files = own if weights not in ("network", "fitted") else (*own, NINTH)
    contents = b"".join(file.read_bytes() for file in files if file is not None)
    return hashlib.sha256(contents).hexdigest()


@cache
def read(weights: str) -> PositionWeights:
    """The weights of a name or file. Raises BadInput."""
    from agents.search.exact.fitted_values import read_weights
    from agents.search.exact.network import no_network, read_network

    fitted, network = files_of(weights)
    return PositionWeights(*read_weights(fitted), no_network() if network is None else read_network(network))
