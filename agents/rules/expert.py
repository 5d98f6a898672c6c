"""The strongest rule-based player: plans one turn ahead with expected damage, duels and the likely replies."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from agents.battle import SeatBattle, SeatDoubleBattle
from agents.battle.choices import Choice
from agents.battle.previewed import only_previewed
from agents.contract import Agent, OptionLimits
from agents.mechanics.fighters import conditions, foe_fighter, own_fighter
from agents.mechanics.matchups import Combatant, Matchups
from agents.mechanics.moves import MoveFacts, facts_of
from agents.mechanics.pokemon_worth import entry_damage, hazards_cost, with_hazard
from agents.mechanics.preview import best_lead
from agents.mechanics.status import sleeper_held
from agents.rules.doubles.actions import MEGAS, lift_of
from agents.rules.doubles.outlook import DoublesWeights
from agents.rules.doubles.planner import DoublesPlan
from agents.rules.doubles.preview import best_selection
from agents.rules.options import any_choice, locked_move, move_options, switch_options
from agents.rules.planner import PlannerPosition, PlannerWeights, benched, replies, table, terastallized
from agents.rules.turn_outcomes import Action
from teamsets.errors import BadInput

_CLEARS = frozenset({"rapidspin", "defog", "mortalspin", "tidyup"})
_REPLIES = 6
_ANSWERS = 3
_LEAVES = 0.15
PREVIEWS = ("matchup", "random")


class Expert(Agent):
    """Plans one turn ahead: evaluates each choice against each likely reply by material and by the duel on the field.

    For every pair of choices the turn is computed in expectation (damage formula, misses, speed, status, set-up, healing,
    hazards, terastallization), with the opponent's moves, item, spread and tera type estimated from published sets. The
    resulting position is evaluated by the worth of all able Pokémon and by the expected outcome of the duel between the
    active ones, which either side may leave. The reply is a smoothed best response; the choice is the best against it.

    The idea is the matrix game of simultaneous moves that search programs such as foul-play solve, with a rule-based
    evaluation and no simulator: some milliseconds per decision.

    In doubles it weighs pairs of choices against the opponent's likely pairs; the options but `preview` are for singles.

    Diagnostics of each decision: `score`, the value of the choice in units of a Pokémon; it is no win probability.

    Options: duel, weight of the current duel, 0.35; reply, how well the opponent is expected to reply, 3.0; alive, the
    part of a Pokémon's worth that does not depend on its HP, 0.4; tera, cost of terastallizing, 0.12;
    preview, "matchup" (the leads, and who is brought, by matchups) or "random".
    """

    option_limits: ClassVar[OptionLimits] = dict.fromkeys(("duel", "reply", "alive", "tera"), (-math.inf, math.inf))

    def __init__(
        self, duel: float = 0.35, reply: float = 3.0, alive: float = 0.4, tera: float = 0.12, preview: str = "matchup"
    ) -> None:
        if problem := self.wrong_option(preview=preview, duel=duel, reply=reply, alive=alive, tera=tera):
            raise BadInput(f"heuristic:expert: {problem}")
        self.preview = preview
        self.weights = PlannerWeights(alive=alive, duel=duel, tera=tera, reply=reply)
        self._matchups = Matchups()
        self._doubles_weights = DoublesWeights()

    @classmethod
    def wrong_option(cls, **options: Any) -> str:
        """Check the name of the team preview too."""
        preview = options.get("preview", PREVIEWS[0])
        wrong = "" if preview in PREVIEWS else f"preview={preview}: choose one of {', '.join(PREVIEWS)}"
        return super().wrong_option(**options) or wrong

    def team_preview(self, battle: SeatBattle | SeatDoubleBattle) -> Choice | None:
        """Return the order with the best matchups against those shown: the lead, in doubles the leads and who is brought."""
        if self.preview == "random":
            return self.rng.choice(battle.legal)
        if isinstance(battle, SeatDoubleBattle):
            return best_selection(battle, self._matchups, self._doubles_weights)
        return best_lead(battle, self._matchups, self.weights.alive)

    def act(self, battle: SeatBattle | SeatDoubleBattle) -> Choice:
        if isinstance(battle, SeatDoubleBattle):
            return self._act_in_doubles(battle)
        plan = _Plan(battle, self._matchups, self.weights)
        options = plan.options()
        if not options:
            return any_choice(battle)
        best, value = plan.best(options)
        self.diagnostics = {"score": round(value, 3)}
        assert best.choice is not None
        return best.choice

    def _act_in_doubles(self, battle: SeatDoubleBattle) -> Choice:
        found = DoublesPlan(battle, self._matchups, self._doubles_weights).best()
        if found is None:
            return self.rng.choice(battle.legal)
        self.diagnostics = {"score": round(found[1], 3)}
        return found[0]


class _Plan:
    """One decision: the position, and the actions of both sides."""

    def __init__(self, battle: SeatBattle, matchups: Matchups, weights: PlannerWeights) -> None:
        self.battle, self.matchups, self.weights = battle, matchups, weights
        self.field = conditions(battle)
        matchups.turn_to(self.field)
        self.of_mon: dict[int, Combatant] = {}
        ours = self._combatants(battle.team.values(), 0)
        theirs = self._combatants([*battle.opponent_team.values(), *only_previewed(battle)], 1)
        seen = len(battle.opponent_team) + len(only_previewed(battle))
        self.position = PlannerPosition(ours, theirs, max(0, len(battle.team) - seen), matchups, weights)
        self.me = self._active(battle.active_pokemon)
        self.foe = self._active(battle.opponent_active_pokemon)

    def _combatants(self, team: Any, side: int) -> list[Combatant]:
        combatants = []
        for mon in team:
            if not mon.fainted:
                fighter = foe_fighter(mon, self.battle) if side else own_fighter(mon, self.battle)
                combatant = self.of_mon[id(mon)] = Combatant(fighter, side)
                combatants.append(combatant)
        return combatants

    def _active(self, mon: Any) -> Combatant | None:
        return self.of_mon.get(id(mon)) if mon is not None else None

    def options(self) -> list[Action]:
        """Return our actions: all legal moves with their extras, and all legal switches."""
        actions = [self._switch(choice, mon) for choice, mon in switch_options(self.battle) if id(mon) in self.of_mon]
        if self.me is not None:
            for choice, move in move_options(self.battle, extras=True):
                actions.append(self._move(choice, facts_of(move), self.me))
        return actions

    def _switch(self, choice: Choice, mon: Any) -> Action:
        combatant = self.of_mon[id(mon)]
        return self._entry(combatant, choice)

    def _entry(self, combatant: Combatant, choice: Choice | None) -> Action:
        """Return the switch to `combatant`, with the bonus of the Pokémon that leaves (Regenerator, Natural Cure)."""
        hp = combatant.hp - entry_damage(combatant.fighter, self.field.sides[combatant.side])
        leaving = self.foe if combatant.side else self.me
        bonus = 0.0
        if leaving is not None and leaving.fighter.ability == "regenerator":
            bonus = (1 - self.weights.alive) * min(1 / 3, 1 - leaving.hp)
        elif leaving is not None and leaving.fighter.ability == "naturalcure" and leaving.fighter.status:
            bonus = 0.15
        return Action(choice, benched(combatant, hp), hp, switches=True, bonus=bonus)

    def _move(self, choice: Choice, move: MoveFacts, combatant: Combatant) -> Action:
        bonus = 0.0
        if choice.extra == "terastallize":
            combatant, bonus = terastallized(combatant), -self.weights.tera
        elif choice.extra in MEGAS:
            bonus = 0.1  # stronger for the rest of the battle, at no cost
        elif choice.extra == "dynamax":
            bonus = 0.25 * combatant.hp - 0.2
        elif choice.extra == "zmove":
            bonus = -0.1
        bonus += self._lasting(move, combatant)
        return Action(choice, combatant, combatant.hp, move, bonus=bonus, lift=lift_of(move, choice.extra))

    def _lasting(self, move: MoveFacts, combatant: Combatant) -> float:
        """Return the value of a move's lasting effects: hazards set or removed, an item knocked off, Wish."""
        other = 1 - combatant.side
        if move.hazard:
            team = [b.fighter for b in (self.position.theirs if other else self.position.ours)]
            unknown = self.position.unknown if other else 0
            side = self.field.sides[other]
            after = hazards_cost(team, unknown, with_hazard(side, move.hazard))
            return after - hazards_cost(team, unknown, side)
        if move.id in _CLEARS:
            team = [b.fighter for b in (self.position.ours if other else self.position.theirs)]
            return 0.8 * hazards_cost(team, 0 if other else self.position.unknown, self.field.sides[combatant.side])
        target = self.foe if other else self.me
        if move.id == "knockoff" and target is not None and target.fighter.item and combatant.fighter.gen >= 3:
            return 0.06
        if move.id == "wish":
            return 0.25 * (1 - combatant.hp)
        return 0.0

    def replies(self) -> list[Action]:
        """Return the opponent's likely actions; a single action that does nothing if it cannot act."""
        foe = self.foe
        if foe is None:
            return []
        waiting = Action(None, foe, foe.hp)
        if self.battle.force_switch or foe.fighter.must_recharge:
            return [waiting]
        locked = locked_move(self.battle.opponent_active_pokemon)
        if locked is not None:
            return [Action(None, foe, foe.hp, locked), *self._switches_of(foe)]
        likely = sorted(foe.fighter.moves, key=lambda pair: -pair[1])[:_REPLIES]
        actions = [Action(None, foe, foe.hp, m, chance, bonus=self._lasting(m, foe)) for m, chance in likely]
        return [*actions, *self._switches_of(foe)] or [waiting]

    def _switches_of(self, foe: Combatant) -> list[Action]:
        entries = [self._entry(combatant, None) for combatant in self._their_answers(foe)]
        for entry in entries:
            entry.chance = _LEAVES
        return entries

    def _their_answers(self, foe: Combatant) -> list[Combatant]:
        """Return the opponent's benched Pokémon with the best duels against our active Pokémon."""
        bench = [combatant for combatant in self.position.theirs if combatant is not foe]
        me = self.me
        if me is not None:
            bench.sort(key=lambda combatant: self.position.duel(me, combatant, me.hp, combatant.hp))
        return bench[:_ANSWERS]

    def best(self, options: list[Action]) -> tuple[Action, float]:
        """Return the best of `options` and its value."""
        theirs = self.replies()
        if not theirs:
            return self._best_blind(options)
        if sleeper_held(self.battle):
            options = [o for o in options if not _puts_to_sleep(o)] or options
        values = table(self.position, options, theirs)
        chances = replies(values, [action.chance for action in theirs], self.weights.reply)
        means = [sum(q * value for q, value in zip(chances, row, strict=True)) for row in values]
        top = max(range(len(options)), key=means.__getitem__)
        return options[top], means[top]

    def _best_blind(self, options: list[Action]) -> tuple[Action, float]:
        """Return the option with the best mean duel against the known opponents, if none is active (both fainted)."""
        theirs = self.position.theirs

        def mean(action: Action) -> float:
            duels = [self.position.duel(action.combatant, combatant, action.hp, combatant.hp) for combatant in theirs]
            return sum(duels) / len(duels) if duels else action.hp

        top = max(options, key=mean)
        return top, mean(top)


def _puts_to_sleep(action: Action) -> bool:
    return action.move is not None and action.move.status == "slp" and not action.move.damages
