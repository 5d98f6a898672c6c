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
    names = [one.variant for one in measured.plan]
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
                "variant": one.variant,
                "sizes": one.sizes,
                "data": one.data,
                **_score(overall.scores[place]),
                "against": {name: _score(found.scores[place]) for name, found in against.items()},
                "on": {name: _score(found.scores[place]) for name, found in on.items()},
                "cells": [
                    {"seed": seed, "player": player, **_cell(measured, place, number)}
                    for number, (seed, player) in enumerate(
                        zip(ablation.seeds, measured.players[one.variant], strict=True)
                    )
                ],
            }
            for place, one in enumerate(measured.plan)
        ],
        "differences": [
            {
                "better": names[one.better], "worse": names[one.worse], "points": one.points,
                "low": one.low, "high": one.high, "clear": one.clear,
            }
            for one in overall.differences
        ],
        "sentences": sentences(names, overall, len(ablation.seeds)),
        "notes": notes(ablation, measured),
    }  # fmt: skip


def sentences(names: list[str], found: Findings, seeds: int) -> list[str]:
    """Return the conclusions: all significant differences, or that there is none, and caveats about few seeds."""
    said = [_better(names, one, seeds) for one in found.differences if one.clear]
    others = [one for one in found.differences if not one.clear]
    if others:
        reach = max(max(abs(one.low), abs(one.high)) for one in others)
        between = " between the others" if said else ""
        size = counted(seeds, "seed")
        said.append(
            f"No significant difference{between} at this size ({size} each): the intervals contain differences up to "
            f"{100 * reach:.1f} percentage points."
        )
    if seeds == 1:
        said.append(
            "With one seed each the variance between seeds is unknown: the intervals cover sampling of the battles only, "
            "and the result holds for these networks, not for the settings that they were trained with."
        )
    elif seeds == 2:
        said.append(
            "With two seeds each the variance between seeds is poorly estimated, which makes the intervals wide."
        )
    return said


def _better(names: list[str], one: VariantDifference, seeds: int) -> str:
    better, worse = f"`{names[one.better]}`", f"`{names[one.worse]}`"
    if seeds == 1:
        better, worse = f"The network of {better}", f"that of {worse}"
    interval = f"[{100 * one.low:.1f}, {100 * one.high:.1f}]"
    return f"{better} is better than {worse} by {100 * one.points:.1f} percentage points {interval}."


def notes(ablation: Ablation, measured: Measured) -> list[str]:
    """Return the notes below the table."""
    said = [unequal(measured.plan)] if unequal(measured.plan) else []
    if measured.left_out:
        said.append(f"{counted(measured.left_out, 'pair')} left out: a battle of some checkpoint was aborted.")
    if len(measured.plan) > 2:
        said.append("Significance is at a false discovery rate of 5% (Benjamini-Hochberg).")
    said.append(
        f"Scores are in %; a tie counts as half a win. Every checkpoint ({ablation.evaluation.checkpoint}) played the same "
        f"{counted(len(measured.blocks), 'pair')} of battles, with the same teams and seeds."
    )
    return said


def unequal(plan: list[Planned]) -> str:
    """Return a sentence that lists the sizes in which variants differ; empty if there is none."""
    parts = []
    for size in ("parameters", "decisions", "battles", "processed", "steps", "batch"):
        values = {one.variant: one.sizes[size] for one in plan if size in one.sizes}
        if values and max(values.values()) > 1.02 * min(values.values()):
            parts.append(f"{size} ({', '.join(f'{name} {value:,}' for name, value in values.items())})")
    return f"Not equal: {'; '.join(parts)}." if parts else ""


def _against(measured: Measured, of: list[str], name: str) -> Findings:
    """Return the findings on the blocks of one opponent (or team set)."""
    mine = [block for block, one in enumerate(of) if one == name]
    chosen = np.isin(measured.blocks, mine)
    _, blocks = np.unique(measured.blocks[chosen], return_inverse=True)
    return findings(measured.scores[:, :, chosen], blocks)


def _cell(measured: Measured, place: int, number: int) -> dict[str, Any]:
    """Return the score of one checkpoint; its interval covers sampling of the battles only."""
    one = measured.scores[place : place + 1, number : number + 1]
    return _score(findings(one, measured.blocks).scores[0])


def _score(one: EstimatedScore) -> dict[str, float]:
    return {"score": one.score, "low": one.low, "high": one.high}
