"""The facts of a move that rules need, from poke-env's data, cached."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from poke_env.battle.move import Move
from poke_env.battle.pokemon_type import PokemonType
from poke_env.data import GenData, to_id_str

from agents.battle.choices import split_power

# Moves that heal the user by about half (or by the weather), where the data has no `heal` field.
_HEAL_HALF = frozenset(
    {"recover", "softboiled", "morningsun", "moonlight", "synthesis", "strengthsap", "shoreup", "swallow"}
)
# Typical power of moves with variable power, which the data lists as 0, except those that `damage` computes.
_TYPICAL_POWER = {
    "return": 102, "frustration": 102, "lowkick": 60, "grassknot": 60, "heavyslam": 80, "heatcrash": 80, "gyroball": 70,
    "electroball": 70, "magnitude": 71, "present": 40, "punishment": 60, "wringout": 60, "crushgrip": 60,
    "hardpress": 60, "trumpcard": 50, "naturalgift": 70, "fling": 30, "beatup": 40, "flail": 50, "reversal": 50,
    "spitup": 60,
}  # fmt: skip
_FIXED = {
    **dict.fromkeys(("superfang", "naturesmadness", "ruination"), "half"),
    **dict.fromkeys(("counter", "mirrorcoat", "metalburst", "comeuppance", "bide"), "unknown"),
    "psywave": "random", "finalgambit": "hp", "endeavor": "difference",
}  # fmt: skip
_PHYSICAL_TYPES = frozenset({"NORMAL", "FIGHTING", "FLYING", "POISON", "GROUND", "ROCK", "BUG", "GHOST", "STEEL"})
_NO_TYPE = PokemonType.THREE_QUESTION_MARKS.name
_HAZARDS = frozenset({"stealthrock", "spikes", "toxicspikes", "stickyweb", "gmaxsteelsurge"})


@dataclass(frozen=True, slots=True)
class MoveFacts:
    """What a move does, in one generation. Fractions are of the maximum HP, probabilities from 0 to 1.

    category: "physical", "special" or "status" (by type before generation 4). fixed: damage without the formula: HP as
    text, "level", "half" (of the remaining HP), "ohko", "hp" (the user's), "difference" (of both HP), "random" (by the
    level), "unknown". heal: fraction that the user regains. status: inflicted with
    `status_chance` ("slp" "par" …). boosts: of the target, with `boost_chance`; self_boosts: of the user. side_effects:
    whether it may have any. hits: a typical number, least_hits and most_hits: the possible ones. crashes: it hurts the user
    when it misses. sheer_force: whether that ability strengthens it. uses_target_attack: as Foul Play does.
    varies: whether its power is worked out anew at each use. target: Showdown's target type, as "normal" or "allAdjacent".
    """

    id: str
    type: str
    category: str
    power: float
    accuracy: float
    priority: int
    hits: float
    crit_stage: int
    drain: float
    recoil: float
    heal: float
    fixed: str
    status: str
    status_chance: float
    boosts: tuple[tuple[str, int], ...]
    boost_chance: float
    self_boosts: tuple[tuple[str, int], ...]
    volatile: str
    flinch: float
    side_effects: bool
    explodes: bool
    recharges: bool
    charges: bool
    self_switch: bool
    forces_switch: bool
    protects: bool
    hazard: str
    flags: frozenset[str]
    attack_stat: str
    defense_stat: str
    least_hits: int = 1
    most_hits: int = 1
    crashes: bool = False
    sheer_force: bool = False
    uses_target_attack: bool = False
    ignores_defense_boosts: bool = False
    varies: bool = False
    target: str = "normal"

    @property
    def damages(self) -> bool:
        return self.category != "status"


@cache
def move_facts(move_id: str, gen: int) -> MoveFacts:
    """Return the facts of a move by its id, which may end in its power ("hiddenpowerfire68").

    An unknown id is a status move without effect. Hidden Power without a type has no type and its usual power.
    """
    name, power = split_power(move_id)
    entry = GenData.from_gen(gen).moves.get(name)
    facts = _read(name, entry or {"category": "Status", "type": "Normal", "accuracy": True}, gen)
    if name == "hiddenpower" and entry:
        usual = 60.0 if gen >= 6 else 70.0
        facts = replace(facts, type=_NO_TYPE, category="special", power=usual, attack_stat="spa", defense_stat="spd")
    return replace(facts, power=float(power)) if power else facts


def facts_of(move: Move) -> MoveFacts:
    """Return the facts of poke-env's move object."""
    power = move._base_power_override if move.id.startswith("hiddenpower") else None
    return move_facts(move.id if power is None else f"{move.id}{power}", move.gen)


def _read(move_id: str, entry: dict[str, Any], gen: int) -> MoveFacts:
    kind = entry["type"].upper()
    category = entry["category"].lower()
    if gen <= 3 and category != "status":
        category = "physical" if kind in _PHYSICAL_TYPES else "special"
    secondaries = _secondaries(entry)
    status, status_chance = _inflicted(entry, secondaries)
    boosts, boost_chance, self_boosts = _boosts(entry, secondaries)
    flags = frozenset(entry.get("flags", ()))
    accuracy = entry.get("accuracy", True)
    hazard = to_id_str(entry.get("sideCondition") or "")
    hits = entry.get("multihit", 1)
    least_hits, most_hits = hits if isinstance(hits, list) else (hits, hits)
    return MoveFacts(
        id=move_id,
        type=kind,
        category=category,
        power=float(entry.get("basePower", 0) or _TYPICAL_POWER.get(move_id, 0)),
        accuracy=1.0 if accuracy is True else accuracy / 100,
        priority=entry.get("priority", 0),
        hits=_hits(move_id, entry),
        crit_stage=9 if entry.get("willCrit") else entry.get("critRatio", 1) - 1,
        drain=_ratio(entry.get("drain")),
        recoil=_ratio(entry.get("recoil")) if move_id != "struggle" else 0.5,
        heal=1.0 if move_id == "rest" else 0.5 if move_id in _HEAL_HALF else _ratio(entry.get("heal")),
        fixed=_fixed(move_id, entry),
        status=status,
        status_chance=status_chance,
        boosts=boosts,
        boost_chance=boost_chance,
        self_boosts=self_boosts,
        volatile=to_id_str(entry.get("volatileStatus", "") or ""),
        flinch=max((s["chance"] / 100 for s in secondaries if s.get("volatileStatus") == "flinch"), default=0.0),
        side_effects=bool(secondaries),
        explodes=bool(entry.get("selfdestruct")),
        recharges="recharge" in flags,
        charges="charge" in flags,
        self_switch=bool(entry.get("selfSwitch")) and move_id != "batonpass",
        forces_switch=bool(entry.get("forceSwitch")),
        protects=bool(entry.get("stallingMove")),
        hazard=hazard if hazard in _HAZARDS else "",
        flags=flags,
        attack_stat=_attack_stat(entry, category),
        defense_stat=entry.get("overrideDefensiveStat") or ("def" if category == "physical" else "spd"),
        least_hits=least_hits,
        most_hits=most_hits,
        crashes=bool(entry.get("hasCrashDamage")),
        sheer_force=bool(entry.get("secondary") or entry.get("secondaries") or entry.get("hasSheerForceBoost")),
        uses_target_attack=entry.get("overrideOffensivePokemon") == "target",
        ignores_defense_boosts=bool(entry.get("ignoreDefensive")),
        varies=bool(entry.get("basePowerCallback")) and entry.get("basePower") in (0, 150),
        target=entry.get("target", "normal"),
    )


def _ratio(pair: Any) -> float:
    return pair[0] / pair[1] if pair else 0.0


def _hits(move_id: str, entry: dict[str, Any]) -> float:
    hits = entry.get("multihit", 1)
    if move_id in ("tripleaxel", "triplekick"):
        return 4.7  # in units of the first hit's power: 1 + 2 + 3 with a miss ending it
    if isinstance(hits, list):
        return 3.1 if hits == [2, 5] else sum(hits) / len(hits)
    return float(hits) * (0.7 if hits == 10 else 1)


def _fixed(move_id: str, entry: dict[str, Any]) -> str:
    if entry.get("ohko"):
        return "ohko"
    if move_id in _FIXED:
        return _FIXED[move_id]
    return str(entry.get("damage", "") or "")


def _attack_stat(entry: dict[str, Any], category: str) -> str:
    return entry.get("overrideOffensiveStat") or ("atk" if category == "physical" else "spa")


def _secondaries(entry: dict[str, Any]) -> list[dict[str, Any]]:
    found = entry.get("secondaries") or ([entry["secondary"]] if entry.get("secondary") else [])
    return [secondary for secondary in found if secondary.get("chance")]


def _inflicted(entry: dict[str, Any], secondaries: list[dict[str, Any]]) -> tuple[str, float]:
    if entry.get("status"):
        return entry["status"], 1.0
    for secondary in secondaries:
        if secondary.get("status"):
            return secondary["status"], secondary["chance"] / 100
    return "", 0.0


Boosts = tuple[tuple[str, int], ...]


def _boosts(entry: dict[str, Any], secondaries: list[dict[str, Any]]) -> tuple[Boosts, float, Boosts]:
    """Return (boosts of the target, their probability, certain boosts of the user)."""
    target: dict[str, int] = {}
    own: dict[str, int] = {}
    chance = 1.0
    if entry.get("boosts"):
        (own if entry.get("target") in ("self", "allySide", "adjacentAllyOrSelf") else target).update(entry["boosts"])
    for field in ("self", "selfBoost"):
        own.update((entry.get(field) or {}).get("boosts") or {})
    for secondary in secondaries:
        if secondary.get("boosts"):
            target, chance = dict(secondary["boosts"]), secondary["chance"] / 100
        if secondary["chance"] == 100:
            own.update((secondary.get("self") or {}).get("boosts") or {})
    return tuple(target.items()), chance, tuple(own.items())
