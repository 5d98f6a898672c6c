"""The inference server: holds one checkpoint and serves all workers of a machine. `python -m agents.policy.serve`.

Requests that arrive during a forward pass are batched into the next one, so batch sizes grow with the load and no request
waits for others. A message with many requests (ASK_MANY) is a forward pass of its own. Each battle's key-value cache is kept
in a slot until its client sends FORGET or disconnects. The server exits some seconds after the last connection has closed,
also if its clients were killed. It is started by client.py, which passes the bound socket.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import deque
from pathlib import Path

import numpy as np
import torch

from agents.observation.observation import Observations
from agents.policy import wire
from agents.policy.checkpoint import load
from agents.policy.network import Memory, Network, expected_value
from agents.serving import server as serving
from agents.serving.server import ServerConnection, device_of, reported, serve, server_options
from agents.serving.wire import ANSWER, ASK, FAILED, frame
from teamsets.errors import ArenaError

#: Initial number of slots; doubled when all are in use.
INITIAL_SLOTS = 16
#: Decisions of every forward pass on a CPU, padded where there are fewer. The order of floating-point sums depends on the
#: shapes, and so would answers on who else asks at the same time. In passes of 16 a row is the same at every place and
#: beside all others; in passes of 8 it was not (tests/agents/policy/test_policy_repeats.py).
PASS_SIZE = 16
#: The slot of rows that only fill a pass.
_PADDING = 0


class SlotsFull(ArenaError):
    """All slots are in use."""


class Inference:
    """A network with the memory of its current battles. limit: maximum number of concurrent battles."""

    def __init__(self, network: Network, device: torch.device, limit: int) -> None:
        self.network, self.device, self.limit = network, device, limit
        self.layout = network.layout
        self.memory = Memory(network.shape, 1 + min(INITIAL_SLOTS, limit), device)
        self._free = list(range(1, self.memory.slots))
        self._slots: dict[tuple[int, int], int] = {}

    def slot(self, battle: tuple[int, int]) -> int:
        """Return the slot of a battle, (connection, session), allocating one if necessary. Raises SlotsFull."""
        if battle not in self._slots:
            if not self._free:
                if self.memory.slots > self.limit:
                    raise SlotsFull(f"all {self.limit} slots for battles are in use; raise the limit with --slots")
                before = self.memory.slots
                self.memory.grow(min(2 * before, 1 + self.limit))
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
        """Return float32 [B, 14]: 13 logits and the value. On a CPU they depend on nothing but the row's own battle."""
        if self.device.type != "cpu":
            return self._pass(slots, positions, observations)
        starts = range(0, len(slots), PASS_SIZE)
        return np.concatenate([self._padded_pass(start, slots, positions, observations) for start in starts])

    def _padded_pass(
        self, start: int, slots: list[int], positions: list[int], observations: Observations
    ) -> np.ndarray:
        rows = list(range(start, min(start + PASS_SIZE, len(slots))))
        padding = PASS_SIZE - len(rows)
        filled = [slots[row] for row in rows] + [_PADDING] * padding
        answers = self._pass(
            filled, [positions[row] for row in rows] + [0] * padding, observations.take(rows + rows[:1] * padding)
        )
        return answers[: len(rows)]

    def _pass(self, slots: list[int], positions: list[int], observations: Observations) -> np.ndarray:
        token_ids, features, legal = (torch.from_numpy(part).to(self.device) for part in observations)
        slot_tensor, position_tensor = (torch.tensor(part, device=self.device) for part in (slots, positions))  # [B]
        output = self.network.step(
            token_ids,
            features,
            legal,
            self.memory,
            slot_tensor,
            position_tensor,
            longest=self.network.shape.window if self.device.type == "cpu" else 0,
        )
        answers: np.ndarray = torch.cat([output.logits, expected_value(output.value)[:, None]], dim=1).cpu().numpy()
        return answers


class InferenceServer(serving.Server):
    """Batches requests into forward passes. path: of the socket. linger: seconds without a connection until it ends."""

    def __init__(self, inference: Inference, path: Path, linger: float) -> None:
        super().__init__(path, linger)
        self.inference = inference
        self._waiting: dict[tuple[int, int], tuple[ServerConnection, int, bytes]] = {}
        self._frames: deque[tuple[ServerConnection, int, list[int], list[int], Observations]] = deque()  # of ASK_MANY
        self._planned = False

    def received(self, connection: ServerConnection, kind: int, session: int, position: int, body: bytes) -> None:
        if kind == ASK:
            try:
                wire.check_size(body, self.inference.layout)
            except ValueError as error:
                connection.send(frame(FAILED, session, position, reported(error)))
                return
            connection.sessions.add(session)
            self._waiting[connection.number, session] = connection, position, body
            self._plan()
        elif kind == wire.ASK_MANY:
            self.request_many(connection, session, position, body)

    def request_many(self, connection: ServerConnection, number: int, n: int, body: bytes) -> None:
        """Put a frame of n requests into the queue. number: of the frame."""
        try:
            sessions, positions, observations = wire.unpacked_many(n, body, self.inference.layout)
        except ValueError as error:
            connection.send(frame(FAILED, number, n, reported(error)))
            return
        connection.sessions.update(sessions)
        self._frames.append((connection, number, sessions, positions, observations))
        self._plan()

    def forget(self, connection: ServerConnection, session: int) -> None:
        self._waiting.pop((connection.number, session), None)
        self.inference.forget((connection.number, session))

    def disconnected(self, connection: ServerConnection) -> None:
        super().disconnected(connection)
        self._frames = deque(frame for frame in self._frames if frame[0] is not connection)

    def _plan(self) -> None:
        """Schedule a forward pass after the event loop has read from all connections."""
        if (self._waiting or self._frames) and not self._planned:
            self._planned = True
            self.loop.call_soon(self._forward)

    def _forward(self) -> None:
        """Answer a batch of the waiting requests, and one frame of many."""
        self._planned = False
        if self._waiting:
            battles = list(self._waiting)[: wire.MAX_BATCH]
            self._answer(battles, [self._waiting.pop(battle) for battle in battles])
        if self._frames:
            self._answer_many(*self._frames.popleft())
        self._plan()

    def _answer(self, battles: list[tuple[int, int]], requests: list[tuple[ServerConnection, int, bytes]]) -> None:
        """Answer a batch. A request that cannot be answered fails alone. battles: of the requests."""
        observations = wire.unpacked([body for *_, body in requests], self.inference.layout)
        faults = wire.faults(observations)
        rows, slots = [], []
        for row, (battle, (connection, position, _)) in enumerate(zip(battles, requests, strict=True)):
            try:
                if row in faults:
                    raise ValueError(f"the observation has {faults[row]}")
                slots.append(self.inference.slot(battle))
                rows.append(row)
            except (SlotsFull, ValueError, RuntimeError) as error:  # RuntimeError: no memory for more slots
                connection.send(frame(FAILED, battle[1], position, reported(error)))
        if not rows:
            return
        positions = [requests[row][1] for row in rows]
        try:
            answers = self.inference.answer(
                slots, positions, observations.take(rows) if len(rows) < len(requests) else observations
            )
            replies = [(ANSWER, answer.tobytes()) for answer in answers]
        except RuntimeError as error:  # the device is out of memory
            replies = [(FAILED, reported(error))] * len(rows)
        for row, (kind, body) in zip(rows, replies, strict=True):
            connection, position, _ = requests[row]
            connection.send(frame(kind, battles[row][1], position, body))

    def _answer_many(
        self,
        connection: ServerConnection,
        number: int,
        sessions: list[int],
        positions: list[int],
        observations: Observations,
    ) -> None:
        try:
            slots = [self.inference.slot((connection.number, session)) for session in sessions]
            answers = self.inference.answer(slots, positions, observations)
        except SlotsFull as error:
            connection.send(frame(FAILED, number, len(sessions), str(error).encode()))
        except RuntimeError as error:  # as above
            connection.send(frame(FAILED, number, len(sessions), reported(error)))
        else:
            connection.send(frame(ANSWER, number, len(sessions), answers.tobytes()))
        for session in sessions:
            if session not in connection.sessions:  # its battle ended while the frame waited
                self.inference.forget((connection.number, session))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path, help="folder of the checkpoint")
    server_options(parser)
    parser.add_argument("--slots", type=int, default=4096, help="maximum number of battles held in memory")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    device = device_of(options.device)
    network, _ = load(options.checkpoint, device)
    inference = Inference(network, device, options.slots)
    asyncio.run(serve(lambda: InferenceServer(inference, options.socket, options.linger), options))


if __name__ == "__main__":
    main()
