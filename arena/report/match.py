"""The result of a match: pentanomial counts, Elo difference with its interval, and the sequential test's decision."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from arena.fixture import FixtureTeam
from arena.ratings.pentanomial import Lead, match_summary, pair_counts
from arena.ratings.sprt import Sprt, SprtSettings, decide, llr, verdict
from arena.record import score
from arena.report.summary_types import EloLead, MatchReport, SprtSummary
from arena.schedules.match import Match
from arena.schedules.plan import Plan
from arena.schedules.schedule import Results
from arena.schedules.series import SeriesSchedule
from arena.store import rows


def match_of(db: Path, run_id: str) -> MatchReport | None:
    """The result of a run of `arena match`; None for any other run.

    Pairs are counted as the match itself counts them: complete ones in the order of the schedule, up to the pair that
    decided. Battles of the same two agents that belong to no pair of this match count for the ratings only.
    """
    ((config_text,),) = rows("SELECT config FROM runs WHERE run_id = ?", db, [run_id])
    config = orjson.loads(config_text)
    if config.get("schedule") != "match" or len(config.get("agents", [])) != 2 or "pools" not in config:
        return None
    settings = SprtSettings(**config["sprt"]) if config.get("sprt") else None
    first, second = config["agents"]
    counts = pair_counts(_points(db, run_id, config, settings))
    known = match_summary(counts)
    return {
        "agents": [first, second],
        "pairs": known.pairs,
        "battles": 2 * known.pairs,
        "unit": "battle" if config.get("best_of", 1) == 1 else "series",
        "points": known.points,
        "score": known.score,
        "pentanomial": list(known.counts),
        "elo": _lead(known.elo),
        "nelo": _lead(known.nelo),
        "los": known.los,
        "los_bound": known.los_is_bound,
        "draw_ratio": known.draw_ratio,
        "pair_ratio": known.pair_ratio,
        "sprt": None if settings is None else _test(first, second, float(llr(counts, settings)), settings),
    }


def settings_of(match: MatchReport) -> SprtSettings | None:
    """The settings of a match's test."""
    test = match["sprt"]
    if test is None:
        return None
    return SprtSettings(
        elo0=test["elo0"], elo1=test["elo1"], alpha=test["alpha"], beta=test["beta"], model=test["model"]
    )


def _test(first: str, second: str, value: float, settings: SprtSettings) -> SprtSummary:
    lower, upper = settings.bounds
    decision = decide(value, settings)
    return {
        "elo0": settings.elo0,
        "elo1": settings.elo1,
        "alpha": settings.alpha,
        "beta": settings.beta,
        "model": settings.model,
        "unit": settings.unit,
        "llr": round(value, 4),
        "lower": round(lower, 4),
        "upper": round(upper, 4),
        "decision": decision,
        "verdict": verdict(first, second, decision, settings),
    }


def _lead(lead: Lead) -> EloLead:
    value, low, high = (None if number is None else round(number, 2) for number in (lead.value, lead.low, lead.high))
    return {"value": value, "low": low, "high": high}


def _points(db: Path, run_id: str, config: dict[str, Any], settings: SprtSettings | None) -> list[float]:
    """The points of the first agent in each pair, by playing the stored results through the match's own schedule."""
    results, own = _results(db, run_id)
    ids = [team_id for _, _, pool in config["pools"] for team_id in pool]
    query = "SELECT team_id, name, packed, seed FROM teams WHERE list_contains(?, team_id)"
    teams = {row[0]: FixtureTeam(*row) for row in rows(query, db, [ids])}
    pools = {(format_id, name): tuple(teams[team_id] for team_id in pool) for format_id, name, pool in config["pools"]}
    best_of = config.get("best_of", 1)
    plan = Plan(tuple(config["agents"]), pools, config["battles"], config["seed"], best_of=best_of)
    match = Match(plan, results if best_of == 1 else {}, None if settings is None else Sprt(settings))
    schedule = match if best_of == 1 else SeriesSchedule(match, results)
    for fixture in schedule:
        if fixture is None:  # only battles that are not stored would go on
            break
        # A reused battle may belong to any later pair; a run's own battles are all that it has.
        if schedule.already_played >= own == len(results):
            break
    return match.points


def _results(db: Path, run_id: str) -> tuple[Results, int]:
    """The results of the battles that count for a run by their fixtures' keys, and how many of them are its own."""
    battles = rows(
        "SELECT key, winner, reason, run_id = $1 FROM battles "
        "WHERE run_id = $1 OR battle_id IN (SELECT battle_id FROM evidence WHERE run_id = $1)",
        db,
        [run_id],
    )
    return {key: score(winner, reason) for key, winner, reason, _ in battles}, sum(own for *_, own in battles)
