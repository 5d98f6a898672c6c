"""`policy:PATH[@last|@best|@STEP]`: a trained network as an agent."""

from __future__ import annotations

import asyncio
import functools
import importlib.util
import math
import re
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from agents.batched import BatchedAgent
from agents.battle import SeatBattle
from agents.battle.choices import Choice
from agents.contract import OptionLimits
from agents.observation.actions import legal_actions
from agents.observation.columns import FIELD, FieldFeature, turns
from agents.observation.doubles.columns import decision_numbers
from agents.observation.observation import Observations, observe
from agents.policy import checkpoint
from agents.policy.client import InferenceConnection, connection_to
from agents.serving.client import runs_on_cpu
from teamsets.errors import BadInput
from teamsets.formats import get_format

_DEVICES = r"auto|cpu|mps|cuda(:\d+)?"


class NetworkAgent(BatchedAgent):
    """Acts by the logits of networks: the most probable action, or one sampled. Subclass it and implement `answers`."""

    #: Its spec, for errors.
    spec: ClassVar[str] = ""
    #: Whether its network does is a matter of the checkpoint: see `missing`.
    plays_doubles = True
    option_limits: ClassVar[OptionLimits] = {"temperature": (0, math.inf)}

    def __init__(self, temperature: float, device: str) -> None:
        if problem := self.wrong_option(temperature=temperature, device=device):
            raise BadInput(f"{self.spec}: {problem}")
        self.temperature = temperature

    @classmethod
    def wrong_option(cls, **options: Any) -> str:
        """Check the device too: its form, not whether the machine has it."""
        device = options.get("device", "auto")
        wrong = "" if re.fullmatch(_DEVICES, device) else f"device={device}: must be auto, cpu, cuda, cuda:N or mps"
        return super().wrong_option(**options) or wrong

    @classmethod
    async def answers(cls, agents: Sequence[Self], observations: Observations) -> NDArray[np.floating[Any]]:
        """Return [n, 14] of n agents at their next decisions: 13 logits (-inf for illegal actions) and the value."""
        raise NotImplementedError(f"{cls.__name__}.answers")

    @classmethod
    async def act_many(cls, agents: Sequence[Self], observations: Observations) -> NDArray[np.int64]:
        """Ask for all decisions at once. `probabilities` in the diagnostics are by action."""
        decided = zip(agents, await cls.answers(agents, observations), observations.legal, strict=True)
        return np.array([agent._decide(answer, np.flatnonzero(legal)) for agent, answer, legal in decided], np.int64)

    async def judge(self, battle: SeatBattle) -> tuple[dict[Choice, float], float]:
        """Return log π of each legal choice, at temperature 1 and in the order of the actions, and the probability to win.

        ({}, NaN) if no legal choice is in the action space. It counts as the decision at this request: call it or `act`.
        """
        actions = legal_actions(battle.last_request, battle.legal)
        if not actions:
            return {}, math.nan
        (answer,) = await type(self).answers([self], Observations.single(observe(battle)))
        order = sorted(actions)
        logits = answer[order].astype(np.float64)
        log_policy = logits - logits.max() - math.log(np.exp(logits - logits.max()).sum())
        return {actions[a]: log_p for a, log_p in zip(order, log_policy.tolist(), strict=True)}, float(answer[-1])

    def _decide(self, answer: NDArray[np.floating[Any]], legal: NDArray[np.int64]) -> int:
        """Return the action, and set the diagnostics. answer: 13 logits and the value. legal: legal actions, ascending."""
        logits, actions = answer[legal].astype(np.float64), legal.tolist()
        self.diagnostics = {
            "win_probability": round(float(answer[-1]), 4),
            "probabilities": {action: round(p, 4) for action, p in zip(actions, softmax(logits).tolist(), strict=True)},
        }
        if self.temperature == 0:
            return int(actions[int(logits.argmax())])
        return int(self.rng.choices(actions, softmax(logits / self.temperature).tolist())[0])


class Policy(NetworkAgent):
    """A network from a checkpoint: the most probable action, or one sampled from its probabilities.

    PATH is a run's folder, with @last (the latest checkpoint, also the default), @best or @STEP, or the folder of one
    checkpoint. A worker resolves it once: give a step to play a checkpoint of a run that is still training.

    The network runs in an inference server, one process per checkpoint and machine, shared by all workers. On a CPU its
    answers do not depend on who else asks, and an action is sampled by the seat's generator: it is repeatable on the same
    machine. On a GPU floating-point sums depend on the batch size, so near-ties may be decided either way: there it is not.

    Diagnostics of each decision: `win_probability`, from 0 to 1; `probabilities`, of each legal choice, at temperature 1; or
    `no_action` if no legal choice is in the action space.

    Options: temperature, 0 (the most probable action) or the divisor of the logits before sampling; device, "auto" (the
    first GPU, else the CPU), "cpu", "cuda", "cuda:1", "mps".
    """

    path: ClassVar[str] = ""

    def __init__(self, temperature: float = 0.0, device: str = "auto") -> None:
        super().__init__(temperature, device)
        folder = _pinned(self.path)
        self.decides_previews = _read(folder).decides_previews
        self._server = connection_to(folder, device)
        self._session, self._release = self._server.open_session(self)
        self._position = -1
        self._turn: int | None = None
        self._positions: dict[int, int] = {}  # of this turn's decisions, by their number in the request

    @classmethod
    def repeats(cls, **options: Any) -> bool:
        """Return whether the network runs on a CPU."""
        return runs_on_cpu(options.get("device", "auto"))

    @classmethod
    def missing(cls, format_id: str | None = None, **options: Any) -> str:
        """Return what is missing: torch, or a usable checkpoint."""
        if importlib.util.find_spec("torch") is None or importlib.util.find_spec("safetensors") is None:
            return "torch is not installed: `make training` installs it (from a wheel: pip install 'battle-arena[training]')"
        try:
            folder = checkpoint.find(cls.path)
            about = checkpoint.read(folder)
        except BadInput as error:
            return str(error)
        played = None if format_id is None else get_format(format_id)
        unfit = "" if played is None else about.unfit_for(played.gen, doubles=played.doubles)
        return unfit and f"checkpoint {folder}: {unfit}"

    @classmethod
    def version(cls, **options: Any) -> str:
        """Return a hash of the checkpoint's weights and shape, so that `@last` is another agent after further training."""
        try:
            return checkpoint.identity(checkpoint.find(cls.path))
        except (BadInput, OSError, ValueError, KeyError):
            return ""  # `missing` reports the error

    @classmethod
    async def answers(cls, agents: Sequence[Self], observations: Observations) -> NDArray[np.float32]:
        """Ask each agent's inference server for all its decisions at once; float32."""
        forced = observations.features[:, FIELD, FieldFeature.FORCED_SWITCH] > 0
        numbers = decision_numbers(observations.features)
        for agent, turn, number, is_forced in zip(
            agents, turns(observations.features).tolist(), numbers.tolist(), forced.tolist(), strict=True
        ):
            agent._count(None if is_forced else turn, number)
        by_server: dict[InferenceConnection, list[int]] = {}
        for index, agent in enumerate(agents):
            by_server.setdefault(agent._server, []).append(index)
        answers = np.empty((len(agents), observations.legal.shape[1] + 1), np.float32)

        async def ask(server: InferenceConnection, rows: list[int]) -> None:
            sessions, positions = [agents[k]._session for k in rows], [agents[k]._position for k in rows]
            answers[rows] = await server.ask_many(sessions, positions, observations.take(rows))

        await asyncio.gather(*(ask(server, rows) for server, rows in by_server.items()))
        return answers

    def finish(self, battle: SeatBattle) -> None:
        self._release()

    def _count(self, turn: int | None, number: int = 0) -> None:
        """Advance the position, unless this request repeats the last one because its choice was rejected ("trapped").

        turn: its number; None for a forced switch. number: of the decision in its request. A turn has one request for
        moves. A rejected choice is no decision of its own and must not stay in the memory.
        """
        if turn is None or turn != self._turn:
            self._positions = {}
        self._position = self._positions.setdefault(number, self._position + 1)
        self._turn = turn


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return probabilities [n] of logits [n]."""
    weights: NDArray[np.float64] = np.exp(logits - logits.max())
    return weights / weights.sum()


#: Resolves a spec's path to a checkpoint once per process, and reads its metadata.
_pinned, _read = functools.cache(checkpoint.find), functools.cache(checkpoint.read)


@functools.cache
def policy(path: str) -> type[Policy]:
    """Return the agent class of a checkpoint."""
    documentation = f"The network of {path}: " + (Policy.__doc__ or "").partition(": ")[2]
    return type(
        "Policy", (Policy,), {"__doc__": documentation, "__module__": __name__, "path": path, "spec": f"policy:{path}"}
    )


#: Name -> agent class, for the registry.
MODELS: dict[str, Any] = {
    "*": policy,
    **{name: policy(name) for name in checkpoint.shipped()},
}
