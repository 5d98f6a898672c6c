"""Programs of other people in battles on our server: they play, they fail in every way, and nothing is left of them."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.command_line import TESTS, is_running, wait
from support.foul_play_environment import CHECKOUT, prepare_stand_in
from support.real_battles import fixtures
from support.tournaments import table

from agents.external import Program
from arena.battles.guard import StepGuard
from arena.fixture import Fixture
from arena.record import BattleRecord
from arena.run.tournament import EvaluateSettings, play, prepare, resume
from arena.store import open_store
from arena.venue import Rules, VenueFailed
from arena.venues.server.local import LocalServer
from arena.venues.server.programs import RunningProgram
from arena.venues.server.venue import ServerVenue
from teamsets.errors import ArenaError

STAND_INS = TESTS / "support" / "stand_ins"
PATIENT = Rules(think_limit=60.0)


def stand_in(habit: str, **options: object) -> str:
    """The spec of the stand-in with a habit."""
    words = f"{sys.executable} {STAND_INS / 'program.py'} '{habit}'"
    said = "".join(f"&{name}={value}" for name, value in options.items())
    return f"external?command={words} {{uri}} {{user}} {{opponent}} {{role}} {{format}} {{team}}{said}"


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[asyncio.Runner, LocalServer]]:
    with asyncio.Runner() as runner:
        launched = runner.run(LocalServer.launch())
        yield runner, launched
        runner.run(launched.close())


def played(
    server: tuple[asyncio.Runner, LocalServer], *agents: str, format_id: str = "gen1ou", rules: Rules = PATIENT
) -> BattleRecord:
    external_seats = tuple(agent.startswith(("external", "foul-play")) for agent in agents)
    fixture: Fixture = replace(fixtures(format_id, 1)[0], agents=agents, external_seats=external_seats)
    runner, launched = server

    async def battle() -> BattleRecord:
        async with ServerVenue(launched, StepGuard(), rules) as venue:
            return await venue.play(fixture, 1)

    return runner.run(battle())


@pytest.mark.parametrize(
    "agents",
    [
        (stand_in("usual"), "random"),
        pytest.param(("random", stand_in("usual", role="accept")), marks=pytest.mark.slow),
        pytest.param((stand_in("late"), "random"), marks=pytest.mark.slow),
        pytest.param((stand_in("usual", role="accept"), stand_in("usual")), marks=pytest.mark.slow),
        pytest.param((stand_in("usual"), stand_in("usual")), marks=pytest.mark.slow),
    ],
)
def test_a_program_plays_in_any_seat_and_role(
    agents: tuple[str, str], server: tuple[asyncio.Runner, LocalServer]
) -> None:
    record = played(server, *agents)
    assert record.reason in ("win", "tie") and record.fault is None, record.detail
    for index, role in enumerate(("p1", "p2")):
        asked = [line for line in record.logs[index] if line.startswith("|request|")]
        decisions = [decision for decision in record.decisions if decision[0] == index]
        made = [line for line in record.input_log if line.startswith(f">{role} ")]
        assert len(decisions) == len(made) and 0 <= len(asked) - len(made) <= 1
        assert all(choice in legal for _, _, _, legal, choice, _, _ in decisions)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("habit", "options", "reason", "words"),
    [
        ("dies", {}, "error", r"its program ended with status 7: lost its mind; its log is .*\.log"),
        ("is killed", {}, "error", r"its program ended with status 137"),
        ("never comes", {"start": 3}, "timeout", r"did not come to the battle within 3 s: was not there"),
        ("mute", {"start": 6}, "timeout", r"did not come to the battle within 6 s: did not challenge"),
        (
            "brings its own",
            {"start": 6},
            "timeout",
            r"did not come .* did not challenge; the server told it: .*rejected",
        ),
        ("hangs", {"allowance": 0.5}, "timeout", r"no choice within 2\.5 s"),
        ("hangs up", {"allowance": 0.5}, "timeout", r"no choice within 2\.5 s: it had left"),
        ("cheats", {"allowance": 0.5}, "illegal", r"no choice that the server took .*Invalid choice"),
    ],
)
def test_every_failure_loses_with_its_reason(
    habit: str, options: dict[str, float], reason: str, words: str, server: tuple[asyncio.Runner, LocalServer]
) -> None:
    record = played(server, "random", stand_in(habit, **options), rules=Rules(think_limit=2.0))
    assert (record.winner, record.reason, record.fault) == ("p1", reason, "p2"), record.detail
    assert re.match(words, record.detail or "")
    if record.turns:
        assert record.input_log[-1] == ">forcelose p2" and record.logs[1][-1] == "|win|p1"


def test_a_program_that_cannot_be_started_loses(server: tuple[asyncio.Runner, LocalServer]) -> None:
    record = played(server, "external?command=no-such-program-anywhere", "random")
    assert (record.winner, record.reason, record.fault) == ("p2", "error", "p1")
    assert "no-such-program-anywhere" in (record.detail or "")


def test_what_we_fail_to_give_a_program_is_not_its_loss(
    server: tuple[asyncio.Runner, LocalServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> str:
        raise ArenaError("node is gone")

    monkeypatch.setattr("teamsets.validator.TeamValidator.export", fail)
    with pytest.raises(VenueFailed, match="a team could not be written for a program: node is gone"):
        played(server, stand_in("usual"), "random")


def test_a_forfeit_is_no_fault(server: tuple[asyncio.Runner, LocalServer]) -> None:
    record = played(server, stand_in("forfeits"), "random")
    assert (record.winner, record.reason, record.fault, record.detail) == ("p2", "win", None, "p1 forfeited")


def test_what_a_program_has_started_ends_with_it(server: tuple[asyncio.Runner, LocalServer]) -> None:
    record = played(server, "random", stand_in("has children"))
    log = re.search(r"its log is (\S+\.log)", record.detail or "")
    assert log is not None
    told = re.search(r"children (\d+) (\d+)", Path(log[1]).read_text())
    assert told is not None
    wait(lambda: not is_running(int(told[1])) and not is_running(int(told[2])))


KEPT = """
import asyncio, sys
from agents.external import Program
from arena.venues.server.programs import RunningProgram
async def own():
    script = "import os, subprocess, time; c = subprocess.Popen(['sleep', '600'], start_new_session=True);"
    script += "print('pids', os.getpid(), c.pid, flush=True); time.sleep(600)"
    running = await RunningProgram.launch(Program([sys.executable, "-c", script]))
    print(running.log, flush=True)
    await asyncio.sleep(600)
asyncio.run(own())
"""


def test_a_program_is_gone_when_its_owner_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", KEPT], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        log = Path(owner.stdout.readline().strip())
        while not (told := re.search(r"pids (\d+) (\d+)", log.read_text())):
            time.sleep(0.1)
        pids = [int(told[1]), int(told[2])]
        assert all(map(is_running, pids))
        os.kill(owner.pid, signal.SIGKILL)
    wait(lambda: not any(map(is_running, pids)))


def test_a_killed_supervisor_leaves_no_program() -> None:
    script = "import os, subprocess, time; c = subprocess.Popen(['sleep', '600']);"
    script += "print('pids', os.getpid(), c.pid, flush=True); time.sleep(600)"

    async def run() -> None:
        running = await RunningProgram.launch(Program([sys.executable, "-c", script]))
        told = None
        while told is None:
            await asyncio.sleep(0.1)
            told = re.search(r"pids (\d+) (\d+)", running.log.read_text())
        os.kill(running.pid, signal.SIGKILL)
        assert "status -9" in await running.dead
        wait(lambda: not is_running(int(told[1])) and not is_running(int(told[2])))

    asyncio.run(run())


@pytest.mark.slow
def test_a_run_with_a_program_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    db = tmp_path / "arena.duckdb"
    agents = (stand_in("usual"), "random", "heuristic:max-damage")
    settings = EvaluateSettings(agents=agents, formats=("gen1ou",), battles=2, rules=PATIENT)
    with open_store(db) as store:
        run = prepare(store, settings)
        asyncio.run(play(run, store, workers=2, limit=3))
        assert len(store.results(run.run_id)) == 3
        again = resume(store, run.run_id, None)
        done = asyncio.run(play(again, store, workers=2))
    assert done.finished and not done.progress.faults
    battles = table(db, "key, reason, p1 LIKE 'external%' OR p2 LIKE 'external%'")
    assert len(battles) == 6 and len({key for key, _, _ in battles}) == 6
    assert sum(has_program for _, _, has_program in battles) == 4
    assert {reason for _, reason, _ in battles} <= {"win", "tie"}


def test_our_launcher_takes_foul_play_through_a_battle(
    server: tuple[asyncio.Runner, LocalServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_FOUL_PLAY", str(CHECKOUT))
    prepare_stand_in(CHECKOUT, 1)
    # status-spreader: it is put to sleep, and asked for Fight.
    record = played(server, "foul-play?ms=10", "heuristic:status-spreader")
    assert record.reason in ("win", "tie") and record.fault is None, record.detail
