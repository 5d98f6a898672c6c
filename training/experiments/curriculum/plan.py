"""Cost estimate of a curriculum: battles, steps, disk space and time, from measured speeds.

The estimate is an upper bound without retries: gates play their maximum numbers of battles, every stage is kept at its first
attempt, and later stages with earlier data train on all of it. One side of each battle is assumed to win.
"""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from rich.table import Table

from arena.report.live import format_seconds
from arena.report.numbers import counted, duration
from arena.store import rows
from arena.terminal.commands import print_json
from arena.terminal.console import Console
from teamsets.errors import BadInput
from training.data.shards import BadData, opened
from training.experiments.curriculum import gate
from training.experiments.curriculum.config import Curriculum, OnlineStage, Stage, online_config, training_config
from training.experiments.curriculum.learn import needed
from training.experiments.curriculum.measuring import Measuring
from training.experiments.curriculum.past_checkpoints import with_temperature
from training.experiments.curriculum.play import apportioned, base_of, learner_spec, pinned, specs
from training.experiments.curriculum.speeds import Pairing, Speeds, checkpoint_bytes, measure, pairing
from training.experiments.curriculum.stage import Sides
from training.offline.config import Source
from training.offline.schedule import total_steps


@dataclass
class Step:
    """A row of the plan. meetings: battles by pairing. kept: trajectories in its datasets. unmeasured: time unknown."""

    stage: str
    what: str
    meetings: Counter[Pairing] = field(default_factory=Counter)
    steps: int = 0
    kept: int = 0
    unmeasured: bool = False

    @property
    def battles(self) -> int:
        return sum(self.meetings.values())


def planned(config: Curriculum, base: str) -> list[Step]:
    """Return all steps, if every stage is kept at its first attempt. base: the spec of the initial checkpoint."""
    pool = specs(config.pool.agents)
    sets, held_out = len(gate.measured_on(config)), len(gate.held_out(config))
    own = Counter({pairing(a, b): config.pool.battles * sets for i, a in enumerate(pool) for b in pool[i + 1 :]})
    steps = [
        Step("base", "pool against pool", own),
        Step("base", "against all", _each(base, pool, config.pool.battles * sets)),
    ]
    earlier = 0
    for number, stage in enumerate(config.stages):
        if isinstance(stage, OnlineStage):
            steps.append(_online(config, stage))
        else:
            meetings, sides = _played(config, stage, base)
            kept = round(sides * (1 - config.hold_out))
            steps.append(Step(stage.name, "play", meetings))
            steps.append(Step(stage.name, "learn", steps=_steps(config, stage, kept, earlier), kept=kept))
            earlier += kept
        if stage.gate.parent.require != "nothing":
            steps.append(Step(stage.name, "gate: parent, at most", _among(base, stage.gate.parent.battles)))
            if stage.gate.parent.best and number:  # in the first stage the best checkpoint is the parent
                steps.append(Step(stage.name, "gate: best, at most", _among(base, stage.gate.parent.battles)))
        gated = held_out if stage.gate.pool.by != "nothing" else 0
        if gated:
            steps.append(Step(stage.name, "gate: pool", _each(base, pool, config.pool.battles * gated)))
        if sets > gated:
            steps.append(Step(stage.name, "against all", _each(base, pool, config.pool.battles * (sets - gated))))
    if config.final_test.against:
        steps.append(
            Step("final test", f"against {config.final_test.against}, at most", _among(base, config.final_test.battles))
        )
    return steps


def show_plan(
    config: Curriculum, console: Console, *, calibrate: bool, quick: bool = False, as_json: bool = False
) -> None:
    """Print the plan. calibrate: measure speeds that the curriculum's database lacks. quick: with fewer battles.

    as_json: the steps with their costs (None: unknown) and the notes, on stdout.
    """
    speeds = Speeds()
    if config.db.exists():
        speeds.add_stored(config.db, config.format, "store")
        _stored_training(config, speeds)
    with tempfile.TemporaryDirectory() as scratch:
        here = config.model_copy(update={"out": scratch})
        try:
            base, there = pinned(base_of(here)), True
        except BadInput as error:
            base, there = f"policy:{config.base}", False
            speeds.notes.append(str(error))
        speeds.checkpoint_bytes = checkpoint_bytes(base)
        steps = planned(config, base)
        wanted = sorted({key for step in steps for key in step.meetings} - speeds.seconds.keys())
        if wanted and calibrate and there:
            console.print(f"measuring {counted(len(wanted), 'kind')} of battles with too few in the store")
            with Measuring(Console(stderr=True), len(wanted)) as shown:
                _add(speeds, measure(here, wanted, base, Path(scratch), quick=quick, shown=shown))
    if as_json:
        print_json({"steps": [_described(config, step, speeds) for step in steps], "notes": speeds.notes})
        return
    console.print(_steps_table(config, steps, speeds))
    console.print(_speeds_table(steps, speeds))
    if sentence := _interval(steps, speeds):
        console.print(sentence, soft_wrap=True, markup=False, highlight=False)
    for note in dict.fromkeys(speeds.notes):
        console.print(f"Note: {note}", soft_wrap=True, markup=False, highlight=False)


def _online(config: Curriculum, stage: OnlineStage) -> Step:
    """Return the row of online training, whose speed is not measured beforehand: its metrics show it while it runs."""
    settings = online_config(config, stage, out=Path(config.out), parent=config.base_found, seed=0)
    return Step(stage.name, f"learn online, {settings.iterations:,} iterations", unmeasured=True)


def _each(agent: str, opponents: Iterable[str], battles: int) -> Counter[Pairing]:
    return Counter({pairing(agent, opponent): battles for opponent in opponents})


def _among(base: str, battles: int) -> Counter[Pairing]:
    """Return battles between two checkpoints."""
    return Counter({pairing(base, base): battles})


def _played(config: Curriculum, stage: Stage, base: str) -> tuple[Counter[Pairing], float]:
    """Return a stage's battles by pairing, and the number of their sides that are trained on."""
    learner, meetings, sides = learner_spec(base, stage), Counter[Pairing](), 0.0
    players = [(spec, each.weight) for each in [*stage.opponents, *stage.coaches] for spec in specs([each.agent])]
    if stage.past.weight:
        players.append((with_temperature(base, stage.past.temperature), stage.past.weight))
    coaches = set(specs([coach.agent for coach in stage.coaches]))
    learn = stage.learn_from
    pairs = apportioned([weight for _, weight in players], (stage.battles + 1) // 2)
    for (spec, _), count in zip(players, pairs, strict=True):
        meetings[pairing(learner, spec)] += 2 * count
        sides += 2 * count * (_share(learn.learner) + _share(learn.coaches) * (spec in coaches))
    return meetings, sides


def _share(sides: Sides) -> float:
    """Return the fraction of sides that are trained on, if half of them won."""
    return {"any": 1.0, "won": 0.5}[needed(sides)] if sides.used else 0.0


def _steps(config: Curriculum, stage: Stage, kept: int, earlier: int) -> int:
    settings = training_config(
        config, stage, out=Path(config.out), parent=config.base_found, seed=0,
        sources=[Source(path="?", weight=1)], validate_on=[],
    )  # fmt: skip
    others = 0
    for source in stage.learn_from.also:
        try:
            others += opened(Path(source.path)).trajectories
        except BadData as error:
            raise BadData(f"stage {stage.name}: learn_from.also: {error}") from None
    return total_steps(settings, kept + others + (earlier if stage.learn_from.earlier else 0))


def _stored_training(config: Curriculum, speeds: Speeds) -> None:
    """Set the seconds per training step from this curriculum's finished training runs."""
    seconds, steps = rows(
        "SELECT sum(seconds), sum(steps) FROM (SELECT sum(seconds) AS seconds, max(steps) AS steps FROM costs "
        "WHERE curriculum = ? AND phase = 'learn' GROUP BY stage, attempt HAVING max(steps) > 0)",
        config.db,
        [config.name],
    )[0]
    if steps:
        speeds.step_seconds, speeds.step_source = float(seconds) / float(steps), "store"


def _add(speeds: Speeds, measured: Speeds) -> None:
    """Add measurements where the database has none."""
    speeds.seconds |= {key: value for key, value in measured.seconds.items() if key not in speeds.seconds}
    speeds.spreads = {**measured.spreads, **speeds.spreads}
    speeds.source = {**measured.source, **speeds.source}
    speeds.think_ms = {**measured.think_ms, **speeds.think_ms}
    for name in ("decisions", "battle_bytes", "decision_bytes", "step_seconds"):
        if getattr(speeds, name) is None:
            setattr(speeds, name, getattr(measured, name))
    speeds.step_source = speeds.step_source or measured.step_source
    speeds.notes += measured.notes


def _seconds(step: Step, speeds: Speeds) -> float | None:
    known = [n * speeds.seconds[key] for key, n in step.meetings.items() if key in speeds.seconds]
    if step.unmeasured or len(known) < len(step.meetings) or (step.steps and speeds.step_seconds is None):
        return None
    return sum(known) + step.steps * (speeds.step_seconds or 0.0)


def _interval(steps: list[Step], speeds: Speeds) -> str:
    """Return a sentence with the interval of the total time of the battles; empty if a kind is not measured.

    Errors of different kinds of battles are independent, and all battles of a kind have the same relative error.
    """
    meetings = sum((step.meetings for step in steps), Counter[Pairing]())
    margins = {key: speeds.margin(key) for key in meetings}
    if not meetings or not speeds.seconds.keys() >= meetings.keys():
        return ""
    total = math.fsum(number * speeds.seconds[key] for key, number in meetings.items())
    parts = [number * speeds.seconds[key] * margin for key, number in meetings.items() if (margin := margins[key])]
    share = math.sqrt(math.fsum(part * part for part in parts)) / max(total, 1e-9)
    low, high = format_seconds(total * math.exp(-share)), format_seconds(total * math.exp(share))
    fewest = min(speeds.spreads[key].battles for key in meetings)
    return f"Battles take {format_seconds(total)} [{low}, {high}] by {fewest} or more of each kind (95% interval)"


def _bytes(config: Curriculum, step: Step, speeds: Speeds) -> float | None:
    if step.battles:
        return None if speeds.battle_bytes is None else step.battles * speeds.battle_bytes
    if speeds.decision_bytes is None or speeds.decisions is None or speeds.checkpoint_bytes is None:
        return None
    keep = config.training["checkpoints"]["keep"] + 1
    return step.kept * speeds.decisions * speeds.decision_bytes + keep * speeds.checkpoint_bytes


def _described(config: Curriculum, step: Step, speeds: Speeds) -> dict[str, object]:
    return {
        "stage": step.stage,
        "what": step.what,
        "battles": step.battles,
        "steps": step.steps,
        "bytes": _bytes(config, step, speeds),
        "seconds": _seconds(step, speeds),
    }


def _steps_table(config: Curriculum, steps: list[Step], speeds: Speeds) -> Table:
    table = Table(title=f"{config.name}: upper bounds of the costs; each retry adds those of its stage again")
    for head in ("stage", "what", "battles", "steps", "disk", "time"):
        table.add_column(head, justify="left" if head in ("stage", "what") else "right")
    times = [_seconds(step, speeds) for step in steps]
    sizes = [_bytes(config, step, speeds) for step in steps]
    before = ""
    for step, seconds, size in zip(steps, times, sizes, strict=True):
        table.add_row(
            step.stage if step.stage != before else "", step.what,
            f"{step.battles:,}" if step.battles else "", f"{step.steps:,}" if step.steps else "", _size(size),
            "not measured" if seconds is None else format_seconds(seconds),
        )  # fmt: skip
        before = step.stage
    table.add_section()
    table.add_row(
        "in all", "", f"{sum(step.battles for step in steps):,}", f"{sum(step.steps for step in steps):,}",
        _least(sizes, _size), _least(times, format_seconds),
    )  # fmt: skip
    return table


def _least(values: list[float | None], text_of: object) -> str:
    """Format the sum, with "at least" if a part is unknown."""
    assert callable(text_of)
    known = [value for value in values if value is not None]
    if not known:
        return "not measured"
    return f"{'at least ' if len(known) < len(values) else ''}{text_of(math.fsum(known))}"


def _size(size: float | None) -> str:
    if size is None:
        return "not measured"
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"


def _speeds_table(steps: list[Step], speeds: Speeds) -> Table:
    """Return the table of the speeds that the estimate uses."""
    table = Table(title="Speeds used for the estimate")
    for head in ("who", "battles/s", "ms per decision", "from"):
        table.add_column(head, justify="left" if head in ("who", "from") else "right")
    for key in sorted({key for step in steps for key in step.meetings}):
        thought = " and ".join(
            duration(speeds.think_ms[kind]) if kind in speeds.think_ms else "–" for kind in dict.fromkeys(key)
        )
        rate = "–"
        if key in speeds.seconds:
            rate, margin = f"{1 / speeds.seconds[key]:.2f}", speeds.margin(key)
            if margin is not None:
                low, high = (math.exp(sign * margin) / speeds.seconds[key] for sign in (-1, 1))
                rate += f" [{low:.2f}, {high:.2f}]"
        table.add_row(" against ".join(key), rate, thought, speeds.source.get(key, "not measured"))
    step = speeds.step_seconds
    table.add_row(
        "one training step", "", "" if step is None else duration(1000 * step), speeds.step_source or "not measured"
    )
    return table
