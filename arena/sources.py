"""The agents of this process's run by their specs: where each comes from, and whether it is a program of its own."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from agents import AgentSource, resolve
from arena.fixture import Fixture


@functools.cache
def source_of(spec: str) -> AgentSource:
    """The source of a spec, looked for once."""
    return resolve(spec)


_known_programs: frozenset[str] | None = None


def know_programs(specs: Iterable[str] | None) -> None:
    """Which agents of this process's run are programs of their own, so that `is_program` need not import their code.

    None: unknown, as before the first call.
    """
    global _known_programs
    _known_programs = None if specs is None else frozenset(specs)


def is_program(spec: str) -> bool:
    """Whether an agent is a program of its own."""
    return source_of(spec).outside if _known_programs is None else spec in _known_programs


def is_outside(fixture: Fixture) -> bool:
    """Whether a program of other people plays in it: it is played on a server, whatever the run's venue."""
    return any(map(is_program, fixture.agents))
