"""Asks all agents of a class that wait for a decision, in one call."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import numpy as np

from agents import Choice
from agents.batched import actions_of
from agents.engine.gen1.engine import Engine
from agents.observation.engine_observation import observe_rows
from agents.observation.observation import Observations
from arena.battles.guard import SeatClock, StepGuard, TimeUp
from arena.battles.seat import Fault
from arena.fixture import SEATS
from arena.venues.engine.battle import EngineBattle
from arena.venues.engine.seat import EngineSeat

WaitingSeat = tuple[EngineBattle, EngineSeat]
DecidedSeat = tuple[EngineBattle, EngineSeat, "Choice | Fault | AskSeparately | None"]
#: The longest that one call may take, in seconds, unless one decision may take longer.
_CALL_SECONDS = 60.0


class AskSeparately(Exception):
    """A call for several agents failed. Some of them may have decided in it, so their battles begin anew."""


async def ask_batch(engine: Engine, guard: StepGuard, waiting: list[WaitingSeat]) -> list[DecidedSeat]:
    """Return each seat with its choice, a failure beside its answer, AskSeparately, or None for an illegal answer.

    If the call failed or took too long, all its battles are to be played again with their agents asked separately: only the
    agent that fails then loses. The time of a call is divided among its decisions.
    """
    decided: list[DecidedSeat] = []
    begun: list[WaitingSeat] = []
    for battle, seat in waiting:
        try:
            seat.begin()
            begun.append((battle, seat))
        except Fault as fault:
            decided.append((battle, seat, fault))
    if not begun:
        return decided
    rows = np.array([battle.row for battle, _ in begun], np.int64)
    seats = np.array([SEATS.index(seat.role) for _, seat in begun], np.int64)
    observations = observe_rows(engine, rows, seats)
    first = begun[0][1].clock
    clock = SeatClock(guard, first.seat_id, min(first.limit * len(begun), max(first.limit, _CALL_SECONDS)))
    actions = await _actions(clock, begun, observations)
    seconds = clock.elapsed / len(begun)
    for k, (battle, seat) in enumerate(begun):
        if actions is None:
            decided.append((battle, seat, AskSeparately()))
            continue
        try:
            choice = seat.accept_action(actions[k], seconds)
        except Fault as fault:  # in its diagnostics
            decided.append((battle, seat, fault))
            continue
        if choice is None:
            token_ids, features, legal = observations
            seat.observation = Observations(token_ids[k : k + 1], features[k : k + 1], legal[k : k + 1])
        decided.append((battle, seat, choice))
    return decided


async def _actions(clock: SeatClock, waiting: list[WaitingSeat], observations: Observations) -> list[int] | None:
    """Return the actions of all; None if the call failed."""
    agents: list[Any] = [seat.agent for _, seat in waiting]
    try:
        answer = clock.call(type(agents[0]).act_many, agents, observations)
        if inspect.isawaitable(answer):
            answer = await clock.wait_for(answer)
        actions: list[int] = clock.call(actions_of, answer, len(agents))
    except TimeUp:
        return None
    except BaseException as error:  # whatever the agents' code raises
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise
        return None
    return actions
