"""Played battles beside the engine: at each request, the engine's own row and the row that the search starts from."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from side_log import SideLog

from agents.battle import SeatBattle
from agents.battle.choices import Choice
from agents.engine.gen1 import layout
from agents.engine.gen1.engine import Engine
from agents.search.exact.battle_log import BattleLog
from agents.search.exact.root_position import TeamGuess, action_of, root_of

Words = NDArray[np.int32]


@dataclass(frozen=True)
class Position:
    """One request of one seat. true: the engine's row. built: the row from the seat's log and the opponent's true team.

    choice: what the seat then chose, as an action of the engine. legal: its legal actions by the request, as bits.
    """

    seat: int
    battle: SeatBattle
    log: BattleLog
    true: Words
    built: Words
    choice: int
    legal: int


#: Words that no player is shown, so that the built row has drawn or estimated them (docs/search.md).
HIDDEN_WORDS = frozenset({
    "SEED", "MON_SLEEP", "CONFUSED", "DISABLE_TIME", "BIDE_TIME", "BIDE_DAMAGE", "THRASH_TIME", "SUBSTITUTE", "TRAPPING",
    "TRAPPING_TOTAL", "TRAPPED", "TRAPPED_MAYBE", "FAKE_TRAPPED", "FAKE_OTHER", "MAYBE_LOCKED",
})  # fmt: skip
#: Those that nothing reads before they are written again: of the turn that is over.
STALE_WORDS = frozenset({"PENDING", "PENDING_MOVE", "SPEED"})
#: For observations only (agents/engine/gen1/shown.py): they change no battle.
SHOWN_WORDS = frozenset({"SEEN", "MON_PLACE", "MON_SEEN", "MON_REVEALED", "MON_USES", "MON_COUNTER"})
#: Of the opponent only: what it selected and did not get to do.
HIDDEN_OF_THEIRS = frozenset({"LAST_SELECTED", "LAST_SLOT", "LAST_ENEMY_SELECTED"})
#: Words that count only while another is not 0.
_NEEDS = {
    "TRAPPED_BY": layout.TRAPPED, "TRAPPING_DAMAGE": layout.TRAPPING, "TRAPPING_WHOM": layout.TRAPPING,
    "DISABLE_MOVE": layout.DISABLE_TIME, "DISABLE_SLOT": layout.DISABLE_TIME, "THRASH_ACCURACY": layout.THRASH,
    "RAGE_ACCURACY": layout.RAGE, "RESIDUAL_COUNT": layout.RESIDUAL,
}  # fmt: skip


def _names() -> list[tuple[int, str]]:
    """For each word of a row: its side (-1: of the battle) and its name."""
    order = [name for name, value in vars(layout).items() if name.isupper() and isinstance(value, int)]
    place = order.index

    def spread(first: str, end: str, size: int) -> list[str]:
        starts = {vars(layout)[name]: name for name in order[place(first) : place(end)]}
        return [starts[max(start for start in starts if start <= word)] for word in range(size)]

    mon = spread("MON_SPECIES", "MON_WORDS", layout.MON_WORDS)
    side = spread("ORDER", "VOLATILE_END", layout.MONS) + 6 * mon
    return [(-1, name) for name in spread("SEED", "SIDES", layout.SIDES)] + [(i, n) for i in range(2) for n in side]


WORD_NAMES = _names()


def unequal(position: Position) -> list[str]:
    """The names of the words in which the built row differs from the engine's, without those that no player is shown."""
    differing = []
    for word in np.flatnonzero(position.true != position.built):
        side, name = WORD_NAMES[word]
        theirs = side != position.seat
        if name in SHOWN_WORDS or name.startswith(("SHOWN_", "COPIED_")):
            continue
        if name in HIDDEN_WORDS or name in STALE_WORDS or (theirs and name in HIDDEN_OF_THEIRS):
            continue
        at = layout.SIDES + side * layout.SIDE_WORDS
        if name in _NEEDS and not (position.true[at + _NEEDS[name]] and position.built[at + _NEEDS[name]]):
            continue
        in_percent = (name == "MON_HP" and theirs) or name in ("LAST_DAMAGE", "TRAPPING_DAMAGE")
        if not in_percent or abs(int(position.true[word]) - int(position.built[word])) > _PERCENT:
            differing.append(name)
    return differing


#: HP that two percentages of the greatest HP of generation 1 (703) may be apart.
_PERCENT = 15
# As in agents/search/poke_engine/prediction.py: a roll is 85% to 100% of the greatest damage.
_ROLL, _ROUNDING = 0.0875, 2
_FORESEEN = frozenset({
    "ORDER", "BOOSTS", "LEECH_SEED", "REFLECT", "LIGHT_SCREEN", "RECHARGE", "MON_STATUS", "LEFT", "REQUEST", "TWO_TURN",
})  # fmt: skip
_FORESEEN_WORDS = np.array([word for word, (_, name) in enumerate(WORD_NAMES) if name in _FORESEEN])
_FLAG_WORDS = np.array([word for word, (_, name) in enumerate(WORD_NAMES) if name in ("SUBSTITUTE", "CONFUSED")])
_HP_WORDS = np.array([word for word, (_, name) in enumerate(WORD_NAMES) if name == "MON_HP"])


def foreseen(
    before: Words, actions: tuple[int, int], after: Words, rng: np.random.Generator, draws: int = 4096
) -> bool:
    """Whether one of `draws` steps with random numbers of their own leads where the battle went.

    The same measure as for poke-engine: statuses, boosts, conditions, who is out and who chooses must be equal, HP within
    the roll of the damage.
    """
    engine = Engine(0)
    engine.words = np.repeat(before[None], draws, axis=0)
    engine.words[:, layout.SEED : layout.SEED + 4] = rng.integers(0, 1 << 16, (draws, 4))
    engine.step(np.tile(np.array(actions, np.int32), (draws, 1)))
    same = (engine.words[:, _FORESEEN_WORDS] == after[_FORESEEN_WORDS]).all(axis=1)
    same &= ((engine.words[:, _FLAG_WORDS] != 0) == (after[_FLAG_WORDS] != 0)).all(axis=1)
    hp = engine.words[:, _HP_WORDS]
    slack = _ROUNDING + _ROLL * np.abs(hp - before[_HP_WORDS])
    near = np.abs(hp - after[_HP_WORDS]) <= slack
    return bool((same & near.all(axis=1)).any())


class _Seat(SideLog):
    """A side's log, with the log that the search keeps of it."""

    def __init__(self, seat: int, log: list[str], choices: list[str], format_id: str) -> None:
        super().__init__(f"p{seat + 1}", log, choices, 1, format_id)
        self.seat = seat
        self.log = BattleLog()

    def read(self, until: int) -> dict[str, Any] | None:
        request = super().read(until)
        self.log.follow(self.battle)
        return request


def record_choice(log: BattleLog, seat: int, battle: SeatBattle, choice: Choice) -> None:
    """Record the own choice of a seat in its log."""
    if choice.kind == "move":
        log.chose(seat, battle.last_request["active"][0]["moves"][choice.slot - 1]["id"])


def sheets(packed: str) -> list[TeamGuess]:
    """A packed team as the opponent's known one."""
    guesses = []
    for member in packed.split("]"):
        fields = member.split("|") + [""] * 12
        ids = [
            "".join(c for c in part.lower() if c.isalnum()) for part in (fields[1] or fields[0], *fields[4].split(","))
        ]
        guesses.append(
            TeamGuess(fields[0] or fields[1], ids[0], int(fields[10] or 100), tuple(ids[1:]), fields[6], fields[8])
        )
    return guesses


def walk(
    logs: tuple[list[str], list[str]],
    choices: tuple[list[str], list[str]],
    teams: tuple[str, str],
    seed: str,
    format_id: str,
) -> Iterator[Sequence[Position]]:
    """Yields the positions (of one seat or both) at each point of a battle where somebody chose, played on the engine.

    logs: both sides', requests included. choices: both sides' labels ("move tackle"), one per request.
    """
    engine = Engine(1, format_id)
    engine.reset([teams], [seed])
    seats = [_Seat(i, logs[i], choices[i], format_id) for i in range(2)]
    for point in sorted(seats[0].requests.keys() | seats[1].requests.keys()):
        deciding = [seat for seat in seats if seat.read(point) is not None and point in seat.choices]
        positions, actions = [], np.zeros((1, 2), np.int32)
        for seat in deciding:
            choice = seat.chosen(point)
            root = root_of(seat.battle, seat.log, sheets(teams[1 - seat.seat]), random.Random(0))
            actions[0, seat.seat] = action_of(choice)
            positions.append(
                Position(
                    seat.seat,
                    seat.battle,
                    seat.log,
                    engine.words[0].copy(),
                    root.row,
                    action_of(choice),
                    sum({1 << action_of(legal) for legal in seat.battle.legal}),
                )
            )
            record_choice(seat.log, seat.seat, seat.battle, choice)
        if not positions or engine.words[0, layout.WINNER] != layout.UNDECIDED:
            return
        yield positions
        engine.step(actions)
