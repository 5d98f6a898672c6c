"""What the exact search needs of a generation: how a battle becomes positions, and the trees that grow on them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Protocol

from agents.battle import SeatBattle
from agents.battle.choices import Choice

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray


def seat_of(battle: SeatBattle) -> int:
    """The number of a battle's own side, 0 or 1."""
    return int((battle.player_role or "p1")[1]) - 1


#: In place of the engine's action of a network's: not legal, or that it is not is known to the engine alone.
ILLEGAL, UNKNOWN = -1, -2


class SearchTree(Protocol):
    """A tree of one position."""

    def grow(self, iterations: int) -> None:
        """Adds iterations."""

    def edges(self, seat: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """A seat's actions at the root: visits and sums of values."""

    def values(self, seat: int, trust: float, first: float | None = None) -> tuple[float, NDArray[np.float64]]:
        """As root_values.root_values."""


class Game(Protocol):
    """One battle of a generation, followed by its log.

    actions: how many actions the engine has for a seat.
    """

    actions: int

    def follow(self, battle: SeatBattle) -> None:
        """Reads the lines since the last call."""

    def chose(self, battle: SeatBattle, choice: Choice) -> None:
        """Notes a choice that is made now."""

    def action(self, choice: Choice) -> int:
        """The engine's action of a legal choice."""

    def sample(self, battle: SeatBattle, rng: random.Random) -> Any:
        """A position with what is hidden sampled."""

    def legal(self, root: Any, seat: int) -> int:
        """The legal actions of a seat at a position, as bits."""

    def plant(self, number: int, root: Any, allowed: tuple[int, int], seed: int, guide: Any) -> SearchTree:
        """The tree of this process with this number, begun anew. allowed: both seats' actions at the root as bits.

        guide: priors of both seats' actions that are mixed in, [2, actions], or None.
        """


class Positions(Protocol):
    """Positions of a generation's engine, as they are searched.

    actions: how many of a network's actions are judged, from the first on. engine_count: how many actions the engine has
    for a seat. shared: whether one search judges both seats of a battle; else each seat that decides has its own.
    """

    actions: int
    engine_count: int
    shared: bool

    def engine_actions(self, engine: Any, rows: NDArray[np.int64], seats: NDArray[np.int64]) -> NDArray[np.int32]:
        """The engine's action of each of a network's first `actions` actions, [n, actions]; or ILLEGAL, UNKNOWN."""

    def trees(
        self,
        engine: Any,
        row: int,
        seat: int,
        iterations: int,
        seed: int,
        thread: int,
        guide: NDArray[np.float32] | None,
    ) -> Iterator[SearchTree]:
        """The searches of one seat, one after the other, or the one of both seats. iterations: of all together; seed: not 0.

        guide: shares [2, engine_count] of both seats' priors at the root; None: nothing is mixed in. A tree is
        overwritten by the thread's next one.
        """
