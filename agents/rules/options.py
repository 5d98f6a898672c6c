"""The legal choices of a request with their poke-env objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from poke_env.battle.move import Move
from poke_env.battle.pokemon import Pokemon

from agents.battle import SeatBattle
from agents.battle.choices import Choice
from agents.battle.seat_view import SeatView
from agents.mechanics.moves import MoveFacts, facts_of


def move_options(battle: SeatBattle, extras: bool = False) -> list[tuple[Choice, Move]]:
    """Return the legal moves in the request's order, each with poke-env's move.

    extras: include the variants with terastallize, dynamax, zmove and so on. A move that poke-env does not list for the
    active Pokémon (recharge, Struggle, a called move) is a new `Move`, and is left out if its id is unknown.
    """
    mon = battle.active_pokemon
    return moves_of(battle.legal, mon.moves if mon is not None else {}, battle.gen, extras)


def moves_of(
    choices: Iterable[Choice], known: Mapping[str, Move], gen: int, extras: bool = False
) -> list[tuple[Choice, Move]]:
    """Return the moves among some choices; see `move_options`. known: the Pokémon's moves by id."""
    options = []
    for choice in choices:
        if choice.kind == "move" and (extras or not choice.extra):
            move = _find(choice.label.split(" ")[1], known, gen)
            if move is not None:
                options.append((choice, move))
    return options


def _find(move_id: str, known: Mapping[str, Move], gen: int) -> Move | None:
    if move_id in known:
        return known[move_id]
    if move_id.startswith("hiddenpower"):  # the request may leave out the type that poke-env keeps in the id
        for other, move in known.items():
            if other.startswith("hiddenpower"):
                return move
    try:
        return Move(move_id, gen)
    except (ValueError, KeyError):
        return None


def switch_options(battle: SeatBattle) -> list[tuple[Choice, Pokemon]]:
    """Return the legal switches in the request's order, each with the incoming Pokémon."""
    return switches_of(battle.legal, battle)


def switches_of(choices: Iterable[Choice], battle: SeatView) -> list[tuple[Choice, Pokemon]]:
    """Return the switches among some choices, each with the incoming Pokémon."""
    switches = [choice for choice in choices if choice.kind == "switch"]
    if not switches:
        return []
    side = battle.last_request["side"]["pokemon"]
    found = [(choice, battle.team.get(side[choice.slot - 1]["ident"])) for choice in switches]
    return [(choice, mon) for choice, mon in found if mon is not None]


def locked_move(mon: Pokemon | None) -> MoveFacts | None:
    """Return the move that a revealed Choice item locks an opponent's active Pokémon into; None if none does."""
    if mon is None or not (mon.item or "").startswith("choice") or mon.first_turn or mon.last_move is None:
        return None
    return facts_of(mon.last_move)


def any_choice(battle: SeatBattle) -> Choice:
    """Return a uniformly random legal choice: the fallback of rules that do not apply."""
    return battle.rng.choice(battle.legal)
