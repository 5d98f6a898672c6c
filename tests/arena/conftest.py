"""Shared by the tests of the venues."""

from __future__ import annotations

import asyncio

import pytest
from support.real_battles import play_all

from arena.record import BattleRecord


@pytest.fixture(scope="session")
def real_battles() -> dict[str, list[BattleRecord]]:
    """Format -> a few battles, played by the venue itself."""
    return asyncio.run(play_all(stock=False))
