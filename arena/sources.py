"""The agents of this process's battles by their specs."""

from __future__ import annotations

import functools

from agents import AgentSource, resolve


@functools.cache
def source_of(spec: str) -> AgentSource:
    """The source of a spec, resolved once."""
    return resolve(spec)
