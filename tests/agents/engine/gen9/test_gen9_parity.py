"""scripts/parity/gen9_parity.py: a slice of its ranges, and that it would see and show what is not Showdown's."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.compilers import need_compiler
from support.scripts import script

from agents.engine.gen9 import library
from agents.engine.gen9.engine import TIE, Engine, records
from agents.engine.gen9.layout import SIDE
from agents.engine.gen9.teams import NUMBERS, side_words
from teamsets.errors import BadInput

need_compiler()

gen9_parity = script("parity/gen9_parity.py")
FOUR = {"battles": 4, "seed": 3}
gen9_teams, gen9_coverage = gen9_parity.gen9_teams, gen9_parity.gen9_coverage


def played(**options: Any) -> list[dict[str, Any]]:
    """Battles of the oracle. Fails where Showdown keeps what no word of the engine is compared with."""
    battles: list[dict[str, Any]] = gen9_parity.oracle({"seed": 20261127, **options})
    assert "unread" not in battles[-1]
    return battles


@functools.cache
def _four() -> str:
    return json.dumps(played(**FOUR))


def four() -> list[dict[str, Any]]:
    """Four battles that a test may change."""
    battles: list[dict[str, Any]] = json.loads(_four())
    return battles


@pytest.mark.parametrize(
    ("teams", "policy", "battles"),
    [
        ("ring1", "random", 12),
        ("ring1", "rules", 6),
        pytest.param("random", "rare", 16, marks=pytest.mark.slow),
        pytest.param("random", "tera", 10, marks=pytest.mark.slow),
    ],
)
def test_every_decision_is_showdowns(teams: str, policy: str, battles: int) -> None:
    slice_ = played(teams=teams, policy=policy, battles=battles)
    assert sum(len(battle["decisions"]) for battle in slice_) > 20 * battles
    assert gen9_parity.compare(slice_) == {}


def test_a_battle_without_end_is_a_tie_after_a_thousand_turns() -> None:
    (battle,) = played(teams="ring1", policy="endless", battles=1)
    assert battle["end"] == "tie" and len(battle["decisions"]) == 1001
    assert gen9_parity.compare([battle]) == {}


def test_a_difference_is_found_and_shown() -> None:
    battles = four()
    battles[2]["decisions"][4][0] ^= 1  # the state's hash
    battles[3]["decisions"][2][1] ^= 1  # legal actions
    assert gen9_parity.compare(battles) == {2: 4, 3: 2}
    shown = gen9_parity.explain(FOUR, battles[2], 4)
    assert shown.startswith("battle 2 (seed 3), decision 4: legal ")
    assert "|turn|" in shown


def test_a_word_that_differs_is_named_with_both_values(monkeypatch: pytest.MonkeyPatch) -> None:
    battle, *_ = four()
    right = gen9_parity.started

    def wrong(battles: list[dict[str, Any]]) -> Engine:
        engine: Engine = right(battles)
        mon = records(engine.words)["sides"]["pokemon"][:, 1, 3]
        mon["hp"] -= 1
        mon["item"] = NUMBERS["items"]["leftovers"]
        return engine

    monkeypatch.setattr(gen9_parity, "started", wrong)
    assert gen9_parity.compare([battle]) == {0: 0}
    shown = gen9_parity.explain(FOUR, battle, 0).splitlines()[1]
    assert "sides.1.pokemon.3.hp: " in shown and ", Showdown " in shown
    assert "sides.1.pokemon.3.item: " in shown and "(leftovers)" in shown


def test_a_line_that_differs_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    battle, *_ = four()
    right = gen9_parity.started

    def wrong(battles: list[dict[str, Any]]) -> Engine:
        engine: Engine = right(battles)
        log = engine._logs[0]
        log.lines[log.lines.index("|start")] = "|begin"
        return engine

    monkeypatch.setattr(gen9_parity, "started", wrong)
    assert gen9_parity.compare([battle]) == {0: 0}
    assert ": |begin, Showdown |start" in gen9_parity.explain(FOUR, battle, 0).splitlines()[1]


def test_every_single_word_counts() -> None:
    engine = gen9_parity.started(four()[:1])
    numbers = gen9_parity.COLUMNS.of(engine.words)
    same = gen9_parity.hashes(numbers)[0]
    changed = np.repeat(numbers, numbers.shape[1], axis=0)
    changed[np.diag_indices(numbers.shape[1])] += 1
    assert (gen9_parity.hashes(changed) != same).all()
    assert len(set(gen9_parity.COLUMNS.names)) == numbers.shape[1] > 1000


def test_a_battle_that_ends_otherwise_differs() -> None:
    battles = four()[:2]
    battles[1]["end"] = "tie"
    assert gen9_parity.compare(battles) == {1: len(battles[1]["decisions"]) - 1}
    assert TIE not in (0, 1)


def test_teams_are_restricted_to_what_is_played() -> None:
    known = gen9_parity.SETS[0]
    unknown = known.replace("Azumarill", "Koraidon")
    partly = gen9_parity.SETS[1].replace("moonblast", "metronome").replace("lifeorb", "lightball")
    left = gen9_teams.restricted(f"{known}]{unknown}]{partly}")
    assert [member.split("|")[1] for member in left.split("]")] == ["Azumarill", "Clefable"]
    assert "metronome" not in left and "lightball" not in left and "softboiled" in left
    assert gen9_teams.restricted(unknown) is None
    with pytest.raises(BadInput):
        side_words(unknown, 0)
    assert side_words(left, 0).dtype == SIDE


def test_least_used_ids_come_first() -> None:
    uses = gen9_parity.Counter()
    for n in range(60):
        gen9_teams.random_team(gen9_parity.random.Random(n), uses)
    counts = [uses[f"moves{move}"] for move in gen9_teams.played()["moves"]]
    plain = gen9_parity.Counter(
        move
        for n in range(60)
        for member in gen9_teams.random_team(gen9_parity.random.Random(n)).split("]")
        for move in member.split("|")[4].split(",")
    )
    assert min(counts) >= min(plain[move] for move in gen9_teams.played()["moves"])
    assert np.std(counts) < np.std([plain[move] for move in gen9_teams.played()["moves"]])


def test_what_was_never_reached_is_named() -> None:
    shown = gen9_coverage.report(
        {"moves": {"surf": [900, 900], "knockoff": [3, 3]}, "items": {"leftovers": [700, 650]}}
    )
    moves = shown.partition(" abilities: ")[0]
    assert " moves: 1 acted 500 times or more" in moves
    assert "knockoff 3" in moves.partition("under 500: ")[2].partition("\n")[0]
    assert "thunderbolt" in moves.partition("never: ")[2].partition("\n")[0]
    assert "leftovers 650 (700)" in shown
    items = shown.partition(" items: ")[2]
    assert "pokeball" in items.partition("without a function, and no rule asked for them: ")[2].partition("\n")[0]
    assert "pokeball" not in items.partition("never: ")[2].partition("\n")[0]


def test_the_ledger_recognises_the_engine_by_its_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = library.digest()
    (tmp_path / "layout.h").write_text("// other\n")
    monkeypatch.setattr(library, "SOURCES", tmp_path)
    assert library.digest() != before
