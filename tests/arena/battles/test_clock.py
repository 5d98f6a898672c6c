"""The clock of a seat: its own time counts, that of others who hold the loop does not, and time up is time up."""

from __future__ import annotations

import asyncio
import gc
import mmap
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from arena.battles.clock import CLOCK_BYTES, RunClock, Witness, shared_clock
from arena.battles.guard import SHARED_BYTES, SeatClock, StepGuard, TimeUp, read_step

FOR_EVER = 1000.0
#: Of sums of times, in seconds.
ROUNDING = 1e-6


@pytest.fixture
def guard() -> StepGuard:
    return StepGuard()


def test_a_step_that_takes_too_long_is_interrupted(guard: StepGuard) -> None:
    with pytest.raises(TimeUp):
        SeatClock(guard, 0, 0.1).call(time.sleep, FOR_EVER)
    with pytest.raises(TimeUp):
        SeatClock(guard, 0, 0.1).call(exec, "while True: pass")


def test_no_alarm_is_left_behind_by_a_step_in_time(guard: StepGuard) -> None:
    assert SeatClock(guard, 0, 0.1).call(lambda: 7) == 7
    time.sleep(0.2)


def test_time_that_another_seat_held_the_loop_does_not_count() -> None:
    """By a clock that only the other seat's step moves. The limit is checked in real time, at least once."""
    moment = [1000.0]
    guard = StepGuard(clock=RunClock(now=lambda: moment[0]))

    async def thinks() -> str:
        await asyncio.sleep(0.05)
        return "thought"

    def holds() -> None:
        moment[0] += 1.5

    async def both() -> tuple[str, float]:
        patient = SeatClock(guard, 0, 0.01)
        answer = asyncio.ensure_future(patient.wait_for(thinks()))
        await asyncio.sleep(0)
        SeatClock(guard, 1, 10.0).call(holds)
        return await answer, patient.elapsed

    assert asyncio.run(both()) == ("thought", 0.0)


def test_a_seats_own_steps_count(guard: StepGuard) -> None:
    async def thinks() -> None:
        await asyncio.sleep(0)
        time.sleep(0.3)  # noqa: ASYNC251

    clock = SeatClock(guard, 0, 10.0)
    asyncio.run(clock.wait_for(thinks()))
    assert clock.elapsed >= 0.3


def _waits(awaitable: Awaitable[Any], guard: StepGuard, limit: float = 0.1) -> Any:
    return asyncio.run(SeatClock(guard, 0, limit).wait_for(awaitable))


def test_a_coroutine_that_waits_too_long_hears_of_it(guard: StepGuard) -> None:
    heard = []

    async def waits() -> None:
        try:
            await asyncio.sleep(FOR_EVER)
        except asyncio.CancelledError:
            heard.append("time is up")
            raise

    with pytest.raises(TimeUp):
        _waits(waits(), guard)
    assert heard == ["time is up"]


def test_a_coroutine_that_will_not_hear_is_not_waited_for(guard: StepGuard) -> None:
    async def deaf() -> None:
        while True:
            try:
                await asyncio.sleep(FOR_EVER)
            except BaseException:
                continue

    with pytest.raises(TimeUp):
        _waits(deaf(), guard)


def test_a_coroutine_that_computes_while_it_ends_is_interrupted_again(guard: StepGuard) -> None:
    async def stubborn() -> None:
        try:
            await asyncio.sleep(FOR_EVER)
        finally:
            time.sleep(FOR_EVER)  # noqa: ASYNC251

    with pytest.raises(TimeUp):
        _waits(stubborn(), guard)


def test_a_timeout_of_the_agents_own_is_its_own_error(guard: StepGuard) -> None:
    async def asks() -> None:
        await asyncio.wait_for(asyncio.sleep(FOR_EVER), 0.01)

    with pytest.raises(TimeoutError):
        _waits(asks(), guard, limit=60.0)


async def _by_timeout() -> str:
    try:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(FOR_EVER)
    except TimeoutError:
        return "fallback"
    return "answered"


async def _by_wait_for() -> str:
    try:
        await asyncio.wait_for(asyncio.sleep(FOR_EVER), 0.01)
    except TimeoutError:
        return "fallback"
    return "answered"


async def _retries() -> str:
    """Like a client of a slow server: each try has its time limit, and there is a pause between tries."""
    for _ in range(3):
        answer = await _by_timeout()
        await asyncio.sleep(0.001)
    return answer


async def _in_nested_limits() -> str:
    async with asyncio.timeout(FOR_EVER):
        return await _by_timeout()


async def _in_a_group() -> str:
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.sleep(FOR_EVER))
            await asyncio.sleep(0)
            raise KeyError
    except* KeyError:
        pass
    return "fallback"


@pytest.mark.parametrize("function", [_by_timeout, _by_wait_for, _retries, _in_nested_limits, _in_a_group])
def test_a_coroutine_may_limit_its_own_time(guard: StepGuard, function: Callable[[], Awaitable[str]]) -> None:
    assert _waits(function(), guard, limit=60.0) == "fallback"


def test_a_coroutine_that_limits_its_own_time_is_still_interrupted(guard: StepGuard) -> None:
    async def tries() -> None:
        while True:
            await _by_timeout()

    with pytest.raises(TimeUp):
        _waits(tries(), guard)


def test_a_coroutine_that_awaits_what_ignores_cancellation_is_not_waited_for(guard: StepGuard) -> None:
    async def deaf() -> None:
        for _ in range(20):
            try:
                await asyncio.sleep(FOR_EVER)
            except asyncio.CancelledError:
                continue

    async def tries() -> None:
        try:
            await asyncio.ensure_future(deaf())
        except asyncio.CancelledError:
            await asyncio.ensure_future(deaf())

    async def both() -> bool:
        before = asyncio.all_tasks()
        with pytest.raises(TimeUp):
            await SeatClock(guard, 0, 0.05).wait_for(tries())
        for _ in range(50):
            for task in asyncio.all_tasks() - before:
                task.cancel()
            await asyncio.sleep(0)
        return asyncio.all_tasks() == before

    assert asyncio.run(both())


def test_a_cancelled_decision_notifies_its_coroutine(guard: StepGuard) -> None:
    heard = []

    async def waits() -> None:
        try:
            async with asyncio.timeout(FOR_EVER):
                await asyncio.sleep(FOR_EVER)
        except asyncio.CancelledError:
            heard.append("cancelled")

    async def battle_over() -> None:
        deciding = asyncio.ensure_future(SeatClock(guard, 0, 60.0).wait_for(waits()))
        await asyncio.sleep(0.01)
        deciding.cancel()
        with pytest.raises(asyncio.CancelledError):
            await deciding
        await asyncio.sleep(0.01)

    asyncio.run(battle_over())
    assert heard == ["cancelled"]


def test_a_coroutine_may_recover_from_what_it_waited_for(guard: StepGuard) -> None:
    async def recovers() -> str:
        inner = asyncio.ensure_future(asyncio.sleep(FOR_EVER))
        inner.cancel()
        try:
            await inner
        except asyncio.CancelledError:
            await asyncio.sleep(0)
        return "recovered"

    assert _waits(recovers(), guard, limit=60.0) == "recovered"


class Blocks:
    """Garbage in a cycle, whose finalizer does not return by itself."""

    def __init__(self, ran: list[str]) -> None:
        self.cycle, self.ran = self, ran

    def __del__(self) -> None:
        self.ran.append("finalizer")
        time.sleep(FOR_EVER)


@pytest.fixture
def quick_collections(guard: StepGuard) -> None:
    guard.untimed_limit = 0.04
    gc.collect()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.usefixtures("quick_collections")
def test_a_finalizer_that_blocks_is_interrupted_and_is_not_the_time_of_whose_step_it_was(
    guard: StepGuard,
) -> None:
    ran: list[str] = []
    began, collected = time.monotonic(), guard.collected
    mine, waiting = SeatClock(guard, 0, 60.0), SeatClock(guard, 1, 60.0)

    def step() -> str:
        time.sleep(0.03)
        gc.collect()
        return "decided"

    for _ in range(2):
        Blocks(ran)
    assert mine.call(step) == "decided"
    assert ran == ["finalizer"] * 2
    collected = guard.collected - collected
    assert collected >= 0.05
    elapsed, others = mine.elapsed, waiting.elapsed
    outside = time.monotonic() - began - collected
    assert guard.spent <= elapsed <= outside + ROUNDING
    assert others <= outside - guard.spent + ROUNDING, "nor that of others"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.usefixtures("quick_collections")
def test_a_step_has_its_time_also_if_garbage_is_collected_in_it_for_longer(guard: StepGuard) -> None:
    ran: list[str] = []
    before = guard.collected

    def step() -> str:
        for _ in range(24):
            Blocks(ran)
            gc.collect()
        time.sleep(0.05)  # for an alarm: until here all came in a collection
        return "decided"

    assert SeatClock(guard, 0, 1.0).call(step) == "decided"
    assert guard.collected - before > 1.0
    with pytest.raises(TimeUp):
        SeatClock(guard, 0, 0.1).call(lambda: (gc.collect(), time.sleep(FOR_EVER)))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.usefixtures("quick_collections")
def test_a_finalizer_that_blocks_outside_of_all_steps_is_interrupted(guard: StepGuard) -> None:
    ran: list[str] = []
    Blocks(ran)
    gc.collect()
    assert ran == ["finalizer"]
    time.sleep(0.1)  # no alarm is left behind


_SLOW_END = """
import time
from arena.battles.guard import StepGuard
guard = StepGuard(untimed_limit=0.05)
class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(0.5)
slow = Slow()
slow.itself = slow
"""


def test_a_last_collection_that_takes_long_does_not_kill_the_process() -> None:
    assert subprocess.run([sys.executable, "-c", _SLOW_END], check=False).returncode == 0


def test_a_running_step_is_not_the_one_to_blame_while_garbage_is_collected() -> None:
    shared = mmap.mmap(-1, SHARED_BYTES)
    clock = SeatClock(StepGuard(shared), 7, 60.0)
    seen: list[Any] = []

    class Looks:
        def __init__(self) -> None:
            self.cycle = self

        def __del__(self) -> None:
            seen.append(read_step(shared))

    def step() -> Any:
        Looks()
        gc.collect()
        return read_step(shared)

    assert clock.call(step)[0] == 7
    assert seen == [None]


def test_time_for_which_the_run_stood_still_does_not_count() -> None:
    shared = mmap.mmap(-1, SHARED_BYTES)
    moment = [1000.0]
    witness = Witness(now=lambda: moment[0])
    witness.tick([shared])
    clock = SeatClock(StepGuard(shared, RunClock(shared, now=lambda: moment[0])), 7, 3.0)
    moment[0] += 0.5
    witness.tick([shared])
    moment[0] += 14.0  # all are stopped, and the worker continues first
    assert not clock.is_over
    witness.tick([shared])
    assert (clock.elapsed, clock.is_over) == (0.5, False)
    for _ in range(6):
        moment[0] += 0.5
        witness.tick([shared])
    assert (clock.elapsed, clock.is_over) == (3.5, True)


def test_a_step_during_which_the_run_stood_still_is_interrupted_when_its_own_time_is_up() -> None:
    shared = mmap.mmap(-1, SHARED_BYTES)
    witness = Witness(still_seconds=0.05)
    witness.tick([shared])
    clock = SeatClock(StepGuard(shared, RunClock(shared, still_seconds=0.05)), 7, 0.2)
    done: list[str] = []

    def step() -> None:
        time.sleep(0.4)  # as if stopped: the witness does not tick
        done.append("through")
        ticking.start()
        time.sleep(FOR_EVER)

    over = threading.Event()

    def ticks() -> None:
        while not over.wait(0.01):
            witness.tick([shared])

    ticking = threading.Thread(target=ticks)
    with pytest.raises(TimeUp):
        clock.call(step)
    over.set()
    ticking.join()
    assert done == ["through"]


def test_a_reader_of_a_clock_cannot_write_it() -> None:
    written, read = shared_clock()
    witness = Witness()
    witness.tick([written])
    assert RunClock(read).certain
    assert bytes(read) == bytes(written) != bytes(CLOCK_BYTES)
    with pytest.raises(TypeError):
        read[0] = 1


def test_another_process_can_read_whose_step_is_overdue() -> None:
    shared = mmap.mmap(-1, SHARED_BYTES)
    clock = SeatClock(StepGuard(shared), 7, 60.0)
    assert read_step(shared) is None
    seat_id, overdue = clock.call(read_step, shared)
    assert seat_id == 7
    assert -60.0 <= overdue < 0
    assert read_step(shared) is None


_QUICK_STEPS = """
import mmap, sys
from arena.battles.guard import SHARED_BYTES, StepGuard
with open(sys.argv[1], "r+b") as file:
    guard = StepGuard(mmap.mmap(file.fileno(), SHARED_BYTES))
while True:
    guard.call(7, 1000.0, int)
    guard.call(8, 2000.0, int)
"""


def test_another_process_never_reads_half_a_step(tmp_path: Path) -> None:
    """It would see an innocent agent's step as overdue since the machine was started, and end its worker."""
    path = tmp_path / "shared"
    path.write_bytes(bytes(SHARED_BYTES))
    with open(path, "r+b") as file, subprocess.Popen([sys.executable, "-c", _QUICK_STEPS, path]) as process:
        shared = mmap.mmap(file.fileno(), SHARED_BYTES)
        seen: list[tuple[int, float]] = []
        try:
            enough = time.monotonic() + 4.0
            while len(seen) < 100 or (len(seen) < 3000 and time.monotonic() < enough):
                assert process.poll() is None
                step = read_step(shared)
                if step is not None and (not seen or step[0] != seen[-1][0]):  # the two may share a core
                    seen.append(step)
        finally:
            process.kill()
    assert {seat_id for seat_id, _ in seen} == {7, 8}
    wrong = [(seat_id, overdue) for seat_id, overdue in seen if not 0 < {7: 1000.0, 8: 2000.0}[seat_id] + overdue < 500]
    assert wrong == []
