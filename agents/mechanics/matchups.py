"""Duels: the expected outcome if two Pokémon stay in and attack until one faints."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agents.mechanics.bystanders import ACT_ON_OTHERS
from agents.mechanics.damage import NOTHING, Attack, Damage
from agents.mechanics.fighters import Conditions, Fighter
from agents.mechanics.modifiers import speed
from agents.mechanics.moves import MoveFacts
from agents.mechanics.pokemon_worth import worth

# Expected number of turns that sleep lasts from its start, by generation, and in later ones; the same for freezing.
_SLEEP = {1: 3.5, 2: 3.0, 3: 2.5, 4: 2.5}
_SLEEP_LATER = 1.5
_FROZEN = {1: 12.0}
_FROZEN_LATER = 3.5


class HashedKey(tuple[Any, ...]):
    """A long tuple as part of many keys: its hash is computed once."""

    hashed: int

    def __new__(cls, parts: Iterable[object]) -> HashedKey:
        key = super().__new__(cls, parts)
        key.hashed = tuple.__hash__(key)
        return key

    def __hash__(self) -> int:
        return self.hashed


class Combatant:
    """A fighter of one side (0 ours, 1 theirs), with its key in caches."""

    def __init__(self, fighter: Fighter, side: int) -> None:
        self.fighter, self.side = fighter, side
        self.hp = fighter.hp
        self.variants: dict[Any, Combatant] = {}
        self.root: Combatant | None = None

    def variant(self, key: object, change: Callable[[], Fighter]) -> Combatant:
        """Return the combatant after a change of its fighter, one for each key (terastallized, boosted, with a status)."""
        cached = self.variants.get(key)
        if cached is None:
            cached = self.variants[key] = Combatant(change(), self.side)
        return cached

    @cached_property
    def key(self) -> HashedKey:
        f = self.fighter
        marks = f.effects & _MARKS
        hp = round(f.hp, 1) if f.ability in _BY_HP else f.hp > 0.5
        moves = tuple((move.id, round(chance, 1)) for move, chance in f.moves)
        fresh = f.first_turn and any(move.id in _FIRST_TURN_ONLY for move, _ in f.moves)
        return HashedKey(
            (
                f.species,
                self.side,
                f.types,
                f.boosts,
                f.status,
                f.item,
                f.ability,
                f.terastallized,
                hp,
                moves,
                marks,
                fresh,
            )
        )

    @cached_property
    def acts_on_others(self) -> str:
        """Its ability, if it acts on moves between two others in doubles; "" if not."""
        return self.fighter.ability if self.fighter.ability in ACT_ON_OTHERS else ""

    @cached_property
    def drip(self) -> float:
        """Fraction of its HP gained (lost if negative) at the end of a turn: Leftovers, poison, burn, Leech Seed."""
        f, gen = self.fighter, self.fighter.gen
        gain = 1 / 16 if f.item == "leftovers" or (f.item == "blacksludge" and "POISON" in f.types) else 0.0
        if f.ability == "magicguard":
            return gain
        if f.ability == "poisonheal" and f.status in ("psn", "tox"):
            return gain + 1 / 8
        eighth = 1 / 16 if gen == 1 else 1 / 8
        loss = {"psn": eighth, "tox": eighth, "brn": 1 / 16 if gen >= 7 else eighth}.get(f.status, 0.0)
        return gain - loss - (eighth if "leechseed" in f.effects else 0.0)

    @cached_property
    def healing(self) -> float:
        """Fraction of its HP that its best likely healing move restores (Rest counts half)."""
        heals = [m.heal * (0.5 if m.id == "rest" else 1.0) for m, chance in self.fighter.moves if chance > 0.6]
        return max(heals, default=0.0)


# Abilities whose effect on damage depends on HP.
_BY_HP = frozenset({"multiscale", "shadowshield", "terashell", "blaze", "torrent", "overgrow", "swarm", "defeatist"})
_FIRST_TURN_ONLY = frozenset({"fakeout", "firstimpression"})
# Attacks that cannot be used every turn.
_UNSTEADY = _FIRST_TURN_ONLY | {"focuspunch", "futuresight", "dreameater"}
# Volatile effects that change damage or speed.
_MARKS = frozenset(
    {f"{name}{stat}" for name in ("protosynthesis", "quarkdrive") for stat in ("atk", "def", "spa", "spd", "spe")}
    | {"reflect", "lightscreen", "substitute", "confusion", "flashfire", "charge", "slowstart", "smackdown", "roost"}
    | {"magnetrise", "gastroacid", "tarshot", "glaiverush", "dynamax", *(f"fallen{number}" for number in range(1, 6))}
)


@dataclass(frozen=True, slots=True)
class Outlook:
    """The outcome of a duel. win: probability that ours survives; ours, theirs: HP left if it wins."""

    win: float
    ours: float
    theirs: float


class Matchups:
    """Cached damage, rates and speeds of one battle. The current field is part of every key."""

    def __init__(self) -> None:
        self.field: Conditions | None = None
        self._mark: Any = None
        self._hits: dict[Any, Damage] = {}
        self._attacks: dict[Any, Attack] = {}
        self._rates: dict[Any, float] = {}
        self._speeds: dict[Any, float] = {}

    def turn_to(self, field: Conditions) -> None:
        """Set the field for the following calls."""
        self.field = field
        walls = tuple(tuple(sorted(side.keys() & _SCREENS)) for side in field.sides)
        self._mark = HashedKey((field.weather, field.terrain, field.trick_room, walls, field.rooms))

    def hit(self, attacker: Combatant, defender: Combatant, move: MoveFacts) -> Damage:
        """Return the damage of a move between two combatants."""
        key = (move.id, attacker.key, defender.key, self._mark)
        cached = self._hits.get(key)
        if cached is None:
            cached = self._hits[key] = self._attack(attacker, move, defender)
        return cached

    def _attack(self, attacker: Combatant, move: MoveFacts, defender: Combatant) -> Damage:
        if not move.damages:
            return NOTHING
        key = (move.id, attacker.key, self._mark)
        attack = self._attacks.get(key)
        assert self.field is not None
        if attack is None:
            own = self.field.sides[attacker.side]
            attack = self._attacks[key] = Attack(attacker.fighter, move, self.field, own)
        return attack.on(defender.fighter, self.field.sides[defender.side])

    def rate(self, attacker: Combatant, defender: Combatant) -> float:
        """Return the mean damage per turn of the attacker's best repeatable move, over the moves that it may have."""
        key = (attacker.key, defender.key, self._mark)
        cached = self._rates.get(key)
        if cached is None:
            cached = self._rates[key] = self._rate(attacker, defender)
        return cached

    def _rate(self, attacker: Combatant, defender: Combatant) -> float:
        options = []
        for move, chance in attacker.fighter.moves:
            if move.damages and not move.explodes:
                slow = 0.55 if move.recharges or (move.charges and attacker.fighter.item != "powerherb") else 1.0
                once = 0.5 if move.id in _UNSTEADY else 1.0
                fading = 0.8 if any(change < 0 and stat in ("atk", "spa") for stat, change in move.self_boosts) else 1.0
                mean = self.hit(attacker, defender, move).mean * move.accuracy
                options.append((mean * slow * once * fading, chance))
        options.sort(reverse=True)
        total, missing = 0.0, 1.0
        for mean, chance in options:
            total += missing * chance * mean
            missing *= 1 - chance
        return total * (0.75 if attacker.fighter.status == "par" else 1.0)

    def speed(self, combatant: Combatant) -> float:
        """Return its speed, negated under Trick Room, so that the larger value always moves first."""
        key = (combatant.key, self._mark)
        cached = self._speeds.get(key)
        if cached is None:
            assert self.field is not None
            cached = speed(combatant.fighter, self.field, self.field.sides[combatant.side])
            cached = self._speeds[key] = -cached if self.field.trick_room else cached
        return cached

    def first(self, ours: Combatant, theirs: Combatant) -> float:
        """Return the probability that ours moves first at equal priority."""
        mine, other = self.speed(ours), self.speed(theirs)
        return 0.5 if mine == other else 1.0 if mine > other else 0.0

    def outlook(self, ours: Combatant, theirs: Combatant, hp: float, foe_hp: float, wait: float = 0.0) -> Outlook:
        """Return the outcome of a duel from HP `hp` against `foe_hp`. wait: turns that ours loses first (< 0: theirs)."""
        mine, other = self.rate(ours, theirs) - theirs.drip, self.rate(theirs, ours) - ours.drip
        lost, gained = delay(ours.fighter) + max(0.0, wait), delay(theirs.fighter) + max(0.0, -wait)
        to_win = _turns(foe_hp, mine, other, ours.healing, theirs.healing) + lost
        to_lose = _turns(hp, other, mine, theirs.healing, ours.healing) + gained
        lead = to_lose - to_win + (self.first(ours, theirs) - 0.5)
        win = 1 / (1 + math.exp(max(-30.0, min(30.0, -2.5 * lead / (0.6 + 0.3 * min(to_win, to_lose))))))
        taken = max(0.0, to_win - gained - self.first(ours, theirs)) * max(0.0, other)
        dealt = max(0.0, to_lose - lost - 1 + self.first(ours, theirs)) * max(0.0, mine)
        return Outlook(win, max(0.05 * hp, hp - taken), max(0.05 * foe_hp, foe_hp - dealt))

    def value(self, ours: Combatant, theirs: Combatant, hp: float, foe_hp: float, alive: float) -> float:
        """Return the value of the duel to us, from -1 to 1: expected gain minus expected loss. alive: see `worth`."""
        view = self.outlook(ours, theirs, hp, foe_hp)
        mine, other = worth(ours.fighter, hp, alive), worth(theirs.fighter, foe_hp, alive)
        if_won = other - (1 - alive) * (hp - view.ours)
        if_lost = mine - (1 - alive) * (foe_hp - view.theirs)
        return view.win * if_won - (1 - view.win) * if_lost


_SCREENS = frozenset({"reflect", "lightscreen", "auroraveil", "tailwind"})


def delay(fighter: Fighter) -> float:
    """Return the expected number of turns that a Pokémon loses to sleep, freezing or recharging."""
    if fighter.status == "slp":
        return max(0.6, _SLEEP.get(fighter.gen, _SLEEP_LATER) - 0.6 * fighter.slept)
    if fighter.status == "frz":
        return _FROZEN.get(fighter.gen, _FROZEN_LATER)
    return 1.0 if fighter.must_recharge else 0.0


def _turns(hp: float, rate: float, answer: float, healing: float, foe_healing: float) -> float:
    """Return the turns to deal `hp` at `rate` per turn, from 1 to 30; more if the target heals faster than it loses HP.

    answer, healing: the damage that the attacker takes per turn and what it can heal. foe_healing: what the target can heal.
    """
    if foe_healing and rate < 0.8 * foe_healing:
        rate = max(0.15 * rate, rate - 0.6 * foe_healing)
    if healing and rate > 0 and 0 < answer < 0.8 * healing:
        rate *= 1 - 0.5 * answer / healing
    turns = hp / max(rate, 0.01)
    return min(30.0, max(1.0, 0.5 * turns + 0.5 * math.ceil(turns - 0.1)))
