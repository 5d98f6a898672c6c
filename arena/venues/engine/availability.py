"""Which fixtures can be played on the engine. Imports no Numba: every run may ask."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec

from agents import AgentSource
from agents.engine import FORMATS
from teamsets.errors import BadInput


def check_engine(what: str) -> None:
    """Raises BadInput, which says how to install it, if the engine's compiler is missing. what: the option or command."""
    if find_spec("numba") is None:
        raise BadInput(f"{what}: needs Numba, which is not installed: uv pip install -e .[engine]")


def on_engine(sources: Iterable[AgentSource], formats: Iterable[str]) -> frozenset[tuple[str, str]]:
    """The (format, agent) that can play on the engine: formats that it has, and agents that need no state of a battle."""
    specs = [source.spec for source in sources if source.batched]
    return frozenset((format_id, spec) for format_id in formats if format_id in FORMATS for spec in specs)
