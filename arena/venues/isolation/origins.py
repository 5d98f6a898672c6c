"""The packages that the agents of a run come from, and whether they should be isolated from each other."""

from __future__ import annotations

from agents import is_built_in
from agents.coached import coached_parts


def origins(spec: str) -> set[str]:
    """The packages or modules outside of the arena that a spec's code comes from: {"mybot"} for mybot.players:Best."""
    if is_built_in(spec):
        return set()
    head, _, _ = spec.partition("?")
    if head == "coached":  # it plays through the agents in its options
        return {origin for inner in coached_parts(spec).values() for origin in origins(inner)}
    return {head.partition(":")[0].partition(".")[0]}


def sharing_note(specs: tuple[str, ...]) -> str:
    """Return one line if agents of different origins will share processes; else empty."""
    first: dict[str, str] = {}
    for spec in specs:
        for origin in origins(spec):
            first.setdefault(origin, spec)
    if len(first) < 2:
        return ""
    spec, other = sorted(first.values())[:2]
    more = f" and {len(first) - 2} more" if len(first) > 2 else ""
    return (
        f"{spec}, {other}{more} come from different packages and run in the same processes, where each can read and change "
        "what belongs to the others: --isolate gives each a process of its own"
    )
