"""The stand-in venue: whole runs, a worker's retries and its errors, without a simulator."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import orjson
import pytest
from support.workers import BATTLE

from arena.fixture import Fixture
from arena.record import BattleRecord
from arena.run.tournament import EvaluateSettings, play_into
from arena.store import rows
from arena.testing import StandInVenue
from arena.venue import Rules, VenueFailed
from arena.workers.worker import ATTEMPTS, Worker

SETTINGS = EvaluateSettings(
    agents=("random", "heuristic:max-power", "heuristic:staller"), formats=("gen1randombattle",), battles=10
)


def test_a_run_is_played_as_the_function_says(tmp_path: Path) -> None:
    db = tmp_path / "arena.duckdb"
    venue = StandInVenue(
        lambda fixture: f"p{fixture.agents.index('random') + 1}" if "random" in fixture.agents else None
    )
    played = play_into(db, SETTINGS, cluster=venue)
    assert played.finished and played.progress.played == 30
    found = rows(
        "SELECT CASE winner WHEN 'p1' THEN p1 WHEN 'p2' THEN p2 END, reason, count(*) FROM battles GROUP BY ALL", db
    )
    assert sorted(found, key=str) == [("random", "win", 20), (None, "tie", 10)]


def test_a_sequential_test_ends_the_match_when_it_is_decided(tmp_path: Path) -> None:
    settings = EvaluateSettings(
        agents=("random", "heuristic:staller"),
        formats=("gen1randombattle",),
        schedule="match",
        battles=400,
        sprt={"elo0": 0, "elo1": 100},
    )
    venue = StandInVenue(lambda fixture: f"p{fixture.agents.index('random') + 1}")
    played = play_into(tmp_path / "arena.duckdb", settings, kind="match", cluster=venue)
    assert played.finished and 2 < played.progress.played < 100


def test_what_the_function_raises_ends_the_run_and_finished_battles_are_stored(tmp_path: Path) -> None:
    db = tmp_path / "arena.duckdb"
    left = ["error"]

    def first_only(fixture: Fixture) -> BattleRecord:
        return BattleRecord(fixture, "p1", left.pop(), fault="p2")

    with pytest.raises(IndexError):
        play_into(db, SETTINGS, cluster=StandInVenue(first_only))
    assert rows("SELECT status FROM runs", db) == [("stopped",)]
    assert rows("SELECT reason, fault FROM battles", db) == [("error", "p2")]


@pytest.mark.parametrize("wrong", ["random", "p3", True, 1])
def test_a_result_of_no_seat_ends_the_run_at_once(tmp_path: Path, wrong: Any) -> None:
    with pytest.raises(ValueError, match="must be p1, p2, None or a BattleRecord"):
        play_into(tmp_path / "arena.duckdb", SETTINGS, cluster=StandInVenue(lambda fixture: wrong))
    with pytest.raises(ValueError, match="not in tuple"):
        broken = StandInVenue(lambda fixture: BattleRecord(fixture, wrong, "win"))
        play_into(tmp_path / "other.duckdb", SETTINGS, cluster=broken)


@pytest.mark.parametrize(
    ("failures", "reason", "fault"), [(0, "win", None), (ATTEMPTS - 1, "win", None), (ATTEMPTS, "aborted", "venue")]
)
def test_a_worker_retries_a_battle_whose_venue_failed(failures: int, reason: str, fault: str | None) -> None:
    left = [VenueFailed(f"failure {number + 1}") for number in range(failures)]

    def failing(fixture: Fixture) -> str:
        if left:
            raise left.pop(0)
        return "p1"

    reading, writing = os.pipe()
    settings = {"run": "r", "rules": Rules().model_dump(), "stock": False, "venue": "simulator", "verify_every": 0}
    worker = Worker({**settings, "shared": -1, "isolate": False}, writing)
    worker.venues["simulator"] = StandInVenue(failing)
    asyncio.run(worker.play(7, BATTLE))
    os.close(writing)
    with open(reading, "rb") as lines:
        header, record = lines.read().split(b"\t")
    told = orjson.loads(header)
    assert (told["serial"], told["reason"], told["fault"]) == (7, reason, fault)
    assert orjson.loads(record)["detail"] == (f"failure {ATTEMPTS}" if fault else None)
