"""A seat at a battle room of a server: hears the room as the simulator would have spoken, and answers its requests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from agents import Choice
from arena.protocol.translate import Translator
from arena.simulator.seat import Fault, Seat

# Refusals of a choice that came twice, or after the turn had gone on: nothing is to be chosen again.
_TOO_LATE = ("[Invalid choice] Sorry, too late", "[Invalid choice] There's nothing to choose")


@dataclass(frozen=True)
class Hooks:
    """Whom a seat's room tells: of an answer (text for the room), of the agent's fault, of the end, of our own failures."""

    say: Callable[[str], None]
    failed: Callable[[Fault], None]
    ended: Callable[[], None]
    broke: Callable[[Exception], None]


class BattleRoom:
    """One seat's end of a battle room. A connection that was broken goes on where it was.

    max_turns: no choice is asked for after that turn. winner: "p1", "p2" or "" once `over`.
    """

    def __init__(self, seat: Seat, max_turns: int, hooks: Hooks) -> None:
        self.seat, self.max_turns, self.hooks = seat, max_turns, hooks
        self.over = False
        self.winner = ""
        self.silenced = False
        self._translator = Translator()
        self._known = 0  # lines of the battle that the seat has
        self._heard = 0  # those that this connection has brought
        self._error = ""
        self._number = 0  # the server's number of the request under way
        self._sent = ""
        self._task: asyncio.Task[None] | None = None

    def receive(self, lines: list[str]) -> None:
        """The lines of one message of the server."""
        try:
            self._receive(lines)
        except Exception as error:  # a fault of ours: it belongs to whoever awaits the battle, not to the loop
            self.hooks.broke(error)

    def silence(self) -> None:
        """The seat is asked no more: somebody has lost already, or the battle is given up."""
        self.silenced = True
        if self._task is not None:
            self._task.cancel()

    def _receive(self, lines: list[str]) -> None:
        if lines[0] == "|init|battle":  # the whole room, from its beginning; mostly known after a reconnection
            self._translator = Translator()
            self._heard = 0
        new: list[str] = []
        request, standing = None, ""
        for line in lines:
            if line.startswith("|request|"):
                request = orjson.loads(line[9:] or "null")
            elif line.startswith("|error|"):
                self._refuse(line[7:])
            elif line.startswith("|sentchoice|"):
                standing = line[12:]
            else:
                told = self._translator.line(line)
                if told is not None:
                    self._heard += 1
                    if self._heard > self._known:
                        new.append(told)
        if new:
            self._known = self._heard
            self.seat.see({"log": "\n".join(new)})
            self._look_for_end(new)
        if request is not None and not self.over:
            self._request(request, standing)

    def _look_for_end(self, lines: list[str]) -> None:
        for line in lines:
            if line.startswith("|win|") or line == "|tie" or line.startswith("|tie|"):
                self.over = True
                self.winner = line[5:] if line.startswith("|win|") else ""
                self.silence()
                self.hooks.ended()
                return

    def _request(self, request: dict[str, Any], standing: str) -> None:
        number = self._translator.request(request)
        if number == self._number:  # again, after a reconnection
            if self._sent and not standing:
                self.hooks.say(self._sent)
            return
        self._number, self._sent = number, ""
        if not request.get("wait") and self.seat.battle.turn <= self.max_turns:
            self._ask(request)

    def _ask(self, request: dict[str, Any]) -> None:
        view: dict[str, Any] = {"log": "", "ask": request}
        if self._error:
            view["error"] = self._error
            self._error = ""
        if not self.seat.see(view) or self.silenced:
            return
        try:
            choice = self.seat.decide()
        except Fault as fault:
            self.hooks.failed(fault)
            return
        if isinstance(choice, Choice):
            self._choose(choice)
        else:
            self._task = asyncio.ensure_future(self._choose_later(choice))

    async def _choose_later(self, awaitable: Any) -> None:
        try:
            choice = await awaitable
        except Fault as fault:
            self.hooks.failed(fault)
        except Exception as error:
            self.hooks.broke(error)
        else:
            if not self.silenced:
                self._choose(choice)

    def _choose(self, choice: Choice) -> None:
        self._sent = f"/choose {choice.wire}|{self._number}"
        self.hooks.say(self._sent)

    def _refuse(self, words: str) -> None:
        """The server has refused a choice: a new request follows ("unavailable"), or the last one stands."""
        if words.startswith(_TOO_LATE) or self.silenced:
            return
        self._error = words
        if words.startswith("[Invalid choice]") and self.seat.request is not None:
            self._sent = ""
            self._ask(self.seat.request)
