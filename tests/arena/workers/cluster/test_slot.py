"""Between the coordinator and an actor: battles that wait at the machine, reports that wait for others, calls given up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from support.workers import BATTLE, HEADER, Heard, Still

from arena.venue import Rules
from arena.workers.cluster import actor as actor_module
from arena.workers.cluster.actor import WorkerActor
from arena.workers.cluster.slot import WorkerSlot, await_call
from arena.workers.coordinator import BATTLES_PER_WORKER, Coordinator
from arena.workers.local_pool import LocalPool
from arena.workers.progress import RunProgress
from arena.workers.worker_settings import WorkerSettings


class Held(Still):
    """A worker of an actor: it keeps what it is given."""

    def end_battle(self, actor: WorkerActor, serial: int) -> None:
        actor._on_line(self, {**HEADER, "serial": serial}, b"{}")  # type: ignore[arg-type]


def with_actor(test: Callable[[WorkerActor, Held], Coroutine[Any, Any, None]], *, solo: bool = False) -> None:
    """Runs a test on an actor that has a worker, number 1."""

    async def run() -> None:
        actor, worker = WorkerActor({}), Held(solo=solo)

        async def launch(*, solo: bool) -> Held:
            return worker

        actor.pool = SimpleNamespace(launch=launch)  # type: ignore[assignment]
        await actor.carry_out([("launch", 1, solo)])
        await test(actor, worker)

    asyncio.run(run())


def give(serials: range) -> list[tuple[Any, ...]]:
    return [("give", 1, serial, BATTLE.to_json()) for serial in serials]


def test_a_worker_plays_as_many_battles_at_once_as_on_one_machine_and_the_next_begins_without_a_call() -> None:
    async def test(actor: WorkerActor, worker: Held) -> None:
        await actor.carry_out(give(range(BATTLES_PER_WORKER + 3)))
        assert list(worker.fixtures) == list(range(BATTLES_PER_WORKER))
        worker.end_battle(actor, 5)
        assert list(worker.fixtures) == [*range(5), *range(6, BATTLES_PER_WORKER), BATTLES_PER_WORKER]
        assert worker.fixtures[BATTLES_PER_WORKER] == BATTLE

    with_actor(test)


def test_reports_wait_for_others_while_battles_wait_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actor_module, "PREFETCH_SECONDS", 3600.0)

    async def test(actor: WorkerActor, worker: Held) -> None:
        asking = asyncio.ensure_future(actor.exchange(give(range(BATTLES_PER_WORKER + 2))))
        await asyncio.sleep(0)
        worker.end_battle(actor, 0)
        await asyncio.sleep(2 * actor_module.GATHER_SECONDS)
        assert not asking.done(), "a battle still waits"
        worker.end_battle(actor, 1)
        events = await asyncio.wait_for(asking, 60)
        assert [(kind, number, header["serial"]) for kind, number, header, _ in events] == [
            ("line", 1, 0),
            ("line", 1, 1),
        ]

    with_actor(test)


def test_a_death_names_the_battles_that_had_not_begun() -> None:
    async def test(actor: WorkerActor, worker: Held) -> None:
        await actor.carry_out(give(range(BATTLES_PER_WORKER + 2)))
        actor._on_death(worker)  # type: ignore[arg-type]
        (event,) = await asyncio.wait_for(actor.exchange([]), 60)
        assert event == ("died", 1, (False, None, None), "", frozenset({BATTLES_PER_WORKER, BATTLES_PER_WORKER + 1}))

    with_actor(test)


def test_a_lone_worker_keeps_its_battle_until_it_ends() -> None:
    async def test(actor: WorkerActor, worker: Held) -> None:
        await actor.carry_out(give(range(1)))
        worker.end_battle(actor, 0)
        assert list(worker.fixtures) == [0]

    with_actor(test, solo=True)


def test_what_had_not_begun_is_played_again_and_charged_to_nobody() -> None:
    made: Any = Coordinator(LocalPool(WorkerSettings("run", Rules()), 1), [].append, RunProgress(None))
    made.schedule = Heard()
    slot = WorkerSlot("id", "machine", None, made.on_line, made.on_death)
    worker = slot.launch(solo=False)
    made.workers.append(worker)
    for serial in (1, 2, 3):
        worker.give(serial, BATTLE)
    slot.receive([("died", worker.number, (True, None, None), "words", frozenset({2, 3, 9}))])
    assert dict(made.retry_queue) == {1: BATTLE, 2: BATTLE, 3: BATTLE} and made.deaths == {1: 1}


@pytest.mark.parametrize("per_second, ahead", [(0.2, 0), (1.0, 0), (50.0, 25), (1000.0, 48)])
def test_as_many_wait_as_end_between_two_calls(per_second: float, ahead: int) -> None:
    clock = [0.0]
    slot = WorkerSlot("id", "machine", None, lambda *_: None, lambda *_: None, now=lambda: clock[0])
    worker = slot.launch(solo=False)
    assert worker.prefetch == 0
    for number in range(max(2, int(20 * per_second))):
        clock[0] = number / per_second
        worker.note_ended(1.0)
    assert worker.prefetch == ahead
    clock[0] += 60.0
    assert worker.prefetch == 0, "nothing has ended for a minute"


def test_a_call_gives_its_result_or_its_error() -> None:
    async def run() -> None:
        good: Future[int] = Future()
        bad: Future[int] = Future()
        good.set_result(3)
        bad.set_exception(ValueError("its own"))
        assert await await_call(SimpleNamespace(future=lambda: good)) == 3
        with pytest.raises(ValueError, match="its own"):
            await await_call(SimpleNamespace(future=lambda: bad))

    asyncio.run(run())


def test_a_call_that_nobody_waits_for_any_more_may_still_be_answered(caplog: pytest.LogCaptureFixture) -> None:
    answer: Future[int] = Future()

    async def given_up() -> None:
        waiting = asyncio.ensure_future(await_call(SimpleNamespace(future=lambda: answer)))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(given_up())
    assert not answer.cancelled()
    answer.set_result(3)  # Ray's thread, after the run's loop has closed
    assert not caplog.records
