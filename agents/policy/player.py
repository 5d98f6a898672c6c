"""`policy:PATH[@last|@best|@STEP]`: a trained network as an agent."""

from __future__ import annotations

import functools
import importlib.util
import math
import re
import weakref
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from agents.battle import SeatBattle
from agents.choices import Choice
from agents.contract import Agent
from agents.policy import checkpoint
from agents.policy.actions import legal_actions
from agents.policy.client import connection_to
from agents.policy.observation import observe
from teamsets.errors import BadInput
from teamsets.formats import get_format

_DEVICES = r"auto|cpu|mps|cuda(:\d+)?"


class Policy(Agent):
    """A network from a checkpoint: the likeliest action, or one drawn from its probabilities.

    PATH is a run's folder, with @last (the newest checkpoint; so without a word too), @best or @STEP, or the folder of one
    checkpoint. A worker looks once which checkpoint that is: give a step to play from a run that is still training.

    The network runs in a process of its own, one for each checkpoint and machine, which all workers ask. Sums of floats
    depend on how many battles are asked at once, so what is nearly equal may go either way: it is not repeatable.

    Kept with each decision: `win_probability`, the chance to win that it sees (0 to 1); `probabilities`, of each legal
    choice, as the network has them (temperature 1); `no_action` instead, where nothing that is legal has an action of the
    network's.

    Options: temperature, 0 (the likeliest action) or what the logits are divided by before one is drawn; device, "auto"
    (the first GPU, else the CPU), "cpu", "cuda", "cuda:1", "mps".
    """

    path: ClassVar[str] = ""
    repeatable: ClassVar[bool] = False

    def __init__(self, temperature: float = 0.0, device: str = "auto") -> None:
        if not (0 <= temperature < math.inf):
            raise BadInput(f"policy:{self.path}: temperature={temperature}: must be 0 (most probable action) or more")
        if not re.fullmatch(_DEVICES, device):
            raise BadInput(f"policy:{self.path}: device={device}: must be auto, cpu, cuda, cuda:N or mps")
        self.temperature = temperature
        self._server = connection_to(_pinned(self.path), device)
        self._session = self._server.new_session()
        self._position = -1
        self._turn: int | None = None
        # A battle whose venue fails has no end that anybody tells: then the server hears when the agent is collected.
        self._release = weakref.finalize(self, self._server.forget, self._session)
        self._release.atexit = False

    @classmethod
    def missing(cls, format_id: str | None = None, **options: Any) -> str:
        """Torch, or a checkpoint that can be used here."""
        if importlib.util.find_spec("torch") is None or importlib.util.find_spec("safetensors") is None:
            return "torch is not installed: `make training` installs it (from a wheel: pip install 'battle-arena[training]')"
        try:
            folder = checkpoint.find(cls.path)
            about = checkpoint.read(folder)
        except BadInput as error:
            return str(error)
        unfit = "" if format_id is None else about.unfit_for(get_format(format_id).gen)
        return unfit and f"checkpoint {folder}: {unfit}"

    @classmethod
    def version(cls, **options: Any) -> str:
        """The checkpoint's weights and shape; so `@last` is another agent once it has moved on."""
        try:
            return checkpoint.identity(checkpoint.find(cls.path))
        except (BadInput, OSError, ValueError, KeyError):
            return ""  # `missing` says what is wrong with it

    async def act(self, battle: SeatBattle) -> Choice:
        actions = legal_actions(battle.last_request, battle.legal)
        if not actions:
            self.thought = {"no_action": True}
            return battle.legal[0]
        self._count(battle)
        answer = await self._server.ask(self._session, self._position, observe(battle))
        logits = answer[list(actions)].astype(np.float64)
        probabilities = _softmax(logits)
        choices = list(actions.values())
        self.thought = {
            "win_probability": round(float(answer[-1]), 4),
            "probabilities": {
                choice.words: round(float(share), 4) for choice, share in zip(choices, probabilities, strict=True)
            },
        }
        if self.temperature == 0:
            return choices[int(logits.argmax())]
        return self.rng.choices(choices, list(_softmax(logits / self.temperature)))[0]

    def finish(self, battle: SeatBattle) -> None:
        self._release()

    def _count(self, battle: SeatBattle) -> None:
        """Moves on to the next position, unless the simulator has refused our choice and asks again.

        A turn has one request for a move; what was refused ("trapped") is no decision, and the memory must not hold it.
        """
        turn = None if battle.last_request.get("forceSwitch") else battle.turn
        if turn is None or turn != self._turn:
            self._position += 1
        self._turn = turn


def _softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    weights: NDArray[np.float64] = np.exp(logits - logits.max())
    return weights / weights.sum()


#: Which checkpoint a spec's path means, as this process found it first.
_pinned = functools.cache(checkpoint.find)


@functools.cache
def policy(path: str) -> type[Policy]:
    """The agent of a checkpoint."""
    words = f"The network of {path}: " + (Policy.__doc__ or "").partition(": ")[2]
    return type("Policy", (Policy,), {"__doc__": words, "__module__": __name__, "path": path})


#: Name -> class, as the registry takes it.
MODELS: dict[str, Any] = {
    "*": policy,
    **{path.name: policy(path.name) for path in sorted(checkpoint.SHIPPED.iterdir()) if path.is_dir()},
}
