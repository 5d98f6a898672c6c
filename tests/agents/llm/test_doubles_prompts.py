"""Prompts of doubles and of team preview: what the seat knows of four slots, and what each of its own may do."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from support.double_requests import double_battle, previewed

from agents.battle import SeatDoubleBattle
from agents.llm.prompts import STYLES, answer_schema, kind_of, prompt, template

LINES = (
    "|-weather|RainDance",
    "|-fieldstart|move: Trick Room",
    "|-sidestart|p2: Bob|move: Tailwind",
    "|move|p2b: Abra|Psychic|p1a: Hypno",
)


def text_of(battle: SeatDoubleBattle, style: str = "plan") -> str:
    return prompt(battle, template(style, kind=kind_of(battle)))


def forced(*conditions: str, flags: tuple[bool, bool]) -> SeatDoubleBattle:
    """Our first two are asked for replacements: their conditions, then those of the bench."""
    battle = double_battle(("tackle",), ("tackle",))
    names = ("Hypno", "Muk", "Mew", "Onix")
    pokemon = [
        {
            "ident": f"p1: {name}", "details": f"{name}, L50", "condition": condition, "active": slot < 2, "item": "",
            "stats": dict.fromkeys(("atk", "def", "spa", "spd", "spe"), 100), "moves": ["tackle"],
            "baseAbility": "insomnia", "ability": "insomnia", "pokeball": "pokeball",
        }
        for slot, (name, condition) in enumerate(zip(names, conditions, strict=False))
    ]  # fmt: skip
    battle.ask({"forceSwitch": list(flags), "side": {"name": "Ann", "id": "p1", "pokemon": pokemon}})
    return battle


def test_a_prompt_describes_both_slots_of_both_sides_and_the_field() -> None:
    text = text_of(double_battle(("tackle", "earthquake"), ("protect", "helpinghand"), *LINES))
    assert "battle of doubles (gen9doublesou), turn 1." in text
    assert "- slot a (-1): hypno L50, psychic, 100/100 HP" in text and "- slot b (-2): muk L50, poison" in text
    assert "; ability insomnia; item none; stats atk 100 def 100 spa 100 spd 100 spe 100; moves: tackle (" in text
    assert "Your bench:\n- mew L50" in text
    assert "- slot a (+1): onix L50, rock/ground, 100% HP" in text
    assert "- slot b (+2): abra L50, psychic, 100% HP" in text and "; moves: psychic\n" in text
    assert "Their bench, as far as it was seen:\n- none\n" in text
    assert "Field: raindance (since turn 1), trick room (since turn 1), their side: tailwind (since turn 1)\n" in text


def test_each_slot_lists_its_choices_with_the_names_of_their_targets() -> None:
    text = text_of(double_battle(("tackle", "earthquake"), ("protect", "helpinghand", "heatwave", "lifedew")))
    listed = text.partition("Your legal choices:\n")[2].partition("Say in")[0]
    assert listed == (
        "Slot a, hypno:\n- move tackle +1 (their onix)\n- move tackle +2 (their abra)\n- move tackle -2 (your muk)\n"
        "- move earthquake (both foes and your ally)\n- switch mew\n"
        "Slot b, muk:\n- move protect\n- move helpinghand -1 (your hypno)\n- move heatwave (both foes)\n"
        "- move lifedew (you and your ally)\n- switch mew\n"
        "An action is a choice of slot a, a comma, and a choice of slot b. They cannot switch to the same Pokémon.\n"
    )
    assert "Plan:" not in text_of(double_battle(("tackle",), ("protect",)), "action")


def test_what_only_one_of_both_can_do_is_said() -> None:
    battle = double_battle(("tackle",), ("protect",))
    request = battle.last_request
    battle.ask({**request, "active": [{**active, "canTerastallize": "Water"} for active in request["active"]]})
    text = text_of(battle)
    assert "- move tackle +1 terastallize (their onix)" in text and "- move protect terastallize\n" in text
    assert "Only one can terastallize." in text


def test_a_max_move_has_its_own_name() -> None:
    battle = double_battle(("tackle",), ("protect",))
    active = battle.last_request["active"]
    dynamax = {"canDynamax": True, "maxMoves": {"maxMoves": [{"move": "Max Strike", "target": "adjacentFoe"}]}}
    battle.ask({**battle.last_request, "active": [{**active[0], **dynamax}, active[1]]})
    assert "- move tackle +2 dynamax (their abra, as Max Strike)" in text_of(battle)


def test_a_target_that_has_fallen_is_shown_as_nobody() -> None:
    battle = double_battle(("tackle",), ("protect",), "|-damage|p2a: Onix|0 fnt", "|faint|p2a: Onix")
    text = text_of(battle)
    assert "- slot a (+1): nobody" in text and "- move tackle +1 (nobody is there)" in text
    assert "Their bench, as far as it was seen:\n- onix: fainted\n" in text


def test_replacements_are_listed_as_pairs() -> None:
    one = text_of(forced("0 fnt", "100/100", "100/100", "90/100", flags=(True, False)))
    assert "- slot a (-1): hypno: fainted" in one
    assert "Your legal choices:\n- switch mew, pass\n- switch onix, pass\nAn action is one of these lines" in one
    both = text_of(forced("0 fnt", "0 fnt", "100/100", "90/100", flags=(True, True)))
    assert "Your legal choices:\n- switch mew, switch onix\n- switch onix, switch mew\nAn action" in both
    last = text_of(forced("0 fnt", "0 fnt", "100/100", flags=(True, True)))
    assert "Your legal choices:\n- switch mew, pass\n- pass, switch mew\nAn action" in last


def test_a_slot_that_has_fallen_passes() -> None:
    battle = double_battle(("tackle",), ("protect",))
    team = [dict(entry) for entry in battle.last_request["side"]["pokemon"]]
    team[1]["condition"], team[2]["condition"] = "0 fnt", "0 fnt"
    battle.ask({**battle.last_request, "side": {**battle.last_request["side"], "pokemon": team}})
    assert "Slot b, muk:\n- pass\nAn action" in text_of(battle)


def test_those_that_team_preview_showed_and_that_may_still_come_in_are_named() -> None:
    battle = previewed("gen9championsvgc2026regma", ("Onix", "Abra", "Muk", "Gyarados", "Ditto", "Eevee"), 4)
    battle.feed(["|teamsize|p1|4", "|teamsize|p2|4"])
    battle.feed(["|switch|p2a: Onix|Onix, L50|100/100", "|switch|p2b: Abra|Abra, L50|100/100", "|turn|1"])
    side = battle.last_request["side"]
    team = [{**entry, "active": slot < 2} for slot, entry in enumerate(side["pokemon"][:4])]
    moves: list[dict[str, Any]] = [{"move": "Protect", "id": "protect", "pp": 9, "maxpp": 9, "target": "self"}]
    battle.feed(
        [f"|switch|p1{letter}: {name}|{name}, L50|150/150" for letter, name in (("a", "Raichu"), ("b", "Luxray"))]
    )
    battle.ask({"active": [{"moves": moves}] * 2, "side": {**side, "pokemon": team}})
    text = text_of(battle)
    bench = text.partition("as far as it was seen:\n")[2].partition("Field")[0]
    assert bench.splitlines() == [
        "- 2 not in battle yet, among these 4:", "- muk L50, poison", "- gyarados L50, water/flying", "- ditto L50, normal",
        "- eevee L50, normal",
    ]  # fmt: skip
    assert "Tera type" not in text and "venusaur" not in text


@pytest.mark.parametrize(
    ("brought", "said"),
    [
        (4, "- 4 of your 6 Pokémon, in order: the first two lead, the others are your bench.\n"),
        (
            None,
            "- the order of your Pokémon: the first two lead; those that you do not name follow in the team's order.\n",
        ),
    ],
)
def test_a_team_preview_numbers_our_team_and_lists_theirs(brought: int | None, said: str) -> None:
    battle = previewed("gen9doublesou", ("Onix", "Abra"), brought)
    text = text_of(battle)
    assert "this is the team preview.\nYour team:\n1. raichu L50, electric, 150/150 HP; ability insomnia" in text
    assert (
        "\n6. steelix L50" in text and "Their team, as far as it is shown:\n- onix L50, rock/ground\n- abra L50" in text
    )
    assert f"Choose:\n{said}An action is `team` and their numbers, or their names with commas; `team 1234" in text


@pytest.mark.parametrize("style", STYLES)
def test_a_template_of_ones_own_is_that_of_doubles_too(style: str, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("{turn} {ours} {bench} {theirs} {their_bench} {field}: {choices}")
    for battle in (double_battle(("tackle",), ("protect",)), previewed("gen9doublesou", ("Onix",), None)):
        assert "An action is " in prompt(battle, template(style, str(tmp_path / "mine.txt"), kind_of(battle)))


def test_the_schema_admits_every_legal_pair_and_no_other() -> None:
    battle = double_battle(("tackle", "protect"), ("protect", "tackle"))
    active = [{**one, "canTerastallize": "Water"} for one in battle.last_request["active"]]
    battle.ask({**battle.last_request, "active": active})
    labels = [choice.label for choice in battle.legal]
    schema = answer_schema("action", labels)["properties"]["action"]["anyOf"]
    pairs = [
        f"{first}, {second}"
        for group in schema
        for first in group["properties"]["a"]["enum"]
        for second in group["properties"]["b"]["enum"]
    ]
    assert sorted(pairs) == sorted(labels) and len(schema) == 3, "plain moves, terastallized ones, the switch"
    preview = previewed("gen9championsvgc2026regma", ("Onix",), 4)
    schema = answer_schema("action", [choice.label for choice in preview.legal])["properties"]["action"]
    assert len(schema["enum"]) == 360 and random.Random(0).choice(schema["enum"]).startswith("team ")
