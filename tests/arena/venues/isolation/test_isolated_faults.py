"""Agents that fail in processes of their own: each loses with a reason, and nobody else does."""

from __future__ import annotations

import asyncio
import functools
import os
from pathlib import Path

import pytest
from support.command_line import wait
from support.isolation_playing import facts, fixture, play

from arena.record import BattleRecord
from arena.venues.isolation.agent_process import AgentProcess, Turns
from arena.venues.isolation.process import _Output

HONEST = "attackers:Honest"
#: agent -> (reason, what the detail must say)
FAILING = {
    "bad_agents:Raises": ("error", "RuntimeError: out of ideas at bad_agents.py:"),
    "bad_agents:RaisesLater": ("error", "KeyError: 'charizard' at bad_agents.py:"),
    "bad_agents:RaisesAtStart": ("error", "OSError: no weights here at bad_agents.py:"),
    "bad_agents:RaisesWhenMade": ("error", "ValueError: no such checkpoint at bad_agents.py:"),
    "bad_agents:Quits": ("error", "SystemExit: I am done"),
    "bad_agents:Illegal": ("illegal", "answered 'move splashdance', 3 times in a row; legal: move "),
    "bad_agents:OddWords": ("error", "RuntimeError: no file called "),
    "bad_agents:Exits": ("error", "ended its process with exit code 7"),
    "bad_agents:KillsItself": ("error", "ended its process by SIGKILL"),
    "attackers:Rubbish": ("error", "wrote an invalid answer into its channel"),
    "attackers:Flood": ("error", "bytes in one line into its channel"),
    "attackers:AnswersItself": ("error", "wrote an invalid answer into its channel"),
    "attackers:Threads": ("error", "ended its process with exit code 9"),
}
TOO_SLOW = {
    "bad_agents:SleepsSync": ("timeout", "no choice within 3 s"),
    "bad_agents:SleepsAsync": ("timeout", "no choice within 3 s"),
    "bad_agents:SwallowsAll": ("timeout", "no choice within 3 s, and its process was ended"),
    "bad_agents:HoldsTheLock": ("timeout", "no choice within 3 s, and its process was ended"),
    "bad_agents:BlocksTheAlarm": ("timeout", "no choice within 3 s, and its process was ended"),
}
GOOD = (
    "bad_agents:Talks",
    "bad_agents:Patient",
    "bad_agents:HasAFallback",
    "bad_agents:OddThoughts",
    "bad_agents:RaisesAtFinish",
)


@pytest.fixture(scope="module")
def played() -> dict[str, BattleRecord]:
    """Each agent against an honest one, all battles at once."""
    agents = [*FAILING, *GOOD]
    return dict(zip(agents, play([fixture(agent, HONEST) for agent in agents], isolate=True), strict=True))


@pytest.mark.parametrize("agent", FAILING)
def test_an_agent_that_fails_in_its_own_process_loses_with_the_reason(
    played: dict[str, BattleRecord], agent: str
) -> None:
    _assert_lost(played[agent], *FAILING[agent])


@pytest.mark.parametrize("agent", GOOD)
def test_agents_that_print_wait_or_think_oddly_play_to_the_end(played: dict[str, BattleRecord], agent: str) -> None:
    record = played[agent]
    assert (record.fault, record.detail) == (None, None)
    assert record.winner == facts(record)["won"]
    assert len(record.decisions) > 10


def test_diagnostics_come_with_the_decisions(played: dict[str, BattleRecord]) -> None:
    thoughts = [row[6] for row in played["bad_agents:OddThoughts"].decisions if row[0] == 0]
    assert all(thought and sorted(thought) == ["big", "seen", "self", "word"] for thought in thoughts)


@pytest.mark.slow
def test_an_agent_that_does_not_answer_loses_and_its_process_is_ended() -> None:
    records = play([fixture(agent, HONEST) for agent in TOO_SLOW], isolate=True, think_limit=3.0)
    for agent, record in zip(TOO_SLOW, records, strict=True):
        _assert_lost(record, *TOO_SLOW[agent])


def test_a_process_that_has_closed_its_output_takes_nothing_from_the_file_that_has_its_descriptor_now() -> None:
    closed = asyncio.Event()

    class Output(_Output):
        def connection_lost(self, exc: Exception | None) -> None:
            closed.set()

    async def ended() -> tuple[str, bytes]:
        loop = asyncio.get_running_loop()
        process = AgentProcess(("bad", "p1"), Turns(), lambda pid: None)
        reading, writing = os.pipe()
        transport, _ = await loop.connect_read_pipe(lambda: Output(process), os.fdopen(reading, "rb"))
        process.output = (transport, reading)
        os.write(writing, b"farewell")
        os.close(writing)
        await closed.wait()  # its descriptor is closed, and free for the next file
        other, writing = os.pipe()
        os.dup2(other, reading)
        os.set_blocking(reading, False)  # or the fault would hang the test
        os.write(writing, b"of another agent")
        process.process_ended(-9)
        return process.ended, os.read(other, 100)

    assert asyncio.run(ended()) == ("ended its process by SIGKILL: farewell", b"of another agent")


def test_an_agents_process_has_its_channel_and_its_output_and_nothing_else_open() -> None:
    (record,) = play([fixture("attackers:Descriptors", HONEST)], isolate=True)
    thought = next(row[6] for row in record.decisions if row[0] == 0)
    assert thought is not None
    kinds = {int(number): name.partition(":")[0] for number, name in thought["files"].items()}
    assert {number: kinds.pop(number) for number in range(4)} == {0: "/dev/null", 1: "pipe", 2: "pipe", 3: "socket"}
    assert kinds.keys() <= set(range(4, 12)), kinds  # of its event loop and poke-env's
    seed, team = record.fixture.seed, record.fixture.teams[1].seed
    assert not [value for value in thought["environment"].values() if seed in value or str(team) in value]
    assert thought["pid"] != os.getpid()


def has_ended(process: int) -> bool:
    """Whether there is no such process, or only what is left of one until its parent looks; it may end during the look."""
    try:
        return not Path(f"/proc/{process}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_what_an_agent_starts_ends_with_the_run() -> None:
    records = play(
        [fixture("attackers:LeavesAChild?away=True", HONEST), fixture("attackers:LeavesAChild", HONEST)], isolate=True
    )
    for record in records:
        thought = next(row[6] for row in record.decisions if row[0] == 0)
        assert thought is not None
        wait(functools.partial(has_ended, thought["child"]))


def test_a_process_is_used_again_for_its_seat_and_hears_how_its_battles_end(tmp_path: Path) -> None:
    file = tmp_path / "ends"
    spec = f"attackers:Finishes?file={file}"
    play([fixture(spec, HONEST, seed=number) for number in range(2)], isolate=True, at_once=1)
    one, other = (line.split() for line in file.read_text().splitlines())
    assert one == other == ["p1", "True", one[2]]


def test_an_agent_has_a_process_for_each_seat(tmp_path: Path) -> None:
    file = tmp_path / "ends"  # or it would hold both teams of a pair, and know its opponent's
    spec = f"attackers:Finishes?file={file}"
    play([fixture(spec, HONEST), fixture(HONEST, spec)], isolate=True, at_once=1)
    one, other = (line.split() for line in file.read_text().splitlines())
    assert (one[0], other[0]) == ("p1", "p2")
    assert one[2] != other[2]


def test_idle_processes_beyond_the_limit_are_ended() -> None:
    records = play([fixture(HONEST, "random", seed=number) for number in range(2)], isolate=True, max_idle=0)
    assert {record.fault for record in records} == {None}


def _assert_lost(record: BattleRecord, reason: str, detail: str) -> None:
    assert (record.winner, record.reason, record.fault) == ("p2", reason, "p1"), record.detail
    assert record.detail is not None
    assert detail in record.detail
