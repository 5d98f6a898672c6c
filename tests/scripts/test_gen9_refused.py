"""What docs/engine.md says that the generation-9 engine refuses is what it refuses now."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.command_line import PROJECT
from support.compilers import need_compiler
from support.scripts import script

from agents.engine.gen9.played import plays
from agents.engine.gen9.teams import DATA, NUMBERS, SPECIES, to_id

need_compiler()

refused = script("build/gen9_refused.py")


def test_the_page_names_nothing_that_is_played_and_counts_the_shipped_teams() -> None:
    page = refused.written(refused.PAGE.read_text("utf-8"))
    shipped = refused.shares_table(refused.share_of(name) for name in ("competitive", "verdict"))
    assert page.count("\n".join(shipped)) == 1
    number = 0
    for kind, entries in re.findall(r"\*\*(\S+)\*\* \(\d+\): [^.]+ refused\. ([^*]+)\.\n", page):
        for entry in re.split(r",\s", entries):
            name = to_id(re.sub(r"\s\d+$", "", entry))
            assert name not in SPECIES if kind == "Pokémon" else not plays(kind, name), f"{entry} ({kind}) is played"
            number += 1
    assert number > 3


def test_the_page_names_all_of_the_format_that_is_not_played() -> None:
    page = refused.written(refused.PAGE.read_text("utf-8"))
    listed = {
        kind: {to_id(entry) for entry in re.split(r",\s", entries)}
        for kind, entries in re.findall(r"\*\*(\S+)\*\* \(\d+ of \d+\): ([^*]+)\.\n", page)
    }
    known = {"moves": DATA["pp"], "abilities": NUMBERS["abilities"], "items": NUMBERS["items"]}
    for kind, ids in known.items():
        assert listed[kind] == {name for name in ids if not plays(kind, name)}
    assert min(map(len, listed.values())) > 40


@pytest.mark.slow
def test_the_page_is_current() -> None:
    done = subprocess.run(
        [sys.executable, PROJECT / "scripts/build/gen9_refused.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_everything_that_refuses_a_team_is_counted_once_for_it(tmp_path: Path) -> None:
    miraidon = "Miraidon||Eviolite|Pressure|FinalGambit,IronHead|Jolly|,252,,,,252|||||,,,,,Ghost"
    kingambit = "Kingambit||QuickClaw|SupremeOverlord|FinalGambit,IronHead|Jolly|,252,,,,252|||||,,,,,Ghost"
    found = refused.refused_parts(f"{miraidon}]{kingambit}")
    assert found == {("Pokémon", "Miraidon"), ("moves", "Final Gambit"), ("items", "Quick Claw")}
    shares = [refused.Share("mine", [found, found - {("Pokémon", "Miraidon")}, frozenset()])]
    assert shares[0].played == 1 and refused.shares_table(shares)[-1] == "| `mine` | 3 | 1 | 33.3% |"
    species, moves, *_ = refused.reasons(shares)
    assert species.endswith("1 teams have such Pokémon, 0 nothing else that is refused. Miraidon 1.")
    assert moves.endswith("2 teams have such a move, 0 nothing else that is refused. Final Gambit 2.")
