"""What lines of generations 5 to 7 say that poke-env does not read: Z-Moves, Sky Drop, items, broken protection."""

from __future__ import annotations

import random

import pytest
from poke_env.battle.effect import Effect
from support.battle_lines import battle_after, pp_of
from support.battle_lines import opposite as foe

from agents.battle import SeatBattle


def battle(gen: int, *lines: str, species: str = "Tauros") -> SeatBattle:
    return battle_after(gen, *lines, foe=species)


@pytest.mark.parametrize(
    ("line", "pp", "last"),
    [
        ("Z-Quiver Dance|p2a: Foe|[anim]Quiver Dance", {"quiverdance": 31}, "quiverdance"),
        ("Catastropika|p1a: Own|[zeffect]", {"volttackle": 23}, None),
        ("Extreme Evoboost|p2a: Foe", {"lastresort": 7}, None),
        ("Inferno Overdrive|p1a: Own|[zeffect]", {}, None),
    ],
)
def test_a_z_move_whose_move_its_line_names_costs_that_moves_pp(
    line: str, pp: dict[str, int], last: str | None
) -> None:
    seat = battle(7, "|-zpower|p2a: Foe", f"|move|p2a: Foe|{line}")
    mon = foe(seat)
    assert pp_of(mon) == pp
    assert (mon.last_move.id if mon.last_move else None) == last


def test_a_z_move_of_a_type_costs_pp_where_one_known_move_only_can_be_it() -> None:
    known = [f"|move|p2a: Foe|{move}|p1a: Own" for move in ("Ember", "Tackle", "Surf", "Growl")]
    overdrive = "|move|p2a: Foe|Inferno Overdrive|p1a: Own|[zeffect]"
    seat = battle(7, *known, overdrive)
    assert foe(seat).moves["ember"].current_pp == 38
    seat = battle(7, *known[:3], "|move|p2a: Foe|Flamethrower|p1a: Own", overdrive)
    assert [foe(seat).moves[move].current_pp for move in ("ember", "flamethrower")] == [39, 23]


def test_a_z_protect_counts_as_protect() -> None:
    protect = ["|move|p2a: Foe|Z-Protect|p2a: Foe|[anim]Protect", "|-singleturn|p2a: Foe|Protect", "|upkeep", "|turn|2"]
    assert foe(battle(7, *protect)).protect_counter == 1


@pytest.mark.parametrize(("gen", "counter"), [(5, 1), (6, 0), (7, 0)])
@pytest.mark.parametrize("line", ["move: Feint", "move: Phantom Force|[broken]"])
def test_protections_in_a_row_begin_anew_after_a_broken_one(gen: int, counter: int, line: str) -> None:
    protect = ["|move|p2a: Foe|Protect|p2a: Foe", "|-singleturn|p2a: Foe|Protect"]
    assert foe(battle(gen, *protect, f"|-activate|p2a: Foe|{line}", "|upkeep", "|turn|2")).protect_counter == counter


def test_destiny_knot_is_shown_by_the_attraction_that_it_returns() -> None:
    seat = battle(7, "|-start|p1a: Own|Attract|[from] item: Destiny Knot|[of] p2a: Foe")
    assert foe(seat).item == "destinyknot"


@pytest.mark.parametrize("move", ["Defense Curl", "Minimize"])
def test_snatch_takes_the_effect_that_a_move_gives_without_a_line(move: str) -> None:
    effect = Effect.from_showdown_message(move)
    curl = f"|move|p2a: Foe|{move}|p2a: Foe"
    stolen = ["|-activate|p1a: Own|move: Snatch|[of] p2a: Foe", f"|move|p1a: Own|{move}|p1a: Own|[from] Snatch"]
    seat = battle(6, curl, *stolen)
    mon = seat.active_pokemon
    assert mon is not None and effect in mon.effects and effect not in foe(seat).effects
    assert effect in foe(battle(6, curl, curl, *stolen)).effects  # it had it before
    assert effect in foe(battle(7, f"|move|p2a: Foe|Z-{move}|p2a: Foe|[anim]{move}")).effects


def test_sticky_barb_changes_hands_without_a_line() -> None:
    barb = "50/100|[from] item: Sticky Barb"
    lost = [f"|-damage|p2a: Foe|{barb}", "|-enditem|p1a: Own|Air Balloon"]
    for move, theirs in (("Tackle", None), ("Swift", "stickybarb")):  # Swift makes no contact: ours is another one
        seat = battle(5, *lost, f"|move|p1a: Own|{move}|p2a: Foe", f"|-damage|p1a: Own|{barb}")
        mon = seat.active_pokemon
        assert mon is not None and (mon.item, foe(seat).item) == ("stickybarb", theirs)


def test_one_that_sky_drop_has_held_neither_goes_on_with_its_move_nor_must_it_rest() -> None:
    held = ["|move|p1a: Own|Sky Drop||[still]", "|-prepare|p1a: Own|Sky Drop|p2a: Foe", "|upkeep", "|turn|2"]
    dropped = ["|move|p1a: Own|Sky Drop|p2a: Foe|[from] lockedmove", "|-end|p2a: Foe|Sky Drop", "|upkeep", "|turn|3"]
    solar = ["|move|p2a: Foe|Solar Beam||[still]", "|-prepare|p2a: Foe|Solar Beam"]
    impact = ["|move|p2a: Foe|Giga Impact|p1a: Own", "|-damage|p1a: Own|9/300", "|-mustrecharge|p2a: Foe"]
    for lines in (solar, impact):
        seat = battle(6, *lines, *held)
        assert foe(seat).preparing_move or foe(seat).must_recharge
        seat.feed(dropped)
        assert foe(seat).preparing_move is None and not foe(seat).must_recharge


def test_a_mega_has_no_added_type() -> None:
    added = "|-start|p2a: Foe|typeadd|Ghost|[from] move: Trick-or-Treat"
    mega = ["|detailschange|p2a: Foe|Metagross-Mega", "|-mega|p2a: Foe|Metagross|Metagrossite"]
    kinds = [kind.name for kind in foe(battle(7, added, *mega, added, species="Metagross")).types]
    assert kinds == ["STEEL", "PSYCHIC", "GHOST"]


@pytest.mark.parametrize(("mark", "item"), [("", None), ("|[miss]", None), ("|[still]", "kasibberry")])
def test_natural_gift_uses_up_its_berry(mark: str, item: str | None) -> None:
    lines = ["|-item|p2a: Foe|Kasib Berry|[from] move: Switcheroo", f"|move|p2a: Foe|Natural Gift|p1a: Own{mark}"]
    assert foe(battle(5, *lines)).item == item


def test_what_ends_with_a_turn_ends_also_after_illusion_has_ended() -> None:
    lines = ["|move|p2a: Foe|Mind Reader|p1a: Own", "|-activate|p2a: Foe|move: Mind Reader|[of] p1a: Own", "|upkeep"]
    seat = battle(5, *lines, "|turn|2", "|replace|p2a: Zorua|Zorua, F", "|-end|p2a: Zorua|Illusion")
    assert Effect.MIND_READER in foe(seat).effects
    seat.feed(["|upkeep", "|turn|3"])
    assert Effect.MIND_READER not in foe(seat).effects


@pytest.mark.parametrize(("gen", "mark", "pp"), [(3, "Pursuit", 30), (4, "Pursuit", 31), (5, "move: Pursuit", 30)])
def test_pursuit_of_one_that_leaves_pays_for_pressure_but_in_generation_4(gen: int, mark: str, pp: int) -> None:
    seat = battle(gen, "|-ability|p1a: Own|Pressure", f"|move|p2a: Foe|Pursuit|p1a: Own|[from] {mark}")
    assert foe(seat).moves["pursuit"].current_pp == pp


@pytest.mark.parametrize("line", ["|-activate|p2a: Foe|move: Gravity", "|-start|p2a: Foe|Smack Down"])
def test_what_is_brought_to_the_ground_flies_no_more(line: str) -> None:
    flight = ["|-start|p2a: Foe|Magnet Rise", "|-start|p2a: Foe|Telekinesis", "|-prepare|p2a: Foe|Fly"]
    mon = foe(battle(5, *flight, line))
    assert mon.preparing_move is None and not {Effect.MAGNET_RISE, Effect.TELEKINESIS} & set(mon.effects)
    assert foe(battle(5, "|-prepare|p2a: Foe|Solar Beam", line)).preparing_move is not None


@pytest.mark.parametrize(("mark", "pp"), [("Magic Coat", 23), ("move: Copycat", 30)])
def test_magic_coat_does_not_pay_for_pressure(mark: str, pp: int) -> None:
    caller = mark.removeprefix("move: ")
    called = f"|move|p2a: Foe|Glare|p1a: Own|[from] {mark}"
    seat = battle(6, "|-ability|p1a: Own|Pressure", f"|move|p2a: Foe|{caller}|p2a: Foe", called)
    assert next(iter(foe(seat).moves.values())).current_pp == pp


def test_an_ability_that_a_copy_shows_is_not_its_own() -> None:
    lines = ["|-ability|p1a: Own|Levitate", "|-transform|p2a: Foe|p1a: Own"]
    seat = battle(6, *lines, "|-immune|p2a: Foe|[from] ability: Levitate")
    assert foe(seat).ability == "levitate"
    seat.feed(["|switch|p2a: Other|Blissey, F|100/100", "|switch|p2a: Foe|Tauros|100/100"])
    assert foe(seat).ability is None


@pytest.mark.parametrize(("gen", "kept"), [(5, True), (6, False)])
def test_psych_up_copies_that_the_target_has_no_focus_energy(gen: int, kept: bool) -> None:
    copied = "|-copyboost|p2a: Foe|p1a: Own|[from] move: Psych Up"
    mon = foe(battle(gen, "|-start|p2a: Foe|move: Focus Energy", copied))
    assert (Effect.FOCUS_ENERGY in mon.effects) is kept


def test_pickpocket_takes_an_item_like_the_one_that_was_knocked_off() -> None:
    lost = ["|move|p1a: Own|Knock Off|p2a: Foe", "|-enditem|p2a: Foe|Choice Band|[from] move: Knock Off|[of] p1a: Own"]
    taken = "Choice Band|[from] ability: Pickpocket|[of] p1a: Own"
    seat = battle(6, *lost, "|-enditem|p1a: Own|Choice Band|[silent]", f"|-item|p2a: Foe|{taken}")
    assert foe(seat).item == "choiceband"


def test_an_ability_that_mummy_replaced_may_still_have_its_effect() -> None:
    lost = [
        "|move|p1a: Own|Poison Jab|p2a: Foe",
        "|-activate|p2a: Foe|ability: Mummy|p1a: Own|[ability] Poison Touch",
        "|-status|p2a: Foe|psn|[from] ability: Poison Touch|[of] p1a: Own",
    ]
    mon = battle(5, *lost).active_pokemon
    assert mon is not None and (mon.ability, mon.base_ability) == ("mummy", "poisontouch")


@pytest.mark.parametrize(("gen", "kept"), [(3, True), (4, False), (5, True)])
def test_haze_ends_focus_energy_in_generation_4(gen: int, kept: bool) -> None:
    focus = ["|move|p2a: Foe|Focus Energy|p2a: Foe", "|-start|p2a: Foe|move: Focus Energy"]
    haze = ["|move|p1a: Own|Haze|p1a: Own", "|-clearallboost"]
    assert (Effect.FOCUS_ENERGY in foe(battle(gen, *focus, *haze)).effects) == kept


def test_one_that_is_instructed_after_a_failed_detect_has_not_protected_itself() -> None:
    detect = ["|move|p2a: Foe|Detect|p2a: Foe", "|-singleturn|p2a: Foe|Protect", "|upkeep", "|turn|2"]
    failed = ["|move|p2a: Foe|Detect||[still]", "|-fail|p2a: Foe"]
    instruct = ["|move|p1a: Own|Instruct|p2a: Foe", "|-singleturn|p2a: Foe|move: Instruct|[of] p1a: Own"]
    assert foe(battle(8, *detect)).protect_counter == 1
    assert foe(battle(8, *detect, *failed, *instruct, *failed)).protect_counter == 0


def test_porygon_is_not_porygon_z() -> None:
    names = {"Porygon-Z": (331, "adaptability"), "Porygon": (210, "analytic")}
    team = [
        {
            "ident": f"p1: {name}", "details": name, "condition": f"{hp}/{hp}", "active": False, "moves": ["tackle"],
            "item": "", "stats": dict.fromkeys(("atk", "def", "spa", "spd", "spe"), 100),
            "baseAbility": ability, "ability": ability, "pokeball": "pokeball",
        }
        for name, (hp, ability) in names.items()
    ]  # fmt: skip
    seat = SeatBattle("battle-1", "p1", "p1", 7, "gen7anythinggoes", random.Random(0))
    seat.feed(["|player|p1|p1||", "|player|p2|p2||", "|teamsize|p1|2", "|teamsize|p2|2", "|gen|7", "|clearpoke"])
    seat.feed([f"|poke|p1|{name}|" for name in names] + ["|poke|p2|Porygon-Z|", "|teampreview"])
    seat.ask({"teamPreview": True, "maxTeamSize": 2, "side": {"name": "p1", "id": "p1", "pokemon": team}})
    assert seat.parse_warnings == 0
    assert {name[4:]: (mon.max_hp, mon.ability) for name, mon in seat.team.items()} == names


def test_one_of_ours_whose_guise_was_worn_is_again_as_the_request_says() -> None:
    """Its wearer was seen with its name, level and HP, and left before a request."""
    entry = {
        "ident": "p1: Other", "details": "Oricorio, F", "condition": "353/353", "active": False, "moves": ["tackle"],
        "item": "", "stats": dict.fromkeys(("atk", "def", "spa", "spd", "spe"), 100),
        "baseAbility": "dancer", "ability": "dancer", "pokeball": "pokeball",
    }  # fmt: skip
    active = {**entry, "ident": "p1: Own", "details": "Tauros", "baseAbility": "intimidate", "ability": "intimidate"}
    request = {
        "side": {"name": "p1", "id": "p1", "pokemon": [{**active, "active": True}, entry]},
        "forceSwitch": [True],
    }
    seat = battle(9)
    seat.ask(request)
    seat.feed(["|switch|p1a: Other|Oricorio, L98, F|176/245", "|drag|p1a: Own|Tauros|353/353"])
    assert seat.team["p1: Other"].level == 98
    seat.ask(request)
    other = seat.team["p1: Other"]
    assert (other.level, other.current_hp, other.max_hp) == (100, 353, 353)


def test_the_effect_of_a_micle_berry_of_another_ends_and_the_item_stays() -> None:
    bite = [
        "|move|p2a: Foe|Bug Bite|p1a: Own",
        "|-enditem|p1a: Own|Micle Berry|[from] stealeat|[move] Bug Bite|[of] p2a: Foe",
    ]
    clay = "|-item|p2a: Foe|Light Clay|[from] move: Trick"
    assert (
        foe(battle(4, clay, *bite, "|move|p2a: Foe|Flail|p1a: Own", "|-enditem|p2a: Foe|Micle Berry")).item
        == "lightclay"
    )
    assert foe(battle(4, clay, "|-enditem|p2a: Foe|Micle Berry|[eat]")).item is None


def test_powder_ends_with_the_turn_also_for_who_received_it() -> None:
    powder = ["|move|p1a: Own|Powder|p2a: Foe", "|-singleturn|p2a: Foe|Powder", "|move|p2a: Foe|Baton Pass|p2a: Foe"]
    passed = "|switch|p2a: Next|Vespiquen, F|100/100|[from] Baton Pass"
    seat = battle(7, *powder, passed, "|", "|upkeep", "|turn|2")
    assert foe(seat).species == "vespiquen" and Effect.POWDER not in foe(seat).effects


@pytest.mark.parametrize("cause", ["ability: Magic Bounce", "move: Magic Coat", "Snatch"])
def test_a_move_out_of_turn_ends_neither_rage_nor_the_need_to_recharge(cause: str) -> None:
    rage = ["|move|p2a: Foe|Rage|p1a: Own", "|-singlemove|p2a: Foe|Rage"]
    sent_back = [f"|move|p2a: Foe|Sing|p1a: Own|[from] {cause}|[miss]", "|-miss|p2a: Foe|p1a: Own"]
    assert Effect.RAGE in foe(battle(7, *rage, *sent_back)).effects
    assert Effect.RAGE not in foe(battle(7, *rage, "|move|p2a: Foe|Sing|p1a: Own|[miss]")).effects
    rest = ["|move|p2a: Foe|Hyper Beam|p1a: Own", "|-mustrecharge|p2a: Foe"]
    assert foe(battle(7, *rest, *sent_back)).must_recharge


def test_a_sticky_barb_that_final_gambit_takes_is_nobodys() -> None:
    """In generation 5 it makes contact, and its user has fainted before the barb could go over to it (Showdown)."""
    gambit = ["|move|{0}|Final Gambit|{1}", "|-damage|{1}|0 fnt", "|faint|{0}", "|faint|{1}", "|"]
    entry = {
        "ident": "p1: Own", "details": "Tauros", "condition": "0 fnt", "active": True, "moves": ["finalgambit"], "item": "",
        "stats": dict.fromkeys(("atk", "def", "spa", "spd", "spe"), 100), "baseAbility": "intimidate",
        "pokeball": "pokeball",
    }  # fmt: skip
    barb = "|-damage|{0}|50/100|[from] item: Sticky Barb"

    def after(item: str, *lines: str) -> SeatBattle:
        seat = battle(5)
        side = {"name": "p1", "id": "p1", "pokemon": [{**entry, "item": item, "condition": "9/300"}]}
        seat.ask({"active": [{"moves": []}], "side": side})
        seat.feed(list(lines))
        seat.ask({"forceSwitch": [True], "side": {**side, "pokemon": [{**entry, "item": ""}]}})
        return seat

    ours, theirs = "p1a: Own", "p2a: Foe"
    seat = after("", barb.format(theirs), *(line.format(ours, theirs) for line in gambit))
    assert foe(seat)._item is None
    seat = after("stickybarb", *(line.format(theirs, ours) for line in gambit))
    assert foe(seat)._item != "stickybarb"
    seat = after("stickybarb", *(line.replace("Final Gambit", "Tackle").format(theirs, ours) for line in gambit[:2]))
    assert foe(seat)._item == "stickybarb"


def test_a_sketched_move_has_no_pp_ups_where_lunar_dance_or_a_berry_restores_it() -> None:
    sketched = ["|move|p2a: Foe|Sketch|p1a: Own", "|-activate|p2a: Foe|move: Sketch|Foul Play"]
    used = [*["|move|p2a: Foe|Foul Play|p1a: Own"] * 3, "|move|p2a: Foe|Fire Fang|p1a: Own"]
    seat = battle(6, *sketched, *used)
    assert pp_of(foe(seat)) == {"foulplay": 12, "firefang": 23}
    seat.feed(["|-activate|p2a: Foe|item: Leppa Berry|Foul Play"])
    assert pp_of(foe(seat))["foulplay"] == 15
    seat = battle(6, *sketched, *used, "|-heal|p2a: Foe|100/100|[from] move: Lunar Dance")
    assert pp_of(foe(seat)) == {"foulplay": 15, "firefang": 24}
