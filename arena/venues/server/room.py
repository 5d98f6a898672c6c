"""A seat in a battle room of a server: translates the room's messages to the simulator's, and answers its requests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agents import Choice
from arena.battles.seat import Fault, Seat
from arena.fixture import SEATS
from arena.venues.server.messages import parsing, request_of
from arena.venues.server.translate import Translator

# Rejections of a duplicate or late choice: no new choice is needed.
_TOO_LATE = ("[Invalid choice] Sorry, too late", "[Invalid choice] There's nothing to choose")


@dataclass(frozen=True)
class Hooks:
    """Callbacks of a seat's room: for a choice (text for the room), the agent's fault, the end, and internal errors."""

    say: Callable[[str], None]
    on_fault: Callable[[Fault], None]
    on_end: Callable[[], None]
    on_error: Callable[[Exception], None]


class BattleRoom:
    """One seat's side of a battle room. It continues after a reconnection.

    max_turns: the last turn for which a choice is requested. open_sheets: both sides will be shown the team sheets, for
    which the seat waits at team preview: a server sends them after its request. winner: "p1", "p2" or "" once `over`.
    """

    def __init__(self, seat: Seat, max_turns: int, hooks: Hooks, *, open_sheets: bool = False) -> None:
        self.seat, self.max_turns, self.hooks = seat, max_turns, hooks
        self._sheets_to_come = len(SEATS) if open_sheets else 0
        self._waiting_request: dict[str, Any] | None = None
        self.over = False
        self.winner = ""
        self.silenced = False
        self._translator = Translator()
        self._known_lines = 0  # number of battle lines that the seat has
        self._received_lines = 0  # of them, received on this connection
        self._error = ""
        self._number = 0  # the server's number of the open request
        self._sent = ""
        self._task: asyncio.Task[None] | None = None

    def receive(self, lines: list[str]) -> None:
        """Process the lines of one message of the server. Raises BadMessage if one cannot be read."""
        rejections, new_lines, request, sent_choice = self._read(lines)
        try:
            for message in rejections:
                self._on_rejection(message)
            if new_lines:
                self._known_lines = self._received_lines
                self.seat.receive({"log": "\n".join(new_lines)})
                self._look_for_end(new_lines)
                self._look_for_sheets(new_lines)
            if request is not None and not self.over:
                self._request(request, sent_choice)
        except Exception as error:  # a bug of the arena: it is raised where the battle is awaited
            self.hooks.on_error(error)

    def silence(self) -> None:
        """Stop asking the seat: a side has lost, or the battle was aborted."""
        self.silenced = True
        if self._task is not None:
            self._task.cancel()

    def _read(self, lines: list[str]) -> tuple[list[str], list[str], dict[str, Any] | None, str]:
        """Return rejections, new battle lines, the request, and the choice that the server has. Raises BadMessage."""
        if lines[0] == "|init|battle":  # the whole room from its start; mostly known after a reconnection
            self._translator = Translator()
            self._received_lines = 0
        rejections: list[str] = []
        new_lines: list[str] = []
        request, sent_choice = None, ""
        for line in lines:
            if line.startswith("|request|"):
                request = request_of(line[9:])
            elif line.startswith("|error|"):
                rejections.append(line[7:])
            elif line.startswith("|sentchoice|"):
                sent_choice = line[12:]
            else:
                with parsing(f"|{line.split('|')[1][:20]}|" if line.startswith("|") else "battle"):
                    translated = self._translator.line(line)
                if translated is not None:
                    self._received_lines += 1
                    if self._received_lines > self._known_lines:
                        new_lines.append(translated)
        return rejections, new_lines, request, sent_choice

    def _look_for_end(self, lines: list[str]) -> None:
        for line in lines:
            if line.startswith("|win|") or line == "|tie" or line.startswith("|tie|"):
                self.over = True
                self.winner = line[5:] if line.startswith("|win|") else ""
                self.silence()
                self.hooks.on_end()
                return

    def _look_for_sheets(self, lines: list[str]) -> None:
        """Put the request that has waited for both team sheets once they are there."""
        if not self._sheets_to_come:
            return
        self._sheets_to_come -= sum(line.startswith("|showteam|") for line in lines)
        request = self._waiting_request
        if request is not None and self._sheets_to_come <= 0 and not self.over:
            self._waiting_request = None
            self._request_choice(request)

    def _request(self, request: dict[str, Any], sent_choice: str) -> None:
        number = self._translator.request(request)
        if number == self._number:  # again, after a reconnection
            if self._sent and not sent_choice:
                self.hooks.say(self._sent)
            return
        self._number, self._sent = number, ""
        if self._sheets_to_come:
            self._waiting_request = request
        elif not request.get("wait") and self.seat.battle.turn <= self.max_turns:
            self._request_choice(request)

    def _request_choice(self, request: dict[str, Any]) -> None:
        view: dict[str, Any] = {"log": "", "ask": request}
        if self._error:
            view["error"] = self._error
            self._error = ""
        if not self.seat.receive(view) or self.silenced:
            return
        try:
            choice = self.seat.decide()
        except Fault as fault:
            self.hooks.on_fault(fault)
            return
        if isinstance(choice, Choice):
            self._choose(choice)
        else:
            self._task = asyncio.ensure_future(self._choose_later(choice))

    async def _choose_later(self, awaitable: Any) -> None:
        try:
            choice = await awaitable
        except Fault as fault:
            self.hooks.on_fault(fault)
        except Exception as error:
            self.hooks.on_error(error)
        else:
            if not self.silenced:
                self._choose(choice)

    def _choose(self, choice: Choice) -> None:
        self._sent = f"/choose {choice.wire}|{self._number}"
        self.hooks.say(self._sent)

    def _on_rejection(self, message: str) -> None:
        """Handle a rejected choice: a new request follows ("unavailable"), or the last one is still open."""
        if message.startswith(_TOO_LATE) or self.silenced:
            return
        self._error = message
        if message.startswith("[Invalid choice]") and self.seat.request is not None:
            self._sent = ""
            self._request_choice(self.seat.request)
