"""Team preview in doubles: who leads, and who is brought, by how each of ours fares against each of theirs."""

from __future__ import annotations

from agents.battle import SeatDoubleBattle
from agents.battle.choices import Choice
from agents.mechanics.fighters import Fighter, conditions, foe_fighter, own_fighter
from agents.mechanics.matchups import Combatant, Matchups
from agents.rules.doubles.actions import evolved
from agents.rules.doubles.outlook import DoublesWeights, gain

#: Weight of those behind the leads.
_BEHIND = 0.6
#: Weight of the best of several against an opponent, beside their mean.
_BEST = 0.6
#: Value of what helps the ally of a lead.
_HELPING_MOVES = {"fakeout": 0.15, "tailwind": 0.12, "trickroom": 0.1, "followme": 0.08, "ragepowder": 0.08}
_HELPING_ABILITIES = {"intimidate": 0.12, "drizzle": 0.05, "drought": 0.05, "prankster": 0.05}
#: Cost of each mega stone after the first: one Pokémon may use one.
_IDLE_STONE = 0.25


def best_selection(battle: SeatDoubleBattle, matchups: Matchups, weights: DoublesWeights) -> Choice | None:
    """Return the order with the best matchups against those that the opponent has shown; None if it has shown none."""
    matchups.turn_to(conditions(battle))
    shown = battle.teampreview_opponent_team or list(battle.opponent_team.values())
    ours = [battle.team[entry["ident"]] for entry in battle.last_request["side"]["pokemon"]]
    if not shown:
        return None
    theirs = [Combatant(foe_fighter(mon, battle), 1) for mon in shown]
    plain = [Combatant(own_fighter(mon, battle), 0) for mon in ours]
    best_formes = [evolved(combatant, "mega") for combatant in plain]
    stones = [one.fighter is not other.fighter for one, other in zip(plain, best_formes, strict=True)]
    edges = [[_edge(one, foe, matchups, weights) for foe in theirs] for one in best_formes]
    helps = [_help(combatant.fighter) for combatant in plain]

    def worth(choice: Choice) -> float:
        order = [int(digit) - 1 for digit in choice.label.removeprefix("team ")]
        leads, behind = order[:2], order[2:]
        total = _together(leads, edges) + 0.5 * sum(helps[lead] for lead in leads)
        if len(order) < len(ours):
            total += _BEHIND * _together(behind, edges) - _IDLE_STONE * max(0, sum(stones[each] for each in order) - 1)
        return total

    return max(battle.legal, key=worth)


def _together(members: list[int], edges: list[list[float]]) -> float:
    """Return how some of ours fare: the best of them against each of theirs, and their mean."""
    by_foe = list(zip(*(edges[member] for member in members), strict=True))
    return sum(_BEST * max(values) + (1 - _BEST) * sum(values) / len(values) for values in by_foe) / len(by_foe)


def _edge(ours: Combatant, theirs: Combatant, matchups: Matchups, weights: DoublesWeights) -> float:
    """Return what one of ours threatens to take from one of theirs, less the reverse, and who moves first."""
    won = gain(matchups.rate(ours, theirs), 1.0, weights.alive)
    lost = gain(matchups.rate(theirs, ours), 1.0, weights.alive)
    return won - lost + weights.order * (2 * matchups.first(ours, theirs) - 1)


def _help(fighter: Fighter) -> float:
    return _HELPING_ABILITIES.get(fighter.ability, 0.0) + sum(
        _HELPING_MOVES.get(move.id, 0.0) for move, _ in fighter.moves
    )
