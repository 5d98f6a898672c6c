"""What isolation costs: no message more to the simulator than without it, and quick agents do not wait for each other."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.isolation_playing import fixture, play

from arena.processes.child import Message
from arena.venues.isolation.agent_process import QUICK_ANSWERS, AgentProcess, Turns
from arena.venues.simulator.host import Host


@pytest.mark.slow
def test_both_seats_choices_go_to_the_simulator_in_one_order(monkeypatch: pytest.MonkeyPatch) -> None:
    orders: dict[bool, list[Message]] = {False: [], True: []}
    send = Host.send
    for isolate, sent in orders.items():

        def note(self: Host, order: Message, sent: list[Message] = sent) -> None:
            sent.append(order)
            send(self, order)

        monkeypatch.setattr(Host, "send", note)
        play([fixture("random", "attackers:Honest")], isolate=isolate)
    assert orders[True] == orders[False]


def test_one_has_the_turn_and_the_next_begins_when_it_gives_it_back() -> None:
    turns, begun = Turns(), []
    for name in "abc":
        turns.acquire(lambda name=name: begun.append(name))
    assert begun == ["a"]
    turns.release()
    assert begun == ["a", "b"]
    turns.release()
    turns.release()
    turns.acquire(lambda: begun.append("d"))
    assert begun == ["a", "b", "c", "d"]


class _Sent(asyncio.Transport):
    """Keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[bytes] = []

    def write(self, data: Any) -> None:
        self.lines.append(bytes(data))


def test_a_process_that_has_always_answered_quickly_does_not_wait_for_its_turn() -> None:
    turns, sent, answers = Turns(), _Sent(), []
    process = AgentProcess(("random", "p1"), turns, lambda pid: None)
    process.connection_made(sent)
    for number in range(QUICK_ANSWERS):
        process.ask(lambda: b"question", 10.0, answers.append)
        process.data_received(b'{"choice":"%d"}\n' % number)
    assert len(answers) == len(sent.lines) == QUICK_ANSWERS
    turns.acquire(lambda: None)  # another one computes
    process.ask(lambda: b"question", 10.0, answers.append)
    assert len(sent.lines) == QUICK_ANSWERS + 1
    slow = AgentProcess(("search:mcts", "p2"), turns, lambda pid: None)
    slow.connection_made(sent)
    slow.ask(lambda: b"question", 10.0, answers.append)
    assert len(sent.lines) == QUICK_ANSWERS + 1
    turns.release()
    assert len(sent.lines) == QUICK_ANSWERS + 2
