"""What lines of generations 2 and 3 do not say: moves that go on, sleep and poison counted otherwise, Pressure."""

from __future__ import annotations

import pytest
from support.battle_lines import battle_after, opposite, pp_of

from agents.battle import SeatBattle


def battle(gen: int, *lines: str, foe: str = "Tauros") -> SeatBattle:
    return battle_after(gen, *lines, foe=foe)


def left(seat: SeatBattle) -> dict[str, int]:
    return pp_of(opposite(seat))


def turns(*moves: list[str]) -> list[str]:
    """The lines of turns, each with its end."""
    return [line for turn, lines in enumerate(moves, 2) for line in [*lines, "|", "|upkeep", f"|turn|{turn}"]]


OUTRAGE = ["|move|p2a: Foe|Outrage|p1a: Own", "|-damage|p1a: Own|250/300"]
CONFUSED = "|-start|p2a: Foe|confusion|[silent]"


@pytest.mark.parametrize(
    ("played", "pp"),
    [
        ([OUTRAGE, OUTRAGE], 23),
        ([OUTRAGE, [*OUTRAGE, CONFUSED], OUTRAGE], 22),
        ([OUTRAGE, OUTRAGE, OUTRAGE, OUTRAGE], 22),
        ([OUTRAGE, ["|cant|p2a: Foe|par"], OUTRAGE], 22),
        ([OUTRAGE, ["|-damage|p2a: Foe|50/100|[from] confusion"], OUTRAGE], 22),
        ([OUTRAGE, ["|faint|p1a: Own"], OUTRAGE], 23),  # the turn ended before it
        ([OUTRAGE, ["|faint|p1a: Own"], OUTRAGE, OUTRAGE], 22),
    ],
)
def test_thrash_and_the_like_cost_once_while_they_go_on(played: list[list[str]], pp: int) -> None:
    assert left(battle(2, *turns(*played))) == {"outrage": pp}


def test_rollout_goes_on_while_it_hits() -> None:
    hit = ["|move|p2a: Foe|Rollout|p1a: Own", "|-damage|p1a: Own|250/300"]
    miss = ["|move|p2a: Foe|Rollout|p1a: Own|[miss]", "|-miss|p2a: Foe"]
    assert left(battle(2, *turns(hit, hit, hit))) == {"rollout": 31}
    assert left(battle(2, *turns(hit, miss, hit))) == {"rollout": 30}


def test_a_prepared_move_costs_once() -> None:
    prepare = ["|move|p2a: Foe|Fly||[still]", "|-prepare|p2a: Foe|Fly"]
    seat = battle(2, *turns(prepare, ["|move|p2a: Foe|Fly|p1a: Own", "|-damage|p1a: Own|250/300"]))
    assert left(seat) == {"fly": 23}
    called = [
        "|move|p2a: Foe|Metronome|p2a: Foe",
        "|move|p2a: Foe|Fly||[from] Metronome|[still]",
        "|-prepare|p2a: Foe|Fly",
    ]
    assert left(battle(2, *turns(called, ["|move|p2a: Foe|Fly|p1a: Own"]))) == {"metronome": 15}


def test_bad_poison_counts_when_it_hurts_in_generation_2() -> None:
    seat = battle(2, *turns(["|-status|p2a: Foe|tox"], ["|-damage|p2a: Foe|94/100 tox|[from] psn"]))
    assert seat.opponent_active_pokemon is not None and seat.opponent_active_pokemon.status_counter == 1
    assert battle(2, *turns(["|-status|p2a: Foe|tox"])).opponent_active_pokemon.status_counter == 0  # type: ignore[union-attr]


def test_turns_of_sleep_talk_count_again_after_leaving_in_generation_3() -> None:
    talk = [
        "|cant|p2a: Foe|slp",
        "|move|p2a: Foe|Sleep Talk|p2a: Foe",
        "|move|p2a: Foe|Rest|p2a: Foe|[from] Sleep Talk",
    ]
    left_and_back = ["|switch|p2a: Other|Blissey, F|100/100", "|switch|p2a: Foe|Tauros|100/100 slp"]
    seat = battle(3, *turns(["|-status|p2a: Foe|slp"], ["|cant|p2a: Foe|slp"], talk, talk))
    assert seat.opponent_active_pokemon is not None and seat.opponent_active_pokemon.status_counter == 3
    seat.feed(left_and_back)
    assert seat.opponent_active_pokemon.status_counter == 1
    # One of ours that has the same name comes and goes meanwhile.
    seat = battle(3, *turns(["|-status|p2a: Foe|slp"], ["|cant|p2a: Foe|slp"], talk, talk))
    seat.feed(["|switch|p1a: Foe|Tauros|300/300", "|switch|p1a: Own|Snorlax|300/300", *left_and_back])
    assert opposite(seat).status_counter == 1


def test_pressure_costs_what_is_aimed_at_its_holder() -> None:
    pressure = "|-ability|p1a: Own|Pressure"
    curse = "|move|p2a: Foe|Curse|p2a: Foe"
    assert left(battle(4, pressure, curse)) == {"curse": 15}
    assert left(battle(4, pressure, "|move|p2a: Foe|Curse|p1a: Own", foe="Gengar")) == {"curse": 14}
    assert left(battle(4, pressure, "|move|p2a: Foe|Spikes|p1a: Own")) == {"spikes": 30}
    assert left(battle(3, pressure, "|move|p2a: Foe|Imprison|p2a: Foe")) == {"imprison": 15}
    assert left(battle(5, pressure, "|move|p2a: Foe|Imprison|p2a: Foe")) == {"imprison": 14}
    snatched = ["|move|p2a: Foe|Snatch|p2a: Foe", "|-activate|p2a: Foe|move: Snatch|[of] p1a: Own"]
    assert left(battle(3, pressure, *snatched)) == {"snatch": 14}


def effects(seat: SeatBattle) -> set[str]:
    mon = seat.opponent_active_pokemon
    assert mon is not None
    return {effect.name for effect in mon.effects}


LOCK_ON = ["|move|p2a: Foe|Lock-On|p1a: Own", "|-activate|p2a: Foe|move: Lock-On|[of] p1a: Own"]


def test_lock_on_while_it_lasts_is_in_vain_in_generation_2() -> None:
    assert effects(battle(2, *turns(LOCK_ON, LOCK_ON))) == set()
    assert effects(battle(2, *turns(LOCK_ON, LOCK_ON, LOCK_ON))) == {"LOCK_ON"}
    mind_reader = [line.replace("Lock-On", "Mind Reader") for line in LOCK_ON]
    assert effects(battle(2, *turns(LOCK_ON, mind_reader))) == set()
    handed_on = ["|switch|p2a: Next|Snorlax|100/100|[from] Baton Pass"]
    assert effects(battle(2, *turns(LOCK_ON), *handed_on)) == {"LOCK_ON"}
    assert effects(battle(2, *turns(LOCK_ON, handed_on))) == set()


@pytest.mark.parametrize("name", ["Destiny Bond", "Rage"])
def test_destiny_bond_and_rage_stay_where_a_turn_ends_before_the_next_move(name: str) -> None:
    used = [f"|move|p2a: Foe|{name}|p2a: Foe", f"|-singlemove|p2a: Foe|{name}"]
    fainted = ["|-damage|p1a: Own|0 fnt|[from] psn", "|faint|p1a: Own", "|", "|switch|p1a: Next|Snorlax|300/300"]
    effect = name.upper().replace(" ", "_")
    assert effects(battle(2, *turns(used, fainted))) == {effect}
    assert effects(battle(3, *turns(used, fainted))) == {effect}
    assert effects(battle(3, *turns(used, fainted, ["|cant|p2a: Foe|par"]))) == set()
    assert effects(battle(4, *turns(used, fainted))) == set()


@pytest.mark.parametrize("gen", [2, 3])
def test_a_prepared_move_is_over_when_the_turn_ends_before_it(gen: int) -> None:
    """Up to generation 3 a turn ends when one faints, and what the other had prepared is lost."""
    prepare = ["|move|p2a: Foe|Fly||[still]", "|-prepare|p2a: Foe|Fly"]
    fainted = ["|move|p1a: Own|Self-Destruct|p2a: Foe|[miss]", "|faint|p1a: Own"]
    assert opposite(battle(gen, *turns(prepare))).preparing_move is not None
    assert opposite(battle(gen, *turns(prepare, fainted))).preparing_move is None


def test_one_that_transforms_into_one_with_transform_has_used_it_last() -> None:
    known = "|move|p1a: Own|Transform|p2a: Foe"
    seat = battle(2, known, "|move|p2a: Foe|Transform|p1a: Own", "|-transform|p2a: Foe|p1a: Own", foe="Ditto")
    last = opposite(seat).last_move
    assert last is not None and last.id == "transform"
    unknown = battle(2, "|move|p2a: Foe|Transform|p1a: Own", "|-transform|p2a: Foe|p1a: Own", foe="Ditto")
    assert opposite(unknown).last_move is None


def test_a_mimicked_hidden_power_is_known_by_its_name() -> None:
    seat = battle(2, "|move|p1a: Own|Mimic|p2a: Foe", "|-activate|p1a: Own|move: Mimic|Hidden Power")
    mon = seat.active_pokemon
    assert mon is not None and mon.mimic_move is not None
    mon.mimic_move._id = "hiddenpowerdark"  # as the request says
    seat.feed(["|move|p1a: Own|Hidden Power|p2a: Foe"])
    assert list(mon.base_moves) == ["mimic"] and list(mon.moves) == ["hiddenpower"]
    assert pp_of(mon) == {"hiddenpower": 4}


def test_role_play_shows_whose_ability_it_copies() -> None:
    swapped = "|-activate|p1a: Own|Skill Swap|||[of] p2a: Foe"
    copied = "|-ability|p2a: Foe|Effect Spore|Chlorophyll|[from] move: Role Play|[of] p1a: Own"
    seat = battle(3, swapped, copied)
    assert seat.active_pokemon is not None
    assert (seat.active_pokemon.ability, opposite(seat).ability) == ("effectspore", "effectspore")


def test_who_flinches_in_its_sleep_has_tried_to_talk_in_it() -> None:
    """In generation 3 such a turn, too, counts again when it has left and come back."""
    flinch = ["|cant|p2a: Foe|slp", "|cant|p2a: Foe|flinch"]
    leaves = ["|switch|p2a: Other|Snorlax|100/100"]
    back = ["|switch|p2a: Foe|Tauros|100/100 slp"]
    seat = battle(3, *turns(["|-status|p2a: Foe|slp"], flinch, leaves, back))
    assert opposite(seat).status_counter == 0
    seat = battle(3, *turns(["|-status|p2a: Foe|slp"], flinch[:1], leaves, back))
    assert opposite(seat).status_counter == 1


def test_defense_curl_beside_a_future_sight_that_misses_has_its_effect() -> None:
    assert "DEFENSE_CURL" in effects(battle(3, "|move|p2a: Foe|Defense Curl|p2a: Foe|[miss]", "|-boost|p2a: Foe|def|1"))


def test_sketch_that_sleep_talk_calls_learns_the_move() -> None:
    called = ["|move|p2a: Foe|Sleep Talk|p2a: Foe", "|move|p2a: Foe|Sketch|p1a: Own|[from] move: Sleep Talk"]
    seat = battle(4, "|move|p1a: Own|Giga Drain|p2a: Foe", *called, "|-activate|p2a: Foe|move: Mimic|Giga Drain")
    assert set(opposite(seat).moves) == {"sleeptalk", "gigadrain"} and opposite(seat).mimic_move is None


def test_bad_poison_goes_on_where_spikes_cut_an_entry_off_in_generation_3() -> None:
    """Showdown cancels the slower one's entry when the faster one faints by Spikes as both come in (`faintMessages`)."""
    poisoned = ["|-status|p2a: Foe|tox", "|upkeep", "|turn|2", "|", "|upkeep", "|turn|3", "|"]
    leave = ["|switch|p2a: Other|Magikarp|1/100", "|turn|4", "|", "|-damage|p2a: Other|0 fnt", "|faint|p2a: Other"]
    ours = ["|-damage|p1a: Own|0 fnt", "|faint|p1a: Own", "|upkeep", "|"]
    for entering, counter in (("Ninjask", 2), ("Shuckle", 0)):
        seat = battle(3, *poisoned, *leave, *ours, foe="Butterfree")
        seat.feed([f"|switch|p1a: New|{entering}|9/300", "|switch|p2a: Foe|Butterfree|90/100 tox"])
        seat.feed(["|-damage|p1a: New|0 fnt|[from] Spikes", "|faint|p1a: New"])
        assert opposite(seat).status_counter == counter
