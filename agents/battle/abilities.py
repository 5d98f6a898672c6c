"""Abilities that are changed until the Pokémon leaves, and those that a change reveals.

poke-env takes the first ability that it hears of for the Pokémon's own, and the next for a temporary one. Here, one that
came by a move or an ability (Worry Seed, Trace, Mummy) is temporary, and the one that it replaced, which the line names, is
its own.

A temporary ability of "" is one that is not known: poke-env's `ability` is then None (quick_poke_env.ability_of).
"""

from __future__ import annotations

from typing import Any

from poke_env.battle.effect import Effect
from poke_env.battle.field import Field
from poke_env.battle.pokemon import Pokemon
from poke_env.data import to_id_str

from agents.battle.quick_poke_env import ability_of
from agents.battle.tracked_battle import TrackedBattle, origin, other

#: Abilities that take over another's: "[from] ability: Trace".
_TAKERS = frozenset({"trace", "receiver", "powerofalchemy", "mummy", "lingeringaroma", "wanderingspirit"})
#: Moves after which two Pokémon have the same ability.
_SHARING = frozenset({"move: Role Play", "move: Entrainment", "move: Doodle"})
_NO_ABILITY = ""
#: The counts of Perish Song.
PERISHING = frozenset({Effect.PERISH0, Effect.PERISH1, Effect.PERISH2, Effect.PERISH3})
#: As One is two abilities in one, which lines name one by one -> the id, by what only one of both has.
_AS_ONE = {"asone": "", "unnerve": "", "chillingneigh": "asoneglastrier", "grimneigh": "asonespectrier"}
_AS_ONE_OF = {"calyrexice": "asoneglastrier", "calyrexshadow": "asonespectrier"}


def read_ability(battle: TrackedBattle, message: list[str]) -> None:
    """ "-ability|POKEMON|ABILITY": it has this ability; "…|NEW|OLD|[from] move: Worry Seed": it was given the new one."""
    mon, ability = battle.get_pokemon(message[2]), to_id_str(message[3])
    if ability in _AS_ONE:
        ability = _as_one(battle, mon, message[2], ability)
    battle.record(message)
    if not ability:
        return
    if ability == "pressure":
        battle.pressing.add(message[2][:3])
    source = origin(message, 4)
    old = message[4] if len(message) > 4 and not message[4].startswith("[") and message[4] != "boost" else None
    taker = to_id_str(source.removeprefix("ability:")) if source.startswith("ability:") else ""
    if old is None and not source.startswith("move:") and taker not in _TAKERS:
        show_ability(mon, ability)
        if ability == "perishbody":
            _begin_perishing(battle, mon)
        if ability == "neutralizinggas":
            battle.field_start(message[3])
            for active in battle.fielded():
                if active._item != "abilityshield":
                    active._effects.pop(Effect.SLOW_START, None)  # it begins anew, with a line, when the gas ends
        return
    if old or taker:
        show_ability(mon, to_id_str(old or taker))
    give_ability(mon, ability)
    if other(message, 4) and (taker or source in _SHARING):
        show_ability(battle.get_pokemon(other(message, 4)), ability)


def _begin_perishing(battle: TrackedBattle, mon: Pokemon) -> None:
    """Perish Body has acted: its holder and who has touched it have Perish Song, which a line tells as the turn ends."""
    touched = next((line[2] for line in reversed(battle._replay_data) if line[1] == "move"), None)
    attacker = None if touched is None else battle.active_of(touched)
    for perishing in (mon, attacker):
        if perishing is not None and not PERISHING.intersection(perishing._effects):
            perishing._effects[Effect.PERISH3] = 0


def _as_one(battle: TrackedBattle, mon: Pokemon, ident: str, ability: str) -> str:
    """Return the ability that "-ability|POKEMON|As One", "…|Unnerve" or "…|Grim Neigh|boost" shows, "" if it may be either.

    As One is announced, with Unnerve in the next line, when its holder comes in.
    """
    announced = ability == "asone"
    for line in reversed(battle._replay_data if not announced else ()):
        if line[1] in ("switch", "drag", "replace") and line[2][:3] == ident[:3]:
            break
        if line[1] == "-ability" and line[2] == ident:
            announced = announced or line[3] == "As One"
            if announced or ability == "unnerve":
                break
    if not announced:
        return ability
    return _AS_ONE[ability] or _AS_ONE_OF.get(mon._species, "")


def read_endability(battle: TrackedBattle, message: list[str]) -> None:
    """ "-endability|POKEMON" (Gastro Acid): its ability has no effect until it leaves. poke-env forgets a temporary one.

    It keeps the ability, as in Showdown, and has the effect GASTRO_ACID.
    """
    battle.record(message)
    mon = battle.get_pokemon(message[2])
    if len(message) > 3 and message[3] and not message[3].startswith("["):
        show_ability(mon, to_id_str(message[3]))
    mon._effects[Effect.GASTRO_ACID] = 0


def read_swap(battle: TrackedBattle, message: list[str]) -> None:
    """ "-activate|USER|Skill Swap|THEIRS|OURS|[of] TARGET" (also Wandering Spirit's): each has the other's ability.

    poke-env does not learn what the target's own was; where the line names none (generations 3 and 4) and one is unknown, it
    swaps nothing.
    """
    battle.record(message)
    user, target = battle.get_pokemon(message[2]), battle.get_pokemon(other(message) or message[4])
    named = [
        to_id_str(part.split("]")[-1]) for part in message[4:] if part and not part.startswith(("[of]", "p1", "p2"))
    ]
    if len(named) == 2:
        show_ability(target, named[0])
        show_ability(user, named[1])
    theirs, ours = ability_of(target), ability_of(user)
    give_ability(user, theirs)
    give_ability(target, ours)


def read_spread(battle: TrackedBattle, message: list[str]) -> None:
    """ "-activate|HOLDER|ability: Mummy|OTHER|[ability] OLD": the other has the holder's ability now, and had the old one.

    poke-env knows Mummy only, and does not learn the old ability.
    """
    battle.record(message)
    ability = to_id_str(message[3].split(":")[1])
    if len(message) < 5:  # Protective Pads have kept it from the other
        show_ability(battle.get_pokemon(message[2]), ability)
        return
    changed = battle.get_pokemon(message[4] if not message[4].startswith("[") else other(message))
    old = next((part for part in message[4:] if part.startswith("[ability]")), "")
    if old:
        show_ability(changed, to_id_str(old.removeprefix("[ability]")))
    show_ability(battle.get_pokemon(message[2]), ability)
    give_ability(changed, ability)


def read_own(mon: Pokemon, entry: dict[str, Any], before: str | None) -> None:
    """Take the ability of one of ours from its entry in a request. before: its temporary ability before the request.

    poke-env keeps a temporary ability that has ended (swapped back). Up to generation 6 requests do not name it.
    """
    if mon._forme_change_ability is None and not (entry["baseAbility"] == "noability" and mon._ability):
        mon._ability = entry["baseAbility"]
    if "ability" in entry:
        mon._temporary_ability = None if entry["ability"] == mon.base_ability else entry["ability"]
    else:
        mon._temporary_ability = before


def show_ability(mon: Pokemon, ability: str) -> None:
    """Note that a Pokémon has an ability at this moment: its own, unless it has transformed or was given another."""
    if ability_of(mon) == ability:
        return
    if mon._temporary_ability is None and mon._ability is None and not mon.transformed:
        mon._ability = ability
    else:
        mon._temporary_ability = ability


def give_ability(mon: Pokemon, ability: str | None) -> None:
    """Give a Pokémon an ability until it leaves. None: one that is not known."""
    mon._temporary_ability = _NO_ABILITY if ability is None else ability


def end_gas(battle: TrackedBattle, message: list[str]) -> None:
    """ "-end|POKEMON|ability: Neutralizing Gas": ends the gas. poke-env raises where it did not hear that it began."""
    battle.record(message)
    battle.fields.pop(Field.NEUTRALIZING_GAS, None)
