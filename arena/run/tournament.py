"""A run from its settings to its last battle: what `arena evaluate`, `match` and `battle` play. report/ shows it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from agents import AgentSource, resolve
from agents.engine import ALL_FORMATS, FORMATS, FORMATS_IN_WORDS, HOSTED_FORMATS
from arena.options import VenueName, default, limited
from arena.ratings.evidence import default_anchor
from arena.ratings.sprt import Sprt, SprtSettings
from arena.report.numbers import listed, unit_of
from arena.run.entrants import Pools, check_available, load_pools, resolve_all, stored_pools
from arena.run.lifecycle import mark_stopped_on_error, new_run, run_lifecycle
from arena.run.live_status import live_status
from arena.schedules.adaptive import Adaptive
from arena.schedules.match import Match
from arena.schedules.plan import Plan
from arena.schedules.schedule import KnownPair, Quotas, Results, RoundRobin, Schedule
from arena.schedules.series import SeriesSchedule
from arena.store import FINISHED, STOPPED, TIME_LIMIT, Store, open_store
from arena.validation import Settings, Texts
from arena.venue import Rules
from arena.venues.engine.availability import check_engine, on_engine
from arena.venues.isolation.describing import isolated_sources, sharing_note
from arena.workers.cluster.connection import Cluster, ThisMachine, connect_cluster
from arena.workers.coordinator import Coordinator
from arena.workers.progress import RunProgress
from arena.workers.worker_settings import WorkerSettings
from teamsets.errors import BadInput

Quota = Annotated[tuple[str, str, int], Field(strict=False)]


class EvaluateSettings(Settings):
    """Settings of a run. agents: specs; minutes: None for no limit; fresh: reuse no battles of earlier runs.

    schedule: "round-robin": `battles` for each pairing and team set; "adaptive": `budget` battles (None: until the time
    is up) where they shorten the intervals most; "match": two agents, at most `battles` on each team set, until the
    test `sprt` (None: all of them) is decided; "quotas": the first agent against each opponent as often as `quotas` says
    (opponent, team set, battles). challengers: play only pairings with one of them. anchor: rated 1000.
    same_luck: all challengers meet an opponent with the same teams and seeds. venue: "simulator", "server" or "engine", for
    the fixtures that can be played there. verify_every: one battle of the engine in so many is replayed on Showdown.
    isolate: each agent plays in a process of its own (arena/venues/isolation); the battles are the same. best_of: of the
    series that are played (arena/schedules/series.py), which `battles`, `budget`, `quotas` count then; 1: single battles.
    """

    agents: Texts
    formats: Texts = default("format")
    team_sets: Texts = default("teams")
    schedule: Literal["round-robin", "adaptive", "match", "quotas"] = "round-robin"
    battles: Annotated[int, limited("battles")] = default("battles")
    best_of: Annotated[int, limited("best_of")] = default("best_of")
    budget: Annotated[int | None, limited("budget")] = None
    minutes: Annotated[float | None, limited("minutes")] = None
    seed: Annotated[int, limited("seed")] = default("seed")
    rules: Rules = Rules()
    challengers: Texts = ()
    same_luck: bool = False
    anchor: str | None = None
    sprt: SprtSettings | None = None
    quotas: Annotated[tuple[Quota, ...], Field(strict=False)] = ()
    fresh: bool = False
    skip_invalid: bool = False
    stock: bool = False
    venue: VenueName = default("venue")
    verify_every: Annotated[int, limited("verify_every")] = default("verify_every")
    isolate: bool = False

    @model_validator(mode="after")
    def _has_odd_series(self) -> EvaluateSettings:
        if self.best_of % 2 == 0:
            raise BadInput(f"--best-of {self.best_of}: a series has an odd number of battles: give 3, 5, 7 or 9")
        return self


#: So many agents are named in a line about several.
_NAMED = 4


@dataclass(frozen=True)
class Run:
    """A run that is ready to be played.

    results: of its battles in the store, its own or reused from earlier runs. known: the reused pairs, which count too.
    """

    run_id: str
    settings: EvaluateSettings
    plan: Plan
    results: Results = field(default_factory=dict)
    known: tuple[KnownPair, ...] = ()
    notes: tuple[str, ...] = ()

    def schedule(self, limit: int | None = None) -> Schedule:
        """Returns its schedule from the start; stored battles are skipped. limit: at most so many battles or series."""
        if self.settings.best_of == 1:
            return self._planned(self.results, limit)
        return SeriesSchedule(self._planned({}, limit), self.results)

    def _planned(self, results: Results, limit: int | None) -> Schedule:
        settings = self.settings
        if settings.schedule == "adaptive":
            anchor = settings.anchor or default_anchor(self.plan.agents)
            return Adaptive(self.plan, results, anchor=anchor, budget=settings.budget, known=self.known)
        if settings.schedule == "match":
            return Match(self.plan, results, None if settings.sprt is None else Sprt(settings.sprt))
        if settings.schedule == "quotas":
            return Quotas(self.plan, results, settings.quotas)
        return RoundRobin(self.plan, results, limit)


@dataclass(frozen=True)
class PlayedRun:
    """The outcome of a run: its schedule, its counts, and its status as in the table `runs` (arena/store/schema.py)."""

    run: Run
    schedule: Schedule
    progress: RunProgress
    status: str

    @property
    def finished(self) -> bool:
        return self.status == FINISHED

    @property
    def stopped(self) -> bool:
        return self.status == STOPPED


def prepare(store: Store, settings: EvaluateSettings, kind: str = "evaluate") -> Run:
    """Checks the settings, loads teams, and records the run in the store. Raises BadInput that names the problem."""
    _check_venue(settings)
    resolver = _resolver(settings)
    sources = resolve_all(settings.agents, resolver)
    notes = tuple(
        f"{s.spec} is not repeatable: its battles may differ in another run" for s in sources if not s.repeatable
    )
    specs = tuple(source.spec for source in sources)
    if not settings.isolate and (sharing := sharing_note(specs)):
        notes += (sharing,)
    challengers = tuple(dict.fromkeys(resolver(spec).spec for spec in settings.challengers))
    anchor = default_anchor(specs) if settings.anchor is None else resolver(settings.anchor).spec
    if anchor not in specs:
        raise BadInput(f"anchor '{anchor}': does not play in this run; name one of {', '.join(specs)}")
    settings = settings.model_copy(update={"agents": specs, "challengers": challengers, "anchor": anchor})
    pools, skipped = load_pools(
        settings.formats, settings.team_sets, seed=settings.seed, skip_invalid=settings.skip_invalid
    )
    check_available(sources, settings.formats)
    plan = _plan(settings, sources, pools)
    notes += _not_on_engine(settings, plan)
    config = {
        **settings.model_dump(),
        "planned": _planned(settings, len(plan)),
        "pools": stored_pools(pools),
    }
    with new_run(store, kind, config, sources, pools) as run_id:
        if not settings.fresh:
            store.reuse_battles(run_id)
            notes += changed_note(*store.changed_since(run_id))
        return _run(store, run_id, settings, plan, notes + skipped)


def changed_note(battles: int, agents: list[str]) -> tuple[str, ...]:
    """The line about earlier battles that do not count because of changed code; none where there are no such battles."""
    if not battles:
        return ()
    return (f"{battles:,} battles of earlier runs are not counted: the code of {_named(agents)} has changed since",)


def _named(agents: Sequence[str]) -> str:
    """The first of some agents, and how many more there are."""
    return ", ".join(agents[:_NAMED]) + (f" and {len(agents) - _NAMED} more" if len(agents) > _NAMED else "")


def resume(store: Store, run_id: str | None, minutes: float | None, kind: str = "evaluate") -> Run:
    """The stored run (the latest of the kind when None), ready to continue for `minutes` (None: to its end).

    Its aborted battles will be played again.
    Raises BadInput if it cannot be continued as the same run.
    """
    stored = store.resume_run(run_id, kind)
    config = dict(stored.config)
    pools_config = config.pop("pools")
    config.pop("planned", None)
    teams = store.teams({team_id for _, _, ids in pools_config for team_id in ids})
    pools = {(f, s): tuple(teams[team_id] for team_id in ids) for f, s, ids in pools_config}
    try:
        settings = EvaluateSettings(**{**config, "minutes": minutes})
    except BadInput as error:
        raise BadInput(f"run {stored.run_id}: its stored settings cannot be resumed: {error}") from None
    _check_venue(settings)
    sources = resolve_all(settings.agents, _resolver(settings))
    check_available(sources, settings.formats)
    changed = [s.spec for s in sources if stored.fingerprints.get(s.spec) != s.fingerprint]
    if changed:
        raise BadInput(
            f"run {stored.run_id}: the code of {', '.join(changed)} has changed since it started, so its battles would mix "
            "two versions under one name; start a new run without --resume"
        )
    store.continue_run(stored.run_id, {**stored.config, "minutes": minutes})
    store.forget_aborted(stored.run_id)
    return _run(store, stored.run_id, settings, _plan(settings, sources, pools), ())


def _run(store: Store, run_id: str, settings: EvaluateSettings, plan: Plan, notes: tuple[str, ...]) -> Run:
    return Run(run_id, settings, plan, store.results(run_id), store.reused_pairs(run_id), notes)


def _plan(settings: EvaluateSettings, sources: Sequence[AgentSource], pools: Pools) -> Plan:
    return Plan(
        agents=settings.agents,
        pools=pools,
        battles=settings.battles,
        seed=settings.seed,
        challengers=frozenset(settings.challengers),
        same_luck=settings.same_luck,
        external_agents=frozenset(source.spec for source in sources if source.is_external),
        on_engine=on_engine(sources, settings.formats) if settings.venue == "engine" else frozenset(),
        batched_agents=frozenset(source.spec for source in sources if source.batched),
        best_of=settings.best_of,
    )


def _check_venue(settings: EvaluateSettings) -> None:
    """Raises BadInput where the venue cannot be used."""
    if settings.venue != "engine":
        return
    for option, given in (("--isolate", settings.isolate), ("--stock-simulator", settings.stock)):
        if given:
            raise BadInput(f"--venue engine {option}: the engine plays agents in batches: leave one of the two out")
    check_engine("--venue engine", settings.formats)


def _not_on_engine(settings: EvaluateSettings, plan: Plan) -> tuple[str, ...]:
    """The lines about battles of a run on the engine that are played in the simulator."""
    if settings.venue != "engine":
        return ()
    lines = []
    formats = [format_id for format_id in plan.formats if format_id not in ALL_FORMATS]
    if formats:
        lines.append(f"battles of {listed(formats)} are played in the simulator: the engine plays {FORMATS_IN_WORDS}")
    for of_engine, reason in ((FORMATS, "not an agent that acts on arrays"), (HOSTED_FORMATS, "an external program")):
        there = [format_id for format_id in plan.formats if format_id in of_engine]
        others = [agent for agent in plan.agents if any((each, agent) not in plan.on_engine for each in there)]
        if others:
            lines.append(f"battles of {listed(there)} with {_named(others)} are played in the simulator: {reason}")
    return tuple(lines)


def _planned(settings: EvaluateSettings, every: int) -> int | None:
    """How many battles a run comes to without a time limit; None where results decide it. every: of its plan."""
    if settings.best_of > 1:
        return None
    every_or_none = None if settings.sprt is not None else every
    return {"round-robin": every, "adaptive": settings.budget, "match": every_or_none}.get(settings.schedule)


def _resolver(settings: EvaluateSettings) -> Callable[[str], AgentSource]:
    """Spec -> source, for the agents that the settings name; in an isolated run without importing any but our own code."""
    if not settings.isolate:
        return resolve
    named = (*settings.agents, *settings.challengers, *filter(None, [settings.anchor]))
    return isolated_sources(named, settings.formats).__getitem__


async def play(
    run: Run,
    store: Store,
    *,
    workers: int | None = None,
    cluster: Cluster | None = None,
    show: Callable[[RunProgress], None] = lambda progress: None,
    limit: int | None = None,
) -> PlayedRun:
    """Plays the rest of a run; Ctrl-C and SIGTERM, once or repeatedly, stop it cleanly, as does cancelling its task.

    workers: processes of this machine, None for one per core; or cluster: where they live instead (arena/workers/cluster).
    show(progress) is called four times a second. limit: only so many of its battles. Whatever happens, finished battles
    are in the store or its journal.
    """
    schedule = run.schedule(limit)
    settings = run.settings
    progress = RunProgress(
        total=schedule.total,
        known=schedule.already_played,
        points=store.points(run.run_id),
        anchor=settings.anchor or default_anchor(run.plan.agents),
        unit=unit_of(settings.best_of),
    )
    if isinstance(schedule, SeriesSchedule):
        schedule.on_decided = lambda first, score: progress.count(first.format, first.agents, score)
    worker_settings = WorkerSettings(
        run.run_id, settings.rules, settings.stock, settings.venue, settings.isolate, settings.verify_every
    )
    machines = cluster or ThisMachine(workers)
    pool = machines.pool(worker_settings, lambda: resolve_all(settings.agents, _resolver(settings)), settings.formats)
    coordinator = Coordinator(pool, store.add, progress)

    seconds = None if settings.minutes is None else settings.minutes * 60
    with live_status(store.path, run.run_id, seconds) as status:

        def show_all() -> None:
            progress.remark = schedule.remark()
            status.show(progress)
            show(progress)

        async with run_lifecycle(store, run.run_id) as lifecycle:
            lifecycle.stop_with(coordinator.stop)
            lifecycle.repeat(0.25, show_all)
            finished = await coordinator.play(schedule, seconds=seconds, all_played=lifecycle.all_played)
            lifecycle.status = FINISHED if finished else STOPPED if coordinator.stopping else TIME_LIMIT
    progress.remark = schedule.remark()
    return PlayedRun(run, schedule, progress, lifecycle.status)


def match_of(played: PlayedRun) -> Match:
    """The schedule of a match, in which a series counts as one result."""
    schedule = played.schedule.planned if isinstance(played.schedule, SeriesSchedule) else played.schedule
    assert isinstance(schedule, Match)
    return schedule


def play_into(
    db: Path,
    settings: EvaluateSettings,
    *,
    kind: str = "evaluate",
    workers: int | None = None,
    on: str | None = None,
    cluster: Cluster | None = None,
    show: Callable[[RunProgress], None] = lambda progress: None,
    limit: int | None = None,
) -> PlayedRun:
    """Plays a new run into the database, from its preparation to its end, and returns the outcome: for scripts.

    kind: kept in `runs.kind`. workers: None for one per core. on: the machines, as `--on` takes them; or cluster: machines
    that have been reached already, such as a stand-in (arena/testing.py). show, limit: see `play`. Raises BadInput for
    settings that cannot be played, BeingPlayed if another process writes to the database, and what `play` raises.
    """
    reached = connect_cluster(on, workers) if cluster is None else nullcontext(cluster)
    with reached as machines, open_store(db) as store:
        run = prepare(store, settings, kind)
        with mark_stopped_on_error(store, run.run_id):
            return asyncio.run(play(run, store, cluster=machines, show=show, limit=limit))
