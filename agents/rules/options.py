"""The legal choices of a request with their poke-env objects."""

from __future__ import annotations

from collections.abc import Mapping

from poke_env.battle.move import Move
from poke_env.battle.pokemon import Pokemon

from agents.battle import SeatBattle
from agents.battle.choices import Choice


def move_options(battle: SeatBattle, extras: bool = False) -> list[tuple[Choice, Move]]:
    """Return the legal moves in the request's order, each with poke-env's move.

    extras: include the variants with terastallize, dynamax, zmove and so on. A move that poke-env does not list for the
    active Pokémon (recharge, Struggle, a called move) is a new `Move`, and is left out if its id is unknown.
    """
    mon = battle.active_pokemon
    known = mon.moves if mon is not None else {}
    options = []
    for choice in battle.legal:
        if choice.kind == "move" and (extras or not choice.extra):
            move = find_move(choice.label.split(" ")[1], known, battle.gen)
            if move is not None:
                options.append((choice, move))
    return options


def find_move(move_id: str, known: Mapping[str, Move], gen: int) -> Move | None:
    """Return poke-env's move of an id as a choice names it. known: the Pokémon's moves by id; None if no move has the id."""
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
    switches = [choice for choice in battle.legal if choice.kind == "switch"]
    if not switches:
        return []
    side = battle.last_request["side"]["pokemon"]
    found = [(choice, battle.team.get(side[choice.slot - 1]["ident"])) for choice in switches]
    return [(choice, mon) for choice, mon in found if mon is not None]


def any_choice(battle: SeatBattle) -> Choice:
    """Return a uniformly random legal choice: the fallback of rules that do not apply."""
    return battle.rng.choice(battle.legal)
