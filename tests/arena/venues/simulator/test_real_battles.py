"""Real battles of every generation: the quick simulator against the stock one, and every legal choice against Showdown."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from support.real_battles import FORMATS, fixtures, play_all

from agents import legal_choices
from arena.fixture import SEATS
from arena.record import BattleRecord
from arena.venues.simulator.host import Host


@pytest.fixture(scope="module")
def stock() -> dict[str, list[BattleRecord]]:
    """The same battles on Showdown's code untouched."""
    return asyncio.run(play_all(stock=True))


@pytest.mark.slow
@pytest.mark.parametrize("format_id", FORMATS)
def test_the_quick_simulator_gives_the_same_logs_as_the_stock_one(
    real_battles: dict[str, list[BattleRecord]], stock: dict[str, list[BattleRecord]], format_id: str
) -> None:
    for ours, theirs in zip(real_battles[format_id], stock[format_id], strict=True):
        assert ours.input_log == theirs.input_log
        assert ours.logs == theirs.logs
        assert (ours.winner, ours.reason, ours.turns) == (theirs.winner, theirs.reason, theirs.turns)
        assert ours.turns > 5


@pytest.mark.slow
@pytest.mark.parametrize("format_id", FORMATS)
def test_random_battles_end_by_the_games_own_rules_with_nothing_left_untold(
    real_battles: dict[str, list[BattleRecord]], format_id: str
) -> None:
    for record in real_battles[format_id]:
        assert (record.reason, record.fault, record.detail) in {("win", None, None), ("tie", None, None)}
        for seat, log in zip(SEATS, record.logs, strict=True):
            assert log[-1].startswith("|win|") or log[-1] == "|tie"
            asked = sum(line.startswith("|request|") for line in log)
            assert asked >= len([d for d in record.decisions if SEATS[d[0]] == seat]) > 5
        assert record.parse_warnings == 0, f"{record.parse_warnings} lines that poke-env could not take in"


class _Caller:
    """Plays one battle at a host by itself: at each request a legal choice at random, every refusal noted."""

    def __init__(self, host: Host, format_id: str, seed: int) -> None:
        self.host, self.rng = host, random.Random(f"{format_id}{seed}")
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.request: dict[str, dict[str, Any]] = {}
        self.entries: dict[str, dict[str, Any]] = {}
        self.chosen: dict[str, str] = {}
        self.refusals: list[tuple[str, str, dict[str, Any]]] = []
        self.choices = 0
        self.id = host.open(self.receive)
        [fixture, *_] = fixtures(format_id, 1)
        players = {
            seat: {"name": seat, "team": team.packed} if team.packed else {"name": seat, "seed": f"gen5,{seed:016x}"}
            for seat, team in zip(SEATS, fixture.teams, strict=True)
        }
        host.send(
            {"op": "start", "id": self.id, "format": format_id, "seed": f"gen5,{seed + 77:016x}", "maxTurns": 300}
            | players
        )

    def receive(self, message: dict[str, Any]) -> None:
        try:
            if not self.over.done():
                self.answer(message)
        except Exception as error:
            self.over.set_exception(error)

    def whole(self, request: dict[str, Any]) -> dict[str, Any]:
        """The request with the entries that the host has left out, since they are as they were last time."""
        team = [self.entries[entry] if isinstance(entry, str) else entry for entry in request["side"]["pokemon"]]
        self.entries |= {entry["ident"]: entry for entry in team}
        return {**request, "side": {**request["side"], "pokemon": team}}

    def answer(self, message: dict[str, Any]) -> None:
        assert "p1" in message, message
        order: dict[str, Any] = {"op": "choose", "id": self.id}
        for seat in SEATS:
            view = message[seat]
            if "error" in view:
                self.refusals.append((view["error"], self.chosen[seat], self.request[seat]))
            if "ask" in view and "end" not in message:
                self.request[seat] = self.whole(view["ask"])
                legal = legal_choices(self.request[seat])
                assert legal, self.request[seat]
                assert len({choice.label for choice in legal}) == len({choice.wire for choice in legal}) == len(legal)
                choice = self.rng.choice(legal)
                order[seat] = self.chosen[seat] = choice.wire
                self.choices += 1
        if "end" in message:
            self.host.forget(self.id)
            self.over.set_result(None)
        elif len(order) > 2:
            self.host.send(order)


async def _call_all(battles: int) -> dict[str, list[_Caller]]:
    async with await Host.launch() as host:
        called = {}
        for format_id in FORMATS:
            called[format_id] = [_Caller(host, format_id, seed) for seed in range(battles)]
            await asyncio.wait_for(asyncio.gather(*(caller.over for caller in called[format_id])), 200)
        return called


@pytest.fixture(scope="module")
def called() -> dict[str, list[_Caller]]:
    return asyncio.run(_call_all(8))


@pytest.mark.slow
@pytest.mark.parametrize("format_id", FORMATS)
def test_every_choice_called_legal_is_accepted_by_showdown(called: dict[str, list[_Caller]], format_id: str) -> None:
    callers = called[format_id]
    assert sum(caller.choices for caller in callers) > 200
    for words, chosen, request in (refusal for caller in callers for refusal in caller.refusals):
        active = request.get("active", [{}])[0]
        hidden = any(active.get(flag) for flag in ("maybeTrapped", "maybeDisabled", "maybeLocked"))
        assert words.startswith("[Unavailable choice]") and hidden, f"{words}: {chosen} at {request}"
