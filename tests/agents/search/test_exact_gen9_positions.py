"""`search:exact` in gen9ou: the row that it starts from, compared with the engine's own at every decision of battles."""

from __future__ import annotations

import numpy as np
import pytest
from support.compilers import need_compiler
from support.scripts import script

from agents.engine.gen9.engine import records

need_compiler()

_positions = script("parity/gen9_positions.py")


def compared(teams: str, policy: str, battles: int, seed: int = 41) -> tuple[int, list[str]]:
    """How many positions were compared, and what differs."""
    options = {"seed": seed, "battles": battles, "teams": teams, "policy": policy}
    found = [b for b in _positions.gen9_parity.oracle(options) if "decisions" in b and _positions.named_apart(b)]
    wrong = [_positions.unequal(decision) for battle in found for decision in _positions.decisions(battle)]
    return len(wrong), [line for lines in wrong for line in lines]


def test_it_is_the_engines_own_row_but_for_what_no_player_is_shown() -> None:
    count, wrong = compared("ring1", "rules", 3)
    assert count > 100 and wrong == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("teams", "policy"), [("ring2", "rare"), ("ring2", "tera"), ("ring1", "stall"), ("ring2", "switcher")]
)
def test_rare_moves_change_nothing(teams: str, policy: str) -> None:
    count, wrong = compared(teams, policy, 20)
    assert count > 800 and len(wrong) <= count // 100


def test_a_word_that_differs_is_named() -> None:
    """The comparison above can fail."""
    battles = _positions.gen9_parity.oracle({"seed": 41, "battles": 1, "teams": "ring1", "policy": "rules"})
    decision = next(iter(_positions.decisions(battles[0])))
    records(decision.root.row[None])[0]["sides"][0]["active"][0]["boosts"][1] = 2
    records(decision.root.row[None])[0]["sides"][1]["pokemon"][3]["item"] = 0
    assert [line.partition(":")[0] for line in _positions.unequal(decision)] == [
        "sides.0.active.0.boosts.1",
        "sides.1.pokemon.3.item",
    ]
    assert np.count_nonzero(decision.root.hidden >= 0) == 0
