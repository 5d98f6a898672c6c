"""The expert's doubles: one turn of four, and the choices that it makes."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from support.double_requests import double_battle
from support.rule_matches import fighter, open_field

from agents.mechanics.fighters import Conditions, Fighter
from agents.mechanics.matchups import Combatant, Matchups
from agents.mechanics.moves import move_facts
from agents.rules.doubles.actions import SlotAction, priority_of
from agents.rules.doubles.places import place_of, struck
from agents.rules.doubles.state import DoublesState, Hits
from agents.rules.doubles.turn import PairOfActions, Turns
from agents.rules.expert import Expert

MEW = fighter("mew", 9, (341, 236, 236, 236, 236, 236), ("PSYCHIC",))
SLOW = replace(MEW, species="snorlax", stats=(461, 256, 166, 166, 256, 96), types=("NORMAL",), base_types=("NORMAL",))


def turn(
    *acting: tuple[Fighter, str, int | None] | None, field: Conditions | None = None, **lift: float
) -> DoublesState:
    """Play a turn: (who, move or "", the place that is named) for each place."""
    field = field or open_field(9)
    matchups = Matchups()
    matchups.turn_to(field)
    actions: list[SlotAction | None] = []
    for place, one in enumerate(acting):
        if one is None:
            actions.append(None)
            continue
        who, name, aimed = one
        combatant = Combatant(who, place >> 1)
        action = SlotAction(None, combatant, move_facts(name, 9) if name else None, aimed)
        if action.move is not None:
            action.priority = priority_of(action.move, who, field)
        actions.append(action)
    return Turns(Hits(field, matchups)).play(PairOfActions(*actions[:2]), PairOfActions(*actions[2:]))


def test_turns_that_share_their_beginning_are_as_if_played_alone() -> None:
    """Every pair of ours against every pair of theirs, with moves that change the order, the targets and each other."""
    field, matchups = open_field(9), Matchups()
    matchups.turn_to(field)
    names = ("psychic", "suckerpunch", "tailwind", "protect", "followme", "icywind", "swordsdance", "")
    fighters = (
        replace(MEW, ability="friendguard"),
        SLOW,
        replace(MEW, item="leftovers", hp=0.4),
        replace(SLOW, status="par"),
    )
    options: list[list[SlotAction]] = []
    for place, who in enumerate(fighters):
        combatant, foe = Combatant(who, place >> 1), 2 - (place & 2)
        options.append([SlotAction(None, combatant, move_facts(name, 9) if name else None, foe) for name in names])
        for action in options[-1]:
            if action.move is not None:
                action.priority = priority_of(action.move, who, field)
                action.aimed = foe if action.move.target in ("normal", "any") else None
                action.bonus = -0.03 if action.move.protects else 0.0
    ours = [PairOfActions(*pair) for pair in product(*options[:2])]
    theirs = [PairOfActions(*pair) for pair in product(*options[2:])]
    together = Turns(Hits(field, matchups))
    for one, other in random.Random(5).sample(list(product(ours, theirs)), 600):
        shared, alone = together.play(one, other), Turns(together.hits).play(one, other)
        assert shared.result() == alone.result() and shared.blocked == alone.blocked


def waits(who: Fighter = MEW) -> tuple[Fighter, str, None]:
    return who, "", None


def test_a_protected_one_is_not_hit() -> None:
    state = turn((MEW, "psychic", 2), waits(), (SLOW, "protect", None), waits())
    assert state.hp[2] == 1.0 and turn((MEW, "psychic", 2), waits(), waits(SLOW), waits()).hp[2] < 0.8


def test_wide_guard_stops_what_hits_several_and_nothing_else() -> None:
    wide = (MEW, "wideguard", None)
    assert turn((MEW, "dazzlinggleam", None), waits(), waits(SLOW), wide).hp[2] == 1.0
    assert turn((MEW, "psychic", 2), waits(), waits(SLOW), wide).hp[2] < 1.0


def test_quick_guard_stops_priority() -> None:
    quick = (MEW, "quickguard", None)
    assert turn((MEW, "aquajet", 2), waits(), waits(SLOW), quick).hp[2] == 1.0
    assert turn((MEW, "aquajet", 2), waits(), waits(SLOW), waits()).hp[2] < 1.0


def test_follow_me_draws_what_is_aimed_at_its_ally() -> None:
    state = turn((MEW, "psychic", 2), waits(), waits(SLOW), (MEW, "followme", None))
    assert state.hp[2] == 1.0 and state.hp[3] < 1.0
    both = turn((MEW, "dazzlinggleam", None), waits(), waits(SLOW), (MEW, "followme", None))
    assert both.hp[2] < 1.0 and both.hp[3] < 1.0


def test_fake_out_takes_the_turn_of_its_target() -> None:
    fresh = replace(MEW, first_turn=True)
    state = turn((fresh, "fakeout", 2), waits(), (SLOW, "psychic", 0), waits())
    assert state.blocked[2] == 1.0 and state.hp[0] == 1.0
    assert turn((MEW, "fakeout", 2), waits(), (SLOW, "psychic", 0), waits()).hp[0] < 1.0


def test_helping_hand_comes_first_and_strengthens() -> None:
    alone = turn((MEW, "psychic", 2), waits(), waits(SLOW), waits())
    helped = turn((MEW, "psychic", 2), (SLOW, "helpinghand", None), waits(SLOW), waits())
    assert 1 - helped.hp[2] == pytest.approx(1.5 * (1 - alone.hp[2]), rel=0.02)


def test_a_second_hit_goes_to_the_other_where_the_first_has_knocked_out() -> None:
    weak = replace(SLOW, hp=0.05)
    state = turn((MEW, "psychic", 2), (MEW, "psychic", 2), waits(weak), waits(SLOW))
    assert state.alive[2] == 0.0 and state.hp[3] < 1.0


def test_earthquake_hits_its_ally() -> None:
    state = turn((MEW, "earthquake", None), waits(SLOW), waits(SLOW), waits(SLOW))
    assert state.hp[1] == state.hp[2] == state.hp[3] < 1.0


def test_tailwind_changes_the_order_of_the_turn_in_which_it_begins() -> None:
    """Snorlax is slower than Mew (96 against 170), and faster in a Tailwind that is set before it moves."""
    target, quick = replace(MEW, stats=(*MEW.stats[:5], 170), hp=0.1), replace(MEW, stats=(*MEW.stats[:5], 300))
    state = turn((SLOW, "bodyslam", 2), (quick, "tailwind", None), (target, "psychic", 0), waits())
    assert state.hp[0] == 1.0
    assert turn((SLOW, "bodyslam", 2), waits(quick), (target, "psychic", 0), waits()).hp[0] < 1.0


def test_the_slower_moves_first_in_trick_room() -> None:
    room = replace(open_field(9), trick_room=True)
    weak = replace(MEW, hp=0.1)
    assert turn((SLOW, "bodyslam", 2), waits(), (weak, "psychic", 0), waits(), field=room).hp[0] == 1.0
    assert turn((SLOW, "bodyslam", 2), waits(), (weak, "psychic", 0), waits()).hp[0] < 1.0


@pytest.mark.parametrize(
    ("place", "move", "aimed", "fallen", "found"),
    [
        (0, "psychic", 3, (), [3]),
        (0, "psychic", 3, (3,), [2]),
        (0, "earthquake", None, (), [2, 3, 1]),
        (0, "earthquake", None, (1,), [2, 3]),
        (2, "dazzlinggleam", None, (), [0, 1]),
        (2, "outrage", None, (), [0, 1]),
        (3, "psychic", 2, (), [2]),
    ],
)
def test_whom_a_move_hits(place: int, move: str, aimed: int | None, fallen: tuple[int, ...], found: list[int]) -> None:
    standing = [None if each in fallen else MEW for each in range(4)]
    assert struck(place, move_facts(move, 9), aimed, standing, open_field(9)) == found


def test_lightning_rod_draws_electric_moves_of_both_sides() -> None:
    standing = [MEW, replace(MEW, ability="lightningrod"), SLOW, MEW]
    field = open_field(9)
    assert struck(0, move_facts("thunderbolt", 9), 2, standing, field) == [1]
    assert struck(2, move_facts("thunderbolt", 9), 0, standing, field) == [1]
    assert struck(2, move_facts("discharge", 9), None, standing, field) == [0, 1, 3]
    assert struck(0, move_facts("psychic", 9), 2, standing, field) == [2]


def test_targets_of_choices_are_places() -> None:
    assert [place_of(0, target) for target in (1, 2, -1, -2)] == [2, 3, 0, 1]
    assert [place_of(3, target) for target in (1, 2, -1, -2)] == [0, 1, 2, 3]


def chosen(first: tuple[str, ...], second: tuple[str, ...], *lines: str, **more: Any) -> str:
    agent = Expert()
    agent.rng = random.Random(1)
    return agent.act(double_battle(first, second, *lines, **more)).label


def test_both_hit_the_one_that_they_knock_out_together() -> None:
    """Each takes half of Persian's HP and little of Snorlax's: both at Persian knock it out."""
    first, second = chosen(("psychic",), ("sludgebomb",), opponents=("Persian", "Snorlax")).split(", ")
    assert (first, second) == ("move psychic +1", "move sludgebomb +1")


def test_it_does_not_shake_its_ally_for_little() -> None:
    """Earthquake is super effective on Muk, and the opponents do not stand on the ground."""
    assert chosen(("earthquake", "psychic"), ("sludgebomb",), opponents=("Gyarados", "Rotom")).startswith(
        "move psychic"
    )


def test_it_does_not_use_fake_out_again() -> None:
    used = ("|move|p1a: Hypno|Fake Out|p2a: Persian", "|upkeep", "|turn|2")
    assert "fakeout" not in chosen(("fakeout", "psychic"), ("sludgebomb",), *used, opponents=("Persian", "Snorlax"))


def test_one_of_two_that_may_mega_evolve_does() -> None:
    battle = double_battle(("psychic",), ("sludgebomb",), opponents=("Persian", "Snorlax"))
    request = battle.last_request
    for active in request["active"]:
        active["canMegaEvo"] = True
    battle.ask(request)
    agent = Expert()
    agent.rng = random.Random(1)
    parts = agent.act(battle).parts
    assert sorted(part.extra for part in parts) == ["", "mega"] and all(part.kind == "move" for part in parts)
