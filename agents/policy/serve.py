"""The inference server: one checkpoint in memory, asked by all workers of a machine. `python -m agents.policy.serve`.

Whatever has arrived while one forward was computed goes into the next, so batches grow with the load and nobody waits for
others that may not come. Each battle's memory stays here, in a slot of its own, until its client says that the battle is
over or hangs up. It ends by itself some seconds after the last connection has closed, so nothing is left of it however its
clients died. Started by client.py, which binds the socket and hands it over.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
from pathlib import Path

import numpy as np
import torch

from agents.policy import wire
from agents.policy.checkpoint import load
from agents.policy.network import Memory, Network, expected_value
from teamsets.errors import ArenaError

#: Slots at the start; they double when they run out.
FIRST_SLOTS = 16
#: Decisions in one forward at most.
LARGEST_BATCH = 256


class Full(ArenaError):
    """No slot is left for another battle."""


class Inference:
    """A network and the memories of the battles that ask it. limit: of battles at once."""

    def __init__(self, network: Network, device: torch.device, limit: int) -> None:
        self.network, self.device, self.limit = network, device, limit
        self.memory = Memory(network.shape, min(FIRST_SLOTS, limit), device)
        self._free = list(range(self.memory.slots))
        self._slots: dict[tuple[int, int], int] = {}

    def slot(self, battle: tuple[int, int]) -> int:
        """The slot of a battle, which is (connection, session). Raises Full."""
        if battle not in self._slots:
            if not self._free:
                if self.memory.slots >= self.limit:
                    raise Full(f"all {self.limit} slots for battles are in use; raise the limit with --slots")
                before = self.memory.slots
                self.memory.grow(min(2 * before, self.limit))
                self._free += range(before, self.memory.slots)
            self._slots[battle] = self._free.pop()
        return self._slots[battle]

    def forget(self, battle: tuple[int, int]) -> None:
        """Frees a battle's slot, if it has one."""
        slot = self._slots.pop(battle, None)
        if slot is not None:
            self._free.append(slot)

    @torch.inference_mode()
    def answer(self, slots: list[int], positions: list[int], bodies: list[bytes]) -> np.ndarray:
        """Bodies of ASK, one for each slot -> float32 [B, 14]: 13 logits and the value."""
        ids, numbers, legal = (torch.from_numpy(part).to(self.device) for part in wire.unpacked(bodies))
        where, when = (torch.tensor(part, device=self.device) for part in (slots, positions))
        logits, value = self.network.step(ids, numbers, legal, self.memory, where, when)
        answers: np.ndarray = torch.cat([logits, expected_value(value)[:, None]], dim=1).cpu().numpy()
        return answers


class _Connection(wire.Framed):
    """One client. number: of its own, so that the sessions of different clients do not meet."""

    def __init__(self, server: Server, number: int) -> None:
        super().__init__()
        self.server, self.number = server, number
        self.sessions: set[int] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.send(wire.frame(wire.READY))

    def send(self, data: bytes) -> None:
        if self.transport is not None and not self.transport.is_closing():
            self.transport.write(data)

    def frame_received(self, kind: int, session: int, position: int, body: bytes) -> None:
        if kind == wire.ASK:
            self.sessions.add(session)
            self.server.asked(self, session, position, body)
        elif kind == wire.FORGET:
            self.sessions.discard(session)
            self.server.over(self, session)

    def connection_lost(self, exc: Exception | None) -> None:
        self.server.hung_up(self)


class Server:
    """Gathers what is asked into forwards. linger: seconds without any connection after which it ends."""

    def __init__(self, inference: Inference, place: Path, linger: float) -> None:
        self.inference, self.place, self.linger = inference, place, linger
        self.loop = asyncio.get_running_loop()
        self.ended = asyncio.Event()
        self._connections: set[_Connection] = set()
        self._count = 0
        self._waiting: dict[tuple[int, int], tuple[_Connection, int, bytes]] = {}
        self._planned = False
        self._end = self.loop.call_later(linger, self._end_if_alone)

    def connect(self) -> _Connection:
        """The protocol of a new connection."""
        self._end.cancel()
        self._count += 1
        connection = _Connection(self, self._count)
        self._connections.add(connection)
        return connection

    def asked(self, connection: _Connection, session: int, position: int, body: bytes) -> None:
        self._waiting[connection.number, session] = connection, position, body
        self._plan()

    def over(self, connection: _Connection, session: int) -> None:
        self._waiting.pop((connection.number, session), None)
        self.inference.forget((connection.number, session))

    def hung_up(self, connection: _Connection) -> None:
        for session in connection.sessions:
            self.over(connection, session)
        self._connections.discard(connection)
        if not self._connections:
            self._end = self.loop.call_later(self.linger, self._end_if_alone)

    def _plan(self) -> None:
        """A forward once the loop has looked at every connection again."""
        if self._waiting and not self._planned:
            self._planned = True
            self.loop.call_soon(self._forward)

    def _forward(self) -> None:
        """Answers what is waiting, a batch of it."""
        self._planned = False
        batch, slots = [], []
        for battle in list(self._waiting)[:LARGEST_BATCH]:
            connection, position, body = self._waiting.pop(battle)
            try:
                slots.append(self.inference.slot(battle))
                batch.append((connection, battle[1], position, body))
            except Full as error:
                connection.send(wire.frame(wire.FAILED, battle[1], position, str(error).encode()))
        if batch:
            self._answer(batch, slots)
        self._plan()

    def _answer(self, batch: list[tuple[_Connection, int, int, bytes]], slots: list[int]) -> None:
        try:
            answers = self.inference.answer(slots, [position for _, _, position, _ in batch], [b for *_, b in batch])
        except (RuntimeError, ValueError) as error:  # the device is out of memory, or what came is no observation
            words = f"{type(error).__name__}: {error}"
            print(words, flush=True)
            for connection, session, position, _ in batch:
                connection.send(wire.frame(wire.FAILED, session, position, words[:500].encode()))
            return
        for (connection, session, position, _), answer in zip(batch, answers, strict=True):
            connection.send(wire.frame(wire.ANSWER, session, position, answer.tobytes()))

    def _end_if_alone(self) -> None:
        """Ends, unless somebody who holds the lock is about to connect: then it looks again later."""
        with wire.locked(wire.lock_of(self.place), wait=False) as ours:
            if ours:
                self.place.unlink(missing_ok=True)
                wire.log_of(self.place).unlink(missing_ok=True)
                self.ended.set()
            else:
                self._end = self.loop.call_later(self.linger, self._end_if_alone)


def device_of(name: str) -> torch.device:
    """The device of an option: `auto` is the first GPU where there is one, else the CPU."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(name)


async def _serve(inference: Inference, asked: argparse.Namespace) -> None:
    listener = socket.socket(fileno=asked.listen)
    listener.setblocking(False)
    server = Server(inference, asked.socket, asked.linger)
    listening = await server.loop.create_unix_server(server.connect, sock=listener)
    await server.ended.wait()
    listening.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path, help="folder of the checkpoint")
    parser.add_argument("--socket", type=Path, required=True, help="path of the socket, removed at exit")
    parser.add_argument("--listen", type=int, required=True, help="the file descriptor of the bound socket")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1 …")
    parser.add_argument("--threads", type=int, default=0, help="CPU threads; 0: one per usable core")
    parser.add_argument("--slots", type=int, default=4096, help="maximum number of battles held in memory")
    parser.add_argument("--linger", type=float, default=3.0, help="exit after so many seconds without a client")
    asked = parser.parse_args()
    if asked.threads:
        torch.set_num_threads(asked.threads)
    device = device_of(asked.device)
    network, _ = load(asked.checkpoint, device)
    asyncio.run(_serve(Inference(network, device, asked.slots), asked))


if __name__ == "__main__":
    main()
