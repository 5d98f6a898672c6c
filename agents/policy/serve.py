"""The inference server: holds one checkpoint and serves all workers of a machine. `python -m agents.policy.serve`.

Requests that arrive during a forward pass are batched into the next one, so batch sizes grow with the load and no request
waits for others. A message with many requests (ASK_MANY) is a forward pass of its own. Each battle's key-value cache is kept
in a slot until its client sends FORGET or disconnects. The server exits some seconds after the last connection has closed,
also if its clients were killed. It is started by client.py, which passes the bound socket.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
from collections import deque
from pathlib import Path

import numpy as np
import torch

from agents.policy import wire
from agents.policy.checkpoint import load
from agents.policy.network import Memory, Network, expected_value
from agents.policy.observation import Observations
from teamsets.errors import ArenaError
from teamsets.locking import file_lock

#: Initial number of slots; doubled when all are in use.
INITIAL_SLOTS = 16


class SlotsFull(ArenaError):
    """All slots are in use."""


class Inference:
    """A network with the memory of its current battles. limit: maximum number of concurrent battles."""

    def __init__(self, network: Network, device: torch.device, limit: int) -> None:
        self.network, self.device, self.limit = network, device, limit
        self.memory = Memory(network.shape, min(INITIAL_SLOTS, limit), device)
        self._free = list(range(self.memory.slots))
        self._slots: dict[tuple[int, int], int] = {}

    def slot(self, battle: tuple[int, int]) -> int:
        """Return the slot of a battle, (connection, session), allocating one if necessary. Raises SlotsFull."""
        if battle not in self._slots:
            if not self._free:
                if self.memory.slots >= self.limit:
                    raise SlotsFull(f"all {self.limit} slots for battles are in use; raise the limit with --slots")
                before = self.memory.slots
                self.memory.grow(min(2 * before, self.limit))
                self._free += range(before, self.memory.slots)
            self._slots[battle] = self._free.pop()
        return self._slots[battle]

    def forget(self, battle: tuple[int, int]) -> None:
        """Free a battle's slot, if it has one."""
        slot = self._slots.pop(battle, None)
        if slot is not None:
            self._free.append(slot)

    @torch.inference_mode()
    def answer(self, slots: list[int], positions: list[int], observations: Observations) -> np.ndarray:
        """Run a forward pass. Returns float32 [B, 14]: 13 logits and the value."""
        token_ids, features, legal = (torch.from_numpy(part).to(self.device) for part in observations)
        slot_tensor, position_tensor = (torch.tensor(part, device=self.device) for part in (slots, positions))  # [B]
        logits, value = self.network.step(token_ids, features, legal, self.memory, slot_tensor, position_tensor)
        answers: np.ndarray = torch.cat([logits, expected_value(value)[:, None]], dim=1).cpu().numpy()
        return answers


class _Connection(wire.Framed):
    """A client's connection. number: unique, so that sessions of different clients have different keys."""

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
            self.server.request(self, session, position, body)
        elif kind == wire.ASK_MANY:
            self.server.request_many(self, session, position, body)
        elif kind == wire.FORGET:
            self.sessions.discard(session)
            self.server.forget(self, session)

    def connection_lost(self, exc: Exception | None) -> None:
        self.server.disconnected(self)


class Server:
    """Batches requests into forward passes. path: of the socket. linger: seconds without a connection until it ends."""

    def __init__(self, inference: Inference, path: Path, linger: float) -> None:
        self.inference, self.path, self.linger = inference, path, linger
        self.loop = asyncio.get_running_loop()
        self.ended = asyncio.Event()
        self._connections: set[_Connection] = set()
        self._count = 0
        self._waiting: dict[tuple[int, int], tuple[_Connection, int, bytes]] = {}
        self._frames: deque[tuple[_Connection, int, list[int], list[int], Observations]] = deque()  # of ASK_MANY
        self._planned = False
        self._end = self.loop.call_later(linger, self._end_if_alone)

    def connect(self) -> _Connection:
        """Create the protocol of a new connection."""
        self._end.cancel()
        self._count += 1
        connection = _Connection(self, self._count)
        self._connections.add(connection)
        return connection

    def request(self, connection: _Connection, session: int, position: int, body: bytes) -> None:
        self._waiting[connection.number, session] = connection, position, body
        self._plan()

    def request_many(self, connection: _Connection, number: int, n: int, body: bytes) -> None:
        """Put a frame of n requests into the queue. number: of the frame."""
        try:
            sessions, positions, observations = wire.unpacked_many(n, body)
        except ValueError as error:
            connection.send(wire.frame(wire.FAILED, number, n, _reported(error)))
            return
        connection.sessions.update(sessions)
        self._frames.append((connection, number, sessions, positions, observations))
        self._plan()

    def forget(self, connection: _Connection, session: int) -> None:
        self._waiting.pop((connection.number, session), None)
        self.inference.forget((connection.number, session))

    def disconnected(self, connection: _Connection) -> None:
        for session in connection.sessions:
            self.forget(connection, session)
        self._frames = deque(frame for frame in self._frames if frame[0] is not connection)
        self._connections.discard(connection)
        if not self._connections:
            self._end = self.loop.call_later(self.linger, self._end_if_alone)

    def _plan(self) -> None:
        """Schedule a forward pass after the event loop has read from all connections."""
        if (self._waiting or self._frames) and not self._planned:
            self._planned = True
            self.loop.call_soon(self._forward)

    def _forward(self) -> None:
        """Answer a batch of the waiting requests, and one frame of many."""
        self._planned = False
        batch, slots = [], []
        for battle in list(self._waiting)[: wire.MAX_BATCH]:
            connection, position, body = self._waiting.pop(battle)
            try:
                slots.append(self.inference.slot(battle))
                batch.append((connection, battle[1], position, body))
            except SlotsFull as error:
                connection.send(wire.frame(wire.FAILED, battle[1], position, str(error).encode()))
        if batch:
            self._answer(batch, slots)
        if self._frames:
            self._answer_many(*self._frames.popleft())
        self._plan()

    def _answer(self, batch: list[tuple[_Connection, int, int, bytes]], slots: list[int]) -> None:
        try:
            observations = wire.unpacked([body for *_, body in batch])
            answers = self.inference.answer(slots, [position for _, _, position, _ in batch], observations)
        except (RuntimeError, ValueError) as error:  # the device is out of memory, or a body is no observation
            message = _reported(error)
            for connection, session, position, _ in batch:
                connection.send(wire.frame(wire.FAILED, session, position, message))
            return
        for (connection, session, position, _), answer in zip(batch, answers, strict=True):
            connection.send(wire.frame(wire.ANSWER, session, position, answer.tobytes()))

    def _answer_many(
        self,
        connection: _Connection,
        number: int,
        sessions: list[int],
        positions: list[int],
        observations: Observations,
    ) -> None:
        try:
            slots = [self.inference.slot((connection.number, session)) for session in sessions]
            answers = self.inference.answer(slots, positions, observations)
        except SlotsFull as error:
            connection.send(wire.frame(wire.FAILED, number, len(sessions), str(error).encode()))
        except (RuntimeError, ValueError) as error:  # as above
            connection.send(wire.frame(wire.FAILED, number, len(sessions), _reported(error)))
        else:
            connection.send(wire.frame(wire.ANSWER, number, len(sessions), answers.tobytes()))
        for session in sessions:
            if session not in connection.sessions:  # its battle ended while the frame waited
                self.inference.forget((connection.number, session))

    def _end_if_alone(self) -> None:
        """End the server. If a process holds the lock it is about to connect: then try again later."""
        with file_lock(wire.lock_of(self.path), wait=False, remove=True) as acquired:
            if acquired:
                self.path.unlink(missing_ok=True)
                wire.log_of(self.path).unlink(missing_ok=True)
                self.ended.set()
            else:
                self._end = self.loop.call_later(self.linger, self._end_if_alone)


def _reported(error: Exception) -> bytes:
    """Print an error to the log, and return it as the body of FAILED."""
    message = f"{type(error).__name__}: {error}"
    print(message, flush=True)
    return message[:500].encode()


def device_of(name: str) -> torch.device:
    """Return the device of an option: `auto` is the first GPU if there is one, else the CPU."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(name)


async def _serve(inference: Inference, options: argparse.Namespace) -> None:
    listener = socket.socket(fileno=options.listen)
    listener.setblocking(False)
    server = Server(inference, options.socket, options.linger)
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
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    device = device_of(options.device)
    network, _ = load(options.checkpoint, device)
    asyncio.run(_serve(Inference(network, device, options.slots), options))


if __name__ == "__main__":
    main()
