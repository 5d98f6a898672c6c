"""The inference server (serve.py) as its clients see it: one per checkpoint and device, for all processes of a user."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.observation.observation import Observation, Observations
from agents.policy import wire
from agents.policy.checkpoint import identity
from agents.serving import client
from agents.serving.client import Service, connected
from agents.serving.wire import ASK, socket_path
from teamsets.errors import BadInput


class InferenceConnection(client.Connection):
    """This process's connection to one inference server, bound to the event loop of the first `ask`."""

    async def ask(self, session: int, position: int, observation: Observation) -> NDArray[np.float32]:
        """Return float32 [14]: 13 logits (-inf for illegal actions) and the value. Raises ServerFailed.

        position: number of decisions that the seat had before, as in `Network.step`.
        """
        return np.frombuffer(await self.answer(ASK, session, position, wire.packed(observation)), np.float32)

    async def ask_many(
        self, sessions: Sequence[int], positions: Sequence[int], observations: Observations
    ) -> NDArray[np.float32]:
        """Return float32 [n, 14] for n seats at once, as `ask` does for one. Raises ServerFailed if one of them fails.

        Up to wire.MAX_BATCH of them are one message and one forward pass. A single one is sent as by `ask`, so that the
        server batches it with those of other processes.
        """
        if len(sessions) == 1:
            one = Observation(observations.token_ids[0], observations.features[0], observations.legal[0])
            return (await self.ask(sessions[0], positions[0], one))[None]
        frames = []
        for start in range(0, len(sessions), wire.MAX_BATCH):
            rows = slice(start, start + wire.MAX_BATCH)
            body = wire.packed_many(sessions[rows], positions[rows], observations.take(rows))
            frames.append(self.answer(wire.ASK_MANY, self.new_session(), len(sessions[rows]), body))
        return np.frombuffer(b"".join(await asyncio.gather(*frames)), np.float32).reshape(len(sessions), -1)


#: The identity of each checkpoint that this process has connected to, when it last did.
_identities: dict[Path, str] = {}


def _identity(folder: Path) -> str:
    """A checkpoint's identity, also after its run has deleted it for later ones: its server has the weights in memory."""
    try:
        _identities[folder] = identity(folder)
    except FileNotFoundError:
        if folder not in _identities:
            raise BadInput(
                f"checkpoint {folder}: it is gone; a run keeps its latest ones only (`checkpoints.keep`): use another one, "
                "or a copy"
            ) from None
    return _identities[folder]


def connection_to(folder: Path, device: str) -> InferenceConnection:
    """Return this process's connection to the server of a checkpoint; starts the server if necessary. Blocks meanwhile.

    device: "auto" (the first GPU, else the CPU) or a torch device. Raises ServerFailed if the server does not start, and
    BadInput for a checkpoint that is gone and that this process has never connected to.
    """
    path = socket_path(f"{folder.resolve()}\n{_identity(folder)}\n{device}")
    arguments = [os.fspath(folder.resolve()), "--device", device]
    service = Service(f"the inference server of {folder}", path, "agents.policy.serve", arguments)
    return connected(service, InferenceConnection)
