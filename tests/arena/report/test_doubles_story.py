"""A battle of doubles turn by turn: four Pokémon on the field, and choices of two slots."""

from __future__ import annotations

import asyncio

import orjson
import pytest
from rich.console import Console
from support.doubles import doubles_fixtures

from agents.battle.joint_choices import is_stored
from arena.battles.guard import StepGuard
from arena.record import compressed
from arena.report import story_text
from arena.report.board import Board
from arena.report.story import _SeatChoices, story
from arena.report.story_types import BattleRow, Story, StoryDecisionRow
from arena.venue import Rules
from arena.venues.simulator.host import Host
from arena.venues.simulator.simulator import Simulator

LINES = (
    "|switch|p1a: Hypno|Hypno, L50|200/200",
    "|switch|p1b: Muk|Muk, L50|200/200",
    "|switch|p2a: Onix|Onix, L50|100/100",
    "|-boost|p1b: Muk|atk|2",
    "|-start|p1b: Muk|Substitute",
    "|-unboost|p1a: Hypno|spe|1",
)


def board(*more: str) -> Board:
    made = Board()
    for line in (*LINES, *more):
        made.process(line)
    return made


def test_what_holds_for_each_of_two_is_kept_apart() -> None:
    side = board().state()["p1"]
    assert side["active"] == 0 and side["boosts"] == {"Speed": -1} and "effects" not in side
    assert side["beside"] == {"active": 1, "boosts": {"Attack": 2}, "effects": ["Substitute"]}
    assert "beside" not in board().state()["p2"]


def test_it_changes_places_and_leaves_with_its_pokemon() -> None:
    swapped = board("|swap|p1a: Hypno|1|[from] move: Ally Switch").state()["p1"]
    assert (swapped["active"], swapped["beside"]["active"], swapped["effects"]) == (1, 0, ["Substitute"])
    left = board("|switch|p1b: Mew|Mew, L50|200/200").state()["p1"]
    assert left["beside"] == {"active": 2} and left["boosts"] == {"Speed": -1}
    cleared = board("|-clearallboost").state()["p1"]
    assert "boosts" not in cleared and "boosts" not in cleared["beside"]


@pytest.fixture(scope="module")
def told() -> Story:
    """A battle of doubles that was played."""

    async def play() -> Story:
        async with await Host.launch() as host:
            simulator = Simulator(host, StepGuard(), Rules(think_limit=60.0))
            (fixture,) = doubles_fixtures("gen9randomdoublesbattle", ("random", "poke-env:MaxBasePowerPlayer"), 1)
            record = await simulator.play(fixture, 0)
        row: BattleRow = {
            "battle_id": 1, "format": fixture.format, "team_set": "drawn", "p1": fixture.agents[0], "p2": fixture.agents[1],
            "winner": record.winner, "reason": record.reason, "fault": None, "detail": None, "turns": record.turns,
            "input_log": compressed(record.input_log), "p1_log": compressed(record.logs[0]),
            "p2_log": compressed(record.logs[1]), "p1_team": None, "p2_team": None,
        }  # fmt: skip
        decisions: list[StoryDecisionRow] = [
            {
                "battle_id": 1, "seat": "p2" if seat else "p1", "turn": turn, "legal": legal, "choice": choice,
                "think_ms": ms, "diagnostics": None,
            }
            for seat, _, turn, legal, choice, ms, _ in record.decisions
        ]  # fmt: skip
        return story(row, decisions)

    return asyncio.run(play())


def test_a_battle_shows_two_of_each_side_and_what_each_slot_could_choose(told: Story) -> None:
    first = told["turns"][1]
    assert {"active", "beside"} <= first["state"]["p1"].keys() and "active" in first["state"]["p2"]["beside"]
    decision = first["decisions"][0]
    choices = told["seats"]["p1"]["choices"]
    assert decision["joint"] and is_stored(choices[decision["choice"]][0], [choices[n][0] for n in decision["legal"]])
    assert {choices[n][1].partition(": ")[0] for n in decision["legal"]} == {"first", "second"}
    assert any("(at opponent 1)" in shown for _, shown in choices)


def test_a_preview_says_who_leads_and_who_is_brought_and_names_few_of_its_alternatives() -> None:
    species = ["Hypno", "Muk", "Onix", "Mew", "Ditto", "Snorlax"]
    side = {"pokemon": [{"details": f"{name}, L50"} for name in species]}
    requests = [{"teamPreview": True, "side": side}, {"active": [None, None], "side": side}]
    legal = [
        "team 3142",
        "team 314256",
        *(f"team 31{a}{b}{c}" for a in range(1, 7) for b in range(1, 7) for c in (2, 4)),
    ]
    choices = _SeatChoices([f"|request|{orjson.dumps(request).decode()}" for request in requests])
    row: StoryDecisionRow = {
        "battle_id": 1, "seat": "p1", "turn": 0, "legal": legal, "choice": legal[0], "think_ms": 1.0, "diagnostics": None,
    }  # fmt: skip
    decision = choices.decision(row)
    named = [shown for _, shown in choices.choices()]
    assert named[:2] == ["lead Onix and Hypno, bring Mew, Muk", "lead Onix and Hypno, then Mew, Muk, Ditto, Snorlax"]
    console = Console(width=160)
    with console.capture() as captured:
        console.print(story_text._decision(choices.choices(), decision))
    assert "; and 53 more" in captured.get() and captured.get().count("lead ") == 1 + 20


def shown_turn(told: Story, turn: int) -> str:
    console = Console(width=160, record=True, file=None, quiet=True)
    with console.capture() as captured:
        console.quiet = False
        console.print(story_text.turn(told, turn, 80))
    return captured.get()


def test_the_terminal_marks_all_four(told: Story) -> None:
    shown = shown_turn(told, 1)
    assert sum(line.count("* ") for line in shown.split("\n")) == 4 and "of both slots" in shown


def test_the_terminal_lists_who_is_out_by_slot(told: Story) -> None:
    """A choice "at opponent 2" is aimed at the second in the list, whatever the order of the team is."""
    names = [name for name, _ in told["seats"]["p1"]["pokemon"]]
    turns = [turn for turn in told["turns"] if "active" in turn["state"]["p1"].get("beside", {})]
    swapped = {**turns[0], "state": orjson.loads(orjson.dumps(turns[0]["state"]))}
    side = swapped["state"]["p1"]
    side["active"], side["beside"]["active"] = side["beside"]["active"], side["active"]
    for turn in (*turns, swapped):
        side = turn["state"]["p1"]
        lines = shown_turn({**told, "turns": [turn]}, 0).splitlines()
        first, second = [line for line in lines if line.startswith("* ")][:2]
        assert names[side["active"]] in first and names[side["beside"]["active"]] in second


def test_one_that_fainted_and_is_not_replaced_is_shown_as_fainted(told: Story) -> None:
    assert board("|faint|p1b: Muk").state()["p1"]["beside"] == {"active": 1}
    turn = {**told["turns"][1], "state": orjson.loads(orjson.dumps(told["turns"][1]["state"]))}
    side = turn["state"]["p1"]
    side["beside"] = {"active": side["beside"]["active"]}
    side["hp"][side["beside"]["active"]] = 0
    _, second = [
        line for line in shown_turn({**told, "turns": [turn], "end": None}, 0).splitlines() if line[:2] == "* "
    ][:2]
    assert second.split()[-1] == "fainted" and "0/" not in second
