"""The expert's planner: the payoff matrix of our actions against the opponent's replies, and the expected reply."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from agents.mechanics.matchups import Combatant, Matchups
from agents.mechanics.pokemon_worth import expected_worth, worth
from agents.rules.turn_outcomes import Action, Turn, order, play, with_status

_LOST = -1.6


@dataclass(frozen=True, slots=True)
class PlannerWeights:
    """The planner's weights.

    alive: the part of a Pokémon's worth that does not depend on its HP. duel: weight of the current duel's outcome, as both
    sides are free to leave it. tera: cost of terastallizing. reply: inverse temperature of the opponent's reply (0: uniform;
    large: the best reply).
    """

    alive: float = 0.4
    duel: float = 0.35
    tera: float = 0.12
    reply: float = 3.0


@dataclass
class PlannerPosition:
    """Both teams without fainted Pokémon, the active one first. unknown: number of the opponent's unseen Pokémon."""

    ours: list[Combatant]
    theirs: list[Combatant]
    unknown: int
    matchups: Matchups
    weights: PlannerWeights
    _duels: dict[tuple[Combatant, Combatant, float, float], float] = field(default_factory=dict)
    _next: dict[tuple[Combatant, Combatant, float], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.worths = [
            {combatant: worth(combatant.fighter, combatant.hp, self.weights.alive) for combatant in team}
            for team in (self.ours, self.theirs)
        ]
        self.totals = [sum(worths.values()) for worths in self.worths]

    def duel(self, ours: Combatant, theirs: Combatant, hp: float, foe_hp: float) -> float:
        """Return the value of a duel to us, from -1 to 1: expected gain minus expected loss in worth."""
        key = (ours, theirs, round(hp, 2), round(foe_hp, 2))
        cached = self._duels.get(key)
        if cached is None:
            cached = self.matchups.value(ours, theirs, hp, foe_hp, self.weights.alive)
            self._duels[key] = cached
        return cached

    def after_our_loss(self, fallen: Combatant, theirs: Combatant, foe_hp: float) -> float:
        """Return the value of our best next duel against their active Pokémon. fallen: our fainted one."""
        key = (fallen, theirs, round(foe_hp, 1))
        cached = self._next.get(key)
        if cached is None:
            duels = [self.duel(b, theirs, b.hp, foe_hp) for b in self.ours if b is not fallen]
            cached = self._next[key] = max(duels, default=_LOST)
        return cached

    def after_their_loss(self, fallen: Combatant, ours: Combatant, hp: float) -> float:
        """Return the value of the next duel that the opponent would choose; unseen Pokémon count as an even duel."""
        key = (fallen, ours, round(hp, 1))
        cached = self._next.get(key)
        if cached is None:
            duels = [self.duel(ours, b, hp, b.hp) for b in self.theirs if b is not fallen]
            if self.unknown:
                duels.append(0.0)
            cached = self._next[key] = min(duels, default=-_LOST)
        return cached

    def value(self, turn: Turn, out: tuple[Combatant, Combatant]) -> float:
        """Return the value of a position after a turn: material and expected duel. out: the two active Pokémon before."""
        (ours, theirs), (hp, foe_hp), (alive, foe_alive) = turn.combatant, turn.hp, turn.alive
        total = turn.bonus + self.totals[0] - self.worths[0].get(out[0], 0.0)
        total -= self.totals[1] - self.worths[1].get(out[1], 0.0)
        total += alive * self._stands(turn, 0) - foe_alive * self._stands(turn, 1)
        outlook = 0.0
        if alive * foe_alive > 0.01:
            outlook += alive * foe_alive * self._expected_duel(turn, out)
        if alive < 0.99:
            outlook += (1 - alive) * foe_alive * self.after_our_loss(out[0], theirs, foe_hp)
        if foe_alive < 0.99:
            outlook += alive * (1 - foe_alive) * self.after_their_loss(out[1], ours, hp)
        return total + self.weights.duel * outlook

    def _stands(self, turn: Turn, side: int) -> float:
        return expected_worth(turn.combatant[side].fighter, turn.hp[side], self.weights.alive, turn.status[side])

    def _expected_duel(self, turn: Turn, out: tuple[Combatant, Combatant]) -> float:
        ours, theirs = turn.combatant
        hp, foe_hp = turn.hp
        if turn.pivots[0] and not turn.pivots[1]:
            return max(self.after_our_loss(out[0], theirs, foe_hp), self.duel(ours, theirs, hp, foe_hp))
        if turn.pivots[1] and not turn.pivots[0]:
            return min(self.after_their_loss(out[1], ours, hp), self.duel(ours, theirs, hp, foe_hp))
        plain = self.duel(ours, theirs, hp, foe_hp)
        for side in (0, 1):
            status, chance = turn.status[side]
            if status and chance > 0.02:
                pair = [ours, theirs]
                pair[side] = with_status(pair[side], status)
                plain = (1 - chance) * plain + chance * self.duel(pair[0], pair[1], hp, foe_hp)
        return plain


def table(position: PlannerPosition, ours: list[Action], theirs: list[Action]) -> list[list[float]]:
    """Return the payoff matrix: a row for each of our actions, a column for each of theirs."""
    return [[_cell(position, mine, other) for other in theirs] for mine in ours]


def _cell(position: PlannerPosition, ours: Action, theirs: Action) -> float:
    out = (_root(ours.combatant), _root(theirs.combatant))
    first = order(position.matchups, ours, theirs)
    return sum(chance * position.value(turn, out) for chance, turn in play(position.matchups, ours, theirs, first))


def _root(combatant: Combatant) -> Combatant:
    return combatant.root or combatant


def replies(values: list[list[float]], chances: list[float], temperature: float) -> list[float]:
    """Return the probability of each reply: the opponent replies well, but not perfectly and without knowing our choice.

    chances: how likely each reply is before. temperature: inverse, see PlannerWeights.reply.
    Three rounds of smoothed best responses: each side plays in proportion to exp(value) against the other's last mixture.
    """
    mine = [1 / len(values)] * len(values)
    reply = chances
    for _ in range(3):
        means = [sum(p * row[j] for p, row in zip(mine, values, strict=True)) for j in range(len(chances))]
        reply = _soft([-temperature * mean for mean in means], chances)
        gains = [sum(q * value for q, value in zip(reply, row, strict=True)) for row in values]
        mine = _soft([temperature * gain for gain in gains], [1.0] * len(values))
    return reply


def _soft(values: list[float], weights: list[float]) -> list[float]:
    top = max(values)
    parts = [weight * math.exp(value - top) for value, weight in zip(values, weights, strict=True)]
    total = sum(parts) or 1.0
    return [part / total for part in parts]


def terastallized(combatant: Combatant) -> Combatant:
    """Return the terastallized variant of a combatant."""
    variant = combatant.variant("tera", combatant.fighter.as_tera)
    variant.root = combatant
    return variant


def benched(combatant: Combatant, hp: float) -> Combatant:
    """Return a combatant as it enters the field: without boosts and volatile effects, with `hp` left."""
    fighter = replace(
        combatant.fighter, boosts=(), effects=frozenset(), first_turn=True, must_recharge=False, hp=max(hp, 0.0)
    )
    entering = Combatant(fighter, combatant.side)
    entering.root = combatant
    return entering
