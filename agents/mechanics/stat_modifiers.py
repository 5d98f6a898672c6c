"""The attacking and the defending stat of a hit: boosts, abilities, items and the field, in Showdown's order.

Source: the handlers of Showdown's events `ModifyAtk`, `ModifySpA`, `ModifyDef` and `ModifySpD`, by generation.
"""

from __future__ import annotations

from collections.abc import Collection

from agents.battle.formes import base_species
from agents.mechanics.held_items import TYPE_ITEMS, evolves, number_of
from agents.mechanics.move_powers import Foe
from agents.mechanics.rounding import Modifier, boosted, modify, ordered
from agents.mechanics.strikes import SUN, Strike, tricked
from teamsets.builder.published import STATS

_HALF, _THREE_QUARTERS, _THREE_TENTHS_MORE, _THIRD_MORE, _HALF_MORE, _DOUBLE = 2048, 3072, 5325, 5461, 6144, 8192
_PINCH = {"blaze": "FIRE", "torrent": "WATER", "overgrow": "GRASS", "swarm": "BUG"}
#: Abilities that strengthen moves of a type, by half.
_TYPE_ABILITIES = {
    "steelworker": "STEEL", "dragonsmaw": "DRAGON", "rockypayload": "ROCK", "firemane": "FIRE",
}  # fmt: skip
_LATIS = (380, 381)
_PLUS_AND_MINUS = frozenset({"plus", "minus"})
_OTHER_DEFENSE = {"def": "spd", "spd": "def"}
#: Moves that raise the special attack in the turn before they hit.
_RAISE_FIRST = frozenset({"meteorbeam", "electroshot"})
#: Incenses strengthen by a twentieth in generation 3.
_INCENSES = frozenset({"seaincense"})


def own_attack(strike: Strike) -> tuple[int, list[Modifier]]:
    """Return the product of what raises the attacking stat at once (Hustle), and its modifiers without a target's."""
    ability, physical, gen, kind, user = strike.ability, strike.physical, strike.gen, strike.kind, strike.user
    at_once = _HALF_MORE if ability == "hustle" and physical else 0
    modifiers: list[Modifier] = []
    factor = _of_ability(strike)
    if factor:
        modifiers.append((1 if ability == "gorillatactics" else 0 if ability == "waterbubble" else 5, factor))
    if user.effects:
        if gen >= 5 and "flashfire" in user.effects and ability == "flashfire" and kind == "FIRE":
            modifiers.append((5, _HALF_MORE))
        stat = "atk" if physical else "spa"
        if (f"protosynthesis{stat}" in user.effects or f"quarkdrive{stat}" in user.effects) and ability:
            modifiers.append((5, _THREE_TENTHS_MORE))
    factor = _of_item(strike)
    if factor:
        modifiers.append((1, factor))
    ally = strike.company.ally
    if ally == "flowergift" and physical and _sunny(strike):
        modifiers.append((3 if gen >= 5 else 0, _HALF_MORE))
    elif ally and gen >= 4 and not physical and _charged(ability, (ally,), gen):
        modifiers.append((5 if gen >= 5 else 0, _HALF_MORE))
    return at_once, modifiers


def _sunny(strike: Strike) -> bool:
    """Return whether the sun shines for Flower Gift."""
    return strike.own_weather in SUN if strike.gen >= 5 else strike.weather == "sunnyday"


def _of_ability(strike: Strike) -> int:
    ability, physical, gen, kind, user = strike.ability, strike.physical, strike.gen, strike.kind, strike.user
    if not ability:
        return 0
    if gen >= 5 and _PINCH.get(ability) == kind:
        return _HALF_MORE if strike.hp * 3 <= user.stats[0] else 0
    if _TYPE_ABILITIES.get(ability) == kind:
        return _HALF_MORE
    if ability == "transistor":
        return 0 if kind != "ELECTRIC" else _THREE_TENTHS_MORE if gen >= 9 else _HALF_MORE
    if ability == "waterbubble":
        return _DOUBLE if kind == "WATER" else 0
    if ability == "defeatist":
        return _HALF if strike.hp * 2 <= user.stats[0] else 0
    if physical:
        return _of_physical_ability(strike)
    if ability == "solarpower":
        return _HALF_MORE if (strike.own_weather if gen >= 5 else strike.weather) in SUN else 0
    if ability == "hadronengine":
        return _THIRD_MORE if strike.terrain == "electricterrain" else 0
    return 0


def _of_physical_ability(strike: Strike) -> int:
    ability, user, sunny = strike.ability, strike.user, strike.own_weather in SUN
    if ability in ("hugepower", "purepower"):
        return _DOUBLE
    if ability == "guts":
        return _HALF_MORE if user.status else 0
    if ability == "gorillatactics":
        return _HALF_MORE
    if ability == "slowstart":
        return _HALF if "slowstart" in user.effects else 0
    if ability == "orichalcumpulse":
        return _THIRD_MORE if sunny else 0
    if ability == "flowergift":
        return _HALF_MORE if sunny and (strike.gen == 4 or user.species.startswith("cherrim")) else 0
    return 0


def _of_item(strike: Strike) -> int:
    item, physical, gen, user = strike.item, strike.physical, strike.gen, strike.user
    if not item:
        return 0
    if item == ("choiceband" if physical else "choicespecs"):
        return _HALF_MORE
    if gen == 3 and TYPE_ITEMS.get(item) == strike.kind:
        return 4300 if item in _INCENSES else 4505
    if item == "thickclub":
        return _DOUBLE if physical and base_species(gen, user.species) in ("cubone", "marowak") else 0
    if item == "lightball" and gen != 4:
        return _DOUBLE if base_species(gen, user.species) == "pikachu" and (gen >= 5 or not physical) else 0
    if item == "deepseatooth":
        return _DOUBLE if not physical and user.species == "clamperl" else 0
    if item == "souldew" and gen <= 6:
        return _HALF_MORE if not physical and number_of(gen, user.species) in _LATIS else 0
    return 0


def _against(strike: Strike, foe: Foe) -> list[Modifier]:
    """Return what the target's ability does to the attacking stat."""
    ability, gen = foe.ability, strike.gen
    rest = strike.company.rest
    if gen == 3 and not strike.physical and _charged(strike.ability, {ability, *rest}, gen):
        return [(0, _HALF_MORE)]
    if gen < 5:
        return []
    ruin = "tabletsofruin" if strike.physical else "vesselofruin"
    if ruin != strike.ability and (ruin == ability or ruin in rest):
        return [(0, _THREE_QUARTERS), *_resisted(strike, ability)]
    return _resisted(strike, ability) if ability else []


def _charged(ability: str, others: Collection[str], gen: int) -> bool:
    """Return whether Plus and Minus strengthen each other; since generation 5 each does so the same one, too."""
    if gen >= 5:
        return ability in _PLUS_AND_MINUS and not _PLUS_AND_MINUS.isdisjoint(others)
    return (ability == "plus" and "minus" in others) or (ability == "minus" and "plus" in others)


def _resisted(strike: Strike, ability: str) -> list[Modifier]:
    """Return what a target's ability takes from an attack of its type, since generation 5."""
    kind, gen = strike.kind, strike.gen
    priority = 6 if strike.physical else 5
    if (
        (ability == "thickfat" and kind in ("FIRE", "ICE"))
        or (ability == "heatproof" and kind == "FIRE" and gen >= 9)
        or (ability == "purifyingsalt" and kind == "GHOST")
    ):
        return [(priority, _HALF)]
    return [(5, _HALF)] if ability == "waterbubble" and kind == "FIRE" else []


def attack(strike: Strike, at_once: int, own: list[Modifier], foe: Foe, critical: bool) -> int:
    """Return the attacking stat. at_once, own: see `own_attack`."""
    move, gen = strike.move, strike.gen
    source = foe.fighter if move.uses_target_attack else strike.user
    stat = move.attack_stat if move.attack_stat in ("def", "spd") else "atk" if strike.physical else "spa"
    # Wonder Room swaps the defences, and which of them such a move uses: what is left swapped are the stages.
    name = _OTHER_DEFENSE.get(stat, stat) if "wonderroom" in strike.rooms else stat
    stage = source.stage(name) if source.boosts else 0
    if strike.id in _RAISE_FIRST:
        stage = max(-6, min(6, stage + {"simple": 2, "contrary": -1}.get(strike.ability, 1)))
    if strike.id == "spectralthief":  # it takes the target's boosts first
        stolen = max(0, foe.fighter.stage(name))
        stage = max(-6, min(6, stage + {"simple": 2, "contrary": -1}.get(strike.ability, 1) * stolen))
    if critical and stage < 0:
        stage = 0
    if stage:
        if foe.ability == "unaware":
            stage = 0
        elif gen == 4 and strike.ability == "simple":
            stage = max(-6, min(6, 2 * stage))
    value = boosted(source.stats[STATS.index(tricked(source, stat))], stage, gen)
    if at_once:
        value = modify(value, at_once)
    other = _against(strike, foe)
    return modify(value, ordered(own, other)) if own or other else value


def defense(strike: Strike, foe: Foe, critical: bool) -> int:
    """Return the defending stat."""
    move, gen, target = strike.move, strike.gen, foe.fighter
    name = "def" if strike.physical or (move.defense_stat == "def" and move.category == "special") else "spd"
    stage = target.stage(name) if target.boosts else 0
    if stage:
        if (
            ((critical or strike.id == "spectralthief") and stage > 0)
            or move.ignores_defense_boosts
            or strike.ability == "unaware"
        ):
            stage = 0
        elif gen == 4 and foe.ability == "simple":
            stage = max(-6, min(6, 2 * stage))
    stat = _OTHER_DEFENSE[name] if "wonderroom" in strike.rooms else name
    value = boosted(target.stats[STATS.index(tricked(target, stat))], stage, gen)
    weather = foe.weather
    if weather and (
        (weather == "sandstorm" and name == "spd" and gen >= 4 and "ROCK" in target.types)
        or (weather in ("snow", "snowscape") and name == "def" and "ICE" in target.types)
    ):
        value = modify(value, _HALF_MORE)
    found = _of_target(strike, foe, name)
    if found:
        value = modify(value, ordered(found, []))
    if gen <= 4 and move.explodes and name == "def":
        value //= 2
    return max(1, value)


def _of_target(strike: Strike, foe: Foe, name: str) -> list[Modifier]:
    """Return the modifiers of a defending stat, "def" or "spd"."""
    target, ability, item, gen = foe.fighter, foe.ability, foe.item, strike.gen
    modifiers: list[Modifier] = []
    if ability:
        if name == "def":
            if ability == "furcoat":
                modifiers.append((6, _DOUBLE))
            elif (ability == "marvelscale" and target.status) or (
                ability == "grasspelt" and strike.terrain == "grassyterrain"
            ):
                modifiers.append((6, _HALF_MORE))
        elif ability == "flowergift" and foe.weather in SUN and (gen == 4 or target.species.startswith("cherrim")):
            modifiers.append((4, _HALF_MORE))
    if name == "spd" and strike.company.guard == "flowergift" and foe.weather in SUN:
        modifiers.append((4, _HALF_MORE))
    if target.effects and target.effects & {f"protosynthesis{name}", f"quarkdrive{name}"} and _quickened(strike, foe):
        modifiers.append((6, _THREE_TENTHS_MORE))
    if item:
        factor = _of_targets_item(item, target.species, gen, name)
        if factor:
            modifiers.append((1 if item == "assaultvest" else 2, factor))
    ruin = "swordofruin" if name == "def" else "beadsofruin"
    if ruin != foe.ability and (ruin == strike.ability or ruin in strike.company.rest):
        modifiers.append((0, _THREE_QUARTERS))
    return modifiers


def _quickened(strike: Strike, foe: Foe) -> bool:
    """Return whether the ability behind a target's raised stat works."""
    suppressed = strike.ability == "neutralizinggas" or "gastroacid" in foe.fighter.effects
    return not suppressed or foe.fighter.item == "abilityshield"


def _of_targets_item(item: str, species: str, gen: int, name: str) -> int:
    if item == "eviolite":
        return _HALF_MORE if evolves(gen, species) else 0
    if item == "assaultvest":
        return _HALF_MORE if name == "spd" else 0
    if item == "metalpowder":
        return _DOUBLE if name == "def" and species == "ditto" else 0
    if item == "deepseascale":
        return _DOUBLE if name == "spd" and species == "clamperl" else 0
    if item == "souldew" and gen <= 6:
        return _HALF_MORE if name == "spd" and number_of(gen, species) in _LATIS else 0
    return 0
