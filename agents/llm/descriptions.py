"""What a seat knows, as the text of a prompt's fields: of singles, of doubles, and of team preview in doubles.

Singles' prompts are those that models were trained with, so they stay as they are; doubles say more of each Pokémon.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from poke_env.battle.move import Move
from poke_env.battle.pokemon import Pokemon
from poke_env.battle.side_condition import STACKABLE_CONDITIONS
from poke_env.data import GenData

from agents.battle import SeatBattle, SeatDoubleBattle
from agents.battle.choices import Choice
from agents.battle.previewed import only_previewed
from agents.battle.types import own_tera

_LETTERS = "ab"
#: A target type of moves that name no target -> what they act on.
_ACTS_ON = {
    "adjacentAlly": "your ally",
    "all": "the whole field",
    "allAdjacent": "both foes and your ally",
    "allAdjacentFoes": "both foes",
    "allies": "you and your ally",
    "allySide": "your side",
    "allyTeam": "your team",
    "foeSide": "their side",
    "randomNormal": "a foe at random",
}
#: What only one of both slots can do in a turn, by the extra of a choice.
_ONCE = {
    "dynamax": "dynamax",
    "mega": "mega-evolve",
    "megax": "mega-evolve",
    "megay": "mega-evolve",
    "terastallize": "terastallize",
    "ultra": "use Ultra Burst",
    "zmove": "use a Z-Move",
}


def known(battle: SeatBattle | SeatDoubleBattle) -> dict[str, Any]:
    """Return the fields of a template, as text, from what the seat knows and not more."""
    if not isinstance(battle, SeatDoubleBattle):
        return _known_in_singles(battle)
    return _known_at_preview(battle) if battle.teampreview else _known_in_doubles(battle)


def _known_in_singles(battle: SeatBattle) -> dict[str, Any]:
    ours, theirs = battle.active_pokemon, battle.opponent_active_pokemon
    return {
        "format": battle.format_id,
        "turn": battle.turn,
        "ours": "none" if ours is None else described(ours, ours=True),
        "theirs": "none" if theirs is None else described(theirs),
        "bench": _listed(described(mon, ours=True) for mon in battle.team.values() if not mon.active),
        "their_bench": _listed(described(mon) for mon in battle.opponent_team.values() if not mon.active),
        "field": _field(battle, _effects),
        "choices": _listed(choice.label for choice in battle.legal),
    }


def described(mon: Pokemon, *, ours: bool = False) -> str:
    """Return a Pokémon in one line: species, HP, status, boosts, effects, and its moves as far as they are known.

    ours: with the PP that are left.
    """
    if mon.fainted:
        return f"{mon.species}: fainted"
    parts = [f"{mon.species} L{mon.level}", f"{round(100 * mon.current_hp_fraction)}% HP", *_condition(mon)]
    return ", ".join(parts) + _moves(mon, ours=ours)


def _condition(mon: Pokemon) -> list[str]:
    """Return status, boosts and effects."""
    return [
        *([mon.status.name] if mon.status is not None else []),
        *(f"{stat} {stage:+d}" for stat, stage in mon.boosts.items() if stage),
        *(effect.name.lower().replace("_", " ") for effect in mon.effects),
    ]


def _moves(mon: Pokemon, *, ours: bool) -> str:
    moves = ", ".join(_move(move, ours=ours) for move in mon.moves.values())
    return f"; moves: {moves}" if moves else ""


def _move(move: Move, *, ours: bool) -> str:
    return f"{move.id} ({move.current_pp} PP)" if ours else move.id


def _field(battle: SeatBattle | SeatDoubleBattle, effects: Callable[[str, Mapping[Any, Any]], list[str]]) -> str:
    conditions = [
        *effects("", {**battle.weather, **battle.fields}),
        *effects("our side: ", battle.side_conditions),
        *effects("their side: ", battle.opponent_side_conditions),
    ]
    return ", ".join(conditions) or "nothing"


def _effects(whose: str, effects: Mapping[Any, Any]) -> list[str]:
    return [whose + effect.name.lower().replace("_", " ") for effect in effects]


def _dated_effects(whose: str, effects: Mapping[Any, Any]) -> list[str]:
    """As `_effects`, with the turn since which each is there, or its number of layers."""
    return [
        f"{name} ({f'layers: {value}' if effect in STACKABLE_CONDITIONS else f'since turn {value}'})"
        for name, (effect, value) in zip(_effects(whose, effects), effects.items(), strict=True)
    ]


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines) or "- none"


def _known_in_doubles(battle: SeatDoubleBattle) -> dict[str, Any]:
    """The fields in doubles: `ours` and `theirs` have a line for each slot."""
    ours, theirs = battle.own_active(), battle.opponent_active_pokemon
    bench = [mon for mon in battle.team.values() if all(mon is not one for one in ours)]
    their_bench = [mon for mon in battle.opponent_team.values() if all(mon is not one for one in theirs)]
    return {
        "format": battle.format_id,
        "turn": battle.turn,
        "ours": _listed(
            f"slot {letter} (-{place}): {_in_slot(battle, mon, ours=True)}" for place, letter, mon in _slots(ours)
        ),
        "theirs": _listed(
            f"slot {letter} (+{place}): {_in_slot(battle, mon, ours=False)}" for place, letter, mon in _slots(theirs)
        ),
        "bench": _listed(_in_doubles(battle, mon, ours=True) for mon in bench),
        "their_bench": _listed([*(_in_doubles(battle, mon) for mon in their_bench), *_not_met(battle)]),
        "field": _field(battle, _dated_effects),
        "choices": _choices_of_slots(battle),
    }


def _slots(active: Sequence[Pokemon | None]) -> list[tuple[int, str, Pokemon | None]]:
    """Return the number of each slot of a side as a target, its letter, and who stands there."""
    return [(place, letter, mon) for place, (letter, mon) in enumerate(zip(_LETTERS, active, strict=False), 1)]


def _in_slot(battle: SeatDoubleBattle, mon: Pokemon | None, *, ours: bool) -> str:
    if mon is None:
        return "nobody"
    return _in_doubles(battle, mon, ours=ours)


def _in_doubles(battle: SeatDoubleBattle, mon: Pokemon, *, ours: bool = False, met: bool = True) -> str:
    """Return a Pokémon in one line: what `described` has, and types, Tera type, ability and item as far as they are known.

    ours: with HP, PP and stats as numbers. met: False for one of the opponent's that only team preview has shown.
    """
    if mon.fainted:
        return f"{mon.species}: fainted"
    parts = [f"{mon.species} L{mon.level}", "/".join(kind.name.lower() for kind in mon.types)]
    if ours:
        parts.append(f"{mon.current_hp}/{mon.max_hp} HP")
    elif met:
        parts.append(f"{round(100 * mon.current_hp_fraction)}% HP")
    parts += _condition(mon)
    if mon.active and mon.first_turn and not any(battle.force_switch):
        parts.append("has just come in")
    if mon.protect_counter:
        parts.append(f"protections in a row: {mon.protect_counter}")
    return ", ".join(parts) + "".join(f"; {part}" for part in _set_of(battle, mon, ours=ours)) + _moves(mon, ours=ours)


def _set_of(battle: SeatDoubleBattle, mon: Pokemon, *, ours: bool) -> list[str]:
    """Return what is known of a Pokémon's set but its moves."""
    parts = []
    tera = own_tera(mon, battle) if ours else "" if mon.tera_type is None else mon.tera_type.name
    if tera and "champions" not in battle.format_id:  # which has no terastallization
        parts.append(f"{'terastallized' if mon.is_terastallized else 'Tera type'} {tera.lower()}")
    if mon.ability:
        parts.append(f"ability {mon.ability}")
    if mon.item != GenData.UNKNOWN_ITEM:
        parts.append(f"item {mon.item or 'none'}")
    if mon.nature:
        parts.append(f"nature {mon.nature}")
    if ours:
        parts.append("stats " + " ".join(f"{stat} {value}" for stat, value in mon.stats.items() if stat != "hp"))
    return parts


def _not_met(battle: SeatDoubleBattle) -> list[str]:
    """Return how many of the opponent's have not come in yet, and who they are or may be."""
    role = "p1" if battle.player_role == "p2" else "p2"
    shown = only_previewed(battle)
    number = battle._team_size.get(role, 0) - len(battle.opponent_team)
    if number <= 0:
        return []
    among = f", among these {len(shown)}:" if number < len(shown) else ":" if shown else ""
    return [f"{number} not in battle yet{among}", *(_in_doubles(battle, mon, met=False) for mon in shown)]


def _choices_of_slots(battle: SeatDoubleBattle) -> str:
    """Return the legal choices: of each slot, and what excludes what; or, where slots are replaced, of both at once."""
    slots = battle.legal_slots
    if slots is None or slots.replacements is not None:
        lines = _listed(choice.label for choice in battle.legal)
        return f"{lines}\nAn action is one of these lines: what slot a does, a comma, and what slot b does."
    parts = []
    for position, mon in enumerate(battle.own_active()):
        choices = dict.fromkeys(joint.parts[position] for joint in battle.legal)
        species = "" if mon is None else f", {mon.species}"
        lines = _listed(choice.label + _note(battle, position, choice) for choice in choices)
        parts.append(f"Slot {_LETTERS[position]}{species}:\n{lines}")
    form = "An action is a choice of slot a, a comma, and a choice of slot b."
    return "\n".join([*parts, " ".join([form, *_exclusions(slots.first, slots.second)])])


def _exclusions(first: Sequence[Choice], second: Sequence[Choice]) -> list[str]:
    """Return in sentences which choices of two slots do not go together."""
    sentences = []
    if {choice.label for choice in first if choice.kind == "switch"} & {choice.label for choice in second}:
        sentences.append("They cannot switch to the same Pokémon.")
    extras = [{_ONCE[choice.extra] for choice in choices if choice.extra} for choices in (first, second)]
    return sentences + [f"Only one can {extra}." for extra in sorted(extras[0] & extras[1])]


def _note(battle: SeatDoubleBattle, position: int, choice: Choice) -> str:
    """Return in brackets whom a move is aimed at, or what it acts on, and as which move; "" where that is known.

    position: of its user, from 0.
    """
    if choice.kind != "move":
        return ""
    active = battle.last_request["active"][position]
    listed, renamed = active["moves"][choice.slot - 1], _renamed(active, choice)
    aim = _aim(battle, position, choice.target) if choice.target else _ACTS_ON.get(listed.get("target", ""), "")
    if renamed and not choice.target:
        aim = ""  # the target is that of the move as it is called then
    parts = [part for part in (aim, f"as {renamed}" if renamed else "") if part]
    return f" ({', '.join(parts)})" if parts else ""


def _aim(battle: SeatDoubleBattle, position: int, target: int) -> str:
    if target == -1 - position:
        return "itself"
    mon = battle.opponent_active_pokemon[target - 1] if target > 0 else battle.own_active()[-target - 1]
    if mon is None or mon.fainted:
        return "nobody is there"
    return f"{'their' if target > 0 else 'your'} {mon.species}"


def _renamed(active: dict[str, Any], choice: Choice) -> str:
    """Return the name of the Max Move or Z-Move that a choice is; "" for a move of its own name."""
    dynamaxed = bool(active.get("maxMoves")) and not active.get("canDynamax")
    if choice.extra == "dynamax" or dynamaxed:
        return str(active["maxMoves"]["maxMoves"][choice.slot - 1].get("move", ""))
    return str(active["canZMove"][choice.slot - 1].get("move", "")) if choice.extra == "zmove" else ""


def _known_at_preview(battle: SeatDoubleBattle) -> dict[str, Any]:
    """The fields at team preview: nobody is on the field, `bench` is our team by its numbers, `their_bench` theirs."""
    team = [battle.team[entry["ident"]] for entry in battle.last_request["side"]["pokemon"]]
    theirs = battle.teampreview_opponent_team
    return {
        "format": battle.format_id,
        "turn": battle.turn,
        "ours": "- nobody",
        "theirs": "- nobody",
        "bench": "\n".join(f"{number}. {_in_doubles(battle, mon, ours=True)}" for number, mon in enumerate(team, 1)),
        "their_bench": _listed(_in_doubles(battle, mon, met=False) for mon in theirs),
        "field": _field(battle, _dated_effects),
        "choices": _choices_at_preview(len(team), len(battle.legal[0].label.removeprefix("team "))),
    }


def _choices_at_preview(size: int, brought: int) -> str:
    """Return what is chosen at team preview. size: of the team; brought: how many of it play."""
    order = "".join(map(str, range(1, brought + 1)))
    if brought < size:
        what = f"{brought} of your {size} Pokémon, in order: the first two lead, the others are your bench."
    else:
        what = "the order of your Pokémon: the first two lead; those that you do not name follow in the team's order."
    form = f"An action is `team` and their numbers, or their names with commas; `team {order}` is the team's own order."
    return f"- {what}\n{form}"
