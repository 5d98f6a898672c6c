"""The results of an ablation, as data and as conclusions."""

from __future__ import annotations

from typing import Any

import numpy as np

from arena.report.numbers import counted
from training.experiments.ablation.cells import Planned
from training.experiments.ablation.config import Ablation
from training.experiments.ablation.run import Measured
from training.experiments.ablation.statistics import EstimatedScore, Findings, VariantDifference, findings

ALL = "all"


def results(ablation: Ablation, measured: Measured) -> dict[str, Any]:
    """Return the results of an ablation, JSON-serializable. Scores are from 0 to 1."""
    names = [planned.variant for planned in measured.plan]
    opponents = list(dict.fromkeys(measured.opponents))
    overall = findings(measured.scores, measured.blocks)
    against = {name: _against(measured, measured.opponents, name) for name in opponents}
    on = {name: _against(measured, measured.team_sets, name) for name in dict.fromkeys(measured.team_sets)}
    return {
        "name": ablation.name,
        "seeds": ablation.seeds,
        "equal": ablation.equal,
        "opponents": opponents,
        "pairs": len(measured.blocks),
        "left_out": measured.left_out,
        "battles": 2 * int(measured.scores.size),
        "seed_luck": overall.scores[0].seed_luck,
        "variants": [
            {
                "variant": planned.variant,
                "sizes": planned.sizes,
                "data": planned.data,
                **_score(overall.scores[place]),
                "against": {name: _score(result.scores[place]) for name, result in against.items()},
                "on": {name: _score(result.scores[place]) for name, result in on.items()},
                "cells": [
                    {"seed": seed, "player": player, **_cell(measured, place, number)}
                    for number, (seed, player) in enumerate(
                        zip(ablation.seeds, measured.players[planned.variant], strict=True)
                    )
                ],
            }
            for place, planned in enumerate(measured.plan)
        ],
        "differences": [
            {
                "better": names[difference.better], "worse": names[difference.worse], "points": difference.points,
                "low": difference.low, "high": difference.high, "clear": difference.clear,
            }
            for difference in overall.differences
        ],
        "sentences": sentences(names, overall, len(ablation.seeds)),
        "notes": notes(ablation, measured),
    }  # fmt: skip


def sentences(names: list[str], compared: Findings, seeds: int) -> list[str]:
    """Return the conclusions: all significant differences, or that there is none, and caveats about few seeds."""
    conclusions = [_better(names, difference, seeds) for difference in compared.differences if difference.clear]
    others = [difference for difference in compared.differences if not difference.clear]
    if others:
        reach = max(max(abs(difference.low), abs(difference.high)) for difference in others)
        between = " between the others" if conclusions else ""
        size = counted(seeds, "seed")
        conclusions.append(
            f"No significant difference{between} at this size ({size} each): the intervals contain differences up to "
            f"{100 * reach:.1f} percentage points."
        )
    if seeds == 1:
        conclusions.append(
            "With one seed each the variance between seeds is unknown: the intervals cover sampling of the battles only, "
            "and the result holds for these networks, not for the settings that they were trained with."
        )
    elif seeds == 2:
        conclusions.append(
            "With two seeds each the variance between seeds is poorly estimated, which makes the intervals wide."
        )
    return conclusions


def _better(names: list[str], difference: VariantDifference, seeds: int) -> str:
    better, worse = f"`{names[difference.better]}`", f"`{names[difference.worse]}`"
    if seeds == 1:
        better, worse = f"The network of {better}", f"that of {worse}"
    interval = f"[{100 * difference.low:.1f}, {100 * difference.high:.1f}]"
    return f"{better} is better than {worse} by {100 * difference.points:.1f} percentage points {interval}."


def notes(ablation: Ablation, measured: Measured) -> list[str]:
    """Return the notes below the table."""
    lines = [unequal(measured.plan)] if unequal(measured.plan) else []
    if measured.left_out:
        lines.append(f"{counted(measured.left_out, 'pair')} left out: a battle of some checkpoint was aborted.")
    if len(measured.plan) > 2:
        lines.append("Significance is at a false discovery rate of 5% (Benjamini-Hochberg).")
    lines.append(
        f"Scores are in %; a tie counts as half a win. Every checkpoint ({ablation.evaluation.checkpoint}) played the same "
        f"{counted(len(measured.blocks), 'pair')} of battles, with the same teams and seeds."
    )
    return lines


def unequal(plan: list[Planned]) -> str:
    """Return a sentence that lists the sizes in which variants differ; empty if there is none."""
    parts = []
    for size in ("parameters", "decisions", "battles", "processed", "steps", "batch"):
        values = {planned.variant: planned.sizes[size] for planned in plan if size in planned.sizes}
        if values and max(values.values()) > 1.02 * min(values.values()):
            parts.append(f"{size} ({', '.join(f'{name} {value:,}' for name, value in values.items())})")
    return f"Not equal: {'; '.join(parts)}." if parts else ""


def _against(measured: Measured, of: list[str], name: str) -> Findings:
    """Return the findings on the blocks of one opponent (or team set)."""
    mine = [block for block, each in enumerate(of) if each == name]
    chosen = np.isin(measured.blocks, mine)
    _, blocks = np.unique(measured.blocks[chosen], return_inverse=True)
    return findings(measured.scores[:, :, chosen], blocks)


def _cell(measured: Measured, place: int, number: int) -> dict[str, Any]:
    """Return the score of one checkpoint; its interval covers sampling of the battles only."""
    scores = measured.scores[place : place + 1, number : number + 1]
    return _score(findings(scores, measured.blocks).scores[0])


def _score(estimate: EstimatedScore) -> dict[str, float]:
    return {"score": estimate.score, "low": estimate.low, "high": estimate.high}
