"""Players that prefer something to damage: status, hazards, healing."""

from __future__ import annotations

from agents.battle import SeatBattle
from agents.battle.choices import Choice
from agents.contract import SinglesAgent
from agents.mechanics.fighters import Fighter
from agents.mechanics.moves import MoveFacts
from agents.mechanics.status import can_inflict
from agents.rules.options import any_choice
from agents.rules.turn_view import MoveOption, TurnView, best_answer, strongest

_LAYERS = {"spikes": 3, "toxicspikes": 2}


def heals(move: MoveFacts, me: Fighter) -> bool:
    """Return whether the move restores half of the user's HP or more at once."""
    return move.heal >= 0.5 and not (move.id == "rest" and me.status == "slp")


def attack_or_answer(view: TurnView) -> Choice:
    """Return the strongest move; if no move is legal, the best switch."""
    if view.moves:
        return strongest(view.moves).choice
    return best_answer(view).choice if view.switches else any_choice(view.battle)


class StatusSpreader(SinglesAgent):
    """Inflicts a status on every opponent that has none (sleep, paralysis, burn, poison, in this order), then attacks.

    The plan of the ladder's "para-fusion" teams, which spread paralysis before they attack.
    """

    ORDER = ("slp", "par", "brn", "tox", "psn")

    def act(self, battle: SeatBattle) -> Choice:
        view = TurnView(battle)
        foe = view.foe
        if foe is not None:
            useful = [o for o in view.moves if not o.move.damages and can_inflict(o.move, foe, view.battle)]
            if useful:
                return min(useful, key=lambda o: (self.ORDER.index(o.move.status), -o.move.accuracy)).choice
        return attack_or_answer(view)


class HazardStacker(SinglesAgent):
    """Sets all layers of entry hazards first, then forces switches (Roar, Whirlwind), else attacks.

    Hazard-stacking offense of generations 2 and up; without hazard moves it is a max-damage player.
    """

    def act(self, battle: SeatBattle) -> Choice:
        view = TurnView(battle)
        theirs = view.field.sides[1]
        if self._standing(battle) > 1:
            for option in view.moves:
                hazard = option.move.hazard
                if hazard and theirs.get(hazard, 0) < _LAYERS.get(hazard, 1):
                    return option.choice
        drive = [o for o in view.moves if o.move.forces_switch and not o.move.damages]
        if drive and theirs.keys() & {"spikes", "stealthrock"} and self.rng.random() < 0.5:
            return drive[0].choice
        return attack_or_answer(view)

    def _standing(self, battle: SeatBattle) -> int:
        return 6 - sum(mon.fainted for mon in battle.opponent_team.values())


class Staller(SinglesAgent):
    """Heals below `heal_under`, inflicts status, protects itself, and attacks only as the last option.

    The stall style of competitive play; a battle of two such players often reaches the turn limit.

    Options: heal_under, a fraction of HP, 0.7 by default.
    """

    def __init__(self, heal_under: float = 0.7) -> None:
        self.heal_under = heal_under
        self._protected_on = -2

    def act(self, battle: SeatBattle) -> Choice:
        view = TurnView(battle)
        me, foe = view.me, view.foe
        if me is None or foe is None or not view.moves:
            return attack_or_answer(view)
        healing = [o for o in view.moves if heals(o.move, me)]
        if healing and me.hp < self.heal_under:
            return healing[0].choice
        worn = [o for o in view.moves if o.move.status and not o.move.damages and can_inflict(o.move, foe, battle)]
        if worn:
            return worn[0].choice
        guard = [o for o in view.moves if o.move.protects]
        if guard and foe.status in ("tox", "psn", "brn") and battle.turn > self._protected_on + 1:
            self._protected_on = battle.turn
            return guard[0].choice
        return self._least_risk(view, me)

    def _least_risk(self, view: TurnView, me: Fighter) -> Choice:
        safe = max(view.switches, key=lambda s: s.fighter.hp - 2 * view.threat(s.fighter), default=None)
        threat = view.threat(me)
        if safe is not None and threat > 0.5 and view.threat(safe.fighter) < threat / 2:
            return safe.choice
        return strongest([o for o in view.moves if not o.move.explodes] or view.moves).choice


def set_up_options(view: TurnView) -> list[MoveOption]:
    """Return the status moves that raise a stat of the user (attack, special attack, speed) that is below +2."""
    me = view.me
    if me is None:
        return []
    return [
        option
        for option in view.moves
        if not option.move.damages
        and any(
            stat in ("atk", "spa", "spe") and rise > 0 and me.stage(stat) < 2 for stat, rise in option.move.self_boosts
        )
    ]
