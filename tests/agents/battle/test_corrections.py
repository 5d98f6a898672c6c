"""What agents/battle corrects: each kind by lines as Showdown sends them, with the value that Showdown's own state has."""

from __future__ import annotations

import random
from typing import Any

import pytest
from poke_env.battle.effect import Effect
from poke_env.battle.field import Field
from poke_env.battle.pokemon import Pokemon
from poke_env.battle.side_condition import SideCondition
from poke_env.battle.weather import Weather
from support.battle_lines import battle_after, own
from support.battle_lines import opposite as foe

from agents.battle import SeatBattle

SUBSTITUTE = "|-start|p2a: Foe|Substitute"


def battle(*lines: str, gen: int = 9, foe: str = "Ninjask", ours: str = "Tauros") -> SeatBattle:
    return battle_after(gen, *lines, foe=foe, ours=ours)


def boosts(mon: Pokemon) -> dict[str, int]:
    return {stat: stage for stat, stage in mon.boosts.items() if stage}


def types(mon: Pokemon) -> list[str]:
    return [kind.name for kind in mon.types]


def left_and_back(details: str) -> list[str]:
    return ["|switch|p2a: Other|Blissey, F|100/100", f"|switch|p2a: Foe|{details}|100/100"]


def test_psych_up_copies_the_targets_boosts() -> None:
    seat = battle("|-boost|p1a: Own|atk|2", "|-copyboost|p2a: Foe|p1a: Own|[from] move: Psych Up")
    assert boosts(foe(seat)) == boosts(own(seat)) == {"atk": 2}
    assert boosts(foe(battle("|-setboost|p2a: Foe|atk|12|[from] ability: Anger Point", gen=4))) == {"atk": 6}


@pytest.mark.parametrize(
    ("move", "passed", "kept"),
    [
        ("Baton Pass", {Effect.SUBSTITUTE, Effect.CONFUSION, Effect.PERISH2}, {"atk": 2}),
        ("Shed Tail", {Effect.SUBSTITUTE}, {}),
        ("U-turn", set(), {}),
    ],
)
def test_baton_pass_and_shed_tail_hand_on(move: str, passed: set[Effect], kept: dict[str, int]) -> None:
    given = [SUBSTITUTE, "|-start|p2a: Foe|confusion", "|-start|p2a: Foe|perish3", "|-start|p2a: Foe|perish2"]
    given += ["|-start|p2a: Foe|Attract", "|-start|p2a: Foe|Encore", "|-boost|p2a: Foe|atk|2"]
    seat = battle(*given, f"|switch|p2a: Other|Blissey, F|100/100|[from] {move}")
    assert set(foe(seat).effects) == passed and boosts(foe(seat)) == kept
    left = seat.opponent_team["p2: Foe"]
    assert not left.effects and not boosts(left)


@pytest.mark.parametrize("gen", [2, 9])
def test_the_recharge_mark_ends_with_the_turn_of_rest(gen: int) -> None:
    hit = ["|move|p2a: Foe|Hyper Beam|p1a: Own", "|-damage|p1a: Own|9/300", "|-mustrecharge|p2a: Foe", "|turn|2"]
    assert foe(battle(*hit, gen=gen, foe="Snorlax")).must_recharge
    assert not foe(battle(*hit, "|cant|p2a: Foe|recharge", gen=gen, foe="Snorlax")).must_recharge


def test_in_generation_1_sleep_and_binding_end_the_need_to_rest() -> None:
    hit = ["|move|p2a: Foe|Hyper Beam|p1a: Own", "|-mustrecharge|p2a: Foe", "|turn|2"]
    for ending in ("|-status|p2a: Foe|slp", "|move|p1a: Own|Wrap|p2a: Foe", "|cant|p2a: Foe|recharge"):
        seat = battle(*hit, gen=1, foe="Tauros")
        assert foe(seat).must_recharge
        seat.feed([ending])
        assert not foe(seat).must_recharge


@pytest.mark.parametrize(
    ("gen", "line", "own_ability"),
    [
        (9, "|-ability|p2a: Foe|Insomnia|Speed Boost|[from] move: Worry Seed", "speedboost"),
        (4, "|-ability|p2a: Foe|Insomnia|[from] move: Worry Seed", None),
        (9, "|-activate|p1a: Own|ability: Lingering Aroma|p2a: Foe|[ability] Speed Boost", "speedboost"),
        (9, "|-activate|p1a: Own|Skill Swap|Speed Boost|Intimidate|[of] p2a: Foe", "speedboost"),
        (7, "|-ability|p2a: Foe|Intimidate|Trace|[from] ability: Trace|[of] p1a: Own", "trace"),
    ],
)
def test_a_changed_ability_lasts_until_its_pokemon_leaves(gen: int, line: str, own_ability: str | None) -> None:
    species = "Arcanine" if own_ability is None else "Ninjask"
    seat = battle(line, gen=gen, foe=species)
    changed = foe(seat).ability
    assert changed in ("insomnia", "lingeringaroma", "intimidate")
    seat.feed(left_and_back(species))
    assert foe(seat).ability == own_ability


def test_a_mega_traces() -> None:
    lines = [
        "|detailschange|p2a: Foe|Alakazam-Mega, M",
        "|-mega|p2a: Foe|Alakazam|Alakazite",
        "|-ability|p2a: Foe|Sap Sipper|Trace|[from] ability: Trace|[of] p1a: Own",
    ]
    mon = foe(battle(*lines, gen=7, foe="Alakazam, M"))
    assert (mon.ability, mon.item, mon.species) == ("sapsipper", "alakazite", "alakazammega")


def test_gastro_acid_keeps_the_ability_and_marks_it() -> None:
    mon = foe(battle("|-ability|p2a: Foe|Speed Boost", "|-endability|p2a: Foe"))
    assert mon.ability == "speedboost" and Effect.GASTRO_ACID in mon.effects


@pytest.mark.parametrize(
    ("gen", "base", "forme", "changed"),
    [
        (5, "Meloetta", "Meloetta-Pirouette", ["NORMAL", "FIGHTING"]),
        (3, "Castform", "Castform-Rainy", ["WATER"]),
        (8, "Aegislash", "Aegislash-Blade", ["STEEL", "GHOST"]),
    ],
)
def test_a_forme_of_the_field_ends_with_leaving(gen: int, base: str, forme: str, changed: list[str]) -> None:
    seat = battle(f"|-formechange|p2a: Foe|{forme}|[msg]", gen=gen, foe=base)
    there = foe(seat)
    assert types(there) == changed and there.species == forme.lower().replace("-", "")
    stats = dict(there.base_stats)
    seat.feed(left_and_back(base))
    assert foe(seat).species == base.lower()
    assert foe(seat).base_stats != stats or base == "Castform"


def test_a_mega_is_the_mega_of_its_details_and_stays_one() -> None:
    lines = ["|detailschange|p2a: Foe|Charizard-Mega-X, M", "|-mega|p2a: Foe|Charizard|Charizardite X"]
    seat = battle(*lines, gen=7, foe="Charizard, M")
    for _ in range(2):
        assert types(foe(seat)) == ["FIRE", "DRAGON"] and foe(seat).base_stats["atk"] == 130
        seat.feed(left_and_back("Charizard-Mega-X, M"))


def test_a_fainted_pokemon_keeps_nothing_and_can_be_revived() -> None:
    lines = ["|-terastallize|p2a: Foe|Fairy", "|-boost|p2a: Foe|atk|2", "|-damage|p2a: Foe|0 fnt", "|faint|p2a: Foe"]
    seat = battle(*lines)
    assert not boosts(foe(seat)) and not foe(seat).is_terastallized and types(foe(seat)) == ["BUG", "FLYING"]
    seat.feed(["|switch|p2a: Other|Blissey, F|100/100", "|-heal|p2: Foe|50/100|[silent]"])
    seat.feed(["|switch|p2a: Foe|Ninjask|50/100"])
    assert not foe(seat).fainted and foe(seat).tera_type is not None and types(foe(seat)) == ["BUG", "FLYING"]


def test_what_came_in_in_a_guise_is_given_back_at_the_end_of_illusion() -> None:
    lines = [
        "|switch|p2a: Real|Corviknight, F|80/100 brn",
        "|move|p2a: Real|Roost|p2a: Real",
        "|switch|p2a: Foe|Ninjask|100/100",
        "|switch|p2a: Real|Corviknight, F|100/100",
        "|move|p2a: Real|Nasty Plot|p2a: Real",
        "|-boost|p2a: Real|spa|2",
        "|-start|p2a: Real|Substitute",
        "|-damage|p2a: Real|60/100",
        "|replace|p2a: Fox|Zoroark, M",
        "|-end|p2a: Fox|Illusion",
    ]
    seat = battle(*lines)
    fox, real = foe(seat), seat.opponent_team["p2: Real"]
    assert fox.species == "zoroark" and fox.ability == "illusion"
    assert boosts(fox) == {"spa": 2} and Effect.SUBSTITUTE in fox.effects and fox.current_hp == 60
    assert {name: move.current_pp for name, move in fox.moves.items()} == {"nastyplot": 31}
    assert (real.current_hp, real.status and real.status.name, list(real.moves)) == (80, "BRN", ["roost"])
    assert not boosts(real) and not real.effects and not real.active


def test_a_guise_that_had_not_been_seen_is_a_pokemon_at_full_health() -> None:
    lines = ["|switch|p2a: Real|Corviknight, F|100/100", "|-damage|p2a: Real|60/100", "|replace|p2a: Fox|Zoroark, M"]
    real = battle(*lines).opponent_team["p2: Real"]
    assert real.current_hp == 100 and not real.revealed and not real.active


def test_types_that_are_added_changed_and_copied() -> None:
    assert types(foe(battle("|-start|p2a: Foe|typeadd|Ghost|[from] move: Trick-or-Treat"))) == [
        "BUG",
        "FLYING",
        "GHOST",
    ]
    soaked = ["|-start|p2a: Foe|typeadd|Grass|[from] move: Forest's Curse", "|-start|p2a: Foe|typechange|Water"]
    seat = battle(*soaked)
    assert types(foe(seat)) == ["WATER"]
    seat.feed(["|-transform|p1a: Own|p2a: Foe"])
    assert types(own(seat)) == ["WATER"]
    seat = battle("|-singleturn|p2a: Foe|move: Roost")
    assert types(foe(seat)) == ["BUG"]
    seat.feed(["|turn|2"])
    assert types(foe(seat)) == ["BUG", "FLYING"]
    assert types(foe(battle("|-terastallize|p2a: Foe|Stellar"))) == ["BUG", "FLYING"]


def test_counts_replace_one_another() -> None:
    seat = battle("|-start|p2a: Foe|perish3|[silent]", "|-start|p2a: Foe|perish2", "|-start|p2a: Foe|stockpile1")
    assert set(foe(seat).effects) == {Effect.PERISH2, Effect.STOCKPILE1}
    seat.feed(["|-end|p2a: Foe|Stockpile"])
    assert set(foe(seat).effects) == {Effect.PERISH2}


def test_what_ends_without_a_line() -> None:
    assert not foe(battle("|-singleturn|p2a: Foe|Endure", "|turn|2")).effects
    bond = ["|move|p2a: Foe|Destiny Bond|p2a: Foe", "|-singlemove|p2a: Foe|Destiny Bond", "|turn|2"]
    assert set(foe(battle(*bond)).effects) == {Effect.DESTINY_BOND}
    assert not foe(battle(*bond, "|cant|p2a: Foe|par")).effects
    trapped = "|-activate|p1a: Own|trapped"
    assert not own(battle(trapped, "|switch|p2a: Other|Blissey, F|100/100")).effects
    charging = ["|move|p2a: Foe|Solar Beam|p1a: Own|[still]", "|-prepare|p2a: Foe|Solar Beam"]
    assert foe(battle(*charging)).preparing
    assert not foe(battle(*charging, "|-anim|p2a: Foe|Solar Beam|p1a: Own")).preparing


def test_counters_of_statuses() -> None:
    asleep = ["|-status|p2a: Foe|slp", "|cant|p2a: Foe|slp", "|move|p2a: Foe|Sleep Talk|p2a: Foe"]
    seat = battle(*asleep, "|move|p2a: Foe|Tackle|p1a: Own|[from] move: Sleep Talk")
    assert foe(seat).status_counter == 1
    seat.feed(["|-curestatus|p2a: Foe|slp|[msg]", "|-status|p2a: Foe|tox", "|upkeep", "|turn|2"])
    assert foe(seat).status_counter == 1
    seat.feed(["|-damage|p2a: Foe|0 fnt", "|switch|p2a: Other|Blissey, F|90/100 tox", "|turn|3"])
    assert foe(seat).status_counter == 0


def test_what_moves_cost_and_show() -> None:
    def pp(*lines: str) -> dict[str, int]:
        return {name: move.current_pp for name, move in foe(battle(*lines)).moves.items()}

    outrage = "|move|p2a: Foe|Outrage|p1a: Own"
    assert pp(outrage, f"{outrage}|[from] lockedmove", f"{outrage}|[from] lockedmove|[miss]") == {"outrage": 15}
    called = "|move|p2a: Foe|Surf|p1a: Own|[from] move: "
    assert pp("|move|p2a: Foe|Metronome|p2a: Foe", called + "Metronome") == {"metronome": 15}
    assert pp("|move|p2a: Foe|Sleep Talk|p2a: Foe", called + "Sleep Talk") == {"sleeptalk": 15, "surf": 24}
    pressure = "|-ability|p1a: Own|Pressure"
    assert pp(pressure, "|move|p2a: Foe|Metronome|p2a: Foe", called + "Metronome") == {"metronome": 14}
    assert pp("|move|p2a: Foe|Surf|p1a: Own", "|-activate|p2a: Foe|move: Spite|Surf|4") == {"surf": 19}


def test_items_change_hands() -> None:
    given = ["|-item|p2a: Foe|Leftovers", "|-item|p1a: Own|Leftovers|[from] move: Bestow|[of] p2a: Foe"]
    seat = battle(*given)
    assert own(seat).item == "leftovers" and foe(seat).item is None
    seat = battle("|-activate|p1a: Own|move: Trick|[of] p2a: Foe", "|-item|p2a: Foe|Choice Band|[from] move: Trick")
    assert foe(seat).item == "choiceband"
    assert foe(battle("|-status|p2a: Foe|brn|[from] item: Flame Orb")).item == "flameorb"


def test_a_terrain_shows_the_ability_that_made_it() -> None:
    line = "|-fieldstart|move: Psychic Terrain|[from] ability: Psychic Surge|[of] p2a: Foe"
    seat = battle(line, foe="Indeedee")
    assert foe(seat).ability == "psychicsurge"
    assert seat.fields == {Field.PSYCHIC_TERRAIN: 1}


def test_weather_begins_once_and_court_change_leaves_lucky_chant() -> None:
    seat = battle("|-weather|RainDance", "|-weather|RainDance|[upkeep]", "|turn|2", "|-weather|RainDance|[upkeep]")
    assert seat.weather == {Weather.RAINDANCE: 1}
    seat = battle(
        "|-sidestart|p1: p1|Reflect", "|-sidestart|p1: p1|move: Lucky Chant", "|-swapsideconditions", "|turn|2"
    )
    assert set(seat.side_conditions) == {SideCondition.LUCKY_CHANT}
    assert set(seat.opponent_side_conditions) == {SideCondition.REFLECT}


def test_the_request_says_what_ours_must_do_and_has_left() -> None:
    seat = battle(gen=4, ours="Snorlax, M")
    entry: dict[str, Any] = {"ident": "p1: Own", "details": "Snorlax, M", "condition": "300/300", "active": True}
    entry |= {"stats": {}, "moves": ["gigaimpact"], "baseAbility": "immunity", "item": "", "pokeball": "pokeball"}
    listed = {"move": "Giga Impact", "id": "gigaimpact", "pp": 3, "maxpp": 8, "target": "normal", "disabled": False}
    seat.ask({"active": [{"moves": [listed]}], "side": {"name": "p1", "id": "p1", "pokemon": [entry]}})
    assert own(seat).moves["gigaimpact"].current_pp == 3 and own(seat).ability == "immunity"
    seat.ask(
        {"active": [{"moves": [{"move": "Recharge", "id": "recharge"}]}], "side": {"id": "p1", "pokemon": [entry]}}
    )
    assert own(seat).must_recharge


def test_pressure_is_that_of_an_opponent_whose_ability_acts() -> None:
    def left(*lines: str, gen: int = 9) -> int:
        return next(iter(foe(battle("|-ability|p1a: Own|Pressure", *lines, gen=gen)).moves.values())).current_pp

    assert left("|move|p2a: Foe|Glare|p1a: Own") == 46
    assert left("|-endability|p1a: Own", "|move|p2a: Foe|Glare|p1a: Own") == 47
    assert left("|move|p2a: Foe|Curse|p2a: Foe") == 15
    assert left("|move|p2a: Foe|Trick Room|p2a: Foe") == 6
    assert left("|move|p2a: Foe|Me First|p1a: Own", gen=7) == 30
    assert left("|move|p2a: Foe|Tackle|p1a: Own|[from] item: Quick Claw") == 55


def test_imposter_alone_does_not_show_the_move_transform() -> None:
    mon = foe(battle("|-transform|p2a: Foe|p1a: Own|[from] ability: Imposter"))
    assert mon.transformed and "transform" not in mon._moves._base_moves


def test_ours_that_is_active_by_the_request_before_its_guise_is_known() -> None:
    seat = SeatBattle("battle-1", "p1", "p1", 5, "gen5randombattle", random.Random(0))
    seat.feed(
        ["|switch|p1a: Real|Tauros|300/300", "|switch|p2a: Foe|Ninjask|100/100", "|-unboost|p1a: Real|atk|1", "|turn|1"]
    )
    fox: dict[str, Any] = {"ident": "p1: Fox", "details": "Zoroark, M", "condition": "200/200", "active": True}
    fox |= {"stats": {}, "moves": ["bite"], "baseAbility": "illusion", "item": "", "pokeball": "pokeball"}
    real = fox | {
        "ident": "p1: Real",
        "details": "Tauros",
        "active": False,
        "moves": ["tackle"],
        "condition": "300/300",
    }
    listed = {"move": "Bite", "id": "bite", "pp": 40, "maxpp": 40, "target": "normal", "disabled": False}
    seat.ask(
        {
            "active": [{"moves": [listed]}],
            "side": {"name": "p1", "id": "p1", "pokemon": [fox, real | {"baseAbility": "intimidate"}]},
        }
    )
    assert own(seat).name == "Fox" and boosts(own(seat)) == {"atk": -1} and own(seat).first_turn
    assert not boosts(seat.team["p1: Real"]) and not seat.team["p1: Real"].active
