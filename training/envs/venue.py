"""What an environment needs of the place where its battles happen: the engine (engine_battles.py, gen9_battles.py),
Showdown (showdown_battles.py), or both (mixed_battles.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from agents import Agent
from agents.engine import ALL_FORMATS, FORMATS_IN_WORDS
from agents.observation.observation import Observations
from arena.fixture import Fixture
from teamsets.errors import BadInput, UnknownFormat

#: Values of `Battles.winners`: a seat (0 or 1), or one of these. STUCK: the simulator itself failed in the battle.
UNDECIDED, TIE, STUCK = -1, 2, 3

#: Why an engine's batches refuse to ask a seat's agent.
ALONE = "an agent that acts alone plays behind the protocol (training/envs/mixed_battles.py)"

Ints = NDArray[np.int64]
#: The agents of a battle's seats; None for a seat whose actions are given to `play`.
Pair = tuple[Agent | None, Agent | None]


class Battles(Protocol):
    """N battles in numbered rows. Every method takes the rows that it is about; seats are 0 (p1) and 1 (p2)."""

    @property
    def winners(self) -> NDArray[np.signedinteger]:
        """[N]: who has won: 0, 1, or UNDECIDED, TIE, STUCK."""

    @property
    def turns(self) -> NDArray[np.signedinteger]:
        """[N]: the turn that each battle has reached."""

    def begin(
        self, rows: Ints, fixtures: Sequence[Fixture], agents: Sequence[Pair], leads: NDArray[np.bool_] | None = None
    ) -> None:
        """Starts a battle in each row.

        leads [n, 2]: which seats choose their lead by an action at the team preview of singles, if the format has one; None:
        none does. Of the others an agent in `agents` answers there, or the team keeps its order.
        """

    def needs_decision(self, rows: Ints) -> NDArray[np.bool_]:
        """[n, 2]: which seats have a decision to make. Neither, once the battle is over."""

    def masks(self, rows: Ints, seats: Ints) -> NDArray[np.bool_]:
        """[n, 13]: the legal actions (agents/observation/actions.py) of those seats; none for a seat that is not asked."""

    def observe(self, rows: Ints, seats: Ints, out: Observations | None = None) -> Observations:
        """What those seats see now. out: arrays to be written instead of new ones."""

    def answers(self, rows: Ints, seats: Ints) -> Ints:
        """[n]: the actions of those seats' own agents, for `play`."""

    def play(self, rows: Ints, actions: Ints) -> None:
        """Plays actions [n, 2] of the seats that are asked (-1 for others) on to each battle's next decision or end.

        Raises BadInput for an illegal action; then none of the battles is advanced.
        """

    def copy(self, sources: Ints, targets: Ints, seeds: Sequence[str], agents: Sequence[Pair] | None = None) -> None:
        """Makes the battles in `targets` copies of those in `sources`, with random numbers of other seeds from now on.

        agents: of the copies' seats, which know nothing of the battle before; None: none has any.
        """

    def close(self) -> None:
        """Ends what it has started. It cannot be used afterwards."""


def not_legal(row: int, seat: int, action: int) -> BadInput:
    """Returns the error of an action that a seat cannot choose."""
    return BadInput(f"battle {row}, seat {seat}: action {action} is not legal")


def check_engine_format(format_id: str) -> None:
    """Raises UnknownFormat for a format that no engine plays."""
    if format_id not in ALL_FORMATS:
        raise UnknownFormat(
            f"format '{format_id}': the engines play {FORMATS_IN_WORDS}: choose one of them, or the venue showdown"
        )
