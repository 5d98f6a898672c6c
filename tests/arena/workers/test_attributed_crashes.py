"""Agents that harm their worker outside of their turn are found by the real coordinator, and nobody else loses."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from support.command_line import processes
from support.tournaments import tournament

from arena.store import rows
from arena.workers.cluster.connection import ThisMachine

GOOD = ("bad_agents:Patient", "bad_agents:Talks")
#: agent -> (reason, what the detail must say)
CULPRITS = {
    "BlocksInATask": ("timeout", "blocked its worker outside of its turn until it was ended"),
    "BlocksInACallback": ("timeout", "blocked its worker outside of its turn until it was ended"),
    "ClosesEverything": ("error", "its worker"),
    "StopsItself": ("timeout", "its worker was stopped and did not continue"),
    "ExitsLater": ("error", "ended its worker process outside of its turn"),
    "SwallowsReports": ("error", "cut its worker off"),
    "WritesReports": ("error", "wrote among its worker's reports"),
    "CancelsTasks": ("error", "ended its worker process outside of its turn"),
}


def _played(
    db: Path, pairings: list[tuple[str, str]], think_limit: float = 2.0, workers: int = 1, **more: object
) -> list[tuple[object, ...]]:
    """The faults of a tournament of these pairings: agent, reason, detail; all its battles have a result."""
    agents = dict.fromkeys(agent for pairing in pairings for agent in pairing)
    quickly = ThisMachine(workers, grace=1.0)
    tournament(db, *agents, pairings=pairings, think_limit=think_limit, cluster=quickly, **more)  # type: ignore[arg-type]
    assert rows("SELECT count(*) FROM battles", db) == [(2 * len(pairings),)]
    return rows("SELECT agent, reason, detail FROM faults ORDER BY ALL", db)


@pytest.mark.slow
@pytest.mark.parametrize("name", CULPRITS)
def test_it_loses_and_the_battles_beside_it_have_their_results(name: str, tmp_path: Path) -> None:
    agent, (reason, words) = f"worse_agents:{name}", CULPRITS[name]
    faults = _played(tmp_path / "arena.duckdb", [(agent, "random"), GOOD], max_turns=20)
    charged = [fault for fault in faults if fault[1] != "turn-limit"]
    assert [(who, why) for who, why, _ in charged] == [(agent, reason)] * 2
    assert all(words in str(detail) for *_, detail in charged)


@pytest.mark.slow
def test_of_two_that_are_not_known_the_one_whose_thread_ended_the_process_is_charged(tmp_path: Path) -> None:
    agent, slow = "worse_agents:KillsInAThread", "bad_agents:Slow?ms=500"
    faults = _played(tmp_path / "arena.duckdb", [(agent, slow)], max_turns=6)
    assert [(who, why) for who, why, _ in faults if why != "turn-limit"] == [(agent, "error")] * 2


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found through /proc")
def test_processes_that_agents_start_end_with_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARK", mark := uuid.uuid4().hex)
    pairings = [("worse_agents:StartsProcesses", "random")]
    faults = _played(tmp_path / "arena.duckdb", pairings, think_limit=60.0, max_turns=3, workers=1)
    assert {reason for _, reason, _ in faults} == {"turn-limit"}
    assert processes(mark, "sleep") == []
