"""The factors of the unrounded damage formula of observations (agents/observation/unrounded_damage.py).

Source: Bulbapedia's pages on the moves, abilities and items named. Networks were trained on features that these factors
give, so they stay as they are, whatever agents/mechanics/ learns.
"""

from __future__ import annotations

from collections.abc import Callable

from poke_env.battle.pokemon_type import PokemonType

from agents.mechanics.fighters import Fighter
from agents.mechanics.moves import MoveFacts
from agents.mechanics.type_chart import effectiveness

_ABSORBED = {
    "WATER": {"waterabsorb", "stormdrain", "dryskin"},
    "ELECTRIC": {"voltabsorb", "lightningrod", "motordrive"},
    "FIRE": {"flashfire", "wellbakedbody"},
    "GRASS": {"sapsipper"},
    "GROUND": {"levitate", "eartheater"},
}
_IGNORES_ABILITY = frozenset({"moldbreaker", "teravolt", "turboblaze"})
_IGNORING_MOVES = frozenset({"sunsteelstrike", "moongeistbeam", "photongeyser"})
# Abilities of the target that block priority moves, block moves with a flag, or halve damage of types.
_STOPS_PRIORITY = frozenset({"queenlymajesty", "dazzling", "armortail"})
_STOPS_FLAG = {"soundproof": "sound", "bulletproof": "bullet", "windrider": "wind"}
_HALVES_TYPES = {
    "thickfat": frozenset({"FIRE", "ICE"}),
    "heatproof": frozenset({"FIRE"}),
    "waterbubble": frozenset({"FIRE"}),
    "purifyingsalt": frozenset({"GHOST"}),
}
# Abilities of a healthy target that may affect moves of any type.
_GUARDS_ALL = frozenset(
    {
        *_STOPS_PRIORITY, *_STOPS_FLAG,
        "multiscale", "shadowshield", "icescales", "fluffy", "punkrock", "tabletsofruin", "vesselofruin",
    }
)  # fmt: skip
_TYPES = frozenset(kind.name for kind in PokemonType)
_ATE = {"aerilate": "FLYING", "galvanize": "ELECTRIC", "pixilate": "FAIRY", "refrigerate": "ICE"}
_FLAG_POWER = {
    "ironfist": ("punch", 1.2),
    "strongjaw": ("bite", 1.5),
    "megalauncher": ("pulse", 1.5),
    "sharpness": ("slicing", 1.5),
    "toughclaws": ("contact", 1.3),
    "punkrock": ("sound", 1.3),
}
_TYPE_ITEMS = {
    "silkscarf": "NORMAL", "charcoal": "FIRE", "mysticwater": "WATER", "miracleseed": "GRASS", "magnet": "ELECTRIC",
    "nevermeltice": "ICE", "blackbelt": "FIGHTING", "poisonbarb": "POISON", "softsand": "GROUND", "sharpbeak": "FLYING",
    "twistedspoon": "PSYCHIC", "silverpowder": "BUG", "hardstone": "ROCK", "spelltag": "GHOST", "dragonfang": "DRAGON",
    "blackglasses": "DARK", "metalcoat": "STEEL", "fairyfeather": "FAIRY", "flameplate": "FIRE", "splashplate": "WATER",
    "meadowplate": "GRASS", "zapplate": "ELECTRIC", "icicleplate": "ICE", "fistplate": "FIGHTING",
    "toxicplate": "POISON", "earthplate": "GROUND",
    "skyplate": "FLYING", "mindplate": "PSYCHIC", "insectplate": "BUG", "stoneplate": "ROCK",
    "spookyplate": "GHOST", "dracoplate": "DRAGON", "dreadplate": "DARK", "ironplate": "STEEL", "pixieplate": "FAIRY",
}  # fmt: skip
_MASKS = {"ogerponwellspring": "WATER", "ogerponhearthflame": "FIRE", "ogerponcornerstone": "ROCK"}
_PINCH = {"blaze": "FIRE", "torrent": "WATER", "overgrow": "GRASS", "swarm": "BUG"}
_TYPE_ABILITIES = {
    "steelworker": "STEEL", "steelyspirit": "STEEL", "transistor": "ELECTRIC", "dragonsmaw": "DRAGON",
    "rockypayload": "ROCK", "waterbubble": "WATER",
}  # fmt: skip


def move_type(attacker: Fighter, move: MoveFacts) -> str:
    """Return the type of a move when this fighter uses it."""
    if move.id == "terablast" and attacker.terastallized and attacker.tera:
        return attacker.tera
    if move.id in ("ivycudgel", "ragingbull", "revelationdance", "judgment", "multiattack"):
        return _MASKS.get(attacker.species.removesuffix("tera"), attacker.base_types[-1])
    if move.type == "NORMAL" and attacker.ability in _ATE:
        return _ATE[attacker.ability]
    if attacker.ability == "liquidvoice" and "sound" in move.flags:
        return "WATER"
    return move.type


def immune(attacker: Fighter, defender: Fighter, move: MoveFacts, kind: str) -> bool:
    """Return whether an ability or an item blocks the move; the type chart is not considered."""
    if move.id == "dreameater" and defender.status != "slp":
        return True
    if kind == "GROUND" and defender.item == "airballoon":
        return True
    if move.id in ("fakeout", "firstimpression") and not attacker.first_turn:
        return True
    if attacker.ability in _IGNORES_ABILITY or move.id in _IGNORING_MOVES:
        return False
    ability = defender.ability
    if ability in _ABSORBED.get(kind, ()):
        return move.id != "thousandarrows"
    if move.priority > 0 and ability in _STOPS_PRIORITY:
        return True
    stopped = _STOPS_FLAG.get(ability)
    return stopped is not None and stopped in move.flags


def guarded_types(defender: Fighter) -> frozenset[str]:
    """Return the types of moves whose damage an ability or item of a healthy, unboosted target may change on an empty
    field, other than through its stats (`defense_factor`)."""
    ability = defender.ability
    if ability in _GUARDS_ALL:
        return _TYPES
    found = _HALVES_TYPES.get(ability, frozenset()) | {kind for kind, able in _ABSORBED.items() if ability in able}
    return found | {"GROUND"} if defender.item == "airballoon" else found


def power_of(attacker: Fighter, defender: Fighter | None, move: MoveFacts, kind: str) -> float:
    """Return the move's power with the effects of abilities and items. defender: required for POWER_BY_TARGET only."""
    power = _own_power(attacker, move) if defender is None else POWER_BY_TARGET[move.id](attacker, defender, move.power)
    ability = attacker.ability
    if ability == "technician" and power <= 60:
        power *= 1.5
    flag = _FLAG_POWER.get(ability)
    if flag is not None and flag[0] in move.flags:
        power *= flag[1]
    if ability in _ATE and move.type == "NORMAL":
        power *= 1.2
    if ability == "reckless" and move.recoil:
        power *= 1.2
    if ability == "sheerforce" and move.side_effects:
        power *= 1.3
    if _TYPE_ITEMS.get(attacker.item) == kind:
        power *= 1.1 if attacker.gen <= 3 else 1.2
    if attacker.item.endswith("mask") and attacker.species.startswith("ogerpon"):
        power *= 1.2
    if attacker.terastallized and kind == attacker.tera and power < 60 and move.priority <= 0 and move.hits == 1:
        power = 60
    return power


def _own_power(attacker: Fighter, move: MoveFacts) -> float:
    power = move.power
    if move.id in ("eruption", "waterspout", "dragonenergy"):
        return max(1.0, power * attacker.hp)
    if move.id in ("flail", "reversal"):
        shares = ((0.69, 20), (0.35, 40), (0.21, 80), (0.1, 100), (0.04, 150))
        return float(next((value for least, value in shares if attacker.hp >= least), 200))
    if move.id in ("storedpower", "powertrip"):
        return power + 20 * sum(stage for _, stage in attacker.boosts if stage > 0)
    if (move.id == "facade" and attacker.status in ("brn", "par", "psn", "tox")) or (
        move.id == "acrobatics" and not attacker.item
    ):
        return power * 2
    return power


def _by_weight(attacker: Fighter, defender: Fighter, power: float) -> float:
    if attacker.gen < 3:
        return power
    steps = ((200, 120), (100, 100), (50, 80), (25, 60), (10, 40))
    return float(next((value for least, value in steps if defender.weight >= least), 20))


def _by_weights(attacker: Fighter, defender: Fighter, power: float) -> float:
    ratio = attacker.weight / max(defender.weight, 0.1)
    return float(next((value for least, value in ((5, 120), (4, 100), (3, 80), (2, 60)) if ratio >= least), 40))


def _by_speeds(attacker: Fighter, defender: Fighter, power: float) -> float:
    return min(150.0, 25 * defender.stats[5] / max(1, attacker.stats[5]) + 1)


def _on_status(attacker: Fighter, defender: Fighter, power: float) -> float:
    return power * 2 if defender.status else power


def _on_poison(attacker: Fighter, defender: Fighter, power: float) -> float:
    return power * 2 if defender.status in ("psn", "tox") else power


def _on_the_weak(attacker: Fighter, defender: Fighter, power: float) -> float:
    return power * 2 if defender.hp <= 0.5 else power


def _on_items(attacker: Fighter, defender: Fighter, power: float) -> float:
    return power * 1.5 if defender.item and attacker.gen >= 6 else power


#: Moves whose power depends on the target -> function of (attacker, defender, power in the move's data).
POWER_BY_TARGET: dict[str, Callable[[Fighter, Fighter, float], float]] = {
    "lowkick": _by_weight,
    "grassknot": _by_weight,
    "heavyslam": _by_weights,
    "heatcrash": _by_weights,
    "gyroball": _by_speeds,
    "hex": _on_status,
    "infernalparade": _on_status,
    "venoshock": _on_poison,
    "barbbarrage": _on_poison,
    "brine": _on_the_weak,
    "knockoff": _on_items,
}


def attack_factor(attacker: Fighter, move: MoveFacts, kind: str) -> float:
    """Return the factor of the attacking stat."""
    physical, factor = move.category == "physical", 1.0
    ability, item = attacker.ability, attacker.item
    if physical and ability in ("hugepower", "purepower"):
        factor *= 2
    elif (
        (physical and (ability == "hustle" or (ability == "guts" and attacker.status)))
        or (_PINCH.get(ability) == kind and attacker.hp <= 1 / 3)
        or _TYPE_ABILITIES.get(ability) == kind
    ):
        factor *= 1.5
    if item == ("choiceband" if physical else "choicespecs"):
        factor *= 1.5
    elif (item == "thickclub" and physical and attacker.species.startswith(("cubone", "marowak"))) or (
        item == "lightball" and attacker.species.startswith("pikachu") and (not physical or attacker.gen >= 4)
    ):
        factor *= 2
    if ability == ("swordofruin" if move.defense_stat == "def" else "beadsofruin"):
        factor /= 0.75
    return factor


def defense_factor(defender: Fighter, stat: str) -> float:
    """Return the factor of the defending stat, "def" or "spd"."""
    physical, factor = stat == "def", 1.0
    if (defender.item == "assaultvest" and not physical) or defender.item == "eviolite":
        factor *= 1.5
    if physical and defender.ability == "furcoat":
        factor *= 2
    elif physical and defender.ability == "marvelscale" and defender.status:
        factor *= 1.5
    return factor


def user_factor(attacker: Fighter, kind: str) -> float:
    """Return the factor of the final damage that does not depend on the target: same-type bonus, Life Orb."""
    factor = _stab(attacker, kind)
    return factor * 1.3 if attacker.item == "lifeorb" else factor


def target_factor(attacker: Fighter, defender: Fighter, move: MoveFacts, kind: str) -> float:
    """Return the factor of the final damage from the target's abilities, without the type chart."""
    factor, ability = 1.0, defender.ability
    if not ability and attacker.ability != "tintedlens":
        return factor
    if (ability in ("multiscale", "shadowshield") and defender.hp >= 1) or (
        kind in _HALVES_TYPES.get(ability, ())
        or (ability == "icescales" and move.category == "special")
        or (ability == "fluffy" and "contact" in move.flags)
        or (ability == "punkrock" and "sound" in move.flags)
    ):
        factor *= 0.5
    if attacker.ability == "tintedlens" and effectiveness(defender.gen, kind, defender.types) < 1:
        factor *= 2
    if ability in ("tabletsofruin", "vesselofruin") and (ability == "tabletsofruin") == (move.attack_stat == "atk"):
        factor *= 0.75
    return factor


def _stab(attacker: Fighter, kind: str) -> float:
    own = kind in attacker.base_types
    if attacker.terastallized and kind == attacker.tera:
        return 2.0 if own else 1.5
    if not own:
        return 1.0
    return 2.0 if attacker.ability == "adaptability" else 1.5
