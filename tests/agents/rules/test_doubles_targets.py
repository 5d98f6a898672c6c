"""Whom moves hit, as the rule players reckon with it, against what Showdown's lines say in battles."""

from __future__ import annotations

import collections

import pytest
from support.doubles import doubles_fixtures
from support.rule_matches import play_all

from agents import Agent, SeatDoubleBattle
from agents.battle.choices import Choice
from agents.rules.doubles.places import struck
from agents.rules.doubles.view import DoublesView

PLACES = ("p1a", "p1b", "p2a", "p2b")
#: Lines after which who is hit by a later move of the turn may be another one.
UNSETTLING = frozenset({"switch", "drag", "faint", "swap", "-singleturn", "detailschange", "-formechange", "-ability"})

Predicted = dict[tuple[int, str, str], set[str]]


class Predicting(Agent):
    """Plays moves at random, and notes whom its moves will hit: (turn, place, move) -> places, as Showdown names them."""

    def __init__(self, predicted: Predicted) -> None:
        self.predicted = predicted

    def act(self, battle: SeatDoubleBattle) -> Choice:  # type: ignore[override]
        if battle.legal_slots is None:
            return battle.rng.choice(battle.legal)
        drawn = [battle.legal_slots.draw(battle.rng) for _ in range(8)]
        chosen = max(drawn, key=lambda choice: sum(part.kind == "move" for part in choice.parts))
        view, own = DoublesView(battle), battle.player_role or "p1"
        for slot in (0, 1):
            for option in view.moves(slot):
                if option.choice is chosen.parts[slot] and option.move.damages:
                    places = struck(slot, option.move, option.aimed, view.fighters, view.field)
                    names = {PLACES[place if own == "p1" else place ^ 2] for place in places}
                    self.predicted[battle.turn, f"{own}{'ab'[slot]}", option.move.id] = names
        return chosen


def hits(lines: tuple[str, ...]) -> dict[tuple[int, str, str], set[str]]:
    """The places that moves hit as long as nothing in their turn has changed who is hit."""
    turn, settled, found = 0, True, {}
    for line in lines:
        kind, *rest = line.split("|")[1:] or [""]
        if kind == "turn":
            turn, settled = int(rest[0]), True
        elif kind == "move" and settled and "[from]" not in line and "[notarget]" not in line and "[still]" not in line:
            spread = next((part.removeprefix("[spread] ") for part in rest if part.startswith("[spread]")), "")
            places = set(spread.split(",")) if spread else {rest[2][:3]} if rest[2:3] and rest[2] else set()
            found[turn, rest[0][:3], "".join(c for c in rest[1].lower() if c.isalnum())] = places
        settled = settled and kind not in UNSETTLING
    return found


@pytest.mark.parametrize(("format_id", "number"), [("gen9randomdoublesbattle", 3), ("gen4doublesou", 2)])
def test_moves_hit_whom_they_are_expected_to_hit(format_id: str, number: int) -> None:
    counts: collections.Counter[str] = collections.Counter()
    for fixture in doubles_fixtures(format_id, ("predicting", "predicting"), number):
        predicted: Predicted = {}
        (record,) = play_all([fixture], create_agent=lambda spec, kept=predicted: Predicting(kept))
        assert record.reason in ("win", "tie", "turn-limit"), record.detail
        for key, places in hits(record.logs[0]).items():
            expected = predicted.get(key)
            if expected is None or not places:
                continue
            counts["spread" if len(expected) > 1 else "single"] += 1
            # A move that strikes several names those that it has hit, not those that it missed.
            assert places <= expected, (key, places, expected)
    assert counts["single"] > 10 and counts["spread"] > 1, counts


def test_the_lines_are_read_as_they_are_meant() -> None:
    lines = (
        "|turn|3", "|move|p1a: Mew|Heat Wave|p2a: Onix|[spread] p2a,p2b", "|move|p2a: Onix|Rock Throw|p1b: Muk",
        "|faint|p1b: Muk", "|move|p2b: Abra|Psychic|p1a: Mew",
    )  # fmt: skip
    assert hits(lines) == {(3, "p1a", "heatwave"): {"p2a", "p2b"}, (3, "p2a", "rockthrow"): {"p1b"}}
