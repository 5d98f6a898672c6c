"""Shared by the tests of venues and reports."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from support.real_battles import play_all
from support.tournaments import tournament

from arena.record import BattleRecord


@pytest.fixture(scope="session")
def real_battles() -> dict[str, list[BattleRecord]]:
    """Format -> a few battles, played by the venue itself."""
    return asyncio.run(play_all(stock=False))


@pytest.fixture(scope="session")
def played_doubles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database, not to be changed, of two battles each in two formats of doubles; one run for each."""
    db = tmp_path_factory.mktemp("doubles") / "arena.duckdb"
    for format_id, more in (
        ("gen9randomdoublesbattle", {}),
        ("gen9championsvgc2026regma", {"team_sets": ("competitive",)}),
    ):
        tournament(db, "random", "heuristic:max-damage", formats=(format_id,), think_limit=60.0, **more)
    return db
