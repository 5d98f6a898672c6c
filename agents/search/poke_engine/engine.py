"""Client of poke-engine: a subprocess for each build, with requests and answers over pipes.

A process can import one build of poke-engine only, and each generation needs its own, so each build runs in a process
(serve.py) that is started on first use and shared by all battles of this process. It ends when this process ends.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.kept_processes import KeptProcess, KeptProcesses
from agents.search.poke_engine.builds import missing, site
from teamsets.errors import ArenaError, MissingTool

_SERVE = Path(__file__).with_name("serve.py")


class EngineFailed(ArenaError):
    """poke-engine panicked on a state, or its process ended. The message contains its error."""


@dataclass(frozen=True, slots=True)
class Option:
    """A choice of a side at the root: number of visits, mean value from 0 (lost) to 1 (won), prior probability."""

    visits: int
    value: float
    prior: float


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search. side_one, side_two: poke-engine's name of a choice ("switch tauros") -> Option."""

    side_one: dict[str, Option]
    side_two: dict[str, Option]
    iterations: int


@dataclass(frozen=True, slots=True)
class EngineOutcome:
    """A possible outcome of a pair of choices: its probability, its instructions, the resulting state."""

    chance: float
    instructions: tuple[str, ...]
    state: str


@dataclass(frozen=True)
class SearchSettings:
    """Settings of a tree search.

    exploration: PUCT's exploration constant. first: first-play urgency: the value of an unvisited option is its node's mean
    value minus this. weights: file of fitted weights; None: poke-engine's evaluation and uniform priors. trust: exponent of
    the fitted priors.
    """

    exploration: float
    first: float
    weights: Path | None
    trust: float = 1.0


class PokeEngine(KeptProcess):
    """A build of poke-engine in a subprocess. Not thread-safe."""

    def __init__(self, gen: int) -> None:
        """Start the process. Raises MissingTool if there is no build."""
        reason = missing(gen)
        if reason:
            raise MissingTool(reason)
        self.gen = gen
        # stderr is discarded: a panic's message is in the answer already, and Rust prints it a second time.
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(_SERVE), str(site(gen))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "RUST_BACKTRACE": "0"},
        )

    def search(
        self, state: str, settings: SearchSettings, ms: int, iterations: int = 0, threads: int = 1
    ) -> SearchResult:
        """Search from a state, for `ms` milliseconds, or for `iterations` if given. Raises EngineFailed."""
        answer = self._ask(
            "search",
            state=state,
            ms=ms,
            iterations=iterations,
            threads=threads,
            exploration=settings.exploration,
            first=settings.first,
            weights=None if settings.weights is None else str(settings.weights),
            trust=settings.trust,
        )
        return SearchResult(_options(answer["side_one"]), _options(answer["side_two"]), answer["iterations"])

    def no_weights(self, file: str) -> str:
        """Return the file and the line of it that is no fitted weight of this build; empty if all are."""
        return str(self._ask("weights", weights=file))

    def outcomes(self, state: str, choice_one: str, choice_two: str) -> list[EngineOutcome]:
        """Return all outcomes of a pair of choices (poke-engine's names; "none": no choice). Raises EngineFailed."""
        answers = self._ask("outcomes", state=state, choice_one=choice_one, choice_two=choice_two)
        return [EngineOutcome(percent / 100, tuple(instructions), after) for percent, instructions, after in answers]

    def damage(
        self, state: str, choice_one: str, choice_two: str, one_first: bool = True
    ) -> tuple[list[int], list[int]]:
        """Return the maximum damage of each side's move, [usual, critical], without effects of the other's move."""
        first, second = self._ask("damage", state=state, choice_one=choice_one, choice_two=choice_two, first=one_first)
        return first, second

    def features(self, states: list[str]) -> list[tuple[float, dict[str, float]]]:
        """Return for each state poke-engine's own evaluation, and the features of the fitted value by name."""
        return [(evaluation, features) for evaluation, features in self._ask("features", states=states)]

    def choices(self, states: list[str]) -> list[list[dict[str, dict[str, float]]]]:
        """Return for each state and side: option -> the features of its fitted prior, by name."""
        return list(self._ask("choices", states=states))

    def text(self, state: str) -> str:
        """Return a state as poke-engine serializes it after parsing. Raises EngineFailed."""
        return str(self._ask("text", state=state))

    def _ask(self, do: str, **arguments: Any) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except OSError as error:
            self.close()
            raise EngineFailed(f"poke-engine's process has ended: {error}") from error
        except (
            BaseException
        ):  # interrupted by the time limit: the late answer would be read as that of the next request
            self.close()
            raise
        if not line:
            self.close()
            raise EngineFailed(f"poke-engine's process ended with code {self._process.returncode}")
        reply = json.loads(line)
        if "error" in reply:
            raise EngineFailed(f"poke-engine: {reply['error']}")
        return reply["answer"]

    def close(self) -> None:
        """End the process. Can be called more than once."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None and not pipe.closed:
                try:
                    pipe.close()
                except OSError:  # flushing the buffer fails because the process has ended
                    continue


def _options(side: dict[str, list[float]]) -> dict[str, Option]:
    return {
        name: Option(int(visits), total / visits if visits else 0.0, prior)
        for name, (visits, total, prior) in side.items()
    }


#: Of this process, by generation.
engines = KeptProcesses[int, PokeEngine](PokeEngine)
