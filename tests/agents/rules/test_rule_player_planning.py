"""What the expert reckons with: guesses of sets, races, the reply to expect."""

from __future__ import annotations

import pytest
from support.rule_matches import fighter, open_field

from agents.mechanics.damage import Damage
from agents.mechanics.matchups import Combatant, Matchups
from agents.mechanics.moves import move_facts
from agents.mechanics.sets import guess
from agents.mechanics.status import can_have
from agents.rules.planner import PlannerPosition, PlannerWeights, replies, table
from agents.rules.turn_outcomes import Action, Turn, able

TAUROS = fighter("tauros", 1, (353, 298, 288, 238, 238, 318), ("NORMAL",), moves=("bodyslam", "earthquake"))
CHANSEY = fighter("chansey", 1, (703, 108, 108, 308, 308, 198), ("NORMAL",), moves=("seismictoss", "softboiled"))


@pytest.mark.parametrize(
    ("format_id", "gen", "species"),
    [("gen1ou", 1, "tauros"), ("gen9ou", 9, "greattusk"), ("gen4randombattle", 4, "aggron"), ("gen9ou", 9, "magikarp")],
)
def test_a_guess_holds_about_four_moves(format_id: str, gen: int, species: str):
    chances = dict(guess(format_id, gen, species, ()).moves)
    assert 0 < sum(chances.values()) <= 4.0001
    assert all(0 < chance <= 1 for chance in chances.values())


def test_a_guess_goes_by_what_was_shown():
    """A move that was seen is sure; after four of them nothing else is left."""
    moves = dict(guess("gen9ou", 9, "greattusk", ("rapidspin",)).moves)
    assert moves["rapidspin"] == 1.0
    four = ("rapidspin", "earthquake", "knockoff", "stealthrock")
    assert tuple(move for move, _ in guess("gen9ou", 9, "greattusk", four).moves) == four


def test_an_unknown_species_gets_a_guess_too():
    assert guess("gen9ou", 9, "nosuchmon", ("tackle",)).moves == (("tackle", 1.0),)


def test_who_can_have_which_status():
    steel = fighter("skarmory", 9, (334, 196, 416, 104, 176, 176), ("STEEL", "FLYING"))
    assert not can_have(steel, "tox", 9)
    assert can_have(steel, "par", 9)
    assert not can_have(fighter("jolteon", 9, (271, 149, 156, 319, 226, 394), ("ELECTRIC",)), "par", 9)
    assert not can_have(fighter("tauros", 1, TAUROS.stats, TAUROS.types, status="par"), "slp", 1)


def matchups() -> Matchups:
    found = Matchups()
    found.turn_to(open_field(1))
    return found


def test_the_race_favours_the_one_that_needs_fewer_turns():
    tauros, chansey = Combatant(TAUROS, 0), Combatant(CHANSEY, 1)
    even, hurt = matchups().outlook(tauros, chansey, 1.0, 1.0), matchups().outlook(tauros, chansey, 1.0, 0.3)
    asleep = Combatant(fighter("tauros", 1, TAUROS.stats, TAUROS.types, moves=("bodyslam",), status="slp"), 0)
    assert matchups().outlook(asleep, chansey, 0.3, 1.0).win < even.win < hurt.win


def test_a_wound_splits_into_knocked_out_and_hurt():
    """90% to hit, and a hit knocks out half the time: 45% out; else 10/55 unhurt and 45/55 at the least that is left."""
    action = [Action(None, Combatant(f, side), hp=0.5) for side, f in enumerate((TAUROS, CHANSEY))]
    turn = Turn(*action)
    out = turn.wound(1, 0.9, Damage(0.45, 0.55, 0.5))
    assert out == pytest.approx(0.45)
    assert turn.alive[1] == pytest.approx(0.55)
    assert turn.hp[1] == pytest.approx((0.1 * 0.5 + 0.45 * 0.03) / 0.55)


def test_sleep_and_recharging_cost_the_turn():
    assert able(fighter("tauros", 1, TAUROS.stats, TAUROS.types, status="slp")) == 0
    assert able(fighter("tauros", 1, TAUROS.stats, TAUROS.types, must_recharge=True)) == 0
    assert able(fighter("tauros", 1, TAUROS.stats, TAUROS.types, status="par")) == 0.75


def test_a_knock_out_is_worth_more_than_waiting_and_replies_are_chances():
    """Chansey at 10%: the attack that finishes it is the best choice; her replies add up to 1."""
    mine, other = (
        Combatant(TAUROS, 0),
        Combatant(fighter("chansey", 1, CHANSEY.stats, CHANSEY.types, hp=0.1, moves=("seismictoss",)), 1),
    )
    weights = PlannerWeights()
    position = PlannerPosition([mine], [other], 3, matchups(), weights)
    ours = [Action(None, mine, 1.0, move_facts(move, 1)) for move in ("bodyslam", "agility")]
    theirs = [Action(None, other, 0.1, move_facts(move, 1)) for move in ("seismictoss", "softboiled")]
    values = table(position, ours, theirs)
    assert min(values[0]) > max(values[1])
    chances = replies(values, [action.chance for action in theirs], weights.reply)
    assert sum(chances) == pytest.approx(1.0)
