"""A decision as text: what the seat knows and not more, in a template that people can change."""

from __future__ import annotations

import random
from pathlib import Path

import orjson
import pytest

from agents.battle import SeatBattle
from agents.llm.prompts import answer, answer_start, prompt, read, template
from teamsets.errors import BadInput

REQUEST = {
    "active": [{"moves": [{"move": "Surf", "id": "surf", "pp": 23, "maxpp": 24, "target": "normal", "disabled": False}]}],
    "side": {
        "name": "p1",
        "id": "p1",
        "pokemon": [
            {
                "ident": f"p1: {name}", "details": name, "condition": condition, "active": name == "Starmie",
                "moves": ["surf"], "stats": dict.fromkeys(("atk", "def", "spa", "spd", "spe"), 1),
                "baseAbility": "none", "item": "", "pokeball": "",
            }
            for name, condition in (("Starmie", "162/324 par"), ("Tauros", "353/353"), ("Chansey", "0 fnt"))
        ],
    },
}  # fmt: skip


def asked() -> SeatBattle:
    battle = SeatBattle("battle-gen1ou-1", "p1", "p1", 1, "gen1ou", random.Random(0))
    battle.ask(orjson.loads(orjson.dumps(REQUEST)))
    battle.feed(["|switch|p1a: Starmie|Starmie|162/324 par", "|switch|p2a: Snorlax|Snorlax|80/100", "|turn|7"])
    battle.ask(orjson.loads(orjson.dumps(REQUEST)))
    return battle


def test_a_prompt_says_what_the_seat_knows() -> None:
    text = prompt(asked(), template("plan"))
    assert "(gen1ou), turn 7." in text
    assert "Your active Pokémon: starmie L100, 50% HP, PAR; moves: surf (" in text
    assert "- tauros L100, 100% HP" in text and "- chansey: fainted" in text
    assert "Their active Pokémon: snorlax L100, 80% HP\n" in text, "none of its moves was seen"
    assert "Your legal choices:\n- move surf\n- switch tauros\n" in text
    assert text == prompt(asked(), template("plan"))
    assert "Plan:" not in prompt(asked(), template("action"))


def test_a_template_of_ones_own_is_filled(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("Turn {turn}, {{so}}: {choices}")
    filled = template("action", str(tmp_path / "mine.txt"))
    assert prompt(asked(), filled) == "Turn 7, {so}: - move surf\n- switch tauros"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{choices} {opponent}", "{opponent} is no field: the fields are format, turn, ours"),
        ("{choices} {ours.__class__}", "is no field"),
        ("{turn}", "the field {choices} is missing"),
        ("{choices} {", "a brace that is no field is written twice"),
        ("{choices} \0", "contains NUL bytes"),
    ],
)
def test_a_template_that_cannot_be_filled_is_refused(text: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text(text)
    with pytest.raises(BadInput, match=r"prompt=.*mine\.txt: ") as caught:
        template("plan", str(file))
    assert words in str(caught.value)


def test_a_style_that_is_none_and_a_file_that_is_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="style=poem: must be one of plan, action"):
        template("poem")
    with pytest.raises(BadInput, match=r"nowhere.txt: cannot be read \(No such file or directory\)"):
        template("plan", str(tmp_path / "nowhere.txt"))


def test_an_answer_has_a_plan_only_if_there_is_one() -> None:
    assert answer("move surf") == "Action: move surf"
    assert answer("move surf", "knock it out") == "Plan: knock it out\nAction: move surf"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Plan: knock it out\nAction: move surf", ("knock it out", "move surf")),
        ("action: **Move Surf.**", ("", "move surf")),
        ("**Plan:** wait\n**Action:** `switch tauros`\n", ("wait", "switch tauros")),
        ("Action: move surf\nno, rather\nAction: switch tauros", ("", "switch tauros")),
        ('{"plan": "wait", "action": "switch tauros"}', ("wait", "switch tauros")),
        ('Here:\n```json\n{"Action": "move surf"}\n```', ("", "move surf")),
        ("<think>Action: move surf? No.</think>\nAction: switch tauros", ("", "switch tauros")),
        ("<think>Action: move surf?", ("", "")),
        ("I would like to use surf", ("", "")),
        ("", ("", "")),
        ('{"action": null}', ("", "")),
        ("[" * 100_000, ("", "")),
    ],
)
def test_an_answer_is_found_in_what_a_model_writes(text: str, said: tuple[str, str]) -> None:
    assert read(text) == said


def test_an_action_is_asked_for_behind_the_plan_that_was_written() -> None:
    assert answer_start("Plan: wait \nmore") == "Plan: wait\nAction:"
    assert answer_start("noise") == "Action:"
