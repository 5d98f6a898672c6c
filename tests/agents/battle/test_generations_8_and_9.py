"""What lines of generations 8 and 9 leave out: the move of a Max Move, which As One it is, who wears Illusion."""

from __future__ import annotations

import random

import pytest
from poke_env.battle.pokemon import Pokemon
from poke_env.battle.status import Status
from support.battle_lines import battle_after
from support.battle_lines import opposite as foe

from agents.battle import SeatBattle, new_battle


def battle(gen: int, *lines: str, foe: str = "Arbok", moves: tuple[str, ...] = ()) -> SeatBattle:
    return battle_after(gen, *lines, foe=foe, ours="Buzzwole", moves=moves)


def used(mon: Pokemon) -> dict[str, int]:
    """The PP that each move has cost."""
    return {name: move.max_pp - move.current_pp for name, move in mon.moves.items() if move.max_pp != move.current_pp}


SET = ("dualwingbeat", "bulkup", "icepunch", "icefang")


@pytest.mark.parametrize(
    ("max_move", "moves", "cost"),
    [
        ("Max Airstream|p2a: Foe", SET, {"dualwingbeat": 1}),
        ("Max Guard|p1a: Own", SET, {"bulkup": 1}),
        ("Max Hailstorm|p2a: Foe", SET, {}),  # Ice Punch or Ice Fang
        ("Max Airstream|p2a: Foe", ("dualwingbeat", "weatherball"), {}),  # either
        ("Max Geyser|p2a: Foe", ("dualwingbeat", "weatherball"), {"weatherball": 1}),
    ],
)
def test_a_max_move_costs_the_only_move_that_can_be_it(
    max_move: str, moves: tuple[str, ...], cost: dict[str, int]
) -> None:
    seat = battle(8, "|-start|p1a: Own|Dynamax|", f"|move|p1a: Own|{max_move}", moves=moves)
    assert used(seat.team["p1: Own"]) == cost
    seat.feed(["|-damage|p1a: Own|0 fnt", "|faint|p1a: Own"])
    assert used(seat.team["p1: Own"]) == cost


def test_pressure_and_an_opponent_whose_moves_are_known() -> None:
    lines = ["|-ability|p2a: Foe|Pressure", "|-start|p1a: Own|Dynamax|", "|move|p1a: Own|Max Airstream|p2a: Foe"]
    assert used(battle(8, *lines, moves=SET).team["p1: Own"]) == {"dualwingbeat": 2}
    lines = ["|-start|p2a: Foe|Dynamax|Gmax", "|move|p2a: Foe|Max Airstream|p1a: Own"]
    assert used(foe(battle(8, *lines, moves=SET))) == {"dualwingbeat": 1}
    assert used(foe(battle(8, *lines, moves=SET[:3]))) == {}  # its fourth move may be another Flying one


def test_a_pixilate_pokemons_max_moves_have_another_type() -> None:
    lines = ["|-ability|p1a: Own|Pixilate", "|-start|p1a: Own|Dynamax|", "|move|p1a: Own|Max Starfall|p2a: Foe"]
    assert used(battle(8, *lines, moves=("hypervoice", "playrough")).team["p1: Own"]) == {}


AS_ONE = ["|-ability|p2a: Foe|As One", "|-ability|p2a: Foe|Unnerve"]


@pytest.mark.parametrize(
    ("species", "lines", "ability"),
    [
        ("Calyrex-Ice", AS_ONE, "asoneglastrier"),
        ("Calyrex-Shadow", [*AS_ONE, "|-ability|p2a: Foe|Grim Neigh|boost"], "asonespectrier"),
        ("Arbok", AS_ONE, None),  # one of both
        ("Arbok", [*AS_ONE, "|-ability|p2a: Foe|Grim Neigh|boost"], "asonespectrier"),
        ("Arbok", [*AS_ONE, "|turn|2", "|-ability|p2a: Foe|Chilling Neigh|boost"], "asoneglastrier"),
        ("Arbok", ["|-ability|p2a: Foe|Unnerve"], "unnerve"),
        ("Spectrier", ["|-ability|p2a: Foe|Grim Neigh|boost"], "grimneigh"),
    ],
)
def test_as_one_is_one_ability(species: str, lines: list[str], ability: str | None) -> None:
    assert foe(battle(9, *lines, foe=species)).ability == ability


def test_the_details_say_whether_the_one_that_comes_in_is_terastallized() -> None:
    """Zoroark comes in as Arbok, which has terastallized; the line has no "tera:"."""
    terastallized = ["|-terastallize|p2a: Foe|Fire", "|switch|p2a: Other|Blissey, F|100/100"]
    guise = [*terastallized, "|switch|p2a: Foe|Arbok|100/100"]
    assert not foe(battle(9, *guise)).is_terastallized
    assert foe(battle(9, *terastallized, "|switch|p2a: Foe|Arbok, tera:Fire|100/100")).is_terastallized
    seat = battle(9, *guise, "|replace|p2a: Zoroark|Zoroark, M", "|-end|p2a: Zoroark|Illusion")
    assert not foe(seat).is_terastallized and [kind.name for kind in foe(seat).types] == ["DARK"]
    assert seat.opponent_team["p2: Foe"].is_terastallized


TRICK = ["|move|p1a: Own|Switcheroo|p2a: Foe", "|-activate|p1a: Own|move: Trick|[of] p2a: Foe"]
GIVEN = "|-item|p2a: Foe|White Herb|[from] move: Switcheroo"


def test_an_item_that_is_used_as_it_is_received_is_gone() -> None:
    assert foe(battle(9, *TRICK, GIVEN)).item == "whiteherb"
    used_up = ["|-enditem|p2a: Foe|White Herb", "|-clearnegativeboost|p2a: Foe|[silent]", GIVEN]
    assert foe(battle(9, *TRICK, *used_up)).item is None


BARB = "|-damage|p2a: Foe|88/100|[from] item: Sticky Barb"


def test_a_second_sticky_barb_is_not_taken_by_the_contact_of_one_that_has_left() -> None:
    held = "|-damage|p1a: Own|290/300|[from] item: Sticky Barb"
    seat = battle(9, held, "|move|p2a: Foe|Tackle|p1a: Own", "|switch|p2a: Other|Blissey, F|100/100")
    seat.feed(["|-damage|p2a: Other|88/100|[from] item: Sticky Barb"])
    assert (seat.opponent_team["p2: Other"].item, seat.team["p1: Own"].item) == ("stickybarb", "stickybarb")


def test_a_foe_with_a_sticky_barb_of_its_own_has_not_taken_ours_in_an_earlier_turn() -> None:
    held = "|-damage|p1a: Own|290/300|[from] item: Sticky Barb"
    seat = battle(9, held, "|move|p2a: Foe|Tackle|p1a: Own", "|faint|p1a: Own", "|turn|2")
    seat.feed([BARB])
    assert (foe(seat).item, seat.team["p1: Own"].item) == ("stickybarb", "stickybarb")


def test_sticky_barb_changes_hands_without_a_line() -> None:
    seat = battle(9, BARB, "|turn|2", "|move|p1a: Own|Tackle|p2a: Foe")
    seat.team["p1: Own"]._item = None
    assert foe(seat).item == "stickybarb"
    seat.feed(["|-damage|p1a: Own|260/300|[from] item: Sticky Barb"])
    assert (foe(seat).item, seat.team["p1: Own"].item) == (None, "stickybarb")
    seat.feed(["|turn|3", "|move|p2a: Foe|Tackle|p1a: Own", BARB])
    assert (foe(seat).item, seat.team["p1: Own"].item) == ("stickybarb", None)


def test_a_request_shows_that_sticky_barb_has_changed_hands() -> None:
    seat = battle(9)
    entry = {
        "ident": "p1: Own", "details": "Buzzwole", "condition": "300/300", "active": True, "moves": ["tackle"], "item": "",
        "stats": dict.fromkeys(("atk", "def", "spa", "spd", "spe"), 100), "baseAbility": "beastboost",
        "ability": "beastboost", "pokeball": "pokeball", "teraType": "Bug", "terastallized": "", "commanding": False,
        "reviving": False,
    }  # fmt: skip
    for item, theirs in (
        ("", "unknown_item"),
        ("stickybarb", "unknown_item"),
        ("", "stickybarb"),
        ("stickybarb", None),
    ):
        moves = [{"move": "Tackle", "id": "tackle", "pp": 56, "maxpp": 56, "target": "normal", "disabled": False}]
        team = [{**entry, "item": item}]
        seat.feed(["|move|p2a: Foe|Tackle|p1a: Own", "|move|p1a: Own|Tackle|p2a: Foe"])
        seat.ask({"active": [{"moves": moves}], "side": {"name": "p1", "id": "p1", "pokemon": team}})
        assert (seat.parse_warnings, foe(seat).item) == (0, theirs)


def test_a_terastallized_pokemon_keeps_its_forme_when_the_request_has_new_stats() -> None:
    entry = {
        "ident": "p1: Core", "details": "Minior-Blue", "condition": "250/250", "active": False, "moves": ["tackle"],
        "item": "", "stats": dict.fromkeys(("atk", "def", "spa", "spd", "spe"), 100), "baseAbility": "shieldsdown",
        "ability": "shieldsdown", "pokeball": "pokeball", "teraType": "Ghost", "terastallized": "Ghost",
        "commanding": False, "reviving": False,
    }  # fmt: skip
    own = {**entry, "ident": "p1: Own", "details": "Buzzwole", "active": True, "terastallized": ""}
    seat = battle(9)
    side = {"name": "p1", "id": "p1"}
    seat.ask({"wait": True, "side": {**side, "pokemon": [own, entry]}})
    seat.feed(
        [
            "|switch|p1a: Core|Minior-Blue, tera:Ghost|250/250",
            "|-formechange|p1a: Core|Minior-Meteor||[from] ability: Shields Down",
        ]
    )
    changed = {**entry, "active": True, "stats": dict.fromkeys(("atk", "def", "spa", "spd", "spe"), 90)}
    seat.ask({"wait": True, "side": {**side, "pokemon": [changed, {**own, "active": False}]}})
    mon = seat.active_pokemon
    assert mon is not None and (mon.species, mon.base_stats["spe"]) == ("miniormeteor", 60)


def test_a_dancer_that_hits_itself_does_not_dance_later() -> None:
    hit = [
        "|-activate|p2a: Foe|ability: Dancer",
        "|-activate|p2a: Foe|confusion",
        "|-damage|p2a: Foe|90/100|[from] confusion",
    ]
    seat = battle(9, *hit, "|move|p2a: Foe|Will-O-Wisp|p1a: Own", foe="Oricorio")
    assert used(foe(seat)) == {"willowisp": 1}


def test_who_eats_anothers_berry_keeps_its_item() -> None:
    given = "|-item|p2a: Foe|Dawn Stone|[from] move: Bestow|[of] p1a: Own"
    eaten = [
        "|-enditem|p1a: Own|Leppa Berry|[from] stealeat|[move] Bug Bite|[of] p2a: Foe",
        "|-activate|p2a: Foe|item: Leppa Berry|Horn Attack|[consumed]",
    ]
    seat = battle(9, given, *eaten, moves=("hornattack",))
    assert (foe(seat).item, seat.team["p1: Own"].item) == ("dawnstone", None)
    assert foe(battle(9, *eaten, moves=("hornattack",))).item == "unknown_item"


def test_one_that_has_not_announced_pressure_has_none() -> None:
    """Another one wears its guise: the species alone has Pressure."""
    hit, announced = "|move|p1a: Own|Tackle|p2a: Foe", "|-ability|p2a: Foe|Pressure"
    assert used(battle(8, hit, foe="Eternatus", moves=("tackle",)).team["p1: Own"]) == {"tackle": 1}
    seat = battle(8, announced, hit, foe="Eternatus", moves=("tackle",))
    assert used(seat.team["p1: Own"]) == {"tackle": 2}
    seat.feed(["|switch|p2a: Other|Arbok|100/100", "|switch|p2a: Foe|Eternatus|100/100", hit])
    assert used(seat.team["p1: Own"]) == {"tackle": 3}


def test_an_instructed_protection_that_fails_leaves_the_count() -> None:
    protected = [
        "|move|p2a: Foe|Wide Guard|p2a: Foe",
        "|-singleturn|p2a: Foe|Wide Guard",
        "|move|p1a: Own|Instruct|p2a: Foe",
    ]
    failed = [
        "|-singleturn|p2a: Foe|move: Instruct|[of] p1a: Own",
        "|move|p2a: Foe|Wide Guard||[still]",
        "|-fail|p2a: Foe",
    ]
    assert foe(battle(8, *protected, *failed, "|", "|upkeep", "|turn|2")).protect_counter == 1


def test_dynamax_ends_minimize() -> None:
    minimized = ["|move|p2a: Foe|Minimize|p2a: Foe", "|-boost|p2a: Foe|evasion|2"]
    assert [effect.name for effect in foe(battle(8, *minimized)).effects] == ["MINIMIZE"]
    assert [effect.name for effect in foe(battle(8, *minimized, "|-start|p2a: Foe|Dynamax|")).effects] == ["DYNAMAX"]


def test_a_silent_change_of_types_is_that_of_the_guise() -> None:
    """Arbok has terastallized; Zoroark comes in as Arbok."""
    guise = ["|switch|p2a: Foe|Arbok|100/100", "|-start|p2a: Foe|typechange|Fire|[silent]", "|turn|2"]
    unmasked = ["|replace|p2a: Zoroark|Zoroark, M", "|-end|p2a: Zoroark|Illusion"]
    seat = battle(9, "|-terastallize|p2a: Foe|Fire", "|switch|p2a: Other|Blissey, F|100/100", *guise)
    assert [kind.name for kind in foe(seat).types] == ["FIRE"]
    seat.feed(unmasked)
    assert [kind.name for kind in foe(seat).types] == ["DARK"]
    soaked = battle(9, *guise, "|-start|p2a: Foe|typechange|Water|[from] move: Soak", *unmasked)
    assert [kind.name for kind in foe(soaked).types] == ["WATER"]


def test_one_of_ours_with_illusion_wears_the_guise_of_another_with_it() -> None:
    entry = {
        "condition": "250/250", "active": False, "moves": ["howl", "tackle"], "item": "", "baseAbility": "illusion",
        "stats": dict.fromkeys(("atk", "def", "spa", "spd", "spe"), 100), "ability": "illusion", "pokeball": "pokeball",
    }  # fmt: skip
    zoroark = {**entry, "ident": "p1: Zoroark", "details": "Zoroark, M", "active": True}
    zorua = {**entry, "ident": "p1: Zorua", "details": "Zorua, M"}
    seat = battle(8)
    seat.feed(["|switch|p1a: Zorua|Zorua, M|250/250", "|turn|2"])
    seat.ask({"wait": True, "side": {"name": "p1", "id": "p1", "pokemon": [zoroark, zorua]}})
    seat.feed(["|move|p1a: Zorua|Howl|p1a: Zorua", "|-boost|p1a: Zorua|atk|1"])
    assert seat.team["p1: Zoroark"].boosts["atk"] == 1 and used(seat.team["p1: Zoroark"]) == {"howl": 1}
    assert seat.team["p1: Zorua"].boosts["atk"] == 0


def test_neutralizing_gas_ends_slow_start() -> None:
    slow = "|-start|p2a: Foe|ability: Slow Start"
    gas = ["|-ability|p1a: Own|Neutralizing Gas", "|-end|p1a: Own|ability: Neutralizing Gas"]
    assert [effect.name for effect in foe(battle(9, slow, foe="Regigigas")).effects] == ["SLOW_START"]
    assert not foe(battle(9, slow, gas[0], foe="Regigigas")).effects
    assert [effect.name for effect in foe(battle(9, slow, *gas, slow, foe="Regigigas")).effects] == ["SLOW_START"]


def test_protective_pads_keep_an_ability_from_spreading() -> None:
    seat = battle(9, "|-activate|p2a: Foe|ability: Lingering Aroma", "|-activate|p1a: Own|item: Protective Pads")
    assert foe(seat).ability == "lingeringaroma" and seat.team["p1: Own"].ability != "lingeringaroma"


def test_bad_poison_of_a_doom_desire_counts_from_the_next_turn_on() -> None:
    chain = "|-status|p2a: Foe|tox|[from] ability: Toxic Chain|[of] p1a: Own"
    falls = ["|", "|-end|p2a: Foe|move: Doom Desire", "|-damage|p2a: Foe|80/100", chain, "|upkeep", "|turn|2"]
    assert foe(battle(9, *falls)).status_counter == 0
    assert foe(battle(9, "|move|p1a: Own|Bite|p2a: Foe", chain, "|", "|upkeep", "|turn|2")).status_counter == 1


def test_an_added_type_stays_when_illusion_ends() -> None:
    cursed = "|-start|p2a: Foe|typeadd|Grass|[from] move: Forest's Curse"
    ends = ["|replace|p2a: Zorua|Zorua-Hisui, F", "|-end|p2a: Zorua|Illusion"]
    kinds = {kind.name for kind in foe(battle(9, cursed, *ends, foe="Volcanion")).types}
    assert kinds == {"NORMAL", "GHOST", "GRASS"}


def test_iron_head_becomes_behemoth_blade() -> None:
    entry = {
        "ident": "p1: Own", "details": "Zacian", "condition": "345/345", "active": True, "moves": ["ironhead", "crunch"],
        "item": "rustedsword", "stats": dict.fromkeys(("atk", "def", "spa", "spd", "spe"), 100),
        "baseAbility": "intrepidsword", "ability": "intrepidsword", "pokeball": "pokeball",
    }  # fmt: skip
    seat = battle(8)
    for moves in (["ironhead", "crunch"], ["behemothblade", "crunch"]):
        seat.ask({"side": {"name": "p1", "id": "p1", "pokemon": [{**entry, "moves": moves}]}, "wait": True})
        assert set(seat.team["p1: Own"].moves) == set(moves)
    seat = battle(8)
    seat.ask(
        {
            "side": {"name": "p1", "id": "p1", "pokemon": [{**entry, "moves": ["ironhead", "behemothblade"]}]},
            "wait": True,
        }
    )
    assert set(seat.team["p1: Own"].moves) == {"ironhead", "behemothblade"}


def test_a_guise_that_comes_in_asleep_has_slept_before() -> None:
    """Zoroark sleeps as Arbok and leaves; Arbok itself comes in and leaves; Zoroark comes in as Arbok again."""
    slept = ["|-status|p2a: Foe|slp", "|cant|p2a: Foe|slp", "|turn|2", "|switch|p2a: Other|Blissey, F|100/100"]
    awake = ["|switch|p2a: Foe|Arbok|90/100", "|switch|p2a: Other|Blissey, F|100/100"]
    seat = battle(9, *slept, *awake)
    assert seat.opponent_team["p2: Foe"].status is None
    seat.feed(["|switch|p2a: Foe|Arbok|100/100 slp"])
    assert foe(seat).status is Status.SLP and foe(seat).status_counter == 1
    fresh = battle(9, *awake, "|switch|p2a: Foe|Arbok|100/100", "|-status|p2a: Foe|slp")
    assert foe(fresh).status_counter == 0
    unmasked = ["|cant|p2a: Foe|slp", "|replace|p2a: Fox|Zoroark, M", "|-end|p2a: Fox|Illusion"]
    known = ["|switch|p2a: Fox|Zoroark, M|100/100", *[line.replace("Foe", "Fox") for line in slept], *awake]
    seat = battle(9, *known, "|switch|p2a: Foe|Arbok|100/100 slp", *unmasked)
    assert foe(seat).species == "zoroark" and foe(seat).status_counter == 2
    woken = ["|-curestatus|p2a: Foe|slp|[msg]", *unmasked[1:]]
    seat = battle(9, *known, "|switch|p2a: Foe|Arbok|100/100 slp", *woken)
    assert foe(seat).status is None and foe(seat).status_counter == 0


@pytest.mark.parametrize(
    ("format_id", "lines", "hp"),
    [
        ("gen9ou", [], 83),
        ("gen9championsvgc2026regma", ["|-heal|p2a: Foe|83/100|[from] ability: Regenerator|[silent]"], 83),
        ("gen9championsvgc2026regma", [], 50),  # its ability was another one, or suppressed
    ],
)
def test_regenerator_heals_once_where_a_line_tells_of_it(format_id: str, lines: list[str], hp: int) -> None:
    seat = new_battle("battle-1", "p1", "p1", 9, format_id, random.Random(0))
    seat.feed(["|player|p1|p1||", "|player|p2|p2||", "|teamsize|p1|6", "|teamsize|p2|6", "|gen|9", "|start"])
    seat.feed(["|switch|p1a: Own|Snorlax|300/300", "|switch|p2a: Foe|Slowbro|50/100", "|turn|1"])
    seat.opponent_team["p2: Foe"].ability = "regenerator"
    seat.feed([*lines, "|switch|p2a: Other|Tauros|100/100"])
    assert seat.opponent_team["p2: Foe"].current_hp == hp
