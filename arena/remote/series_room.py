"""The room of a series of battles on an external server: it asks both sides before each further battle."""

from __future__ import annotations

import asyncio

from arena.venues.server.client import Client

#: What the button of a side that has not answered yet sends; the button of one that has is without it.
_READY = "/confirmready"
_CONTROLS = "|c|~|/uhtml controls,"


class SeriesRoom:
    """The listener of a series' room ("game-bestof3-FORMAT-7"). `over` is set when it has ended, or the room is gone.

    The server asks whether a side is ready for the next battle, and begins it when both are, or 40 seconds later.
    """

    def __init__(self, client: Client, room: str) -> None:
        self.client, self.room = client, room
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._settled = asyncio.Event()
        self._asked = False
        self._is_ready = False

    def receive(self, lines: list[str]) -> None:
        """Process the lines of one message of the server for this room."""
        for line in lines:
            if line.startswith(_CONTROLS):
                self._asked = _READY in line
                self._answer()
            elif line.startswith(("|win|", "|noinit|", "|deinit")) or line == "|tie" or line.startswith("|tie|"):
                self.end()
        if self._asked or self.over.done():
            self._settled.set()

    def be_ready(self) -> None:
        """Answer that we are ready for the next battle, now or as soon as the server asks."""
        self._is_ready = True
        self._answer()

    def begin(self) -> None:
        """Note that the next battle has begun."""
        self._is_ready = self._asked = False
        self._settled.clear()

    async def settled(self) -> None:
        """Wait until the server has asked for the next battle or ended the series: what a battle's end has led to."""
        await self._settled.wait()

    def forfeit(self) -> None:
        """Give up the whole series, and the battle in progress with it."""
        self.client.say("/forfeit", self.room)

    def end(self) -> None:
        """The series is over."""
        if not self.over.done():
            self.over.set_result(None)
        self._settled.set()

    def _answer(self) -> None:
        if self._asked and self._is_ready:
            self._asked = False
            self.client.say(_READY, self.room)
