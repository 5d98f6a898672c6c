"""Where poke-engine's rules of generation 1 differ from the simulator's: the smallest state that shows each.

These are poke-engine's affair, kept so that they are known and counted apart. A failure here means that it has changed:
then `known_limitation` and docs/search.md want a change, too.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.search.poke_engine import builds
from agents.search.poke_engine.engine import PokeEngine
from agents.search.poke_engine.layout import EngineMove, EnginePokemon, EngineSide, EngineState

pytestmark = pytest.mark.skipif(bool(builds.missing(1)), reason=builds.missing(1))


@pytest.fixture(scope="module")
def served() -> Iterator[PokeEngine]:
    engine = PokeEngine(1)
    yield engine
    engine.close()


def state(one: str, two: str, **more: object) -> str:
    """Two of a kind at 300 health, the first the faster, each with one move; `more` is of the first."""
    fast, slow = (
        EnginePokemon(
            name, types=("normal",), base_types=("normal",), hp=300, maxhp=300, stats=(200, 200, 200, 200, speed),
            moves=(EngineMove(move),), **given,
        )
        for name, move, speed, given in (("tauros", one, 200, more), ("chansey", two, 100, {}))
    )  # fmt: skip
    return EngineState(EngineSide((fast,), 0), EngineSide((slow,), 0)).text()


def outcomes(served: PokeEngine, one: str, two: str, **more: object) -> list[str]:
    return [" ".join(o.instructions) for o in served.outcomes(state(one, two, **more), one, two)]


def test_who_is_held_by_a_binding_move_moves_all_the_same(served: PokeEngine):
    """In the simulator the target of Wrap loses its turn."""
    assert any(
        "PARTIALLYTRAPPED" in words and "Damage SideOne" in words for words in outcomes(served, "wrap", "tackle")
    )


def test_night_shade_does_nothing(served: PokeEngine):
    """In the simulator it takes 100 at level 100."""
    assert not any("Damage" in words for words in outcomes(served, "nightshade", "splash"))


def test_recoil_is_a_third(served: PokeEngine):
    """In the simulator a quarter."""
    usual = max(outcomes(served, "doubleedge", "splash"), key=len).split()
    dealt, recoil = int(usual[2]), int(usual[5])
    assert recoil == pytest.approx(dealt * 0.33, abs=1)


def test_a_burn_hurts_after_a_knock_out(served: PokeEngine):
    """In the simulator a knock-out ends the turn."""
    one, _, two = state("bodyslam", "splash", status="burn").partition("/")
    text = one + "/" + two.replace(",300,300,", ",1,300,", 1)
    usual = max(served.outcomes(text, "bodyslam", "splash"), key=lambda o: o.chance)
    assert usual.instructions == ("Damage SideTwo: 1", "Damage SideOne: 18")


def test_nobody_wakes_at_the_first_attempt(served: PokeEngine):
    """In the simulator one in seven does; so a state counts one turn more (agents/search/poke_engine/state.py)."""
    assert not any("SLEEP -> NONE" in words for words in outcomes(served, "tackle", "splash", status="sleep"))
    woken = served.outcomes(state("tackle", "splash", status="sleep", slept=1), "tackle", "splash")
    assert sum(o.chance for o in woken if "SLEEP -> NONE" in " ".join(o.instructions)) == pytest.approx(1 / 7, abs=1e-3)


def test_no_move_misses_one_time_in_256(served: PokeEngine):
    assert not any(words == "" for words in outcomes(served, "thunderwave", "splash"))
