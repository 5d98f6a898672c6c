"""Evaluation battles of a checkpoint during training, on Showdown or on the engine.

On Showdown it is rated with a fixed pool, and all battles are stored. The pool's own battles are played once and reused for
later checkpoints, so that all are rated on the same scale. On the engine it plays thousands of battles in pairs against each
opponent, of which only the scores are kept (engine_pairs.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents import AgentSource
from agents.engine import ALL_FORMATS, FORMATS_IN_WORDS
from arena.options import VenueName
from arena.ratings.pentanomial import MatchSummary, match_summary, pair_counts
from arena.report.summary import summarize
from arena.report.summary_types import ReportSummary
from arena.run.entrants import check_available, resolve_each
from arena.run.tournament import EvaluateSettings, Run, play_into
from arena.schedules.plan import numbered_pair
from arena.schedules.schedule import Results
from arena.store import open_store
from arena.venues.engine.availability import check_engine
from teamsets.errors import ArenaError, BadInput
from training.runs.common_settings import EvaluationBattles, EvaluationSettings


class BattlesStopped(ArenaError):
    """Ctrl-C has ended a run that training waits for. What is finished is stored; the message says how to resume."""


@dataclass(frozen=True)
class EvaluationResult:
    """rating: by which the best checkpoint is selected; rated_by: what it is: "rating", the mean Elo over the formats, or
    "score", the mean score in %, on the engine.

    details: JSON-serializable; metrics: the same, flat; summary: one line of text.
    """

    rating: float
    details: dict[str, Any]
    metrics: dict[str, float]
    summary: str
    rated_by: str = "rating"


@dataclass(frozen=True)
class BattleBlock:
    """The pairs against one opponent on one team set. scores: of each pair, from 0 to 1; None if a battle was aborted."""

    format: str
    team_set: str
    opponent: str
    scores: list[float | None]


def score_of(blocks: Sequence[BattleBlock]) -> MatchSummary:
    """The score in all pairs of these blocks; its interval is from the spread between pairs."""
    return match_summary(pair_counts(2 * score for block in blocks for score in block.scores if score is not None))


def check_evaluation(evaluation: EvaluationBattles) -> None:
    """Raise BadInput that names an opponent that cannot play where the evaluation does."""
    sources = resolve_each(tuple(evaluation.opponents))
    if evaluation.venue == "engine":
        check_on_engine(sources, evaluation.formats, "set evaluation.venue: showdown")
    else:
        check_available(sources, tuple(evaluation.formats))


def check_on_engine(sources: list[AgentSource], formats: Sequence[str], otherwise: str) -> None:
    """Raise BadInput for an agent or a format that the engine cannot play. otherwise: what else to do, for the message."""
    for format_id in formats:
        if format_id not in ALL_FORMATS:
            raise BadInput(f"format '{format_id}': the engines play {FORMATS_IN_WORDS}: {otherwise}")
    check_engine("evaluation on the engine", formats)
    for source in sources:
        if source.is_external:
            raise BadInput(
                f"agent '{source.spec}': an external program, which does not play on the engine: {otherwise}"
            )
    check_available(sources, tuple(formats))


def evaluate_checkpoint(evaluation: EvaluationSettings, spec: str, device: str = "auto") -> EvaluationResult:
    """Play the checkpoint `spec` against the pool, in each format and on each team set. Raises BadInput.

    device: of the network, where it plays in this process (on the engine).
    """
    if evaluation.venue == "engine":
        return _score_result(paired_blocks(evaluation, spec, device))
    settings = EvaluateSettings(
        agents=(spec, *evaluation.opponents),
        formats=tuple(evaluation.formats),
        team_sets=tuple(evaluation.teams),
        battles=evaluation.battles,
        seed=evaluation.seed,
        anchor=evaluation.opponents[0],
    )
    db = Path(evaluation.database)
    run_id = play_into(db, settings, kind="training", workers=evaluation.workers).run.run_id
    return _result(summarize(db, run_id), spec, run_id)


def paired_blocks(evaluation: EvaluationBattles, spec: str, device: str = "auto") -> list[BattleBlock]:
    """Play the pairs of `spec` against each opponent, on each team set: all players get the same teams and seeds.

    Raises BadInput, and BattlesStopped. device: see `evaluate_checkpoint`.
    """
    if len(resolve_each((spec, *evaluation.opponents))) != 1 + len(evaluation.opponents):
        raise BadInput(f"evaluation.opponents: one is listed twice, or is {spec} itself: name others")
    if evaluation.venue == "showdown":
        return stored_blocks(evaluation, spec, kind="ablation")
    check_evaluation(evaluation)
    from training.runs.engine_pairs import play_pairs

    return play_pairs(
        spec,
        evaluation.opponents,
        formats=evaluation.formats,
        team_sets=evaluation.teams,
        battles=evaluation.battles,
        seed=evaluation.seed,
        device=device,
    )


def stored_blocks(
    evaluation: EvaluationBattles, spec: str, *, kind: str, venue: VenueName = "simulator"
) -> list[BattleBlock]:
    """Play the pairs of `spec` into `evaluation.database`, or take them from there: `paired_blocks` of any agents.

    kind: kept in `runs.kind`. Raises BadInput, and BattlesStopped.
    """
    settings = EvaluateSettings(
        agents=(spec, *evaluation.opponents),
        formats=tuple(evaluation.formats),
        team_sets=tuple(evaluation.teams),
        battles=evaluation.battles,
        seed=evaluation.seed,
        challengers=(spec,),
        same_luck=True,
        anchor=evaluation.opponents[0],
        venue=venue,
    )
    db = Path(evaluation.database)
    played = play_into(db, settings, kind=kind, workers=evaluation.workers)
    if not played.finished:
        raise BattlesStopped("stopped: finished battles are stored; run the same command again to resume")
    run = played.run
    with open_store(db) as store:
        results = store.results(run.run_id)
    return [
        BattleBlock(*pool, opponent, _scores(run, pool, opponent, results))
        for pool in run.plan.pools
        for opponent in run.plan.agents[1:]
    ]


def _scores(run: Run, pool: tuple[str, str], opponent: str, results: Results) -> list[float | None]:
    scores: list[float | None] = []
    for number in range(run.plan.pairs):
        fixture, mirrored = numbered_pair(run.plan, pool, (run.plan.agents[0], opponent), number)
        first, second = results[fixture.key], results[mirrored.key]
        scores.append(None if first is None or second is None else (first + 1 - second) / 2)
    return scores


def score_text(score: MatchSummary) -> str:
    """A score in % with its interval."""
    if score.score is None:
        return "no pair of battles could be played to its end"
    return f"{100 * score.score:.1f}% [{', '.join(f'{100 * end:.1f}' for end in score.interval)}]"


def _score_result(blocks: Sequence[BattleBlock]) -> EvaluationResult:
    """In each format the score in all pairs, and against each opponent."""
    details: dict[str, Any] = {"venue": "engine", "formats": {}}
    metrics: dict[str, float] = {}
    texts = []
    for name in dict.fromkeys(block.format for block in blocks):
        of_format = [block for block in blocks if block.format == name]
        by_opponent = {
            opponent: score_of([block for block in of_format if block.opponent == opponent])
            for opponent in dict.fromkeys(block.opponent for block in of_format)
        }
        total, against = score_of(of_format), {opponent: _cell(score) for opponent, score in by_opponent.items()}
        details["formats"][name] = {**_cell(total), "against": against}
        metrics |= {f"evaluation/{name}/{key}": _cell(total)[key] for key in ("score", "low", "high")}
        metrics |= {f"evaluation/{name}/against {other}": cell["score"] for other, cell in against.items()}
        shown = ", ".join(f"{other} {score_text(score)}" for other, score in by_opponent.items())
        texts.append(f"{name} {score_text(total)} in {2 * total.pairs:,} battles ({shown})")
    scores = [part["score"] for part in details["formats"].values()]
    return EvaluationResult(100 * sum(scores) / len(scores), details, metrics, f"scored {'; '.join(texts)}", "score")


def _cell(score: MatchSummary) -> dict[str, Any]:
    if score.score is None:
        raise ArenaError(f"evaluation on the engine: {score_text(score)}")
    low, high = score.interval
    return {"score": score.score, "low": low, "high": high, "battles": 2 * score.pairs, "pairs": list(score.counts)}


def _result(summary: ReportSummary, spec: str, run_id: str) -> EvaluationResult:
    details: dict[str, Any] = {"run": run_id, "formats": {}}
    metrics: dict[str, float] = {}
    ratings_text = []
    for part in summary["formats"]:
        name = part["format"]
        row = next(row for row in part["ranking"] if row["agent"] == spec)
        against = {
            cell["opponent"]: {key: cell[key] for key in ("score", "low", "high", "battles")}
            for cell in part["cross"]
            if cell["agent"] == spec
        }
        details["formats"][name] = {**{key: row[key] for key in ("elo", "low", "high", "games")}, "against": against}
        metrics |= {f"evaluation/{name}/{key}": row[key] for key in ("elo", "low", "high") if row[key] is not None}
        metrics |= {f"evaluation/{name}/against {other}": cell["score"] for other, cell in against.items()}
        ratings_text.append(f"{name} {row['elo']:.0f} [{row['low']:.0f}, {row['high']:.0f}]")
    ratings = [part["elo"] for part in details["formats"].values()]
    return EvaluationResult(sum(ratings) / len(ratings), details, metrics, f"rated {', '.join(ratings_text)}")
