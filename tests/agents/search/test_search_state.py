"""From battles to poke-engine's text, and what is drawn for the hidden part. Nothing here needs poke-engine."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from agents.battle import SeatBattle
from agents.mechanics.set_sampling import draw, draw_unseen
from agents.search.poke_engine.history import History
from agents.search.poke_engine.layout import EngineMove, EnginePokemon, EngineSide, EngineState
from agents.search.poke_engine.state import position


def entry(name: str, hp: str, moves: list[str], active: bool = False, **more: Any) -> dict[str, Any]:
    stats = {"atk": 298, "def": 288, "spa": 238, "spd": 238, "spe": 318}
    return {
        "ident": f"p1: {name}", "details": name, "condition": hp, "active": active, "stats": stats, "moves": moves,
        "baseAbility": "noability", "item": "", "pokeball": "pokeball", **more,
    }  # fmt: skip


TEAM = [
    entry("Tauros", "353/353", ["bodyslam", "hyperbeam", "blizzard", "earthquake"], active=True),
    entry("Chansey", "500/703 par", ["softboiled", "icebeam", "thunderwave", "reflect"]),
    entry("Snorlax", "0 fnt", ["bodyslam", "rest", "selfdestruct", "earthquake"]),
]
MOVES = [
    {"move": m, "id": m, "pp": pp, "maxpp": pp, "target": "normal", "disabled": m == "blizzard"}
    for m, pp in (("bodyslam", 24), ("hyperbeam", 7), ("blizzard", 8), ("earthquake", 16))
]
BEGIN = [
    "|player|p1|p1||", "|player|p2|p2||", "|teamsize|p1|3", "|teamsize|p2|6", "|gametype|singles", "|gen|1",
    "|tier|[Gen 1] OU", "|start", "|switch|p1a: Tauros|Tauros|353/353", "|switch|p2a: Starmie|Starmie|100/100", "|turn|1",
]  # fmt: skip


def battle_of(lines: list[str], active: Any = None, team: Any = None) -> tuple[SeatBattle, History]:
    battle = SeatBattle("battle-gen1ou-1", "p1", "p1", 1, "gen1ou", random.Random(0))
    battle.feed([*BEGIN, *lines])
    side = {"name": "p1", "id": "p1", "pokemon": team or TEAM}
    battle.ask({"active": [{"moves": active or MOVES}], "side": side, "rqid": 1})
    history = History()
    history.follow(battle)
    assert battle.parse_warnings == 0
    return battle, history


def sides(lines: list[str], **more: Any) -> tuple[EngineSide, EngineSide]:
    battle, history = battle_of(lines, **more)
    state = position(battle, history, random.Random(1)).state
    return state.side_one, state.side_two


def test_the_text_of_a_state():
    gengar = EnginePokemon(
        "gengar", types=("ghost", "poison"), base_types=("ghost", "poison"), hp=300, maxhp=323, status="sleep", slept=2,
        stats=(1, 2, 3, 4, 5), weight=40.5, moves=(EngineMove("hypnosis", True, 30),),
    )  # fmt: skip
    side = EngineSide((gengar,), 0, {"toxiccount": 3}, frozenset({"taunt", "leechseed"}), {"taunt": 2}, 9, {"spe": -1})
    text = EngineState(side, side, ("rain", 2), ("none", 0), 3).text()
    one, two, weather, terrain, room, preview = text.split("/")
    assert one == two and (weather, terrain, room, preview) == ("rain;2", "none;0", "true;3", "false")
    fields = one.split("=")
    assert len(fields) == 29
    none = "none;true;0"
    assert fields[0] == (
        "gengar,100,ghost,poison,ghost,poison,300,323,none,none,none,serious,85;85;85;85;85;85,1,2,3,4,5,sleep,0,2,40.5,"
        f"hypnosis;true;30,{none},{none},{none},false,false,typeless"
    )
    assert fields[1].startswith("none,") and fields[1] == fields[5] and fields[1].split(",")[6] == "0"
    assert fields[6:11] == ["0", "0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;3;0;0", "leechseed:taunt", "0;0;0;0;2;0", "9"]
    assert fields[11:] == ["0", "0", "0", "0", "-1", "0", "0", *["0"] * 4, "false", "none", "false",
                           "false", "false", "move:none", "false"]  # fmt: skip


def test_our_side_is_what_the_request_says():
    one, _ = sides(["|move|p1a: Tauros|Body Slam|p2a: Starmie", "|-damage|p2a: Starmie|60/100", "|turn|2"])
    tauros, chansey, snorlax = one.pokemon
    assert (tauros.hp, tauros.maxhp, tauros.stats) == (353, 353, (298, 288, 238, 238, 318))
    assert tauros.moves == tuple(EngineMove(m["id"], m["disabled"], m["pp"]) for m in MOVES)
    assert (chansey.hp, chansey.maxhp, chansey.status) == (500, 703, "paralyze")
    assert (snorlax.hp, snorlax.status) == (0, "none")
    assert one.active == 0 and one.last == "move:0" and not one.trapped and not one.must_switch


def test_their_side_has_the_share_of_health_that_is_shown_and_six_pokemon():
    _, two = sides(["|-damage|p2a: Starmie|60/100 par", "|-boost|p2a: Starmie|spe|2", "|turn|2"])
    starmie = two.pokemon[0]
    assert (starmie.name, starmie.hp, starmie.maxhp, starmie.status) == ("starmie", 194, 323, "paralyze")
    assert starmie.stats == (248, 268, 298, 298, 328) and len(starmie.moves) == 4
    assert two.boosts["spe"] == 2 and len({mon.name for mon in two.pokemon}) == 6


@pytest.mark.parametrize(
    ("lines", "slept", "rest"),
    [
        (["|-status|p2a: Starmie|slp|[from] move: Sing"], 1, 0),
        (["|-status|p2a: Starmie|slp|[from] move: Sing", "|cant|p2a: Starmie|slp", "|turn|2"], 2, 0),
        (["|-status|p2a: Starmie|slp|[from] move: Rest"], 0, 2),
        (["|-status|p2a: Starmie|slp|[from] move: Rest", "|cant|p2a: Starmie|slp", "|turn|2"], 0, 1),
    ],
)
def test_turns_of_sleep(lines: list[str], slept: int, rest: int):
    """In generation 1 the count is one ahead: there one in seven wakes at once, which poke-engine allows from one on."""
    _, two = sides(lines)
    assert (two.pokemon[0].status, two.pokemon[0].slept, two.pokemon[0].rest) == ("sleep", slept, rest)


def test_volatiles_begin_last_and_end():
    on = ["|-start|p2a: Starmie|confusion", "|-start|p2a: Starmie|move: Leech Seed", "|-start|p2a: Starmie|Reflect"]
    _, two = sides([*on, "|turn|2", "|turn|3"])
    assert two.volatiles == {"confusion", "leechseed", "reflect"} and two.durations["confusion"] == 2
    _, two = sides([*on, "|-end|p2a: Starmie|confusion", "|turn|2"])
    assert two.volatiles == {"leechseed", "reflect"}
    away = ["|switch|p2a: Lapras|Lapras|100/100", "|switch|p2a: Starmie|Starmie|100/100"]
    _, two = sides([*on, *away, "|turn|2"])
    assert two.volatiles == frozenset()


def test_a_substitute_has_a_quarter_and_half_of_it_after_each_hit():
    made = ["|-start|p2a: Starmie|Substitute", "|-damage|p2a: Starmie|75/100"]
    hit = "|-activate|p2a: Starmie|Substitute|[damage]"
    assert [sides([*made, *[hit] * hits])[1].substitute for hits in range(3)] == [80, 40, 20]


def test_recharging_ends_with_the_turn_lost():
    beam = ["|move|p2a: Starmie|Hyper Beam|p1a: Tauros", "|-mustrecharge|p2a: Starmie", "|turn|2"]
    assert sides(beam)[1].volatiles == {"mustrecharge"}
    assert sides([*beam, "|cant|p2a: Starmie|recharge", "|turn|3"])[1].volatiles == frozenset()


def test_a_boost_of_generation_1_undoes_what_paralysis_took():
    hurt = ["|-status|p2a: Starmie|par"]
    assert sides(hurt)[1].volatiles == frozenset()
    assert sides([*hurt, "|-boost|p2a: Starmie|spe|2"])[1].volatiles == {"gen1paralysisnullify"}
    assert sides([*hurt, "|-boost|p2a: Starmie|spa|2"])[1].volatiles == frozenset()


def test_a_disabled_move_of_theirs():
    _, two = sides(["|move|p2a: Starmie|Blizzard|p1a: Tauros", "|-start|p2a: Starmie|Disable|Blizzard", "|turn|2"])
    assert [move.disabled for move in two.pokemon[0].moves if move.name == "blizzard"] == [True]


def test_fight_stands_for_every_move_and_recharge_for_none():
    battle, history = battle_of([], active=[{"move": "Fight", "id": "fight"}])
    choices = position(battle, history, random.Random(0)).choices
    assert {choices[m["id"]].label for m in MOVES} == {"move fight"}
    assert choices["switch chansey"].label == "switch chansey" and "switch snorlax" not in choices
    held = ["|move|p1a: Tauros|Wrap|p2a: Starmie", "|turn|2"]
    team = [entry("Tauros", "353/353", ["wrap", "rest", "blizzard", "earthquake"], active=True), *TEAM[1:]]
    one, _ = sides(held, active=[{"move": "Fight", "id": "fight"}], team=team)
    assert [move.disabled for move in one.pokemon[0].moves] == [False, True, True, True]


def test_drawn_sets_agree_with_what_was_shown():
    battle, _ = battle_of(["|move|p2a: Starmie|Psychic|p1a: Tauros", "|move|p2a: Starmie|Surf|p1a: Tauros"])
    starmie = battle.opponent_team["p2: Starmie"]
    drawn = [draw(starmie, battle, random.Random(n)) for n in range(200)]
    assert all(carried.moves[:2] == ("psychic", "surf") and len(set(carried.moves)) == 4 for carried in drawn)
    rest = Counter(move for carried in drawn for move in carried.moves[2:])
    assert rest["recover"] > 100 and rest["thunderwave"] > 50  # what nearly every Starmie carries


def test_what_is_unseen_is_drawn_by_how_often_teams_have_it():
    drawn = [draw_unseen("gen1ou", 1, {"starmie", "tauros"}, 5, random.Random(n)) for n in range(200)]
    names = Counter(carried.species for team in drawn for carried in team)
    assert all(len({carried.species for carried in team}) == 5 for team in drawn)
    assert "starmie" not in names and "tauros" not in names
    assert names["chansey"] > 120 and names["chansey"] > 2 * names["lapras"]
    assert [c.species for c in drawn[7]] == [
        c.species for c in draw_unseen("gen1ou", 1, {"starmie", "tauros"}, 5, random.Random(7))
    ]
