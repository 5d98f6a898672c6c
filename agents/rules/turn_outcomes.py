"""One turn of the planner: the expected effect of a pair of actions on the two active Pokémon."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agents.battle.choices import Choice
from agents.mechanics.damage import Damage
from agents.mechanics.fighters import Fighter
from agents.mechanics.matchups import Combatant, Matchups
from agents.mechanics.moves import MoveFacts
from agents.mechanics.status import can_have
from agents.mechanics.type_chart import effectiveness

# Damage to an attacker that makes contact, by the target's item or ability, as a fraction of the attacker's HP.
_STINGS = {"rockyhelmet": 1 / 6, "roughskin": 1 / 8, "ironbarbs": 1 / 8}
_SPREADING = {"reflect", "lightscreen"}


@dataclass(slots=True)
class Action:
    """A possible action of one side in this turn.

    combatant: the active Pokémon after it (the incoming one, or the active one, terastallized or not). hp: its HP after
    entry. move: None for a switch or a lost turn. chance: probability that it has the move (theirs). bonus: value that
    depends on the action only (cost of terastallizing, hazards set …). lift: factor of its damage (Dynamax, Z-move).
    """

    choice: Choice | None
    combatant: Combatant
    hp: float
    move: MoveFacts | None = None
    chance: float = 1.0
    switches: bool = False
    bonus: float = 0.0
    lift: float = 1.0


class ExpectedTurn:
    """The expected state of those on the field during a turn, by place (in singles a place for each side).

    hp: mean HP if alive. alive: probability of not having fainted. blocked: probability of losing the turn. status:
    inflicted this turn, as (status, probability). bonus: value to us.
    """

    __slots__ = ("alive", "blocked", "bonus", "hp", "status")

    def __init__(self, hp: list[float]) -> None:
        self.hp = hp
        self.alive = [1.0 if each > 0 else 0.0 for each in hp]
        self.blocked = [0.0] * len(hp)
        self.status: list[tuple[str, float]] = [("", 0.0)] * len(hp)
        self.bonus = 0.0

    def wound(self, place: int, chance: float, hit: Damage, sash: float = 0.0) -> float:
        """Apply a hit with probability `chance`. Returns the probability that it knocks out a target that is alive.

        sash: HP that the hit leaves where it would knock out (Focus Sash); 0 if nothing prevents that.
        """
        hp = self.hp[place]
        if hp <= 0 or hit.mean <= 0:
            return 0.0
        fatal = hit.knocks_out(hp)
        left = max(0.03, hp - min(hit.mean, hit.high)) if fatal < 1 else hp
        if sash and fatal > 0:
            left = (1 - fatal) * left + fatal * sash
            fatal = 0.0
        out = chance * fatal
        self.alive[place] *= 1 - out
        self.hp[place] = ((1 - chance) * hp + chance * (1 - fatal) * left) / max(1 - out, 1e-6)
        return out

    def heal(self, place: int, part: float) -> None:
        """Restore a fraction of the maximum HP; a negative one is lost, down to a minimum of 0.02."""
        self.hp[place] = min(1.0, max(0.02, self.hp[place] + part))

    def can_act(self, place: int, fighter: Fighter) -> float:
        """Return the probability that the one at a place uses its move. fighter: the one there."""
        can = able(fighter) * self.alive[place] * (1 - self.blocked[place])
        status, chance = self.status[place]
        return can * (1 - chance) if status in ("slp", "frz") else can

    def recoil(self, place: int, actor: Fighter, target: Fighter, move: MoveFacts, chance: float, dealt: float) -> None:
        """Apply what a hit does to its user's HP: drain, recoil, Life Orb, contact. dealt: fraction of the target's HP."""
        scale = target.stats[0] / max(1, actor.stats[0])
        if move.drain or move.recoil:
            self.heal(place, (move.drain - move.recoil) * dealt * scale)
        if actor.item == "lifeorb" and dealt > 0:
            self.heal(place, -0.1)
        if "contact" in move.flags:
            sting = _STINGS.get(target.item, 0.0) + _STINGS.get(target.ability, 0.0)
            if sting:
                self.heal(place, -sting * chance)


class Turn(ExpectedTurn):
    """The expected state during a turn of singles; index 0 is ours, 1 theirs. pivots: whether the user of a move leaves."""

    __slots__ = ("combatant", "pivots")

    def __init__(self, ours: Action, theirs: Action) -> None:
        super().__init__([ours.hp, theirs.hp])
        self.combatant = [ours.combatant, theirs.combatant]
        self.pivots = [False, False]
        self.bonus = ours.bonus - theirs.bonus


def able(fighter: Fighter) -> float:
    """Return the probability that a Pokémon can act this turn, given its status and effects."""
    if fighter.must_recharge:
        return 0.0
    chance = 0.6 if "confusion" in fighter.effects else 1.0
    if fighter.status == "par":
        return 0.75 * chance
    if fighter.status == "slp":
        if fighter.gen == 1:
            return 0.0
        return (0.25 + 0.1 * fighter.slept if fighter.gen <= 4 else 0.33 * (1 + fighter.slept)) * chance
    if fighter.status == "frz":
        return 0.0 if fighter.gen == 1 else 0.2
    return chance


def play(matchups: Matchups, ours: Action, theirs: Action, first: float) -> list[tuple[float, Turn]]:
    """Return the possible results of a turn as (probability, Turn): two if the order is random. first: of ours first."""
    orders = [(first, 0)] if first > 0 else []
    if first < 1:
        orders.append((1 - first, 1))
    ends = []
    for chance, leader in orders:
        turn = Turn(ours, theirs)
        pair = (ours, theirs)
        for side in (leader, 1 - leader):
            if pair[side].move is not None:
                strike(matchups, turn, side, pair[side], pair[1 - side], early=side == leader)
        for side in (0, 1):
            if pair[side].combatant.drip:
                turn.heal(side, pair[side].combatant.drip)
        ends.append((chance, turn))
    return ends


def order(matchups: Matchups, ours: Action, theirs: Action) -> float:
    """Return the probability that ours acts first. Switches act before moves."""
    mine = ours.move.priority if ours.move is not None else 9
    other = theirs.move.priority if theirs.move is not None else 9
    if mine != other:
        return 1.0 if mine > other else 0.0
    return matchups.first(ours.combatant, theirs.combatant)


def strike(matchups: Matchups, turn: Turn, side: int, action: Action, against: Action, early: bool) -> None:
    """Apply one Pokémon's move. early: it acts before the other."""
    move = action.move
    assert move is not None
    actor, target = turn.combatant[side], turn.combatant[1 - side]
    can = turn.can_act(side, actor.fighter)
    if move.id in ("suckerpunch", "thunderclap") and not (early and against.move is not None and against.move.damages):
        can = 0.0
    if move.id == "focuspunch" and against.move is not None and against.move.damages:
        can *= 0.2
    if can <= 0:
        return
    if move.damages:
        _attack(matchups, turn, side, action, can, early)
    else:
        _support(turn, side, move, can)
    if move.status:
        _inflict(turn, 1 - side, target.fighter, move, can * move.accuracy)
    if move.self_boosts and can > 0.5 and turn.alive[side] > 0:
        turn.combatant[side] = changed(actor, move.self_boosts)
    if move.boosts and can * move.accuracy * move.boost_chance > 0.5 and turn.alive[1 - side] > 0:
        turn.combatant[1 - side] = changed(target, move.boosts)
    if move.self_switch and can > 0.5:
        turn.pivots[side] = True


def _attack(matchups: Matchups, turn: Turn, side: int, action: Action, can: float, early: bool) -> None:
    move, other = action.move, 1 - side
    assert move is not None
    actor, target = turn.combatant[side], turn.combatant[other]
    hit = matchups.hit(actor, target, move)
    if action.lift != 1.0:
        hit = Damage(hit.low * action.lift, hit.high * action.lift, hit.mean * action.lift, True)
    chance = can * move.accuracy
    standing = turn.alive[other]
    before = turn.hp[other]
    if "substitute" in target.fighter.effects and "sound" not in move.flags and hit.mean > 0:
        turn.bonus += (1 - 2 * side) * 0.1 * chance * min(1.0, hit.mean * 4)
        out = 0.0
    else:
        out = turn.wound(other, chance, hit)
    if early and move.flinch:
        turn.blocked[other] = max(turn.blocked[other], chance * move.flinch)
    if move.volatile == "partiallytrapped" and actor.fighter.gen == 1 and early and hit.mean > 0:
        turn.blocked[other] = max(turn.blocked[other], chance)
        turn.bonus += (1 - 2 * side) * 0.12 * chance
    dealt = chance * min(hit.mean, before) * standing
    turn.recoil(side, actor.fighter, target.fighter, move, chance, dealt)
    if move.explodes:
        turn.alive[side] *= 1 - can
    elif move.recharges or (move.charges and actor.fighter.item != "powerherb"):
        idle = chance * (1 - out) if move.recharges else can
        mean = matchups.rate(target, actor)
        turn.wound(side, idle * turn.alive[other], Damage(0.85 * mean, mean, mean))


def _support(turn: Turn, side: int, move: MoveFacts, can: float) -> None:
    fighter, other = turn.combatant[side].fighter, 1 - side
    foe = turn.combatant[other].fighter
    sign = 1 - 2 * side
    if move.heal:
        turn.heal(side, can * move.heal)
        if move.id == "rest":
            turn.status[side] = ("slp", 0.0 if turn.hp[side] <= 0 else can)
            turn.bonus += sign * (0.1 if fighter.status else 0.0)
    elif move.protects:
        turn.blocked[other] = max(turn.blocked[other], 0.95 * can)
        turn.bonus -= sign * 0.12
    elif move.id in _SPREADING:
        if fighter.gen == 1 and move.id not in fighter.effects:
            marked = replace(fighter, effects=fighter.effects | {move.id})
            turn.combatant[side] = Combatant(marked, side)
        turn.bonus += sign * (0.0 if fighter.gen == 1 else 0.08)
    elif move.id == "substitute":
        if "substitute" not in fighter.effects and turn.hp[side] > 0.28:
            turn.heal(side, -0.25)
            turn.bonus += sign * can * (0.2 if foe.status in ("slp", "frz") else 0.1)
    elif move.volatile == "leechseed":
        if "GRASS" not in foe.types and "leechseed" not in foe.effects:
            turn.bonus += sign * 0.12 * can * move.accuracy
    elif move.volatile == "confusion" and "confusion" not in foe.effects:
        turn.bonus += sign * 0.08 * can * move.accuracy
    elif move.id in ("haze", "clearsmog") or move.forces_switch:
        turn.bonus += sign * can * 0.1 * sum(stage for _, stage in foe.boosts)


def _inflict(turn: Turn, side: int, fighter: Fighter, move: MoveFacts, chance: float) -> None:
    if not can_have(fighter, move.status, fighter.gen) or "substitute" in fighter.effects or turn.status[side][0]:
        return
    if not move.damages and move.id in ("thunderwave", "glare"):
        chance *= 1.0 if effectiveness(fighter.gen, move.type, fighter.types) else 0.0
    if not move.damages and "powder" in move.flags and fighter.gen >= 6 and "GRASS" in fighter.types:
        chance = 0.0
    if move.damages and fighter.gen == 1 and move.type in fighter.types:
        chance = 0.0  # in generation 1 a Pokémon of the move's type does not get its side effect
    chance *= move.status_chance
    if chance > 0:
        turn.status[side] = (move.status, chance)


def changed(combatant: Combatant, boosts: tuple[tuple[str, int], ...]) -> Combatant:
    """Return the combatant after boosts, cached per combatant and change."""
    return combatant.variant(boosts, lambda: combatant.fighter.boosted(boosts))


def with_status(combatant: Combatant, status: str) -> Combatant:
    """Return the combatant with a new status, cached per combatant and status."""
    return combatant.variant(status, lambda: replace(combatant.fighter, status=status, slept=0))
