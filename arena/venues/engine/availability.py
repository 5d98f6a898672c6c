"""Which fixtures can be played on the engine. Imports no Numba: every run may ask."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec

from agents import AgentSource
from agents.engine import FORMATS, HOSTED_FORMATS
from agents.engine.gen9.library import announce, build
from teamsets.errors import BadInput


def check_engine(what: str, formats: Iterable[str] = FORMATS) -> None:
    """Raises BadInput, which says how to install it, if an engine's compiler is missing. what: the option or command.

    formats: that are to be played. For those of the generation-9 engine it compiles what the cache lacks, with a line on
    stderr; raises CompilerMissing, and MissingTool where the cache folder cannot be written.
    """
    if any(format_id in HOSTED_FORMATS for format_id in formats):
        build(say=announce)
    elif find_spec("numba") is None:
        raise BadInput(f"{what}: needs Numba, which is not installed: uv pip install -e .[engine]")


def on_engine(sources: Iterable[AgentSource], formats: Iterable[str]) -> frozenset[tuple[str, str]]:
    """The (format, agent) that can play on the engine: in generation 1 agents that need no state of a battle."""
    able = []
    for source in sources:
        able += [(format_id, source.spec) for format_id in formats if plays_on_engine(source, format_id)]
    return frozenset(able)


def plays_on_engine(source: AgentSource, format_id: str) -> bool:
    """Whether an agent can play a format on the engine."""
    if format_id in HOSTED_FORMATS:
        return not source.is_external
    return source.batched and format_id in FORMATS and find_spec("numba") is not None
