"""Lines of generation 1 that poke-env alone would misread."""

from __future__ import annotations

import gc
import random
import weakref

import pytest
from poke_env.battle.effect import Effect
from support.battle_lines import opposite, pp_of

from agents.battle import SeatBattle

START = [
    "|player|p1|p1||",
    "|player|p2|p2||",
    "|teamsize|p1|6",
    "|teamsize|p2|6",
    "|gen|1",
    "|tier|[Gen 1] OU",
    "|start",
]


def battle(*lines: str) -> SeatBattle:
    seat = SeatBattle("battle-gen1ou-1", "p1", "p1", 1, "gen1ou", random.Random(0))
    leads = ["|switch|p1a: Tauros|Tauros|353/353", "|switch|p2a: Clefable|Clefable|100/100", "|turn|1"]
    seat.feed([*START, *leads, *lines])
    assert seat.parse_warnings == 0
    return seat


def left(seat: SeatBattle) -> dict[str, int]:
    return pp_of(opposite(seat))


@pytest.mark.parametrize("gen", [1, 9])
def test_a_battle_is_freed_without_the_garbage_collector(gen: int) -> None:
    gc.disable()
    try:
        seat = SeatBattle("battle-1", "p1", "p1", gen, f"gen{gen}ou", random.Random(0))
        seat.feed([*START, "|switch|p1a: Tauros|Tauros|353/353", "|switch|p2a: Clefable|Clefable|100/100", "|turn|1"])
        kept = weakref.ref(seat)
        del seat
        assert kept() is None
    finally:
        gc.enable()


def test_a_continued_move_uses_pp_once() -> None:
    first = "|move|p2a: Clefable|Wrap|p1a: Tauros"
    assert left(battle(first)) == {"wrap": 31}
    assert left(battle(first, f"{first}|[from] Wrap", f"{first}|[from] Wrap")) == {"wrap": 31}
    assert left(battle(first, first)) == {"wrap": 30}


def test_a_called_move_is_not_one_of_its_own() -> None:
    for caller in ("Metronome", "Mirror Move"):
        lines = f"|move|p2a: Clefable|{caller}|p2a: Clefable", f"|move|p2a: Clefable|Surf|p1a: Tauros|[from] {caller}"
        seat = battle(*lines)
        assert set(left(seat)) == {caller.replace(" ", "").lower()}
        assert seat.opponent_active_pokemon.last_move.id == caller.replace(" ", "").lower()  # type: ignore[union-attr]


@pytest.mark.parametrize("thawed", [True, False])
def test_the_move_of_one_thawed_before_it_chose_any_is_not_fissure(thawed: bool) -> None:
    hint = "|-hint|In Gen 1, if a Pokémon is thawed from freeze and no move has been selected yet, it will use …"
    lines = [hint] * thawed + ["|move|p2a: Clefable|Fissure|p1a: Tauros"]
    assert set(left(battle(*lines))) == (set() if thawed else {"fissure"})
    again = [*lines, "|move|p2a: Clefable|Fissure|p1a: Tauros"]
    assert set(left(battle(*again))) == {"fissure"}


def test_a_move_mimicked_by_metronome_is_in_its_place_until_it_leaves() -> None:
    lines = [
        "|move|p2a: Clefable|Metronome|p2a: Clefable",
        "|move|p2a: Clefable|Mimic|p1a: Tauros|[from] Metronome",
        "|-start|p2a: Clefable|Mimic|Body Slam",
        "|move|p2a: Clefable|Body Slam|p1a: Tauros",
    ]
    assert left(battle(*lines[:3])) == {"bodyslam": 15}  # of Metronome's 16
    assert left(battle(*lines)) == {"bodyslam": 14}
    assert left(battle("|move|p2a: Clefable|Surf|p1a: Tauros", *lines[:3])) == {"surf": 23, "bodyslam": 15}
    mimicked = [lines[1].split("|[from]")[0], "|-start|p2a: Clefable|Mimic|Surf"]
    assert left(battle(*mimicked, *lines[:3])) == {"surf": 15, "bodyslam": 15}
    back = ["|switch|p2a: Mew|Mew|100/100", "|switch|p2a: Clefable|Clefable|100/100"]
    own = "|move|p2a: Clefable|Body Slam|p1a: Tauros"
    assert left(battle(*lines, *back, own)) == {"metronome": 14, "bodyslam": 23}


def test_a_called_binding_move_that_meets_another_target_costs_its_caller() -> None:
    called = [
        "|move|p2a: Clefable|Mirror Move|p2a: Clefable",
        "|move|p2a: Clefable|Wrap|p1a: Tauros|[from] Mirror Move",
    ]
    after = "|move|p2a: Clefable|Wrap|p1a: Tauros"
    assert left(battle(*called)) == {"mirrormove": 31}
    assert left(battle(*called, f"{after}|[from] Wrap")) == {"mirrormove": 31}
    assert left(battle(*called, after)) == {"mirrormove": 30}
    assert left(battle(*called, after, after)) == {"mirrormove": 29}
    back = ["|switch|p2a: Mew|Mew|100/100", "|switch|p2a: Clefable|Clefable|100/100"]
    assert set(left(battle(*called, *back, after))) == {"mirrormove", "wrap"}


def test_a_thawed_pokemon_uses_the_move_that_its_team_selected_last() -> None:
    lines = [
        "|-status|p2a: Clefable|frz",
        "|-curestatus|p2a: Clefable|frz|[msg]",
        "|move|p2a: Clefable|Surf|p1a: Tauros",
    ]
    assert not left(battle(*lines))
    assert set(left(battle(*lines, "|turn|2", lines[-1]))) == {"surf"}
    assert left(battle(lines[-1], *lines)) == {"surf": 23}  # which slot pays is not said
    fly = ["|move|p2a: Clefable|Fly||[still]", "|turn|2", "|move|p2a: Clefable|Fly|p1a: Tauros|[from] Fly"]
    assert left(battle(*fly)) == {"fly": 23}
    assert left(battle(*fly, *lines[:2], *fly)) == {"fly": 23}


def test_a_mimicked_move_of_ones_own_is_shown() -> None:
    lines = [
        "|move|p2a: Clefable|Mimic|p1a: Tauros",
        "|-start|p2a: Clefable|Mimic|Surf",
        "|move|p2a: Clefable|Surf|p1a: Tauros",
    ]
    assert left(battle(*lines)) == {"surf": 14}  # of Mimic's 16, in whose slot it is
    assert left(battle(*lines, "|switch|p2a: Mew|Mew|100/100", "|switch|p2a: Clefable|Clefable|100/100")) == {
        "mimic": 14
    }


def test_a_move_of_two_turns_costs_its_pp_in_the_second() -> None:
    first = ["|move|p2a: Clefable|Fly|p1a: Tauros|[still]", "|-prepare|p2a: Clefable|Fly"]
    second = "|move|p2a: Clefable|Fly|p1a: Tauros|[from] Fly"
    assert left(battle(*first)) == {"fly": 24}
    assert left(battle(*first, "|turn|2", second)) == {"fly": 23}
    called = ["|move|p2a: Clefable|Metronome|p2a: Clefable", f"{first[0]}|[from] Metronome", first[1]]
    assert left(battle(*called)) == {"metronome": 16}
    assert left(battle(*called, "|turn|2", second)) == {"metronome": 15}


@pytest.mark.parametrize("stop", ["|cant|p2a: Clefable|par", "|-damage|p2a: Clefable|90/100|[from] confusion"])
def test_paralysis_and_confusion_break_off_what_goes_on(stop: str) -> None:
    for line in ("|-prepare|p2a: Clefable|Fly", "|-start|p2a: Clefable|Bide"):
        mon = battle(line, stop).opponent_active_pokemon
        assert mon is not None and not mon.preparing and Effect.BIDE not in mon.effects
        mon = battle(line, "|cant|p2a: Clefable|flinch").opponent_active_pokemon
        assert mon is not None and (mon.preparing or Effect.BIDE in mon.effects)


@pytest.mark.parametrize(("after", "rages"), [("|-damage|p1a: Tauros|340/353", True), ("|-immune|p1a: Tauros", False)])
def test_rage_lasts_once_it_has_hit(after: str, rages: bool) -> None:
    mon = battle("|move|p2a: Clefable|Rage|p1a: Tauros", after).opponent_active_pokemon
    assert mon is not None and (Effect.RAGE in mon.effects) == rages
    missed = battle("|move|p2a: Clefable|Rage|p1a: Tauros|[miss]").opponent_active_pokemon
    assert missed is not None and Effect.RAGE not in missed.effects


def test_bad_poison_counts_when_it_or_leech_seed_hurts() -> None:
    seat = battle("|-status|p2a: Clefable|tox", "|turn|2")
    mon = seat.opponent_active_pokemon
    assert mon is not None and mon.status_counter == 0
    seat.feed(["|-damage|p2a: Clefable|94/100 tox|[from] psn", "|-damage|p2a: Clefable|82/100 tox|[from] Leech Seed"])
    assert mon.status_counter == 2


def test_a_fainted_pokemon_has_no_boosts_and_its_own_types() -> None:
    lines = [
        "|-boost|p2a: Clefable|atk|2",
        "|-start|p2a: Clefable|typechange|Water|[from] move: Conversion|[of] p1a: Tauros",
        "|faint|p2a: Clefable",
    ]
    mon = battle(*lines).opponent_active_pokemon
    assert mon is not None and mon.fainted
    assert mon.boosts["atk"] == 0
    assert [kind.name for kind in mon.types] == ["NORMAL"]


def test_who_copies_what_we_have_just_copied_has_its_moves_after_the_request() -> None:
    seat = battle(
        "|-transform|p1a: Tauros|p2a: Clefable",
        "|move|p2a: Clefable|Transform|p1a: Tauros|[from] Mirror Move",
        "|-transform|p2a: Clefable|p1a: Tauros",
    )
    assert not left(seat)
    entry = {
        "ident": "p1: Tauros",
        "details": "Tauros",
        "condition": "353/353",
        "active": True,
        "stats": {},
        "item": "",
    }
    side = {
        "pokemon": [{**entry, "moves": ["mirrormove", "sing"], "baseAbility": "noability"}],
        "id": "p1",
        "name": "p1",
    }
    seat.ask({"active": [{"moves": [{"move": "Sing", "id": "sing"}]}], "side": side})
    assert left(seat) == {"mirrormove": 5, "sing": 5}


def test_the_record_of_lines_keeps_them_as_they_came() -> None:
    line = "|move|p2a: Clefable|Wrap|p1a: Tauros|[from] Wrap"
    assert "|".join(battle(line)._replay_data[-1]) == line


def test_other_generations_are_left_to_poke_env() -> None:
    assert SeatBattle("battle-gen4ou-1", "p1", "p1", 4, "gen4ou", random.Random(0))._first_generation is None


def test_what_a_mimicked_move_of_two_turns_gets_back_is_what_it_had() -> None:
    lines = [
        "|move|p2a: Clefable|Mimic|p1a: Tauros",
        "|-start|p2a: Clefable|Mimic|Sky Attack",
        "|move|p2a: Clefable|Sky Attack||[still]",
        "|-prepare|p2a: Clefable|Sky Attack",
    ]
    assert left(battle(*lines)) == {"skyattack": 15}
    assert left(battle(*lines, "|turn|2", "|move|p2a: Clefable|Sky Attack|p1a: Tauros|[from] Sky Attack")) == {
        "skyattack": 14
    }


def test_minimize_that_fails_has_no_effect() -> None:
    minimize = "|move|p2a: Clefable|Minimize|p2a: Clefable"
    ends = ["|-end|p1a: Tauros|Bide", "|-fail|p1a: Tauros"]
    for lines, effects in (
        ([minimize, "|-boost|p2a: Clefable|evasion|1"], {Effect.MINIMIZE}),
        ([minimize, "|-fail|p2a: Clefable"], set()),
        ([minimize, "|-boost|p2a: Clefable|evasion|1", minimize, "|-fail|p2a: Clefable"], {Effect.MINIMIZE}),
        # The end of Bide has no line of a move: what fails is that, in the same turn or in the next.
        ([minimize, "|-boost|p2a: Clefable|evasion|1", *ends], {Effect.MINIMIZE}),
        ([minimize, "|-boost|p2a: Clefable|evasion|1", "|turn|2", "|-fail|p1a: Tauros"], {Effect.MINIMIZE}),
    ):
        mon = battle(*lines).opponent_active_pokemon
        assert mon is not None and set(mon.effects) == effects


def test_one_that_flinches_need_not_rest() -> None:
    mon = battle("|-mustrecharge|p2a: Clefable", "|cant|p2a: Clefable|flinch").opponent_active_pokemon
    assert mon is not None and not mon.must_recharge


def test_a_called_move_that_does_not_bind_is_later_its_own() -> None:
    called = [
        "|move|p2a: Clefable|Metronome|p2a: Clefable",
        "|move|p2a: Clefable|Cut|p1a: Tauros|[from] Metronome",
        "|upkeep",
        "|turn|2",
    ]
    seat = battle(*called, "|move|p2a: Clefable|Cut|p1a: Tauros")
    assert left(seat) == {"metronome": 15, "cut": 47}
    between = ["|move|p2a: Clefable|Peck|p1a: Tauros", "|upkeep", "|turn|3"]
    bound = [line.replace("Cut", "Bind") for line in called]
    assert left(battle(*bound, *between, "|move|p2a: Clefable|Bind|p1a: Tauros")) == {
        "metronome": 15,
        "peck": 55,
        "bind": 31,
    }
