"""The battle that an agent sees in doubles: who stands where, by the places of lines and the slots of requests."""

from __future__ import annotations

import random
from typing import Any

from poke_env.battle.double_battle import DoubleBattle
from poke_env.battle.effect import Effect

from agents import SeatDoubleBattle, new_battle

OWN = ("Hypno", "Muk", "Mew", "Zoroark")
START = [
    "|player|p1|Ann||",
    "|player|p2|Bob||",
    "|teamsize|p1|4",
    "|teamsize|p2|4",
    "|gametype|doubles",
    "|gen|9",
    "|switch|p1a: Hypno|Hypno, L50, M|100/100",
    "|switch|p1b: Muk|Muk, L50, M|100/100",
    "|switch|p2a: Onix|Onix, L50, M|100/100",
    "|switch|p2b: Abra|Abra, L50, M|100/100",
    "|turn|1",
]
MOVES = ("tackle", "protect", "earthquake", "meanlook")


def entry(name: str, slot: int, condition: str = "100/100", **more: Any) -> dict[str, Any]:
    stats = dict.fromkeys(("atk", "def", "spa", "spd", "spe"), 100)
    ability = "illusion" if name == "Zoroark" else "insomnia"
    return {
        "ident": f"p1: {name}", "details": f"{name}, L50, M", "condition": condition, "active": slot < 2, "stats": stats,
        "moves": list(MOVES), "baseAbility": ability, "ability": ability, "item": "", "pokeball": "pokeball", **more,
    }  # fmt: skip


def request(*entries: dict[str, Any], **more: Any) -> dict[str, Any]:
    targets = ("normal", "self", "allAdjacent", "normal")
    moves = [
        {"move": move.title(), "id": move, "pp": 10, "maxpp": 10, "target": target, "disabled": False}
        for move, target in zip(MOVES, targets, strict=True)
    ]
    return {
        "active": [{"moves": moves}, {"moves": moves}],
        "side": {"name": "Ann", "id": "p1", "pokemon": list(entries)},
        **more,
    }


def begun(*lines: str, own: tuple[str, ...] = OWN) -> SeatDoubleBattle:
    battle = new_battle("battle-1", "Ann", "p1", 9, "gen9doublesou", random.Random(0))
    assert isinstance(battle, SeatDoubleBattle)
    battle.ask({"wait": True, "side": request(*(entry(name, slot) for slot, name in enumerate(own)))["side"]})
    battle.feed([*START, *lines])
    assert battle.parse_warnings == 0
    return battle


def names(battle: SeatDoubleBattle) -> list[list[str | None]]:
    return [
        [None if mon is None else mon.name for mon in side]
        for side in (battle.active_pokemon, battle.opponent_active_pokemon)
    ]


def test_it_is_poke_envs_double_battle_with_four_on_the_field() -> None:
    battle = begun()
    assert isinstance(battle, DoubleBattle)
    assert names(battle) == [["Hypno", "Muk"], ["Onix", "Abra"]]


def test_ally_switch_and_a_faint_leave_everybody_where_they_are() -> None:
    """poke-env issue 437: the slots were those of the team's order."""
    battle = begun("|swap|p1a: Hypno|1|[from] move: Ally Switch", "|-damage|p1b: Hypno|20/100")
    assert names(battle) == [["Muk", "Hypno"], ["Onix", "Abra"]]
    battle.feed(["|-damage|p1a: Muk|0 fnt", "|faint|p1a: Muk"])
    assert names(battle) == [[None, "Hypno"], ["Onix", "Abra"]]
    assert [mon.current_hp for mon in battle.team.values()] == [20, 0, 100, 100]
    fallen = entry("Muk", 0, "0 fnt")
    battle.ask(
        {**request(fallen, entry("Hypno", 1, "20/100"), entry("Mew", 2)), "active": None, "forceSwitch": [True, False]}
    )
    assert [choice.label for choice in battle.legal] == ["switch mew, pass"]
    battle.feed(["|switch|p1a: Mew|Mew, L50, M|100/100"])
    assert names(battle) == [["Mew", "Hypno"], ["Onix", "Abra"]]


def test_a_request_says_who_stands_where() -> None:
    battle = begun()
    battle.ask(request(entry("Muk", 0), entry("Hypno", 1), entry("Mew", 2), entry("Zoroark", 3)))
    assert names(battle)[0] == ["Muk", "Hypno"]


def test_our_own_illusion_is_the_one_that_the_request_shows_in_its_slot() -> None:
    battle = begun("|switch|p1b: Mew|Mew, L50, M|100/100", "|-damage|p1b: Mew|40/100", "|-boost|p1b: Mew|spa|1")
    battle.ask(request(entry("Hypno", 0), entry("Zoroark", 1, "40/100"), entry("Mew", 2), entry("Muk", 3)))
    assert names(battle)[0] == ["Hypno", "Zoroark"]
    zoroark, mew = battle.team["p1: Zoroark"], battle.team["p1: Mew"]
    assert (zoroark.current_hp, zoroark.boosts["spa"], mew.current_hp, mew.boosts["spa"]) == (40, 1, 100, 0)
    battle.feed(["|-damage|p1b: Mew|10/100"])  # lines still name the guise
    assert (zoroark.current_hp, mew.current_hp) == (10, 100)


def test_who_holds_another_lets_go_as_it_leaves_and_nobody_else_does() -> None:
    battle = begun("|move|p2a: Onix|Mean Look|p1b: Muk", "|-activate|p1b: Muk|trapped")
    muk = battle.team["p1: Muk"]
    battle.feed(["|switch|p2b: Gengar|Gengar, L50, M|100/100"])
    assert Effect.TRAPPED in muk.effects
    battle.feed(["|switch|p2a: Eevee|Eevee, L50, M|100/100"])
    assert Effect.TRAPPED not in muk.effects


def test_pressure_of_each_opponent_that_a_move_is_aimed_at_costs_one_more() -> None:
    pressing = ("|-ability|p1a: Hypno|Pressure", "|-ability|p1b: Muk|Pressure")
    battle = begun(
        *pressing, "|move|p2a: Onix|Earthquake|p1a: Hypno|[spread] p1a,p1b,p2b", "|move|p2b: Abra|Tackle|p1b: Muk"
    )
    onix, abra = (mon for mon in battle.opponent_team.values())
    assert onix.moves["earthquake"].current_pp == 16 - 3 and abra.moves["tackle"].current_pp == 56 - 2


def test_a_slot_that_commands_passes_and_has_no_moves() -> None:
    battle = begun()
    battle.ask(request(entry("Hypno", 0, commanding=True), entry("Muk", 1), entry("Mew", 2)))
    assert [bool(moves) for moves in battle.available_moves] == [False, True]
    assert [order.message for order in battle.valid_orders[0]] == ["/choose pass"]
    assert all(choice.label.startswith("pass, ") for choice in battle.legal)


def test_reviving_is_of_the_slot_that_does_it() -> None:
    battle = begun()
    fallen = entry("Mew", 2, "0 fnt")
    asked = request(entry("Hypno", 0), entry("Muk", 1, reviving=True), fallen, entry("Zoroark", 3))
    battle.ask({**asked, "active": None, "forceSwitch": [False, True]})
    assert [[mon.name for mon in mons] for mons in battle.available_switches] == [[], ["Mew"]]
    assert [choice.label for choice in battle.legal] == ["pass, switch mew"]


def test_the_orders_of_each_slot_are_its_legal_choices() -> None:
    battle = begun()
    battle.ask(request(entry("Hypno", 0), entry("Muk", 1), entry("Mew", 2), entry("Zoroark", 3)))
    first, second = ([order.message for order in orders] for orders in battle.valid_orders)
    assert first == [
        "/choose move tackle 1", "/choose move tackle 2", "/choose move tackle -2", "/choose move protect",
        "/choose move earthquake", "/choose move meanlook 1", "/choose move meanlook 2", "/choose move meanlook -2",
        "/choose switch Mew", "/choose switch Zoroark",
    ]  # fmt: skip
    assert "/choose move tackle -1" in second
    assert len(battle.legal) == 10 * 10 - 2
    assert battle.legal_slots is not None and len(battle.legal_slots.first) == 10


def test_abilities_that_only_an_ally_shows() -> None:
    battle = begun(
        "|-clearboost|p2a: Onix|[from] ability: Curious Medicine|[of] p2b: Abra",
        "|-activate|p1a: Hypno|ability: Symbiosis|Leftovers|[of] p1b: Muk",
        "|-copyboost|p2a: Onix|p2b: Abra|[from] ability: Costar",
    )
    onix, abra = battle.opponent_team.values()
    assert (onix.ability, abra.ability) == ("costar", "curiousmedicine")
    hypno, muk = battle.team["p1: Hypno"], battle.team["p1: Muk"]
    assert (hypno.ability, hypno.item, muk.item) == ("symbiosis", None, "leftovers")


def test_up_to_generation_4_pressure_of_an_ally_costs_one_more() -> None:
    battle = SeatDoubleBattle("battle-1", "Ann", "p1", 4, "gen4doublesou", random.Random(0))
    battle.ask({"wait": True, "side": request(*(entry(name, slot) for slot, name in enumerate(OWN)))["side"]})
    start = [line.replace("|gen|9", "|gen|4") for line in START]
    battle.feed([*start, "|-ability|p2b: Abra|Pressure", "|move|p2a: Onix|Tackle|p2b: Abra"])
    assert battle.opponent_team["p2: Onix"].moves["tackle"].current_pp == 56 - 2


def test_of_a_team_that_brings_some_the_others_are_no_longer_in_it() -> None:
    battle = begun()
    battle.ask(request(entry("Hypno", 0), entry("Muk", 1), entry("Zoroark", 2)))
    assert [mon.name for mon in battle.team.values()] == ["Hypno", "Muk", "Zoroark"]


def test_pp_in_champions_are_its_own() -> None:
    battle = SeatDoubleBattle("battle-1", "Ann", "p1", 9, "gen9championsvgc2026regma", random.Random(0))
    battle.ask({"wait": True, "side": request(*(entry(name, slot) for slot, name in enumerate(OWN)))["side"]})
    battle.feed([*START, "|move|p2a: Onix|Protect|p2a: Onix", "|move|p2b: Abra|Tackle|p1a: Hypno"])
    assert {name: move.max_pp for name, move in battle.team["p1: Mew"].moves.items()} == {
        "tackle": 20, "protect": 8, "earthquake": 12, "meanlook": 8,
    }  # fmt: skip
    onix, abra = battle.opponent_team.values()
    assert (onix.moves["protect"].current_pp, abra.moves["tackle"].current_pp) == (7, 19)
    battle.feed(["|turn|2", "|move|p2b: Abra|Tackle|p1a: Hypno"])
    assert abra.moves["tackle"].current_pp == 18


def test_two_of_a_side_that_look_alike_are_two_pokemon() -> None:
    battle = begun("|switch|p2a: Abra|Abra, L50, M|100/100", "|-damage|p2a: Abra|50/100", "|-boost|p2a: Abra|atk|1")
    abra = battle.opponent_team["p2: Abra"]
    both = begun("|switch|p2b: Eevee|Eevee, L50, M|100/100", "|switch|p2a: Abra|Abra, L50, M|100/100")
    both.feed(["|-damage|p2a: Abra|50/100", "|switch|p2b: Abra|Abra, L50, M|100/100", "|-damage|p2b: Abra|0 fnt"])
    both.feed(["|faint|p2b: Abra", "|-damage|p2a: Abra|30/100"])
    assert names(both)[1] == ["Abra", None] and both.opponent_team["p2: Abra"].fainted
    both.feed(["|replace|p2a: Zoroark|Zoroark, L50, M", "|-end|p2a: Zoroark|Illusion"])
    assert names(both)[1] == ["Zoroark", None] and both.opponent_team["p2: Zoroark"].current_hp == 30
    assert both.parse_warnings == 0 and abra.boosts["atk"] == 1


def test_an_ally_takes_the_sticky_barb_that_it_touches() -> None:
    barb = "|-damage|p2{}|88/100|[from] item: Sticky Barb"
    battle = begun(barb.format("a: Onix"), "|-enditem|p2b: Abra|Oran Berry", "|turn|2")
    swing = "|move|p{}|Brutal Swing|p1b: Muk|[spread] {},p1b"
    battle.feed([swing.format("2b: Abra", "p2a,p1a"), barb.format("b: Abra")])
    assert [battle.opponent_team[f"p2: {name}"].item for name in ("Onix", "Abra")] == [None, "stickybarb"]
    assert all(mon.item != "stickybarb" for mon in battle.team.values())
    own = [entry(name, slot, item="stickybarb" if name == "Muk" else "") for slot, name in enumerate(OWN)]
    battle.ask(request(*own))
    battle.feed(["|move|p2a: Onix|Tackle|p1a: Hypno", swing.format("1a: Hypno", "p2a")])
    battle.ask(
        request(*(entry(name, slot, item="stickybarb" if name == "Hypno" else "") for slot, name in enumerate(OWN)))
    )
    assert battle.team["p1: Hypno"].item == "stickybarb" and not battle.team["p1: Muk"].item
    assert not battle.opponent_team["p2: Onix"].item


def test_a_sticky_barb_that_changes_hands_twice_in_a_turn_is_with_its_last_holder() -> None:
    barb = "|-damage|{}|88/100|[from] item: Sticky Barb"
    battle = begun(barb.format("p2a: Onix"), "|-enditem|p2b: Abra|Oran Berry", "|turn|2")
    battle.feed(["|move|p2b: Abra|Tackle|p2a: Onix", "|move|p1b: Muk|Tackle|p2b: Abra", barb.format("p1b: Muk")])
    foes = [battle.opponent_team[f"p2: {name}"] for name in ("Onix", "Abra")]
    assert [mon.item for mon in foes] == [None, None]
    battle.ask(request(*(entry(name, slot, item="stickybarb" * (name == "Muk")) for slot, name in enumerate(OWN))))
    battle.feed(["|turn|3", "|move|p1a: Hypno|Tackle|p1b: Muk", "|move|p2b: Abra|Tackle|p1a: Hypno"])
    battle.feed([barb.format("p2b: Abra"), "|turn|4"])
    battle.ask(request(*(entry(name, slot, item="") for slot, name in enumerate(OWN))))
    assert not any(mon.item for mon in battle.team.values())
    assert [mon.item for mon in foes] == [None, "stickybarb"]


def test_the_first_request_after_a_preview_says_which_of_two_that_look_alike_is_which() -> None:
    battle = new_battle("battle-1", "Ann", "p1", 9, "gen9doublesou", random.Random(0))
    assert isinstance(battle, SeatDoubleBattle)
    team = [entry("Zoroark", 0), entry("Mew", 1)]
    battle.ask({"teamPreview": True, "maxTeamSize": 2, "side": request(*team)["side"]})
    shown = ["|switch|p1a: Mew|Mew, L50, M|100/100", "|switch|p1b: Mew|Mew, L50, M|100/100"]
    battle.feed([*START[:6], *shown, *START[8:], "|-boost|p1b: Mew|atk|1"])
    battle.ask(request(*team))
    assert [(mon.name, mon._active_turns, mon.boosts["atk"]) for mon in battle.own_active() if mon is not None] == [
        ("Zoroark", 1, 0), ("Mew", 1, 1),
    ]  # fmt: skip
    assert all(mon is battle.team[f"p1: {mon.name}"] for mon in battle.own_active() if mon is not None)


def test_perish_body_acts_at_once_on_its_holder_and_who_touched_it() -> None:
    battle = begun(
        "|move|p2a: Onix|Iron Tail|p2b: Abra", "|-damage|p2b: Abra|74/100", "|-ability|p2b: Abra|Perish Body"
    )
    onix, abra = battle.opponent_team["p2: Onix"], battle.opponent_team["p2: Abra"]
    assert Effect.PERISH3 in onix.effects and Effect.PERISH3 in abra.effects and abra.ability == "perishbody"
    battle.feed([f"|-start|p2{place}|perish3" for place in ("a: Onix", "b: Abra")])
    battle.feed(["|turn|2", "|move|p1b: Muk|Tackle|p2b: Abra", "|-ability|p2b: Abra|Perish Body"])
    assert Effect.PERISH3 in battle.team["p1: Muk"].effects and Effect.PERISH3 in onix.effects
    battle.feed([f"|-start|p2{place}|perish2" for place in ("a: Onix", "b: Abra")])
    battle.feed(["|move|p1b: Muk|Tackle|p2b: Abra", "|-ability|p2b: Abra|Perish Body"])
    assert [name for name in ("PERISH2", "PERISH3") if Effect[name] in abra.effects] == ["PERISH2"]


def test_jaw_lock_holds_both_until_either_leaves() -> None:
    battle = begun("|move|p2b: Abra|Jaw Lock|p1b: Muk", "|-activate|p2b: Abra|trapped", "|-activate|p1b: Muk|trapped")
    abra, muk = battle.opponent_team["p2: Abra"], battle.team["p1: Muk"]
    assert Effect.TRAPPED in abra.effects and Effect.TRAPPED in muk.effects
    battle.feed(["|-damage|p1b: Muk|0 fnt", "|faint|p1b: Muk"])
    assert Effect.TRAPPED not in abra.effects


def test_a_second_wide_guard_of_a_side_counts_though_no_line_says_so() -> None:
    guard = "|move|p1{}: {}|Wide Guard|p1{}: {}"
    battle = begun(guard.format("a", "Hypno", "a", "Hypno"), "|-singleturn|p1a: Hypno|Wide Guard")
    battle.feed([guard.format("b", "Muk", "b", "Muk"), "|upkeep", "|turn|2"])
    assert [mon.protect_counter for mon in battle.active_pokemon if mon is not None] == [1, 1]


def test_the_last_but_one_that_comes_in_is_the_last_if_that_was_another_one_in_its_guise() -> None:
    fallen = [f"|faint|p2a: {name}" for name in ("Onix", "Eevee")]
    battle = begun("|-damage|p2b: Abra|40/100", fallen[0], "|switch|p2a: Eevee|Eevee, L50, M|100/100", fallen[1])
    battle.feed(
        ["|switch|p2a: Abra|Abra, L50, M|100/100", "|-boost|p2a: Abra|atk|1", "|move|p2a: Abra|Tackle|p1a: Hypno"]
    )
    battle.feed(["|replace|p2b: Zoroark|Zoroark, L50, M", "|-end|p2b: Zoroark|Illusion", "|-damage|p2a: Abra|70/100"])
    abra, zoroark = battle.opponent_active_pokemon
    assert abra is battle.opponent_team["p2: Abra"] and zoroark is battle.opponent_team["p2: Zoroark"]
    assert (abra.current_hp, abra.boosts["atk"], abra.active, list(abra.moves)) == (70, 1, True, ["tackle"])
    assert (zoroark.current_hp, zoroark.boosts["atk"], zoroark.active) == (40, 0, True)


def test_of_two_of_ours_that_look_alike_the_request_says_which_was_in_a_guise() -> None:
    for order in (("Zoroark", "Mew"), ("Mew", "Zoroark")):
        battle = begun("|faint|p1a: Hypno", "|faint|p1b: Muk", "|", "|upkeep")
        fallen = [entry(name, slot, "0 fnt") for slot, name in enumerate(OWN[:2])]
        bench = [entry("Mew", 2, "90/100 brn"), entry("Zoroark", 3)]
        battle.ask({"forceSwitch": [True, True], "side": request(*fallen, *bench)["side"]})
        shown = {"Mew": "|switch|p1{}: Mew|Mew, L50, M|90/100 brn", "Zoroark": "|switch|p1{}: Mew|Mew, L50, M|100/100"}
        first, second = (shown[name].format(letter) for name, letter in zip(order, "ab", strict=True))
        battle.feed([second, first, "|-boost|p1a: Mew|atk|1", "|turn|2"])
        bench = [entry(name, slot, "90/100 brn" if name == "Mew" else "100/100") for slot, name in enumerate(order)]
        battle.ask(request(*bench, *(entry(name, slot + 2, "0 fnt") for slot, name in enumerate(OWN[:2]))))
        active = [mon for mon in battle.own_active() if mon is not None]
        assert [mon.name for mon in active] == list(order)
        assert [(mon.active, mon._active_turns, mon.boosts["atk"]) for mon in active] == [(True, 1, 1), (True, 1, 0)]
        assert all(mon is battle.team[f"p1: {mon.name}"] for mon in active)
        assert [mon.current_hp for mon in active] == [90 if name == "Mew" else 100 for name in order]


def test_the_last_but_one_that_comes_in_wears_the_guise_of_the_last() -> None:
    fallen = [f"|faint|p2a: {name}" for name in ("Onix", "Eevee")]
    battle = begun("|-damage|p2b: Abra|40/100", fallen[0], "|switch|p2a: Eevee|Eevee, L50, M|100/100", fallen[1])
    battle.feed(["|switch|p2a: Abra|Abra, L50, M|100/100", "|-damage|p2a: Abra|90/100"])
    first, second = battle.opponent_active_pokemon
    assert first is not None and second is battle.opponent_team["p2: Abra"]
    assert (first.current_hp, second.current_hp) == (90, 40)
    battle.feed(["|replace|p2a: Zoroark|Zoroark, L50, M", "|-end|p2a: Zoroark|Illusion"])
    assert names(battle)[1] == ["Zoroark", "Abra"]
    assert [mon.current_hp for mon in battle.opponent_active_pokemon if mon is not None] == [90, 40]
