"""Acceptance tests of a checkpoint on held-out teams: against its parent by SPRT, and against the pool by rating."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arena.ratings.pentanomial import match_summary, pair_counts
from arena.ratings.sprt import SprtSettings
from arena.report.numbers import whole
from arena.run.tournament import EvaluateSettings, PlayedRun
from arena.schedules.match import Match
from arena.schedules.plan import DRAWN
from arena.venue import Rules
from teamsets.loading import count_shipped
from training.experiments.curriculum.compare import gathered, rating_change
from training.experiments.curriculum.config import Curriculum, OnlineStage, ParentGate, PoolGate, Stage, Test, team_sets
from training.experiments.curriculum.play import seed_of, specs

#: The shipped team set that is reserved for final tests.
FINAL_TEST_SET = "verdict"


def held_out(config: Curriculum) -> tuple[str, ...]:
    """Return the team sets of the gates."""
    return tuple(config.held_out) or (DRAWN,)


def measured_on(config: Curriculum) -> tuple[str, ...]:
    """Return the team sets on which kept checkpoints are evaluated."""
    return tuple(dict.fromkeys([*held_out(config), *config.evaluate_on]))


def final_test_sets(config: Curriculum) -> tuple[str, ...]:
    """Return the team sets of the final test: those named, or the shipped set `verdict`, or else the gates'."""
    if config.final_test.teams:
        return tuple(config.final_test.teams)
    used = {*measured_on(config), *team_sets(config)}
    there = config.held_out and FINAL_TEST_SET not in used and count_shipped(FINAL_TEST_SET, config.format)
    return (FINAL_TEST_SET,) if there else held_out(config)


def sprt_of(gate: Test) -> SprtSettings:
    return SprtSettings(elo0=gate.elo0, elo1=gate.elo1, alpha=gate.alpha, beta=gate.beta, model=gate.model)


def parent_test(stage: Stage | OnlineStage) -> ParentGate:
    """Return the test of one attempt at a stage: alpha is divided by the number of attempts (Bonferroni)."""
    parent_gate = stage.gate.parent
    return parent_gate.model_copy(update={"alpha": parent_gate.alpha / (1 + len(stage.retries))})


def match_settings(config: Curriculum, gate: Test, child: str, parent: str) -> EvaluateSettings:
    """Return the match of a checkpoint against an earlier one."""
    return EvaluateSettings(
        agents=(child, parent),
        formats=(config.format,),
        team_sets=held_out(config),
        schedule="match",
        battles=-(-gate.battles // len(held_out(config))),
        seed=seed_of(config, "held out"),
        rules=Rules(think_limit=config.think_limit),
        venue=config.venue,
        anchor=parent,
        sprt=sprt_of(gate),
    )


def final_test_settings(config: Curriculum, child: str, earlier: str) -> EvaluateSettings:
    """Return the final test: a match against an earlier checkpoint on teams and seeds that no gate has used.

    The gates' battles selected the checkpoint, so their results are biased in its favour.
    """
    team_sets = final_test_sets(config)
    return match_settings(config, config.final_test, child, earlier).model_copy(
        update={
            "team_sets": team_sets,
            "battles": -(-config.final_test.battles // len(team_sets)),
            "seed": seed_of(config, "verdict"),
            "fresh": True,
        }
    )


def pool_settings(config: Curriculum, checkpoint: str | None, team_sets: tuple[str, ...]) -> EvaluateSettings:
    """Return the run of a checkpoint against the pool, or of the pool's own battles (checkpoint None).

    The seed is fixed, so battles that a gate or the pool has played before are reused. All checkpoints play an opponent with
    the same teams and seeds, which removes their variance from the comparison of a child with its parent.
    """
    pool = tuple(specs(config.pool.agents))
    return EvaluateSettings(
        agents=pool if checkpoint is None else (checkpoint, *pool),
        formats=(config.format,),
        team_sets=team_sets,
        battles=config.pool.battles,
        seed=seed_of(config, "held out"),
        rules=Rules(think_limit=config.think_limit),
        venue=config.venue,
        challengers=() if checkpoint is None else (checkpoint,),
        same_luck=checkpoint is not None,
        anchor=config.pool.anchor,
    )


def match_result(require: str, played: PlayedRun) -> tuple[bool, str, dict[str, Any]]:
    """Return whether a finished match is passed, its summary as text, and its details."""
    match = played.schedule
    assert isinstance(match, Match) and match.test is not None
    decision = match.test.decision
    match_report = match_summary(pair_counts(match.points))
    passed = decision == "H1" or (require == "not H0" and decision is None and match.test.llr > 0)
    share = "" if match_report.score is None else f", {100 * match_report.score:.1f}% score"
    summary = f"{decision or 'undecided'} after {2 * match_report.pairs} battles{share}, LLR {match.test.llr:.2f}"
    details = {
        "decision": decision,
        "require": require,
        "llr": round(match.test.llr, 4),
        "pairs": match_report.pairs,
        "score": match_report.score,
        "counts": list(match_report.counts),
        "elo": match_report.elo.value,
        "low": match_report.elo.low,
        "high": match_report.elo.high,
    }
    return passed, summary, details


def pool_result(
    config: Curriculum, gate: PoolGate, db: Path, child: tuple[str, str], parent: tuple[str, str]
) -> tuple[bool, str, dict[str, Any]]:
    """Return whether the pool gate is passed, a summary, and details. child, parent: (spec, run against the pool)."""
    pool = specs(config.pool.agents)
    evidence = gathered(db, [child[1], parent[1]], held_out(config), [child[0], parent[0], *pool])
    change, low, high = rating_change(evidence, child[0], parent[0], specs([config.pool.anchor])[0])
    value = {"low": low, "estimate": change, "high": high}[gate.by if gate.by != "nothing" else "high"]
    passed = gate.by == "nothing" or value >= -gate.tolerance
    shown, *ends = (whole(value, signed=True) for value in (change, low, high))
    summary = f"{shown} Elo [{', '.join(ends)}] against the pool"
    return passed, summary, {"change": change, "low": low, "high": high, "by": gate.by, "tolerance": gate.tolerance}
