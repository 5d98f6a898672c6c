"""`arena evaluate`: a run from its settings to the last battle. What the terminal shows is report/'s affair."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import platform
import signal
import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from importlib.metadata import version
from typing import Any

from agents import AgentSource, resolve
from arena.fixture import SEATS, FixtureTeam, showdown_seed
from arena.runner.coordinator import Coordinator, Progress
from arena.runner.process import WorkerSettings
from arena.schedule import DRAWN, Plan, round_robin
from arena.showdown.host import Host, HostDied
from arena.showdown.simulator import Rules
from arena.store import Store
from teamsets import showdown
from teamsets.errors import ArenaError, BadInput, UnknownFormat
from teamsets.formats import RANDOM_FORMATS, get_format, suggestion
from teamsets.loading import load_set

#: How often the journal is moved into the database while a run goes on, in seconds.
TAKE_IN_SECONDS = 2.0


@dataclass(frozen=True)
class EvaluateSettings:
    """What a run is to play. agents: specs; battles: for each pairing and team set; minutes: None for no limit."""

    agents: tuple[str, ...]
    formats: tuple[str, ...] = ("gen1ou",)
    team_sets: tuple[str, ...] = ("competitive",)
    battles: int = 2
    minutes: float | None = None
    seed: int = 0
    rules: Rules = field(default_factory=Rules)
    skip_invalid: bool = False
    stock: bool = False


@dataclass(frozen=True)
class Run:
    """A run that is ready to be played: what is known of it, and the keys of its fixtures that are done already."""

    run_id: str
    settings: EvaluateSettings
    plan: Plan
    done: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


def prepare(store: Store, settings: EvaluateSettings, kind: str = "evaluate") -> Run:
    """Checks the settings, loads teams, and notes the run in the store. Raises BadInput with what is wrong."""
    sources = resolve_all(settings.agents)
    notes = tuple(
        f"{s.spec} is not repeatable: its battles may differ when played again" for s in sources if not s.repeatable
    )
    pools, skipped = load_pools(settings)
    plan = Plan(tuple(s.spec for s in sources), pools, settings.battles, settings.seed)
    run_id = new_run_id(store)
    config = {
        **asdict(replace(settings, agents=plan.agents)),
        "pools": [[format_id, team_set, [t.id for t in teams]] for (format_id, team_set), teams in pools.items()],
    }
    store.begin_run(run_id, kind, config, git_state(), versions(), sources, pools)
    return Run(run_id, settings, plan, notes=notes + skipped)


def resume(store: Store, run_id: str | None) -> Run:
    """The stored run (the latest when None), ready to go on. Raises BadInput when it cannot be the same run any more."""
    stored = store.resume_run(run_id)
    config = dict(stored.config)
    pools_config = config.pop("pools")
    teams = store.teams({team_id for _, _, ids in pools_config for team_id in ids})
    pools = {(f, s): tuple(teams[team_id] for team_id in ids) for f, s, ids in pools_config}
    rules = Rules(**config.pop("rules"))
    lists: dict[str, Any] = {key: tuple(config.pop(key)) for key in ("agents", "formats", "team_sets")}
    settings = EvaluateSettings(**lists, **config, rules=rules)
    changed = [s.spec for s in resolve_all(settings.agents) if stored.fingerprints.get(s.spec) != s.fingerprint]
    if changed:
        raise BadInput(
            f"run {stored.run_id}: the code of {', '.join(changed)} has changed since it began: "
            "its battles would mix two players under one name; start a new run without --resume"
        )
    plan = Plan(settings.agents, pools, settings.battles, settings.seed)
    return Run(stored.run_id, settings, plan, stored.finished)


def resolve_all(specs: tuple[str, ...]) -> list[AgentSource]:
    """The agents of the specs; each only once."""
    sources = list({source.spec: source for source in map(resolve, specs)}.values())
    if len(sources) < 2:
        raise BadInput(
            f"agents: at least two different ones are needed to play, not {len(sources)}: name more, or --all"
        )
    return sources


def load_pools(settings: EvaluateSettings) -> tuple[dict[tuple[str, str], tuple[FixtureTeam, ...]], tuple[str, ...]]:
    """(format, team set) -> teams, in the order of the settings; and a line for each set with teams left out."""
    if settings.battles < 1:
        raise BadInput(f"battles {settings.battles}: at least 1 for each pairing and team set")
    pools: dict[tuple[str, str], tuple[FixtureTeam, ...]] = {}
    notes: list[str] = []
    for format_id in dict.fromkeys(settings.formats):
        chosen = get_format(format_id)
        if chosen.random:
            check_drawn(chosen.id)
            pools[chosen.id, DRAWN] = ()
            continue
        for name in dict.fromkeys(settings.team_sets):
            loaded = load_set(name, chosen.id, skip_invalid=settings.skip_invalid, seed=settings.seed)
            pools[chosen.id, name] = tuple(FixtureTeam(t.id, t.name, packed=t.packed) for t in loaded.teams)
            if loaded.skipped:
                notes.append(
                    f"{name}, {chosen.id}: {len(loaded.skipped)} teams left out, the first: {loaded.skipped[0]}"
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


async def play(
    run: Run,
    store: Store,
    *,
    workers: int,
    show: Callable[[Progress], None] = lambda progress: None,
    limit: int | None = None,
) -> tuple[Progress, bool]:
    """Plays what is left of a run; Ctrl-C and SIGTERM stop it cleanly. Returns the counts, and whether it was stopped.

    show(progress) is called four times a second. limit: only so many of its battles. Whatever happens, finished battles
    are in the store or its journal.
    """
    progress = Progress(total=min(len(run.plan), limit or len(run.plan)), done=len(run.done))
    settings = run.settings
    coordinator = Coordinator(WorkerSettings(run.run_id, settings.rules, settings.stock), workers, store.add, progress)
    everything = itertools.islice(round_robin(run.plan), limit)
    left = (fixture for fixture in everything if fixture.key not in run.done)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, coordinator.stop)
    background = [
        asyncio.ensure_future(_regularly(0.25, lambda: show(progress))),
        asyncio.ensure_future(_taking_in(store)),
    ]
    try:
        seconds = None if settings.minutes is None else settings.minutes * 60
        await coordinator.play(left, seconds=seconds)
    finally:
        for task in background:
            task.cancel()
        await asyncio.gather(*background, return_exceptions=True)
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
        store.take_in()
        store.end_run(run.run_id, "finished" if progress.done >= progress.total else "stopped")
    return progress, coordinator.stopping


async def _regularly(seconds: float, function: Callable[[], None]) -> None:
    while True:
        await asyncio.sleep(seconds)
        function()


async def _taking_in(store: Store) -> None:
    """Moves the journal into the database now and then; when a reader is in the file, the next time will do."""
    while True:
        await asyncio.sleep(TAKE_IN_SECONDS)
        # Shielded: a transaction under way when the run ends is waited for, never cut off.
        moving = asyncio.ensure_future(asyncio.to_thread(store.try_take_in))
        try:
            await asyncio.shield(moving)
        except asyncio.CancelledError:
            await moving
            raise


def default_workers() -> int:
    """As many as there are cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def new_run_id(store: Store) -> str:
    """The time to the second, with a letter behind it where that is taken."""
    stem = datetime.now().strftime("%Y%m%d-%H%M%S")
    candidates = (stem, *(stem + letter for letter in "bcdefghijklmnopqrstuvwxyz"))
    return next(candidate for candidate in candidates if not store.run_exists(candidate))


def git_state() -> str | None:
    """The commit of the working folder, "+" behind it when files have changed; None outside a checkout."""
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        commit = _git("rev-parse", "HEAD")
        return commit + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")
    return None


def _git(*words: str) -> str:
    command = ["git", "-C", str(showdown.PROJECT), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def versions() -> dict[str, Any]:
    """The versions that a battle depends on."""
    node = subprocess.run([showdown.node(), "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return {
        "arena": version("battle-arena"),
        "python": platform.python_version(),
        "node": node,
        "pokemon-showdown": showdown.version(),
        "poke-env": version("poke-env"),
    }
