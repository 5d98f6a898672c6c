"""A battle as one seat knows it, with a sampled team of the opponent, as a row of the engine's words.

Own HP, PP, stats and order come from the request, everything else from the log (battle_log.py). What only the simulator
knows is drawn: docs/search.md lists it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from poke_env.data import to_id_str

from agents.battle import SeatBattle
from agents.battle.choices import Choice
from agents.engine.gen1 import layout as W
from agents.engine.gen1.engine import initial
from agents.engine.gen1.tables import MOVE, MOVES_BY_ID, PP, SPECIES_BY_ID
from agents.mechanics.set_sampling import draw_set, draw_unseen
from agents.search.exact.active_pokemon import (
    Words,
    hp_of,
    id_of,
    mon_at,
    shown_hp,
    side_at,
    species_types_moves,
    stats_of,
)
from agents.search.exact.battle_log import BattleLog
from agents.search.exact.game import seat_of
from agents.search.exact.tracked_sides import ActiveState, TrackedSide
from agents.search.exact.tree import CONFUSION, DISABLE, HIDDEN
from agents.search.log_lines import level_of

_SEED = "gen5,0000000000000000"
_FLAGS = {
    "focus": W.FOCUS_ENERGY, "seed": W.LEECH_SEED, "screen": W.LIGHT_SCREEN, "reflect": W.REFLECT, "mist": W.MIST,
    "minimize": W.MINIMIZE, "defensecurl": W.DEFENSE_CURL,
}  # fmt: skip
#: Turns of a binding move, each as likely as the others.
_TRAP_TURNS = (2, 2, 2, 3, 3, 3, 4, 5)


@dataclass(frozen=True)
class TeamGuess:
    """A Pokémon as sampled or known: its name in the battle, species (id), level, moves (ids), EVs and IVs as packed."""

    name: str
    species: str
    level: int
    moves: tuple[str, ...]
    evs: str = "252,252,252,252,252,252"
    ivs: str = ""

    def packed(self) -> str:
        """As Showdown packs a set."""
        return f"{self.name}|{self.species}||noability|{','.join(self.moves)}||{self.evs}||{self.ivs}||{self.level}|"


@dataclass(frozen=True)
class Root:
    """A row [WORDS] with its hidden counters [2, HIDDEN] as tree.py takes them."""

    row: Words
    hidden: NDArray[np.int64]


def own_team(log: BattleLog) -> list[TeamGuess]:
    """Our team in its first order, from the first request."""
    team = []
    for entry in log.own:
        parts = entry["details"].split(", ")
        name = entry["ident"].partition(": ")[2]
        team.append(TeamGuess(name, to_id_str(parts[0]), level_of(parts), tuple(entry["moves"])))
    return team


def sampled_team(battle: SeatBattle, log: BattleLog, rng: random.Random) -> list[TeamGuess]:
    """A team for the opponent, as docs/search.md says for `search:mcts`, in the order in which its Pokémon came in."""
    side = log.sides[1 - seat_of(battle)]
    shown = []
    for name in dict.fromkeys(side.entries):
        seen = side.mons[name]
        moves = tuple(move for move in seen.used if move in MOVES_BY_ID)[:4]
        shown.append(TeamGuess(name, seen.species, seen.level, moves))
    size = battle._team_size.get(battle.opponent_role or "", 6)
    return completed_team(battle.format_id, shown, size, [mon.level for mon in battle.team.values()], rng)


def completed_team(
    format_id: str, shown: Sequence[TeamGuess], size: int, own_levels: Sequence[int], rng: random.Random
) -> list[TeamGuess]:
    """A team of `size` Pokémon: those that were `shown`, with the moves that they have shown and sampled ones, then others.

    own_levels: of our team, of which the levels of random teams are a sample.
    """
    team = []
    for member in shown:
        drawn = draw_set(format_id, 1, member.species, member.moves, None, None, rng)
        team.append(replace(member, moves=_known_moves(drawn.moves)))
    species = {member.species for member in team}
    for drawn in draw_unseen(format_id, 1, species, size - len(team), rng):
        team.append(TeamGuess(drawn.species, drawn.species, drawn.level, _known_moves(drawn.moves)))
    while len(team) < size:  # formats whose teams are generated have no statistics of species
        others = [name for name in SPECIES_BY_ID if name not in {member.species for member in team}]
        name = rng.choice(others)
        drawn = draw_set(format_id, 1, name, (), None, None, rng)
        level = round(sum(own_levels) / len(own_levels))
        team.append(TeamGuess(name, name, level, _known_moves(drawn.moves)))
    return team


def _known_moves(moves: tuple[str, ...]) -> tuple[str, ...]:
    """The moves that the engine knows; Tackle if there is none."""
    return tuple(move for move in moves if move in MOVES_BY_ID) or ("tackle",)


def root_of(battle: SeatBattle, log: BattleLog, theirs: list[TeamGuess], rng: random.Random) -> Root:
    """The row of the current request with the opponent's team `theirs`, in the order in which it first stood."""
    seat = seat_of(battle)
    teams: list[str] = ["", ""]
    names: list[list[str]] = [[], []]
    for side, members in ((seat, own_team(log)), (1 - seat, theirs)):
        teams[side] = "]".join(member.packed() for member in members)
        names[side] = [member.name for member in members]
    row = initial((teams[0], teams[1]), _SEED)
    hidden = np.full((2, HIDDEN), -1, np.int64)
    row[W.TURN] = log.turn
    _take_request(row, seat, battle.last_request, names[seat])
    for i in range(2):
        _fill_team(row, i, log.sides[i], names[i], hidden[i], own=i == seat)
    for i in range(2):
        _fill_out(row, i, log, names, hidden[i], rng)
    for i in range(2):
        _fill_trapping(row, i, log, names, rng)
    taker, name, damage = log.last_damage
    row[W.LAST_DAMAGE] = hp_of(row, log, taker, name, names, damage)
    _fill_requests(row, seat, battle.last_request)
    _take_pp(row, seat, battle.last_request)
    return Root(row, hidden)


def action_of(choice: Choice) -> int:
    """The engine's action of a legal choice."""
    return choice.slot + 2 if choice.kind == "switch" else choice.slot - 1


def _take_request(row: Words, seat: int, request: dict[str, Any], names: list[str]) -> None:
    """Our own stats and HP."""
    for entry in request["side"]["pokemon"]:
        mon = side_at(seat) + W.MONS + names.index(entry["ident"].partition(": ")[2]) * W.MON_WORDS
        row[mon + W.MON_STATS : mon + W.MON_STATS + 5] = [
            entry["stats"][stat] for stat in ("atk", "def", "spa", "spd", "spe")
        ]
        now, _, most = entry["condition"].split()[0].partition("/")
        row[mon + W.MON_HP] = int(now)
        if most:
            row[mon + W.MON_MAX_HP] = int(most)


def _fill_team(row: Words, i: int, side: TrackedSide, names: list[str], hidden: NDArray[np.int64], own: bool) -> None:
    """The order, HP, statuses and PP of a team."""
    s = side_at(i)
    order = list(range(6))
    for name in side.entries:
        position = order.index(names.index(name))
        order[0], order[position] = order[position], order[0]
    row[s + W.ORDER : s + W.ORDER + 6] = order
    row[s + W.LEFT] = row[s + W.TEAM_SIZE] - side.fainted
    for k, name in enumerate(names):
        known = side.mons.get(name)
        if known is None:
            continue
        mon = s + W.MONS + k * W.MON_WORDS
        if not own:
            row[mon + W.MON_HP] = shown_hp(known, int(row[mon + W.MON_MAX_HP]))
        row[mon + W.MON_STATUS] = known.status
        row[mon + W.MON_RESTED] = known.rested
        row[mon + W.MON_SUB_BROKEN] = known.broken
        if known.status == W.SLEEP:
            row[mon + W.MON_SLEEP] = max(1, 2 - known.slept) if known.rested else 1
            hidden[k] = -1 if known.rested else known.slept
        for slot in range(row[mon + W.MON_MOVE_COUNT]):
            spent = known.used.get(id_of(row[mon + W.MON_MOVES + slot]), 0)
            row[mon + W.MON_PP + slot] = (row[mon + W.MON_PP + slot] - spent) & 63


def _fill_out(
    row: Words, i: int, log: BattleLog, names: list[list[str]], hidden: NDArray[np.int64], rng: random.Random
) -> None:
    """The words of the Pokémon that is out."""
    s, side = side_at(i), log.sides[i]
    active, k = side.active, int(row[side_at(i) + W.ORDER])
    species, types, moves = species_types_moves(row, i, k, active, names)
    stored, modified, boosts = stats_of(row, i, k, active, names)
    row[s + W.SPECIES] = species
    row[s + W.TYPE_1 : s + W.TYPE_1 + 2] = types
    row[s + W.STORED : s + W.STORED + 5] = stored
    row[s + W.MODIFIED : s + W.MODIFIED + 5] = modified
    row[s + W.SPEED] = modified[4]
    row[s + W.BOOSTS : s + W.BOOSTS + 7] = boosts
    row[s + W.MOVE_COUNT] = len(moves)
    row[s + W.MOVES : s + W.MOVES + len(moves)] = moves
    if active.transformed is not None:
        row[s + W.TRANSFORMED] = 1
        for slot, number in enumerate(moves):
            row[s + W.OWN_PP + slot] = min(5, int(MOVE[number, PP])) - active.own_used.get(id_of(number), 0)
    row[s + W.FAINTED_THIS_TURN] = side.fainted_now
    row[s + W.LAST_SELECTED] = row[s + W.LAST_ENEMY_SELECTED] = side.selected
    if side.of_slot is not None:
        row[s + W.LAST_ENEMY_SELECTED] = _move_of_slot(row, s, names[i].index(side.of_slot[0]), side.of_slot[1])
    row[s + W.LAST_ENEMY_MOVE] = side.used
    row[s + W.LAST_MOVE] = active.last
    slot_move = active.mimicked.get(side.slot_of, side.slot_of)
    number = MOVES_BY_ID[slot_move]["num"] if slot_move in MOVES_BY_ID else 0
    row[s + W.LAST_SLOT] = moves.index(number) if number in moves else 0
    for flag in active.flags:
        row[s + _FLAGS[flag]] = 1
    _fill_counters(row, s, active, moves, hidden, rng)
    _fill_damage(row, i, log, names)


def _move_of_slot(row: Words, s: int, k: int, move: str) -> int:
    """The move in the slot of `move` of a Pokémon of the team, in its first slot if it has none."""
    mon = s + W.MONS + k * W.MON_WORDS
    moves = [int(number) for number in row[mon + W.MON_MOVES : mon + W.MON_MOVES + 4]]
    number = MOVES_BY_ID[move]["num"] if move in MOVES_BY_ID else 0
    return moves[moves.index(number)] if number in moves else moves[0]


def _fill_counters(
    row: Words, s: int, active: ActiveState, moves: list[int], hidden: NDArray[np.int64], rng: random.Random
) -> None:
    row[s + W.INVULNERABLE] = active.invulnerable
    row[s + W.RECHARGE] = active.recharge
    if active.two_turn:
        row[s + W.TWO_TURN] = MOVES_BY_ID[active.two_turn]["num"]
    if active.bide is not None:
        row[s + W.BIDE_TIME] = max(1, rng.choice((2, 3)) - active.bide)
    if active.thrash is not None:
        row[s + W.THRASH] = MOVES_BY_ID[active.thrash_move]["num"]
        row[s + W.THRASH_TIME] = max(1, rng.choice((2, 3)) - active.thrash)
        row[s + W.THRASH_ACCURACY] = 255
    if active.rage:
        row[s + W.RAGE], row[s + W.RAGE_ACCURACY] = 1, 255
    if active.confused is not None:
        row[s + W.CONFUSED], hidden[CONFUSION] = 1, active.confused
    if active.disabled is not None and active.disabled_move in MOVES_BY_ID:
        number = MOVES_BY_ID[active.disabled_move]["num"]
        row[s + W.DISABLE_TIME], hidden[DISABLE] = 1, active.disabled
        row[s + W.DISABLE_MOVE] = number
        row[s + W.DISABLE_SLOT] = moves.index(number) if number in moves else 0
    if active.toxic is not None:
        row[s + W.RESIDUAL], row[s + W.RESIDUAL_COUNT] = 1, active.toxic


def _fill_damage(row: Words, i: int, log: BattleLog, names: list[list[str]]) -> None:
    """Amounts that the log shows in percent only, or not at all."""
    s, active = side_at(i), log.sides[i].active
    if active.substitute is not None:  # what hits took is not shown: each is taken to have halved it
        whole = int(row[mon_at(row, i) + W.MON_MAX_HP]) // 4 + 1
        row[s + W.SUBSTITUTE] = max(1, whole >> active.substitute)
    if active.bide is not None:
        row[s + W.BIDE_DAMAGE] = hp_of(row, log, i, log.sides[i].out, names, active.bide_damage)


def _fill_trapping(row: Words, i: int, log: BattleLog, names: list[list[str]], rng: random.Random) -> None:
    """A binding move that is going on, or that has just ended, which neither player is shown."""
    past = log.sides[i].active.trapping
    if past is None:
        return
    s, t = side_at(i), side_at(1 - i)
    turns = rng.choice([n for n in _TRAP_TURNS if n >= past] or [past])
    if turns > past:
        row[s + W.TRAPPING], row[s + W.TRAPPING_TOTAL] = turns - past, turns
        row[s + W.TRAPPING_DAMAGE] = hp_of(
            row, log, 1 - i, log.sides[1 - i].out, names, log.sides[i].active.trapping_damage
        )
        row[s + W.TRAPPING_WHOM] = row[t + W.ORDER]
        row[t + W.TRAPPED], row[t + W.TRAPPED_BY], row[t + W.TRAPPED_MAYBE] = 1, row[s + W.ORDER], past > 1
    elif turns != 5:
        row[s + W.FAKE_TRAPPED] = row[t + W.FAKE_TRAPPED] = 1
        row[s + W.FAKE_OTHER], row[t + W.FAKE_OTHER] = row[t + W.ORDER], row[s + W.ORDER]


def _fill_requests(row: Words, seat: int, request: dict[str, Any]) -> None:
    """Who chooses what, and what the end of the turn fixed for it (turn._disable_moves)."""
    replacing = bool(request.get("forceSwitch"))
    for i in range(2):
        s = side_at(i)
        status = row[mon_at(row, i) + W.MON_STATUS]
        if replacing:
            row[s + W.REQUEST] = W.CHOOSE_SWITCH if i == seat or status == W.FAINTED else W.WAITING
            continue
        row[s + W.REQUEST] = W.CHOOSE_MOVE
        locked = bool((row[s + W.TRAPPED] and row[s + W.TRAPPED_MAYBE]) or row[s + W.FAKE_TRAPPED])
        if status in (W.SLEEP, W.FREEZE) or row[s + W.BIDE_TIME]:
            locked = False
        if row[s + W.TRAPPING] and row[s + W.TRAPPING_TOTAL] - row[s + W.TRAPPING] > 1:
            locked = True
        row[s + W.MAYBE_LOCKED] = locked
        row[s + W.DISABLED] = row[s + W.DISABLE_SLOT] + 1 if row[s + W.DISABLE_TIME] else 0


def _take_pp(row: Words, seat: int, request: dict[str, Any]) -> None:
    """The PP of our Pokémon that is out, where the request lists them."""
    s = side_at(seat)
    listed = (request.get("active") or [{}])[0].get("moves", [])
    if len(listed) == row[s + W.MOVE_COUNT] and all("pp" in move for move in listed):
        at = s + W.OWN_PP if row[s + W.TRANSFORMED] else mon_at(row, seat) + W.MON_PP
        row[at : at + len(listed)] = [move["pp"] for move in listed]
