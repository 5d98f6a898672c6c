"""The protocol lines of the generation-9 engine: whose they are, and that writing them changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.compilers import need_compiler
from support.gen9_battles import PAIRS, SEEDS, firsts
from support.scripts import script

from agents.engine.gen9.engine import Engine
from agents.engine.gen9.log import for_seat
from teamsets.errors import BadInput

need_compiler()

gen9_parity = script("parity/gen9_parity.py")


def played(recorded: tuple[int, ...], decisions: int = 40) -> Engine:
    """Two battles, of which these are recorded, by choices that depend on the legal ones alone."""
    engine = Engine(2)
    for row in recorded:
        engine.record(row, ("ann", "bob"))
    engine.reset(PAIRS, SEEDS)
    for _ in range(decisions):
        engine.step(firsts(engine.legal()))
    return engine


def test_a_recorded_battle_is_the_same_and_others_are_not_recorded() -> None:
    engine = played((1,))
    assert np.array_equal(engine.words, played(()).words)
    lines = engine.lines(1)
    assert lines[:3] == ["|gametype|singles", "|player|p1|ann||", "|player|p2|bob||"]
    assert "|teampreview" in lines and "|start" in lines and sum(line.startswith("|turn|") for line in lines) > 5
    assert engine.lines(1) == []
    with pytest.raises(BadInput, match="row 0 is not recorded"):
        engine.lines(0)
    with pytest.raises(BadInput):
        engine.record(2)
    for players in (("a|b", "bob"), ("ann", "c\nd"), ("ann",), ("ann", None)):
        with pytest.raises(BadInput, match=r"two names are needed, without \| and line breaks"):
            engine.record(0, players)  # type: ignore[arg-type]


def test_each_reads_its_own_hp_exactly_and_the_others_in_percent() -> None:
    lines = played((0,)).lines(0)
    spectator, own, foe = (for_seat(lines, seat) for seat in (None, 0, 1))
    assert len(spectator) == len(own) == len(foe) and not any("|split|" in line for line in own)
    switch = next(n for n, line in enumerate(spectator) if line.startswith("|switch|p1a"))
    assert spectator[switch].endswith("|100/100") and foe[switch] == spectator[switch]
    assert not own[switch].endswith("|100/100") and own[switch].startswith("|switch|p1a")
    assert sum(a != b for a, b in zip(own, foe, strict=True)) > 10


@pytest.mark.slow
def test_nicknames_colours_and_levels_are_written_as_showdown_does(monkeypatch: pytest.MonkeyPatch) -> None:
    def named(packed: str, name: str, species: str) -> str:
        fields = packed.split("|")
        fields[0], fields[1], fields[9], fields[10] = name, species, "S", "77"
        return "|".join(fields)

    sets = gen9_parity.SETS
    team = "]".join(
        [
            named(sets[6], "A nickname of more than twenty letters", "Landorus-Therian"),
            named(sets[8], "Rotom-Wash", "Rotom-Wash"),
            named(sets[9], "Été", "Toxapex"),
            sets[2],
        ]
    )
    monkeypatch.setattr(gen9_parity, "teams_for", lambda options: [(team, team)] * options["battles"])
    options: dict[str, Any] = {"battles": 3, "seed": 1, "policy": "switcher"}
    battles = gen9_parity.oracle(options)
    assert gen9_parity.compare(battles) == {}
    lines = "\n".join(gen9_parity.oracle({**options, "log": True})[0]["log"])
    assert "p1a: A nickname of more t|Landorus-Therian, L77, M, shiny|" in lines and "a: Été|" in lines
