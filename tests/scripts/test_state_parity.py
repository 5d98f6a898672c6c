"""What a seat's battle holds is the simulator's state, and a difference is found and shown."""

from __future__ import annotations

import pytest
from support.scripts import script

from agents.battle import SeatBattle

parity = script("parity/state_parity.py")
OPTIONS = {"seed": 20261126, "first": 0, "policy": "random", "teams": "random-battle"}


def differences(gen: int, battles: int, teams: str = "random-battle", policy: str = "random") -> tuple[list[str], int]:
    format_id = parity.format_of(f"gen{gen}" if teams == "any" else f"gen{gen}randombattle", teams)[1]
    options = {**OPTIONS, "gen": gen, "format": format_id, "battles": battles, "teams": teams, "policy": policy}
    found, compared = parity.run_chunk(options)
    return [parity.explain(one, options) for one in found], compared


@pytest.mark.parametrize("gen", [4])  # each of them: below
def test_seats_see_the_simulators_state(gen: int) -> None:
    found, compared = differences(gen, 2)
    assert not found, found[0]
    assert compared > 50


@pytest.mark.slow
@pytest.mark.parametrize("gen", range(1, 10))
def test_seats_see_the_simulators_state_in_every_generation(gen: int) -> None:
    for teams, policy in (("random-battle", "random"), ("any", "rare")):
        found, _ = differences(gen, 10, teams, policy)
        assert not found, found[0]


def test_a_difference_is_found_and_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    feed = SeatBattle.feed

    def forgetful(self: SeatBattle, lines: list[str]) -> None:
        feed(self, [line for line in lines if not line.startswith(("|-damage|", "|-boost|"))])

    monkeypatch.setattr(SeatBattle, "feed", forgetful)
    found, _ = differences(4, 1)
    assert "(again: --first 0 --battles 1)" in found[0]
    assert any("hp of p" in one for one in found)


def test_a_format_without_a_generation_is_refused() -> None:
    with pytest.raises(parity.BadInput, match="gen1randombattle"):
        parity.format_of("ou", "random-battle")
    assert parity.format_of("gen8", "any") == (8, "gen8anythinggoes")


def with_open_sheets(format_id: str, battles: int) -> list[str]:
    options = {**OPTIONS, "gen": 9, "format": format_id, "battles": battles, "teams": "any", "openSheets": True}
    return [parity.explain(one, options) for one in parity.run_chunk(options)[0]]


def test_seats_hold_what_open_team_sheets_have_shown_as_long_as_it_is_true() -> None:
    found = with_open_sheets("gen9vgc2025regi", 2)
    assert not found, found[0]


@pytest.mark.slow
@pytest.mark.parametrize("format_id", ["gen9vgc2025regi", "gen9championsvgc2026regma", "gen9anythinggoes"])
def test_open_team_sheets_stay_true_in_singles_and_doubles(format_id: str) -> None:
    found = with_open_sheets(format_id, 25)
    assert not found, found[0]


def test_a_sheet_that_is_not_read_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.battle.open_sheets._learn", lambda battle, mon, sheet: None)
    assert "sheet: item" in with_open_sheets("gen9vgc2025regi", 1)[0]
