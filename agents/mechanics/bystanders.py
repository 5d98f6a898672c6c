"""Who else is on a field of doubles, and which of their abilities act on a move between two Pokémon.

Source: the handlers `onAlly…` and `onAny…` of Showdown's abilities.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from agents.mechanics.fighters import Fighter

#: Abilities that neither Gastro Acid nor Neutralizing Gas suppresses.
UNSUPPRESSED = frozenset(
    {"asoneglastrier", "asonespectrier", "battlebond", "comatose", "commander", "disguise", "gulpmissile", "iceface",
     "multitype", "neutralizinggas", "powerconstruct", "rkssystem", "schooling", "shieldsdown", "stancechange",
     "terashift", "zenmode", "zerotohero"}
)  # fmt: skip
GAS = "neutralizinggas"
CLOUD_NINE = frozenset({"cloudnine", "airlock"})
#: Abilities that act on a move between two others; any other ability of a bystander is as good as none.
ACT_ON_OTHERS = CLOUD_NINE | {
    GAS, "armortail", "aurabreak", "battery", "beadsofruin", "damp", "darkaura", "dazzling", "fairyaura", "flowergift",
    "friendguard", "minus", "plus", "powerspot", "queenlymajesty", "steelyspirit", "swordofruin", "tabletsofruin",
    "vesselofruin",
}  # fmt: skip
#: Abilities of others that Mold Breaker ignores, and those that it ignores up to generation 7.
_IGNORED = frozenset({"friendguard", "flowergift", "queenlymajesty", "dazzling", "armortail", "aurabreak", "damp"})
_ONCE_IGNORED = frozenset({"darkaura", "fairyaura"})


class Company(NamedTuple):
    """What of the others matters for a move: abilities that work, "" for none.

    ally: of who stands beside the user; guard: of who stands beside the target. rest: of all but the user and the target.
    hits_ally: whether the target is the user's ally. spread: whether the move hits several. doubles: False in singles.
    guarded: whether anyone stands beside the target.
    """

    ally: str = ""
    guard: str = ""
    rest: frozenset[str] = frozenset()
    hits_ally: bool = False
    spread: bool = False
    doubles: bool = False
    guarded: bool = False


ALONE = Company()


@dataclass(frozen=True, slots=True)
class Beside:
    """Who else is on a field of doubles while one Pokémon hits another.

    ally: who stands beside the user, None if nobody does. guard: who stands beside the target if that is a foe. foes: the
    others. hits_ally: whether the target is the user's ally; it is `ally` then, and the user its guard. spread: whether the
    move hits several.
    """

    ally: Fighter | None = None
    guard: Fighter | None = None
    foes: tuple[Fighter, ...] = ()
    hits_ally: bool = False
    spread: bool = False
    user: Fighter | None = None

    @property
    def rest(self) -> tuple[Fighter, ...]:
        """All but the user and the target."""
        ally = () if self.ally is None or self.hits_ally else (self.ally,)
        guard = () if self.guard is None or self.hits_ally else (self.guard,)
        return (*ally, *guard, *self.foes)

    def gassed(self) -> Beside:
        """Return the same under Neutralizing Gas."""
        ally, guard, user = (None if one is None else gassed(one) for one in (self.ally, self.guard, self.user))
        return replace(self, ally=ally, guard=guard, foes=tuple(map(gassed, self.foes)), user=user)

    def company(self, gen: int, ignored: bool, explodes: bool) -> Company:
        """Return the abilities that work.

        ignored: whether the user ignores abilities that can be (Mold Breaker). explodes: whether it has fainted by now.
        """
        ally = "" if self.ally is None else working(self.ally, gen, ignored)
        guard = self.guard if not self.hits_ally else None if explodes else self.user
        # Since generation 8 one's own ability is not ignored by one's own move.
        beside = "" if guard is None else working(guard, gen, ignored and not (self.hits_ally and gen >= 8))
        rest = frozenset(working(fighter, gen, ignored) for fighter in self.rest)
        return Company(ally, beside, rest - {""}, self.hits_ally, self.spread, True, guard is not None)


def emits_gas(fighter: Fighter) -> bool:
    """Return whether a Pokémon's Neutralizing Gas works."""
    return fighter.ability == GAS and "gastroacid" not in fighter.effects


def gassed(fighter: Fighter) -> Fighter:
    """Return a Pokémon as it is under Neutralizing Gas, which suppresses abilities as Gastro Acid does."""
    if fighter.item == "abilityshield" or fighter.ability == GAS or "gastroacid" in fighter.effects:
        return fighter
    return replace(fighter, effects=fighter.effects | {"gastroacid"})


def working(fighter: Fighter, gen: int, ignored: bool) -> str:
    """Return a bystander's ability, "" if it acts on nobody else or is switched off. ignored: by the move's user."""
    ability = fighter.ability
    if ability not in ACT_ON_OTHERS:
        return ""
    if "gastroacid" in fighter.effects and (ability not in UNSUPPRESSED or ability == GAS):
        return ""
    heeded = fighter.item == "abilityshield" or not ignored
    if not heeded and (ability in _IGNORED or (gen <= 7 and ability in _ONCE_IGNORED)):
        return ""
    if ability == "flowergift" and gen >= 5 and not fighter.species.startswith("cherrim"):
        return ""
    return ability
