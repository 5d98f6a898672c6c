"""A damaging move in the hands of one fighter, on a field: its type, category and what is switched off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from poke_env.data import GenData

from agents.mechanics.bystanders import ALONE, UNSUPPRESSED, Beside
from agents.mechanics.fighters import Conditions, Fighter
from agents.mechanics.grounding import grounded
from agents.mechanics.held_items import DRIVES, MEMORIES, PLATES, active_item, number_of
from agents.mechanics.moves import MoveFacts
from agents.mechanics.rounding import boosted
from teamsets.builder.published import STATS

NO_SIDE: Mapping[str, int] = {}
SUN, RAIN = frozenset({"sunnyday", "desolateland"}), frozenset({"raindance", "primordialsea"})
_SHADED = SUN | RAIN
SNOW = frozenset({"snow", "snowscape"})
_IGNORES_ABILITY = frozenset({"moldbreaker", "teravolt", "turboblaze"})
_IGNORING_MOVES = frozenset(
    {"sunsteelstrike", "moongeistbeam", "photongeyser", "lightthatburnsthesky", "searingsunrazesmash",
     "menacingmoonrazemaelstrom", "gmaxdrumsolo", "gmaxfireball", "gmaxhydrosnipe"}
)  # fmt: skip
#: Abilities of a target that moves and abilities which ignore others do not.
_NOT_IGNORED = frozenset(
    {"prismarmor", "shadowshield", "comatose", "beadsofruin", "swordofruin", "tabletsofruin", "vesselofruin", "ripen",
     "klutz", "slowstart", "quickfeet", "swiftswim", "chlorophyll", "sandrush", "slushrush", "surgesurfer", "mummy",
     "lingeringaroma", "wanderingspirit", "stamina", "weakarmor", "watercompaction", "colorchange", "seedsower",
     "sandspit"}
)  # fmt: skip
_AURAS = frozenset({"darkaura", "fairyaura"})
#: Abilities that act on all Pokémon from an active one.
_OFF_WHEN_FAINTED = frozenset(
    {"unaware", "darkaura", "fairyaura", "aurabreak", "swordofruin", "beadsofruin", "tabletsofruin", "vesselofruin",
     "steelyspirit", "parentalbond", "flowergift"}
)  # fmt: skip
_ATE = {
    "aerilate": "FLYING", "galvanize": "ELECTRIC", "pixilate": "FAIRY", "refrigerate": "ICE", "dragonize": "DRAGON",
}  # fmt: skip
#: Moves whose type such abilities do not change.
_OWN_TYPE = frozenset(
    {"judgment", "multiattack", "naturalgift", "revelationdance", "technoblast", "terrainpulse", "weatherball"}
)
_TERRAIN_TYPES = {
    "electricterrain": "ELECTRIC", "grassyterrain": "GRASS", "mistyterrain": "FAIRY", "psychicterrain": "PSYCHIC",
}  # fmt: skip
_FORME_TYPES = {
    "ivycudgel": {"ogerponwellspring": "WATER", "ogerponhearthflame": "FIRE", "ogerponcornerstone": "ROCK"},
    "ragingbull": {"taurospaldeacombat": "FIGHTING", "taurospaldeablaze": "FIRE", "taurospaldeaaqua": "WATER"},
    "aurawheel": {"morpekohangry": "DARK"},
}
_BECOMES_TYPE = frozenset({"protean", "libero"})
#: Numbers of Arceus and Silvally, whose types nothing changes.
_OWN_TYPES = frozenset({493, 773})
#: Moves that fail unless their user has a type.
NEEDS_TYPE = {"burnup": "FIRE", "doubleshock": "ELECTRIC"}
#: Moves that are physical if the user's attack is the higher of its two.
_HIGHER_ATTACK = frozenset({"photongeyser", "lightthatburnsthesky"})
_NO_TYPE = "THREE_QUESTION_MARKS"


class Strike:
    """A damaging move of a fighter on a field, without a target.

    ability, item: its own, "" where something switches them off. kind: the move's type. retyped: whether an ability
    changed it. weather: "" under Cloud Nine; own_weather: as the user's moves see it. hp: HP that are left. given: the
    user as it was, before the move changed its forme or types. unsheathed: whether Stance Change makes the user
    Aegislash-Blade, whose stats are estimated. beside, company: in doubles who else is there, and their abilities.
    """

    __slots__ = (
        "ability", "beside", "company", "field", "flags", "gen", "given", "grounded", "hp", "id", "ignores_abilities",
        "item", "kind", "move", "own_weather", "physical", "priority", "retyped", "rooms", "side", "terrain", "unsheathed",
        "user", "weather",
    )  # fmt: skip

    def __init__(
        self,
        user: Fighter,
        move: MoveFacts,
        field: Conditions,
        side: Mapping[str, int] = NO_SIDE,
        beside: Beside | None = None,
    ) -> None:
        self.given = user
        self.unsheathed = user.ability == "stancechange" and user.species == "aegislash"
        if self.unsheathed:
            user = _with_blade(user)
        self.user, self.move, self.field, self.side, self.gen, self.id = user, move, field, side, user.gen, move.id
        effects, rooms = user.effects, field.rooms
        self.rooms, self.terrain = rooms, field.terrain
        ability = user.ability
        suppressible = ability not in UNSUPPRESSED or ability == "neutralizinggas"
        if "gastroacid" in effects and suppressible and user.item != "abilityshield":
            ability = ""
        # Who explodes has fainted when the damage is worked out.
        fainted = move.explodes and not move.fixed and self.gen >= 3
        if fainted and ability in _OFF_WHEN_FAINTED:
            ability = ""
        self.ability = ability
        self.item = item = active_item(user.item, ability, effects, rooms)
        weather = "" if ability in ("cloudnine", "airlock") else field.weather
        self.weather = weather
        self.own_weather = (
            "sunnyday" if ability == "megasol" else "" if item == "utilityumbrella" and weather in _SHADED else weather
        )
        self.hp = 0 if fainted else max(1, int(user.hp * user.stats[0] + 0.5))
        self.grounded = grounded(user, ability, item, rooms)
        self.ignores_abilities = ability in _IGNORES_ABILITY or move.id in _IGNORING_MOVES
        self.flags = move.flags
        if "contact" in move.flags and (ability == "longreach" or (item == "punchingglove" and "punch" in move.flags)):
            self.flags = move.flags - {"contact"}
        self.beside = beside
        self.company = ALONE if beside is None else beside.company(self.gen, self.ignores_abilities, fainted)
        self.retyped = False
        self.kind = self._kind()
        if ability in _BECOMES_TYPE and self._changes_type():
            self.user = user = replace(user, types=(self.kind,), base_types=(self.kind,))
            self.grounded = grounded(user, ability, item, rooms)
        self.physical = self._is_physical()
        self.priority = self._priority()

    def _kind(self) -> str:
        move, ability = self.id, self.ability
        kind = self._own_kind() or self.move.type
        if move == "struggle":
            return _NO_TYPE if self.gen >= 2 else kind
        excluded = move in _OWN_TYPE or (move == "terablast" and self.user.terastallized)
        if ability == "normalize" and self._is_normalized(excluded):
            self.retyped = self.gen >= 7
            kind = "NORMAL"
        elif kind == "NORMAL" and ability in _ATE and not excluded:
            self.retyped, kind = True, _ATE[ability]
        elif ability == "liquidvoice" and "sound" in self.flags:
            kind = "WATER"
        if "electrify" in self.user.effects or ("iondeluge" in self.rooms and kind == "NORMAL"):
            kind = "ELECTRIC"
        return kind

    def _changes_type(self) -> bool:
        """Return whether Protean gives the user the move's type."""
        user, kind = self.user, self.kind
        fixed = user.terastallized or number_of(self.gen, user.species) in _OWN_TYPES
        unmet = self.id in NEEDS_TYPE and NEEDS_TYPE[self.id] not in user.types
        return not (fixed or unmet or kind == _NO_TYPE or "futuremove" in self.flags)

    def _is_normalized(self, excluded: bool) -> bool:
        """Return whether Normalize changes the move; not what is Normal by itself in generations 5 and 6 (Weather Ball)."""
        if self.gen <= 4:
            return True
        return self.move.type != "NORMAL" if self.gen <= 6 else not (excluded or self.id.startswith("hiddenpower"))

    def _own_kind(self) -> str:
        """Return the type that a move takes from its user or the field; "" if it has its own."""
        move, user = self.id, self.user
        if move == "terablast":
            return user.tera if user.terastallized else ""
        if move == "terastarstorm":
            return "STELLAR" if user.species == "terapagosstellar" else ""
        if move == "weatherball":
            return weather_ball_type(self.weather if self.gen == 3 else self.own_weather)
        if move == "terrainpulse":
            return _TERRAIN_TYPES.get(self.terrain, "") if self.grounded else ""
        if move in _FORME_TYPES:
            return _FORME_TYPES[move].get(user.species.removesuffix("tera"), "")
        if move == "revelationdance":
            return user.types[0]
        if move == "judgment":
            return PLATES.get(self.item, "")
        if move == "multiattack":
            return MEMORIES.get(self.item, "")
        if move == "technoblast":
            return DRIVES.get(self.item, "")
        return ""

    def _is_physical(self) -> bool:
        user = self.user
        if self.gen == 3 and self.id == "weatherball":
            return self.kind in ("NORMAL", "ROCK")
        by_stats = self.id in _HIGHER_ATTACK or (
            user.terastallized
            and (self.id == "terablast" or (self.id == "terastarstorm" and user.species == "terapagosstellar"))
        )
        if by_stats:
            stats, gen = user.stats, self.gen
            return boosted(stats[1], user.stage("atk"), gen) > boosted(stats[3], user.stage("spa"), gen)
        return self.move.category == "physical"

    def _priority(self) -> int:
        move, ability = self.move, self.ability
        priority = move.priority
        if ability == "galewings" and self.kind == "FLYING":
            priority += self.gen <= 6 or self.user.hp >= 1
        elif ability == "triage" and "heal" in self.flags:
            priority += 3
        if move.id == "grassyglide" and self.terrain == "grassyterrain" and self.grounded:
            priority += 1
        return priority


def switches_off(strike: Strike, defender: Fighter) -> bool:
    """Return whether the target's ability does nothing: it is ignored (Mold Breaker) or suppressed (Gastro Acid)."""
    ability = defender.ability
    heeded = ability in _NOT_IGNORED or (ability in _AURAS and strike.gen >= 8)
    if strike.ignores_abilities and not heeded:
        return True
    suppressed = "gastroacid" in defender.effects or strike.ability == "neutralizinggas"
    return suppressed and ability not in UNSUPPRESSED


def tricked(fighter: Fighter, name: str) -> str:
    """Return the stat that stands in another's place: Power Trick swaps attack and defence."""
    if "powertrick" not in fighter.effects:
        return name
    return {"atk": "def", "def": "atk"}.get(name, name)


def stabs(strike: Strike, defender: Fighter) -> bool:
    """Return whether Shell Side Arm is physical: by the boosted stats of both, without abilities and items."""
    user, gen = strike.user, strike.gen
    walls = ("spd", "def") if "wonderroom" in strike.rooms else ("def", "spd")  # it swaps their stages alone
    dealt = []
    for attacking, defending, stage in (("atk", "def", walls[0]), ("spa", "spd", walls[1])):
        own = boosted(user.stats[STATS.index(tricked(user, attacking))], user.stage(attacking), gen)
        wall = boosted(defender.stats[STATS.index(tricked(defender, defending))], defender.stage(stage), gen)
        dealt.append((2 * user.level // 5 + 2) * 90 * own // wall // 50)
    return dealt[0] > dealt[1]


def _with_blade(shield: Fighter) -> Fighter:
    """Return Aegislash as it attacks: what the formes' base stats differ by is added, without its nature's tenth."""
    dex = GenData.from_gen(shield.gen).pokedex
    before, after = dex["aegislash"]["baseStats"], dex["aegislashblade"]["baseStats"]
    gained = (2 * (after[stat] - before[stat]) * shield.level // 100 for stat in STATS)
    return replace(shield, species="aegislashblade", stats=tuple(map(sum, zip(shield.stats, gained, strict=True))))


def weather_ball_type(weather: str) -> str:
    """Return Weather Ball's type; "" without weather."""
    if weather in SUN:
        return "FIRE"
    if weather in RAIN:
        return "WATER"
    return {"sandstorm": "ROCK", "hail": "ICE", "snow": "ICE", "snowscape": "ICE"}.get(weather, "")
