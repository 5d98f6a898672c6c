"""poke-engine at work: a process for each build, asked over pipes.

A process may import one build of poke-engine only, and every generation needs its own; so each build gets a process
(serve.py), started when it is first needed and shared by all battles of this one. It ends when its owner ends.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.search.builds import missing, site
from teamsets.errors import ArenaError, MissingTool

_SERVE = Path(__file__).with_name("serve.py")


class EngineFailed(ArenaError):
    """poke-engine panicked on a state, or its process died. The message has its words."""


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of a side at the root: how often it was visited, its mean value from 0 (lost) to 1 (won), its prior."""

    visits: int
    value: float
    prior: float


@dataclass(frozen=True, slots=True)
class Found:
    """What one search found. one, two: poke-engine's name of each choice ("bodyslam", "switch tauros") -> Option."""

    one: dict[str, Option]
    two: dict[str, Option]
    iterations: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """One way in which a pair of choices may turn out: its chance (0 to 1), its instructions, the state after it."""

    chance: float
    instructions: tuple[str, ...]
    state: str


@dataclass(frozen=True)
class SearchSettings:
    """How a tree is searched.

    exploration: the factor of PUCT. first: how much less than its position's mean an option is taken to be worth that has
    not been tried. weights: the file of fitted weights, None for poke-engine's evaluation and options that are all alike.
    trust: the power to which fitted priors are raised.
    """

    exploration: float
    first: float
    weights: Path | None
    trust: float = 1.0


class Engine:
    """One build in a process of its own. Not for use by two threads at once."""

    def __init__(self, gen: int) -> None:
        """Raises MissingTool when there is no build."""
        reason = missing(gen)
        if reason:
            raise MissingTool(reason)
        self.gen = gen
        # stderr is thrown away: a panic's words come with the answer, and Rust would print them a second time.
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(_SERVE), str(site(gen))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "RUST_BACKTRACE": "0"},
        )

    def search(self, state: str, settings: SearchSettings, ms: int, iterations: int = 0, threads: int = 1) -> Found:
        """A tree search from a state: so many milliseconds, or so many iterations where given. Raises EngineFailed."""
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
        return Found(_options(answer["one"]), _options(answer["two"]), answer["iterations"])

    def outcomes(self, state: str, one: str, two: str) -> list[Outcome]:
        """All that a pair of choices (poke-engine's names; "none" for no choice) may lead to. Raises EngineFailed."""
        answers = self._ask("outcomes", state=state, one=one, two=two)
        return [Outcome(chance / 100, tuple(words), after) for chance, words, after in answers]

    def damage(self, state: str, one: str, two: str, one_first: bool = True) -> tuple[list[int], list[int]]:
        """The greatest damage of each side's move, [usual, critical], with no move of the other in between."""
        first, second = self._ask("damage", state=state, one=one, two=two, first=one_first)
        return first, second

    def features(self, states: list[str]) -> list[tuple[float, dict[str, float]]]:
        """For each state poke-engine's own evaluation, and the features of its fitted value by name."""
        return [(evaluation, features) for evaluation, features in self._ask("features", states=states)]

    def choices(self, states: list[str]) -> list[list[dict[str, dict[str, float]]]]:
        """For each state and either side: option -> the features that make it more or less likely, by name."""
        return list(self._ask("choices", states=states))

    def text(self, state: str) -> str:
        """The state as poke-engine has understood it, in its own writing. Raises EngineFailed."""
        return str(self._ask("text", state=state))

    def _ask(self, do: str, **order: Any) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"do": do, **order}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except OSError as error:
            self.close()
            raise EngineFailed(f"poke-engine's process has ended: {error}") from error
        except BaseException:  # the clock has run out in mid-answer: what would come next belongs to another question
            self.close()
            raise
        if not line:
            self.close()
            raise EngineFailed(f"poke-engine's process ended with code {self._process.returncode}")
        reply = json.loads(line)
        if "error" in reply:
            raise EngineFailed(f"poke-engine: {reply['error']}")
        return reply["answer"]

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        return self._process.pid

    def close(self) -> None:
        """Ends the process; a second time does nothing."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None and not pipe.closed:
                try:
                    pipe.close()
                except OSError:  # what was still in the buffer has nobody to go to
                    continue


def _options(side: dict[str, list[float]]) -> dict[str, Option]:
    return {
        name: Option(int(visits), total / visits if visits else 0.0, prior)
        for name, (visits, total, prior) in side.items()
    }


_engines: dict[int, Engine] = {}


def engine_for(gen: int) -> Engine:
    """This process's engine for a generation, started when it is not there (or no longer). Raises MissingTool."""
    engine = _engines.get(gen)
    if engine is None or not engine.alive:
        engine = _engines[gen] = Engine(gen)
    return engine


@atexit.register
def _close_all() -> None:
    for engine in _engines.values():
        engine.close()
