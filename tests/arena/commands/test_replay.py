"""`arena replay`: a stored battle played again is the same in all lines, and a tampered one is found out."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from support.command_line import Said

from arena.record import unpacked
from arena.store import connect, rows

Arena = Callable[..., Said]


def _battle(db: Path, condition: str) -> int:
    return int(rows(f"SELECT min(battle_id) FROM battles WHERE {condition}", db)[0][0])


@pytest.mark.parametrize(
    "condition",
    ["format = 'gen1ou'", "format = 'gen9randombattle'", "reason = 'error'", "reason = 'turn-limit'"],
)
@pytest.mark.parametrize("how", [(), pytest.param(("--stock-simulator",), marks=pytest.mark.slow)])
def test_a_battle_played_again_is_the_same_in_all_lines(
    arena: Arena, played: Path, condition: str, how: tuple[str, ...]
) -> None:
    battle = _battle(played, condition)
    said = arena("replay", battle, *how, "--db", played)
    lines = sum(
        not line.startswith("|request|")
        for blob in rows("SELECT p1_log, p2_log FROM battles WHERE battle_id = ?", played, [battle])[0]
        for line in unpacked(blob)
    )
    assert said == Said(0, f"battle {battle}: replayed, all {lines:,} lines of both sides are identical\n", "")


def _tamper(db: Path, battle: int, column: str, change: Callable[[list[str]], list[str]]) -> None:
    with connect(db, read_only=False) as connection:
        query = f"SELECT {column} FROM battles WHERE battle_id = ?"
        (blob,) = connection.execute(query, [battle]).fetchone() or ()
        packed = zstandard.ZstdCompressor().compress("\n".join(change(unpacked(blob))).encode())
        connection.execute(f"UPDATE battles SET {column} = ? WHERE battle_id = ?", [packed, battle])


@pytest.mark.parametrize(
    ("column", "change", "words"),
    [
        ("p2_log", lambda log: [line.replace("|-damage|", "|-heal|") for line in log], "differs: p2, line "),
        ("p1_log", lambda log: log[:-1], "differs: p1: stored "),
        ("input_log", lambda log: [line for line in log if "p1 move" not in line], "differs: "),
        ("input_log", lambda log: [*log[:6], ">p3 dances", *log[6:]], "unknown command '>p3 dances'"),
    ],
)
def test_a_tampered_battle_is_found_out(
    arena: Arena, played: Path, tmp_path: Path, column: str, change: Callable[[list[str]], list[str]], words: str
) -> None:
    db = Path(shutil.copy(played, tmp_path / "arena.duckdb"))
    battle = _battle(db, "format = 'gen1ou' AND reason = 'win'")
    _tamper(db, battle, column, change)
    said = arena("replay", battle, "--db", db)
    assert said.code == 1
    assert words in said.out + said.err
    assert "Traceback" not in said.err


def test_a_battle_that_is_not_there(arena: Arena, played: Path) -> None:
    (last,) = rows("SELECT max(battle_id) FROM battles", played)[0]
    said = arena("replay", 999, "--db", played)
    assert (said.code, said.err) == (2, f"arena: battle 999: not in {played}: it has 1 to {last}\n")


def test_replay_in_words_tells_the_battle(arena: Arena, played: Path) -> None:
    battle = _battle(played, "format = 'gen1ou' AND reason = 'win'")
    said = arena("replay", battle, "--narrate", "--db", played)
    assert said.code == 0
    assert "== Turn 1 ==" in said.out and "wins." in said.out and "lines of both sides are identical" in said.out
