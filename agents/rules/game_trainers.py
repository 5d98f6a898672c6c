"""The games' own trainers: the move choice of Red and Blue, and the scoring of Emerald and of Kaizo hacks."""

from __future__ import annotations

from agents.battle import SeatBattle
from agents.battle.choices import Choice
from agents.contract import SinglesAgent
from agents.mechanics.fighters import Fighter
from agents.mechanics.status import can_inflict
from agents.mechanics.type_chart import effectiveness
from agents.rules.options import any_choice
from agents.rules.support_players import heals
from agents.rules.turn_view import MoveOption, TurnView, best_answer


class RedBlueTrainer(SinglesAgent):
    """A trainer of Red and Blue: each move has 10 points, three rules change them, a random move with the fewest is used.

    The rules, from the disassembly of the game (pret/pokered, "trainer AI"): a status move against an opponent that has a
    status: +5. On the Pokémon's second turn, a move with a stat or status effect: -1. A super-effective move: -1; one that
    is not very effective or has no effect, if it has another type of damaging move: +1. As in the game, effectiveness is
    looked up by the move's type, damaging or not. It switches only when forced, to the next Pokémon in order.
    """

    def __init__(self) -> None:
        self._out: str = ""
        self._turns = 0

    def act(self, battle: SeatBattle) -> Choice:
        view = TurnView(battle)
        if not view.moves or view.foe is None or view.me is None:
            return view.switches[0].choice if view.switches else any_choice(battle)
        if view.me.species != self._out:
            self._out, self._turns = view.me.species, 0
        self._turns += 1
        foe, gen = view.foe, battle.gen
        points = [self._points(option, view.moves, foe, gen) for option in view.moves]
        fewest = min(points)
        return self.rng.choice([o for o, p in zip(view.moves, points, strict=True) if p == fewest]).choice

    def _points(self, option: MoveOption, options: list[MoveOption], foe: Fighter, gen: int) -> int:
        move, points = option.move, 10
        if foe.status and move.status and not move.damages:
            points += 5
        if self._turns == 2 and not move.damages and (move.status or move.boosts or move.self_boosts):
            points -= 1
        factor = effectiveness(gen, move.type, foe.types)
        if factor > 1:
            points -= 1
        elif factor < 1 and any(o.move.damages and o.move.type != move.type for o in options):
            points += 1
        return points


class EmeraldTrainer(SinglesAgent):
    """A boss trainer of Emerald or a Kaizo hack: scores all moves by their expected effect and uses the best.

    After the game's battle scripts ("check bad move", "check viability", "try to faint"): all moves start at 100; useless
    ones lose 10 or more, certain knock-outs gain 4 (6 when first), the strongest gains 1; status, set-up, healing and
    self-destruction gain or lose by the HP of both sides; ties are broken at random. As those trainers do, it switches to
    the best matchup when none of its moves damages the opponent.
    """

    def act(self, battle: SeatBattle) -> Choice:
        view = TurnView(battle)
        if view.me is None or view.foe is None or not view.moves:
            return best_answer(view).choice if view.switches else any_choice(battle)
        harmless = not any(o.expected > 0.02 for o in view.moves)
        if harmless and view.switches and self.rng.random() < 0.5:
            return best_answer(view).choice
        scores = [self._score(option, view, view.me, view.foe) for option in view.moves]
        best = max(scores)
        return self.rng.choice([o for o, s in zip(view.moves, scores, strict=True) if s == best]).choice

    def _score(self, option: MoveOption, view: TurnView, me: Fighter, foe: Fighter) -> int:
        move = option.move
        if move.damages:
            return 100 + self._attack(option, view, me, foe)
        if move.status:
            return 100 + self._status(option, view, me, foe)
        if heals(move, me):
            return 100 + (-10 if me.hp > 0.9 else 3 if me.hp < 0.5 and view.threat(me) < 0.6 else -2)
        if any(rise > 0 for _, rise in move.self_boosts):
            return 100 + self._set_up(move.self_boosts, view, me)
        if move.hazard:
            return 100 + (-10 if move.hazard in view.field.sides[1] else 2 if view.battle.turn <= 5 else 0)
        if move.boosts:
            return 100 + (-10 if all(foe.stage(stat) <= -2 for stat, _ in move.boosts) else -1)
        return 99

    def _attack(self, option: MoveOption, view: TurnView, me: Fighter, foe: Fighter) -> int:
        if option.damage.high <= 0:
            return -12
        score = 1 if option.expected >= max(o.expected for o in view.moves) else -1
        sure = option.damage.low >= foe.hp
        if sure:
            score += 6 if option.move.priority > 0 or view.faster(me) else 4
        if option.move.explodes:
            score += 1 if me.hp < 0.3 and not sure else -3
        if option.move.recharges and not sure:
            score -= 2
        if option.move.charges:
            score -= 1
        return score

    def _status(self, option: MoveOption, view: TurnView, me: Fighter, foe: Fighter) -> int:
        if not can_inflict(option.move, foe, view.battle):
            return -10
        if foe.hp < 0.3 or me.hp < 0.25:
            return -1
        if option.move.status == "slp":
            return 3
        if option.move.status == "par":
            return 3 if not view.faster(me) else 1
        return 2 if foe.hp > 0.7 else 0

    def _set_up(self, rises: tuple[tuple[str, int], ...], view: TurnView, me: Fighter) -> int:
        if all(me.stage(stat) >= 2 for stat, rise in rises if rise > 0):
            return -8
        if me.hp < 0.6 or view.threat(me) > 0.4:
            return -2
        return 2
