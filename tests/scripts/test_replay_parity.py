"""What a replay is said to show is what the players did, and a difference is found and shown."""

from __future__ import annotations

from typing import Any

import pytest
from support.scripts import script

from teamsets.loading import load_set

parity = script("parity/replay_parity.py")


def tally(gen: int, battles: int, teams: str = "random-battle", policy: str = "random") -> Any:
    format_id = parity.format_of(f"gen{gen}" if teams == "any" else f"gen{gen}randombattle", teams)[1]
    options = {"seed": 20261126, "first": 0, "battles": battles, "teams": teams, "policy": policy}
    return parity.run_chunk({**options, "gen": gen, "format": format_id})


@pytest.mark.parametrize(("gen", "teams"), [(9, "any")])  # each of them: below
def test_what_is_called_certain_was_chosen(gen: int, teams: str) -> None:
    found = tally(gen, 2, teams, "rare")
    assert not found.differences, found.differences[0]
    assert found.counts["certain"] > 4 * found.counts["uncertain"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("gen", range(1, 10))
def test_what_is_called_certain_was_chosen_in_every_generation(gen: int) -> None:
    for teams, policy in (("random-battle", "random"), ("any", "rare")):
        found = tally(gen, 25, teams, policy)
        assert not found.differences, found.differences[0]


def doubles(format_id: str, battles: int, teams: str = "random-battle") -> Any:
    options = {"seed": 20261127, "first": 0, "battles": battles, "teams": teams, "policy": "random", "gen": 9}
    packed = {} if teams == "any" else {"packed": [team.packed for team in load_set("competitive", format_id).teams]}
    return parity.run_chunk({**options, **packed, "format": format_id})


def test_what_is_called_certain_was_chosen_in_doubles() -> None:
    found = doubles("gen9championsvgc2026regma", 3)
    assert not found.differences, found.differences[0]
    assert found.counts["certain"] > 4 * found.counts["uncertain"] > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "format_id", ["gen9championsvgc2026regma", "gen9championsvgc2026regmb", "gen9vgc2025regi", "gen9doublesou"]
)
def test_what_is_called_certain_was_chosen_in_every_format_of_doubles(format_id: str) -> None:
    for teams in ("random-battle", "any"):
        found = doubles(format_id, 40, teams)
        wrong = [each for each in found.differences if each.kind != "refused"]
        assert not wrong, wrong[0]


def test_a_difference_is_found_and_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        parity, "_true", lambda asked, turn: parity.Decision(turn, asked["at"], asked["ask"], "move splash")
    )
    found = tally(1, 1)
    assert found.counts["wrong choice"] == found.counts["certain"] > 0
    words = parity.explain(found.differences[0], {"format": "gen1randombattle", "seed": 20261126})
    assert words.startswith("gen1randombattle seed 20261126 battle 0 p1 turn 1: wrong choice: move ")
    assert "true move splash" in words and "|turn|1" in words
