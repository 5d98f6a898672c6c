"""A run's agents and teams, resolved and checked before it begins."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from agents import AgentSource, resolve
from agents.fingerprint import read_again
from arena.fixture import SEATS, FixtureTeam, showdown_seed
from arena.report.numbers import counted
from arena.schedules.plan import DRAWN
from arena.venues.simulator.host import Host, HostDied
from teamsets.errors import ArenaError, BadInput, UnknownFormat
from teamsets.formats import RANDOM_FORMATS, get_format, suggestion
from teamsets.loading import load_set

#: (format, team set) -> its teams; none where Showdown draws them.
Pools = dict[tuple[str, str], tuple[FixtureTeam, ...]]


def resolve_all(specs: tuple[str, ...], resolver: Callable[[str], AgentSource] = resolve) -> list[AgentSource]:
    """The agents of the specs, each only once. Raises BadInput if there are fewer than two."""
    sources = resolve_each(specs, resolver)
    if len(sources) < 2:
        raise BadInput(f"agents: at least two different ones are needed, not {len(sources)}: name more, or use --all")
    return sources


def resolve_each(specs: tuple[str, ...], resolver: Callable[[str], AgentSource] = resolve) -> list[AgentSource]:
    """The agents of the specs; each only once. Their code is read again: see `read_again`."""
    read_again()
    return list({source.spec: source for source in map(resolver, specs)}.values())


def check_available(sources: list[AgentSource], formats: tuple[str, ...]) -> None:
    """Raises BadInput for an agent that lacks what it needs to play one of the formats."""
    for source in sources:
        for format_id in formats:
            lacks = source.missing(format_id)
            if lacks:
                raise BadInput(f"agent '{source.spec}': cannot play {format_id}: {lacks}")


def check_ours(sources: list[AgentSource], command: str) -> None:
    """Raises BadInput for an external program, where only in-process agents can play."""
    for source in sources:
        if source.is_external:
            raise BadInput(
                f"agent '{source.spec}': an external program, which `arena {command}` cannot run; name other agents; "
                "`arena evaluate` plays with it"
            )


def load_pools(
    formats: Sequence[str], team_sets: Sequence[str] = ("competitive",), *, seed: int = 0, skip_invalid: bool = False
) -> tuple[Pools, tuple[str, ...]]:
    """(format, team set) -> teams, in the order of the arguments; and a line for each set with teams left out.

    seed: of generated team sets. skip_invalid: leave out teams that the validator rejects. Raises BadInput.
    """
    pools: Pools = {}
    notes: list[str] = []
    for format_id in dict.fromkeys(formats):
        chosen = get_format(format_id)
        if chosen.random:
            check_drawn(chosen.id)
            pools[chosen.id, DRAWN] = ()
            continue
        for name in dict.fromkeys(team_sets):
            loaded = load_set(name, chosen.id, skip_invalid=skip_invalid, seed=seed)
            pools[chosen.id, name] = tuple(FixtureTeam(t.id, t.name, packed=t.packed) for t in loaded.teams)
            if loaded.skipped:
                notes.append(
                    f"{name}, {chosen.id}: {counted(len(loaded.skipped), 'team')} left out, the first: {loaded.skipped[0]}"
                )
    return pools, tuple(notes)


def check_drawn(format_id: str) -> None:
    """Asks Showdown whether it knows a format of its own teams. Raises UnknownFormat: no validator would say so later."""
    if format_id in RANDOM_FORMATS:
        return

    async def begin() -> None:
        drawn = {seat: {"name": seat, "seed": showdown_seed(seat)} for seat in SEATS}
        async with await Host.launch() as host:
            await host.ask({"op": "start", "format": format_id, "seed": showdown_seed("check"), **drawn})

    try:
        asyncio.run(begin())
    except HostDied:
        raise
    except ArenaError:
        raise UnknownFormat(f"format '{format_id}': the simulator cannot start it: {suggestion(format_id)}") from None


def stored_pools(pools: Pools) -> list[list[Any]]:
    """Pools as a run's config keeps them: [format, team set, ids of its teams]."""
    return [[format_id, team_set, [team.id for team in teams]] for (format_id, team_set), teams in pools.items()]
