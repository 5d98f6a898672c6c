"""Lines of generation 1 that poke-env alone would misread."""

from __future__ import annotations

import gc
import random
import weakref

import pytest

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
    mon = seat.opponent_active_pokemon
    assert mon is not None
    return {name: move.current_pp for name, move in mon.moves.items()}


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


def test_a_move_mimicked_by_metronome_is_no_move_of_its_set() -> None:
    lines = [
        "|move|p2a: Clefable|Metronome|p2a: Clefable",
        "|move|p2a: Clefable|Mimic|p1a: Tauros|[from] Metronome",
        "|-start|p2a: Clefable|Mimic|Body Slam",
        "|move|p2a: Clefable|Body Slam|p1a: Tauros",
    ]
    assert set(left(battle(*lines))) == {"metronome"}
    back = ["|switch|p2a: Mew|Mew|100/100", "|switch|p2a: Clefable|Clefable|100/100"]
    own = "|move|p2a: Clefable|Body Slam|p1a: Tauros"
    assert set(left(battle(*lines, *back, own))) == {"metronome", "bodyslam"}


def test_a_called_binding_move_goes_on_without_saying_so() -> None:
    called = [
        "|move|p2a: Clefable|Mirror Move|p2a: Clefable",
        "|move|p2a: Clefable|Wrap|p1a: Tauros|[from] Mirror Move",
    ]
    after = "|move|p2a: Clefable|Wrap|p1a: Tauros"
    assert set(left(battle(*called, after))) == {"mirrormove"}
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


def test_a_mimicked_move_of_ones_own_is_shown() -> None:
    lines = [
        "|move|p2a: Clefable|Mimic|p1a: Tauros",
        "|-start|p2a: Clefable|Mimic|Surf",
        "|move|p2a: Clefable|Surf|p1a: Tauros",
    ]
    assert left(battle(*lines)) == {"surf": 23}


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
