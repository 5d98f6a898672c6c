"""A seat's battle from lines that a test writes, and what it holds of the two Pokémon on the field."""

from __future__ import annotations

import random

from poke_env.battle.pokemon import Pokemon

from agents.battle import SeatBattle


def battle_after(gen: int, *lines: str, foe: str, ours: str = "Snorlax", moves: tuple[str, ...] = ()) -> SeatBattle:
    """A battle from p1's seat, after a first turn and these lines. moves: those that both Pokémon are known to have."""
    seat = SeatBattle("battle-1", "p1", "p1", gen, f"gen{gen}ou", random.Random(0))
    start = ["|player|p1|p1||", "|player|p2|p2||", "|teamsize|p1|6", "|teamsize|p2|6", f"|gen|{gen}", "|start"]
    seat.feed([*start, f"|switch|p1a: Own|{ours}|300/300", f"|switch|p2a: Foe|{foe}|100/100", "|turn|1"])
    for mon in (own(seat), opposite(seat)):
        for move in moves:
            assert mon._add_move(move) is not None
    seat.feed(list(lines))
    assert seat.parse_warnings == 0
    return seat


def own(seat: SeatBattle) -> Pokemon:
    """Our active Pokémon."""
    mon = seat.active_pokemon
    assert mon is not None
    return mon


def opposite(seat: SeatBattle) -> Pokemon:
    """The opponent's active Pokémon."""
    mon = seat.opponent_active_pokemon
    assert mon is not None
    return mon


def pp_of(mon: Pokemon) -> dict[str, int]:
    """The PP that each of its known moves has left."""
    return {name: move.current_pp for name, move in mon.moves.items()}
