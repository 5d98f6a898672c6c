"""Random cases for damage_parity.py."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agents.mechanics.moves import move_facts

Case = dict[str, Any]

WEATHERS = {
    2: ("sunnyday", "raindance", "sandstorm"),
    3: ("sunnyday", "raindance", "sandstorm", "hail"),
    6: ("sunnyday", "raindance", "sandstorm", "hail", "desolateland", "primordialsea", "deltastream"),
    9: ("sunnyday", "raindance", "sandstorm", "snowscape", "desolateland", "primordialsea", "deltastream"),
}
TERRAINS = {
    6: ("electricterrain", "grassyterrain", "mistyterrain"),
    7: ("electricterrain", "grassyterrain", "mistyterrain", "psychicterrain"),
}
ROOMS = {
    4: ("gravity",), 5: ("gravity", "magicroom", "wonderroom"),
    6: ("gravity", "magicroom", "wonderroom", "mudsport", "watersport"), 8: ("gravity", "magicroom", "wonderroom"),
}  # fmt: skip
STATUSES = ("brn", "par", "psn", "tox", "slp")
STATS = ("hp", "atk", "def", "spa", "spd", "spe")


@dataclass(frozen=True)
class Drawn:
    """Names to draw from, as damage_oracle.mjs prints them."""

    species: list[str]
    speciesPast: list[str]
    moves: list[str]
    spread: list[str]
    movesPast: list[str]
    abilities: dict[str, list[str]]
    items: dict[str, list[str]]
    types: list[str]
    natures: list[str]


def _latest(table: dict[int, tuple[str, ...]], gen: int) -> tuple[str, ...]:
    return next((names for first, names in sorted(table.items(), reverse=True) if first <= gen), ())


def _pick(rng: random.Random, pool: dict[str, list[str]], relevant: float, past: float) -> str:
    now = "Past" if rng.random() < past else ""
    names = pool[f"relevant{now}"] if rng.random() < relevant else pool["past" if now else "all"]
    return rng.choice(names or pool["all"])


#: Volatile effects -> the generations that have them, of who attacks and of the target.
_OWN_EFFECTS = {
    "charge": (3, 9), "focusenergy": (1, 9), "laserfocus": (7, 9), "gastroacid": (4, 9), "embargo": (4, 7),
    "magnetrise": (4, 9), "telekinesis": (5, 7), "smackdown": (5, 9), "ingrain": (3, 9), "powertrick": (4, 8),
    "mudsport": (3, 5), "watersport": (3, 5), "defensecurl": (2, 9), "glaiverush": (9, 9),
}  # fmt: skip
_TARGET_EFFECTS = {
    "foresight": (2, 7), "miracleeye": (4, 7), "minimize": (2, 9), "tarshot": (8, 9), "glaiverush": (9, 9),
    "gastroacid": (4, 9), "embargo": (4, 7), "magnetrise": (4, 9), "telekinesis": (5, 7), "smackdown": (5, 9),
    "ingrain": (3, 9), "powertrick": (4, 8), "mudsport": (3, 5), "watersport": (3, 5), "charge": (3, 9),
}  # fmt: skip
_RARELY, _OFTEN = 0.02, 0.05


def _effects(gen: int, rng: random.Random, ability: str, attacks: bool) -> list[str]:
    effects = []
    if attacks:
        if ability == "flashfire" and rng.random() < 0.7:
            effects.append("flashfire")
        if ability == "slowstart" and rng.random() < 0.7:
            effects.append("slowstart")
        if ability == "supremeoverlord":
            effects.append(f"fallen{rng.randint(1, 5)}")
        if gen >= 3 and rng.random() < _OFTEN:
            effects.append(f"stockpile{rng.randint(1, 3)}")
    for name in ("protosynthesis", "quarkdrive"):
        if ability == name and rng.random() < 0.8:
            effects.append(name + rng.choice(("atk", "def", "spa", "spd", "spe")))
    for name, (first, last) in (_OWN_EFFECTS if attacks else _TARGET_EFFECTS).items():
        if first <= gen <= last and rng.random() < (_OFTEN if name in ("charge", "foresight") else _RARELY):
            effects.append(name)
    return effects


def _status(gen: int, rng: random.Random, attacks: bool) -> str:
    """A status; whoever is frozen does not attack."""
    found = STATUSES if gen > 1 else tuple(name for name in STATUSES if name != "tox")
    return rng.choice(found if attacks else (*found, "frz"))


def _side(gen: int, drawn: Drawn, rng: random.Random, attacks: bool) -> dict[str, Any]:
    old = gen >= 8 and rng.random() < 0.1
    species = rng.choice(drawn.speciesPast if old and drawn.speciesPast else drawn.species)
    ability = (
        _pick(rng, drawn.abilities, 0.7, 0.0) if gen >= 3 and rng.random() < 0.8 else "noability" if gen >= 3 else ""
    )
    item = ""
    if gen >= 2 and rng.random() < 0.7:
        item = _pick(rng, drawn.items, 0.75, 0.08 if gen >= 8 else 0.0)
    stages = ("atk", "def", "spa", "spd", "spe") if gen > 1 else ("atk", "def", "spe")
    boosts = {stat: rng.randint(-6, 6) for stat in stages if rng.random() < 0.25}
    boosts = {stat: stage for stat, stage in boosts.items() if stage}
    evs = {stat: 252 if gen <= 2 else 4 * rng.randint(0, 63) for stat in STATS}
    return {
        "species": species,
        "level": rng.choice((100, 100, 50, rng.randint(1, 100))),
        "ability": ability,
        "item": item,
        "nature": rng.choice(drawn.natures),
        "evs": evs,
        "ivs": dict.fromkeys(STATS, 30 if gen <= 2 else 31),
        "gender": "N" if gen == 1 else rng.choice("MF"),
        "status": _status(gen, rng, attacks) if rng.random() < 0.3 else "",
        "boosts": boosts,
        "hp": 100 if rng.random() < 0.5 else rng.randint(1, 100),
        "tera": rng.choice(drawn.types) if gen == 9 and rng.random() < 0.3 else "",
        "effects": _effects(gen, rng, ability, attacks),
    }


#: Abilities that act on moves of others -> the generations that have them.
BESIDE = {
    "plus": 3, "minus": 3, "cloudnine": 3, "airlock": 3, "damp": 3, "flowergift": 4, "friendguard": 5, "telepathy": 5,
    "darkaura": 6, "fairyaura": 6, "aurabreak": 6, "battery": 7, "queenlymajesty": 7, "dazzling": 7, "powerspot": 8,
    "steelyspirit": 8, "neutralizinggas": 8, "armortail": 9, "swordofruin": 9, "beadsofruin": 9, "tabletsofruin": 9,
    "vesselofruin": 9,
}  # fmt: skip
#: Moves that the terrain or the user's forme aim at both opponents.
_AT_FOES_SOMETIMES = frozenset({"expandingforce", "terastarstorm"})
_AT_ALLIES = frozenset({"normal", "any", "allAdjacent"})


def _bystander(gen: int, drawn: Drawn, rng: random.Random) -> dict[str, Any]:
    """One who stands by: of all that it has its ability matters, and what switches that off."""
    side = _side(gen, drawn, rng, False)
    abilities = [name for name, first in BESIDE.items() if first <= gen]
    if rng.random() < 0.8:
        side["ability"] = rng.choice(abilities)
    if side["ability"] == "flowergift" and rng.random() < 0.8:
        side["species"] = "cherrim"
    if gen >= 9 and rng.random() < 0.1:
        side["item"] = "abilityshield"
    side["effects"] = ["gastroacid"] if gen >= 4 and rng.random() < 0.1 else []
    return {**side, "hp": 100, "status": "", "boosts": {}, "tera": "", "fainted": rng.random() < 0.15}


def _in_doubles(gen: int, drawn: Drawn, case: Case, rng: random.Random) -> Case:
    """A case of doubles: with two who stand by, and with the user's ally as the target in some."""
    if rng.random() < 0.4:
        case["move"] = rng.choice(drawn.spread)
    for who in ("attacker", "defender"):
        if rng.random() < 0.1:
            case[who]["ability"] = rng.choice([name for name, first in BESIDE.items() if first <= gen])
    case["others"] = [_bystander(gen, drawn, rng) for _ in range(2)]
    at_allies = move_facts(case["move"], gen).target in _AT_ALLIES
    case["hitsAlly"] = at_allies and case["move"] not in _AT_FOES_SOMETIMES and rng.random() < 0.3
    if case["hitsAlly"]:
        case["ownSide"] = case["screens"]
    return case


def draw(gen: int, drawn: Drawn, number: int, seed: int, doubles: bool = False) -> Iterator[Case]:
    """Draws cases. The same arguments give the same cases."""
    rng = random.Random(f"{gen} {seed}")
    of_others = random.Random(f"{gen} {seed} doubles")
    for index in range(number):
        old = gen >= 8 and drawn.movesPast and rng.random() < 0.08
        weathers, terrains, rooms = _latest(WEATHERS, gen), _latest(TERRAINS, gen), _latest(ROOMS, gen)
        screens = ["reflect", "lightscreen"] + (["auroraveil"] if gen >= 7 else [])
        screens += ["luckychant"] if 4 <= gen <= 7 else []
        case = {
            "id": index,
            "move": rng.choice(drawn.movesPast if old else drawn.moves),
            "attacker": _side(gen, drawn, rng, True),
            "defender": _side(gen, drawn, rng, False),
            "weather": rng.choice(weathers) if weathers and rng.random() < 0.35 else "",
            "terrain": rng.choice(terrains) if terrains and rng.random() < 0.3 else "",
            "rooms": [rng.choice(rooms)] if rooms and rng.random() < 0.1 else [],
            "screens": [rng.choice(screens)] if rng.random() < 0.15 else [],
            "ownSide": ["tailwind"] if gen >= 4 and rng.random() < 0.05 else [],
            "targetMoves": False,
        }
        if case["attacker"]["status"] == "slp" and case["move"] != "snore":
            case["attacker"]["status"] = ""  # those who sleep use nothing but Snore
        if doubles:
            case = _in_doubles(gen, drawn, case, of_others)
        case["targetMoves"] = case["move"] in ("suckerpunch", "thunderclap", "upperhand")
        yield case
