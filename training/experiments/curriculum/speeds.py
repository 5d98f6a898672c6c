"""Speeds of battles and training steps, measured from stored battles, or from a few that are played and trained on now."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from scipy.special import stdtrit

from agents import resolve
from agents.coached import coached_parts
from agents.policy import checkpoint
from arena.run.costs import battle_costs
from arena.run.tournament import EvaluateSettings, play_into
from arena.schedules.plan import DRAWN
from arena.store import rows
from arena.venue import Rules
from teamsets.errors import BadInput
from training.data.build import build_once
from training.data.gates import Gates
from training.experiments.curriculum.config import Curriculum, Stage, training_config
from training.experiments.curriculum.measuring import Measuring
from training.experiments.curriculum.past_checkpoints import with_temperature
from training.experiments.curriculum.play import KIND, learner_spec, path_of, specs
from training.offline.config import Source
from training.runs.run_folder import json_lines

#: Minimum number of stored battles of a kind.
LEAST_BATTLES = 8
#: Battles per kind, and training steps, that are measured; the same in a quick plan.
BATTLES, STEPS = 8, 4
QUICK_BATTLES, QUICK_STEPS = 2, 2

Pairing = tuple[str, str]


class Spread(NamedTuple):
    """Variance of the costs of battles of one kind. squares: sum of squared relative deviations from their mean."""

    battles: int
    squares: float

    @classmethod
    def of(cls, costs: list[float]) -> Spread:
        mean = sum(costs) / len(costs)
        return cls(len(costs), sum((cost / max(mean, 1e-9) - 1) ** 2 for cost in costs))


@dataclass
class Speeds:
    """Measured speeds. Keys: `pairing(agent, opponent)`; values of `source`: "store" or "measured now".

    seconds: mean cost of a battle with the number of workers that was used; spreads: its variance. think_ms: median per
    decision, by `kind_of`. decisions: per side of a battle. battle_bytes: in the database; decision_bytes: in a dataset.
    step_seconds, checkpoint_bytes: of training. None if unknown.
    """

    seconds: dict[Pairing, float] = field(default_factory=dict)
    spreads: dict[Pairing, Spread] = field(default_factory=dict)
    source: dict[Pairing, str] = field(default_factory=dict)
    think_ms: dict[str, float] = field(default_factory=dict)
    decisions: float | None = None
    battle_bytes: float | None = None
    decision_bytes: float | None = None
    step_seconds: float | None = None
    step_source: str = ""
    checkpoint_bytes: int | None = None
    notes: list[str] = field(default_factory=list)

    def add_stored(self, db: Path, format_id: str, source: str, *, least: int = LEAST_BATTLES) -> None:
        """Add the speeds of a database's battles, for kinds with `least` battles or more that are not known yet."""
        costs_by_pairing: dict[Pairing, list[float]] = defaultdict(list)
        for cost in battle_costs(db, format_id):
            costs_by_pairing[pairing(cost.p1, cost.p2)].append(cost.seconds)
        for key, costs in costs_by_pairing.items():
            if len(costs) >= least and key not in self.seconds:
                self.seconds[key], self.source[key] = sum(costs) / len(costs), source
                self.spreads[key] = Spread.of(costs)
        self._sizes(db, format_id, least)

    def _sizes(self, db: Path, format_id: str, least: int) -> None:
        battles, decisions, log_bytes, decision_bytes = rows(
            "WITH mine AS (SELECT * FROM battles WHERE format = $1), said AS ("
            "SELECT count(*) AS n, "
            "sum(length(legal::VARCHAR) + length(choice) + coalesce(length(diagnostics), 0) + 24) AS size "
            "FROM decisions WHERE battle_id IN (SELECT battle_id FROM mine)) "
            "SELECT count(*), any_value(said.n), "
            "sum(octet_length(input_log) + octet_length(p1_log) + octet_length(p2_log)), any_value(said.size) "
            "FROM mine, said",
            db,
            [format_id],
        )[0]
        if battles >= least and self.decisions is None:
            self.decisions = decisions / battles / 2
            self.battle_bytes = float(log_bytes + decision_bytes) / battles
        for agent, median in rows(
            "SELECT agent, median(think_ms) FROM decisions JOIN results USING (battle_id, seat) "
            "WHERE format = ? GROUP BY agent",
            db,
            [format_id],
        ):
            self.think_ms.setdefault(kind_of(agent), float(median))

    def margin(self, key: Pairing) -> float | None:
        """Return half the width of the 95% interval of a kind's seconds, relative to them; None if unknown.

        From the relative variance pooled over all kinds, with Student's t for its degrees of freedom, because there are few
        battles of each kind.
        """
        freedom = sum(spread.battles - 1 for spread in self.spreads.values())
        if key not in self.spreads or not freedom:
            return None
        variance = sum(spread.squares for spread in self.spreads.values()) / freedom
        return float(stdtrit(freedom, 0.975)) * math.sqrt(variance / self.spreads[key].battles)


def kind_of(spec: str) -> str:
    """Return the key of agents with the same speed: all checkpoints are of one kind."""
    if parts := coached_parts(spec):
        return f"policy labelled by {parts['coach']}"
    return "policy" if spec.partition("?")[0].startswith("policy:") else spec


def pairing(agent: str, opponent: str) -> Pairing:
    """Return the key of two agents' battles, independent of their order."""
    first, second = sorted((kind_of(agent), kind_of(opponent)))
    return first, second


def measure(
    config: Curriculum, wanted: list[Pairing], base: str, scratch: Path, *, quick: bool, shown: Measuring
) -> Speeds:
    """Play some battles of each stage's learner and of the base against their opponents, and run some training steps.

    wanted: pairings to measure. base: its spec. Agents that cannot play are listed in the notes. quick: fewer battles.
    """
    speeds, pool = Speeds(), specs(config.pool.agents)
    groups: dict[str, list[str]] = {with_temperature(base, 0.7): [*pool, base]}
    groups |= {agent: pool[place:] for place, agent in enumerate(pool[:-1], 1)}
    stages = [stage for stage in config.stages if isinstance(stage, Stage)]
    for stage in stages:
        players = specs([each.agent for each in [*stage.opponents, *stage.coaches]])
        learner = learner_spec(base, stage)
        groups.setdefault(learner, []).extend([*players, *([base] if stage.past.weight else [])])
    db = scratch / "arena.duckdb"
    for learner, opponents in groups.items():
        unmeasured = [each for each in dict.fromkeys(opponents) if pairing(learner, each) in wanted]
        able = [each for each in unmeasured if _able(each, config.format, speeds.notes)]
        if able and _able(learner, config.format, speeds.notes):
            battles = QUICK_BATTLES if quick else BATTLES
            shown.begin(f"{kind_of(learner)} against {', '.join(map(kind_of, able))}", len(able))
            _play(config, learner, able, db, battles, shown)
            wanted = [key for key in wanted if key not in {pairing(learner, each) for each in able}]
    if db.exists():
        speeds.add_stored(db, config.format, "measured now", least=QUICK_BATTLES if quick else LEAST_BATTLES)
    if db.exists() and stages:
        steps = QUICK_STEPS if quick else STEPS
        shown.learning(steps)
        _learn(config, stages[0], base, db, speeds, steps)
    return speeds


def _able(spec: str, format_id: str, notes: list[str]) -> bool:
    lacks = resolve(spec).missing(format_id)
    if lacks:
        notes.append(f"{spec} cannot be measured: {lacks}")
    return not lacks


def _play(config: Curriculum, learner: str, opponents: list[str], db: Path, battles: int, shown: Measuring) -> None:
    teams = config.evaluate_on[:1] or config.held_out[:1] or [DRAWN]
    settings = EvaluateSettings(
        agents=(learner, *opponents),
        formats=(config.format,),
        team_sets=tuple(teams),
        battles=battles,
        rules=Rules(think_limit=config.think_limit),
        venue=config.venue,
        challengers=(learner,),
        anchor=learner,
    )
    play_into(db, settings, kind=KIND, workers=config.workers, show=shown.battles)


def _learn(config: Curriculum, stage: Stage, base: str, db: Path, speeds: Speeds, steps: int) -> None:
    """Measure some training steps of a stage on the battles just played."""
    from training.offline.trainer import train

    folder = db.parent / "data"
    dataset = build_once(db, "agent LIKE 'policy:%'", folder, Gates(), 0.0).datasets[0]
    speeds.decision_bytes = sum((folder / name).stat().st_size for name in dataset.names) / dataset.decisions
    settings = training_config(
        config, stage, out=db.parent / "run", parent=path_of(base), seed=0,
        sources=[Source(path=str(folder), weight=1)], validate_on=[],
    )  # fmt: skip
    tracking = settings.tracking.model_copy(update={"wandb": "disabled", "every": 1})
    length = settings.length.model_copy(update={"epochs": 1e6, "max_steps": steps})
    finished = train(settings.model_copy(update={"tracking": tracking, "length": length}))
    lines = json_lines(finished.folder / "metrics.jsonl")
    speed = [line["decisions_per_s"] for line in lines if "decisions_per_s" in line][-1]
    speeds.step_seconds = dataset.decisions / dataset.trajectories * settings.data.batch_size / speed
    speeds.step_source = "measured now"


def checkpoint_bytes(base: str) -> int | None:
    """Return a checkpoint's size including AdamW's two moments per weight; None if the base does not exist."""
    try:
        return 3 * (checkpoint.find(path_of(base)) / checkpoint.WEIGHTS).stat().st_size
    except BadInput:
        return None
