"""Batches of battles: N rows of words, stepped together on all cores."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray
from poke_env.data import GenData

from agents.engine import FORMATS
from agents.engine.batch import Batch, Words, check_counts
from agents.engine.checks import EVS, IVS, LEVELS, check_number, check_seed, number_in, one_each
from agents.engine.compiled import kernel
from agents.engine.gen1 import layout as W
from agents.engine.gen1.network_actions import translate
from agents.engine.gen1.requests import legal_actions
from agents.engine.gen1.tables import MOVES_BY_ID, SPECIES_BY_ID, most_pp
from agents.engine.gen1.turn import start_battle, step_battle
from teamsets.errors import BadInput

_dex: dict[str, Any] = GenData.from_gen(1).pokedex


@kernel
def _start(battles):
    for n in numba.prange(len(battles)):
        start_battle(battles[n])


@kernel
def _step(battles, rows, actions):
    for n in numba.prange(len(rows)):
        if battles[rows[n], W.WINNER] == W.UNDECIDED:
            step_battle(battles[rows[n]], actions[n, 0], actions[n, 1])


@kernel
def _legal(battles, rows, masks):
    for n in numba.prange(len(rows)):
        for seat in range(2):
            playing = battles[rows[n], W.WINNER] == W.UNDECIDED
            masks[n, seat] = legal_actions(battles[rows[n]], W.SIDES + seat * W.SIDE_WORDS) if playing else 0


def kernels() -> dict[str, tuple[Any, Callable[[], Any]]]:
    """Return what batches of battles call: what it does -> the kernel, and a call of it on nothing (`compile_missing`)."""
    engine, none, actions = Engine(0), np.zeros(0, np.int64), np.zeros((0, 2), np.int32)
    return {
        "beginnings": (_start, lambda: _start(engine.words)),
        "legal actions": (_legal, engine.legal),
        "turns": (_step, lambda: engine.step(actions)),
        "actions of networks": (translate, lambda: engine.translate(none, none, none)),
    }


class Engine(Batch):
    """N battles of a format.

    `words` [N, WORDS] int32 is all of their state (layout.py); a copy of a row is a fork of its battle. The format decides
    nothing but the published sets that observations assume (agents/observation/engine_observation.py). Raises BadInput for
    one that the engine does not play.
    """

    gen = 1
    shape = (2,)

    def __init__(self, battles: int, format_id: str = "gen1ou") -> None:
        if format_id not in FORMATS:
            raise BadInput(f"format '{format_id}': the engine plays {' and '.join(FORMATS)}.")
        check_number("battles", battles, 0)
        self.format_id = format_id
        self.words: Words = np.zeros((battles, W.WORDS), np.int32)

    def _initial(self, teams: Sequence[tuple[str, str]], seeds: Sequence[str], count: int) -> Words:
        return initial_rows(teams, seeds, count)

    def _start(self, words: Words) -> None:
        _start(words)

    def _legal(self, rows: NDArray[np.int64], masks: NDArray[np.int32]) -> None:
        _legal(self.words, rows, masks)

    def _step(self, rows: NDArray[np.int64], actions: NDArray[np.int32]) -> None:
        _step(self.words, rows, actions)

    def _empty(self) -> Engine:
        return Engine(0, self.format_id)

    def of_format(self, format_id: str) -> Engine:
        """The same battles, of which `words` is shared, observed as those of another format."""
        shared = Engine(0, format_id)
        shared.words = self.words
        return shared

    def translate(
        self, rows: NDArray[np.int64], seats: NDArray[np.int64], actions: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        """The engine's actions (for `step`) of a network's actions (agents/observation/actions.py); -1: not legal.

        Raises BadInput for a row or seat that is not there, and for another number of actions.
        """
        rows, seats = self.pairs(rows, seats)
        actions = one_each("actions", actions, len(rows))
        translated = np.zeros(len(rows), np.int32)
        translate(self.words, rows, seats, actions, translated)
        return translated


def initial_rows(teams: Sequence[tuple[str, str]], seeds: Sequence[str], count: int) -> Words:
    """Words [count, WORDS] of battles before their start. Raises BadInput, also for another number of teams or seeds."""
    check_counts(teams, seeds, count)
    pairs = zip(teams, seeds, strict=True)
    return np.array([initial(pair, seed) for pair, seed in pairs], np.int32).reshape(count, W.WORDS)


def initial(teams: tuple[str, str], seed: str) -> Words:
    """A battle's words [WORDS] before its start. Raises BadInput."""
    row = np.zeros(W.WORDS, np.int32)
    check_seed(seed)
    for part in range(4):
        row[W.SEED + part] = int(seed[5 + 4 * part : 9 + 4 * part], 16)
    row[W.WINNER] = W.UNDECIDED
    for seat, packed in enumerate(teams):
        row[W.SIDES + seat * W.SIDE_WORDS :][: W.SIDE_WORDS] = _encoded(packed)
    return row


@functools.lru_cache(maxsize=16384)
def _encoded(packed: str) -> Words:
    """A side's words [SIDE_WORDS] before the start. Cached: environments start many battles with the same teams."""
    side = np.zeros(W.SIDE_WORDS, np.int32)
    members = packed.split("]")
    if not 1 <= len(members) <= 6:
        raise BadInput(f"A team has 1 to 6 Pokémon, not {len(members)}.")
    side[W.TEAM_SIZE] = side[W.LEFT] = len(members)
    side[W.ORDER : W.ORDER + 6] = range(6)
    for index, member in enumerate(members):
        _put_mon(side[W.MONS + index * W.MON_WORDS :][: W.MON_WORDS], member)
    names = [shown_name(member) for member in members]
    for place, index in enumerate(sorted(range(len(names)), key=names.__getitem__)):
        side[W.MONS + index * W.MON_WORDS + W.MON_PLACE] = place
    side.flags.writeable = False
    return side


def shown_name(packed: str) -> str:
    """The name that Showdown gives a Pokémon: its nickname's first 20 characters, or its species'."""
    fields = packed.split("|")
    return (fields[0] or _name_of(_to_id(fields[1])))[:20] if len(fields) > 1 else fields[0]


def _name_of(species: str) -> str:
    return str(_dex[species]["name"]) if species in SPECIES_BY_ID else ""


def _put_mon(mon: Words, packed: str) -> None:
    """packed: nickname|species|item|ability|moves|nature|evs|gender|ivs|shiny|level|…, as Showdown packs a set."""
    fields = packed.split("|") + [""] * 12
    name = _to_id(fields[1] or fields[0])
    species: dict[str, Any] | None = SPECIES_BY_ID.get(name)
    if species is None:
        raise BadInput(f"{fields[1] or fields[0]!r} is no Pokémon of generation 1.")
    if _to_id(fields[2]) or _to_id(fields[3]) != "noability":
        raise BadInput(f"{name}: generation 1 has no items, and the ability is 'No Ability'.")
    moves = [_to_id(move) for move in fields[4].split(",")]
    unknown = [move for move in moves if move not in MOVES_BY_ID]
    if unknown or not 1 <= len(moves) <= 4:
        raise BadInput(
            f"{name}: {unknown[0]!r} is no move of generation 1." if unknown else f"{name} has {len(moves)} moves."
        )
    level = number_in(f"{name}: level", fields[10] or "100", LEVELS)
    evs = [number_in(f"{name}: EVs", ev or "0", EVS) for ev in _six(f"{name}: EVs", fields[6])]
    ivs = [number_in(f"{name}: IVs", iv or "30", IVS) & 30 for iv in _six(f"{name}: IVs", fields[8])]
    points = [iv + ev // 4 for iv, ev in zip(ivs, evs, strict=True)]
    bases: list[int] = species["stats"]
    stats = [(2 * base + point) * level // 100 + 5 for base, point in zip(bases, points, strict=True)]
    hp = (2 * bases[0] + points[0] + 100) * level // 100 + 10
    mon[W.MON_SPECIES], mon[W.MON_LEVEL], mon[W.MON_HP], mon[W.MON_MAX_HP] = species["num"], level, hp, hp
    mon[W.MON_STATS : W.MON_STATS + 5] = stats[1:]
    mon[W.MON_SPEED_POINTS] = points[5]
    mon[W.MON_MOVE_COUNT] = len(moves)
    for slot, move in enumerate(moves):
        known = MOVES_BY_ID[move]
        mon[W.MON_MOVES + slot] = known["num"]
        mon[W.MON_PP + slot] = most_pp(known)


def _six(what: str, text: str) -> list[str]:
    parts = text.split(",") if text else [""] * 6
    if len(parts) != 6:
        raise BadInput(f"{what} '{text}': six numbers are needed, of HP, Atk, Def, SpA, SpD and Spe.")
    return parts


def _to_id(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum())
