"""Programs of other people in one battle: started for it, paired with the other seat, charged when they fail, and ended."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import Protocol

from agents.external import BattleAddress, Program, ProgramAgent, Role
from agents.external.contract import new_program_log
from arena.battles.seat import Fault
from arena.fixture import SEATS, Fixture
from arena.processes import supervisor
from arena.processes.child import ChildProcess
from arena.venue import VenueFailed
from teamsets.errors import ArenaError
from teamsets.logs import last_line
from teamsets.validator import TeamValidator

_SUPERVISOR = Path(supervisor.__file__)
#: Seconds that a program has to end by itself after its battle, and that its end may precede the battle's.
_LEAVE_SECONDS = 5.0
_LAST_ERROR_SECONDS = 1.0
#: Seconds between two checks whether a user has signed in; seconds from then until it accepts challenges.
_LOOK_SECONDS = 0.25
_SETTLE_SECONDS = 1.0
#: Seconds after which a challenge that was not accepted is repeated: the program may have missed it.
_RETRY_SECONDS = 10.0


class ProgramServer(Protocol):
    """The server on which the battle is. uri: its websocket."""

    @property
    def uri(self) -> str: ...

    async def is_online(self, user: str) -> bool:
        """Return whether a user has signed in."""


class ProgramBattle(Protocol):
    """What programs need of their battle (`arena.venues.server.battle.ServedBattle`). room: empty until it has begun."""

    @property
    def fixture(self) -> Fixture: ...

    @property
    def server(self) -> ProgramServer: ...

    @property
    def room(self) -> str: ...

    def user(self, role: str) -> str:
        """Return the user id of a side."""

    def challenge(self) -> None:
        """Let our user challenge the other one."""

    def withdraw(self) -> None:
        """Withdraw the challenge."""

    def lose(self, role: str, fault: Fault) -> None:
        """Let a side lose by a fault."""

    def break_off(self, error: Exception) -> None:
        """End the battle with an error that is charged to neither side."""


class RunningProgram(ChildProcess):
    """A program under its supervisor. dead: set to a description of its end."""

    def __init__(self, log: Path) -> None:
        super().__init__()
        self.log = log
        self._group: int | None = None
        self.dead: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    @classmethod
    async def launch(cls, program: Program) -> RunningProgram:
        """Start it; its output goes to a log of its own."""
        log = new_program_log()
        output = os.open(log, os.O_WRONLY | os.O_APPEND)
        try:
            _, running = await asyncio.get_running_loop().subprocess_exec(
                lambda: cls(log),
                *[sys.executable, "-I", str(_SUPERVISOR), str(log), *program.command],
                stderr=output,
                env={**os.environ, **program.environment},
                cwd=program.folder,
                start_new_session=True,
            )
        finally:
            os.close(output)
        return running

    def line_received(self, line: bytes) -> None:
        """Read the program's process group, the supervisor's only output; the program's output is in its log."""
        self._group = int(line)

    def process_exited(self) -> None:
        assert self.status is not None
        if self.status < 0 and self._group is not None:  # the supervisor was killed, so its work is done here
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._group, signal.SIGKILL)
        error = last_line(self.log)
        detail = f": {error}" if error else ""
        self.dead.set_result(f"its program ended with status {self.status}{detail}; its log is {self.log}")


class Programs:
    """The programs of one battle. Use it as an async context manager around `battle.play(programs.pair_players)`.

    agents: role -> the program in that seat. leaving: where the task is put that ends them after the battle, while it is
    in progress: they have some seconds to sign off, unless it is cancelled.
    """

    def __init__(
        self, battle: ProgramBattle, agents: dict[str, ProgramAgent], leaving: set[asyncio.Task[None]]
    ) -> None:
        self.battle, self.agents, self._leaving = battle, agents, leaving
        self.roles = roles_of(agents)
        self._folder = Path(tempfile.mkdtemp(prefix="arena-programs-"))
        self._running: list[RunningProgram] = []
        self._tasks: list[asyncio.Task[None]] = []

    def pair_players(self) -> None:
        """Start the programs, once, and let the two sides of the battle challenge and accept each other."""
        if not self._tasks:
            self._tasks.append(asyncio.ensure_future(self._start_all()))

    async def __aenter__(self) -> Programs:
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        ending = asyncio.ensure_future(self._end())
        self._leaving.add(ending)
        ending.add_done_callback(self._leaving.discard)

    async def _end(self) -> None:
        try:
            for running in self._running:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(asyncio.shield(running.dead), _LEAVE_SECONDS)
        finally:
            for running in self._running:
                await running.end_within(_LEAVE_SECONDS, running.dead)
            shutil.rmtree(self._folder, ignore_errors=True)

    async def _start_all(self) -> None:
        """Start the programs: one that accepts first, and once it has signed in the one that challenges."""
        try:
            for role in sorted(self.agents, key=lambda role: self.roles[role] == "challenge"):
                await self._start(role)
                if self.roles[role] == "accept":
                    await self._wait_for_sign_in(role)
            while "challenge" not in self.roles.values() and not self.battle.room:
                self.battle.challenge()
                await asyncio.sleep(_RETRY_SECONDS)
                if not self.battle.room:
                    self.battle.withdraw()
        except Exception as error:  # a bug of the arena: it is raised where the battle is awaited
            self.battle.break_off(error)

    async def _start(self, role: str) -> None:
        agent, fixture = self.agents[role], self.battle.fixture
        index = SEATS.index(role)
        folder = self._folder / role
        folder.mkdir()
        packed = fixture.teams[index].packed
        address = BattleAddress(
            uri=self.battle.server.uri,
            user=self.battle.user(role),
            opponent=self.battle.user(SEATS[1 - index]),
            role=self.roles[role],
            format=fixture.format,
            team=packed,
            team_file=folder / "team.txt" if packed else None,
            folder=folder,
        )
        try:
            await asyncio.to_thread(_write_team, address)
        except (ArenaError, OSError) as error:  # nothing that the program could do about it
            self.battle.break_off(VenueFailed(f"a team could not be written for a program: {error}"))
            return
        try:
            program = await asyncio.to_thread(agent.program, address)
            running = await RunningProgram.launch(program)
        except (ArenaError, OSError) as error:
            self.battle.lose(role, Fault("error", f"could not be started: {error}"))
            return
        self._running.append(running)
        self._tasks.append(asyncio.ensure_future(self._watch(role, running)))

    async def _watch(self, role: str, running: RunningProgram) -> None:
        """Let a program that ends before its battle lose it."""
        reason = await asyncio.shield(running.dead)
        await asyncio.sleep(_LAST_ERROR_SECONDS)
        self.battle.lose(role, Fault("error", reason))

    async def _wait_for_sign_in(self, role: str) -> None:
        pause = _LOOK_SECONDS
        while pause == _LOOK_SECONDS:
            if await self.battle.server.is_online(self.battle.user(role)):
                pause = _SETTLE_SECONDS
            await asyncio.sleep(pause)


def roles_of(agents: dict[str, ProgramAgent]) -> dict[str, Role]:
    """Return which seat challenges and which accepts; of two programs the first that prefers to challenge does."""
    if len(agents) == 1:
        return {role: agent.role for role, agent in agents.items()}
    first = "p2" if agents["p1"].role == "accept" and agents["p2"].role == "challenge" else "p1"
    return {role: "challenge" if role == first else "accept" for role in agents}


def _write_team(address: BattleAddress) -> None:
    """Write the team to the file that the address names. Runs in a thread: it waits for node."""
    if address.team_file is not None and address.team is not None:
        with TeamValidator() as validator:
            address.team_file.write_text(validator.export(address.team), encoding="utf-8")
