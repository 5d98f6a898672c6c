"""A decision as text: what the seat knows and not more, in a template that people can change."""

from __future__ import annotations

import random

import orjson

from agents.battle import SeatBattle
from agents.prompts import answer, prompt

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
    text = prompt(asked())
    assert "(gen1ou), turn 7." in text
    assert "Your active Pokémon: starmie L100, 50% HP, PAR; moves: surf (" in text
    assert "- tauros L100, 100% HP" in text and "- chansey: fainted" in text
    assert "Their active Pokémon: snorlax L100, 80% HP\n" in text, "none of its moves was seen"
    assert "Your legal choices:\n- move surf\n- switch tauros\n" in text
    assert text == prompt(asked())


def test_a_template_of_ones_own_is_filled() -> None:
    assert prompt(asked(), "Turn {turn}: {choices}") == "Turn 7: - move surf\n- switch tauros"


def test_an_answer_has_a_plan_only_if_there_is_one() -> None:
    assert answer("move surf") == "Action: move surf"
    assert answer("move surf", "knock it out") == "Plan: knock it out\nAction: move surf"
