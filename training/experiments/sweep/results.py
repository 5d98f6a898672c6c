"""The results of a sweep, as data and as conclusions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.report.numbers import counted
from training.experiments.sweep.config import Sweep, base_settings
from training.experiments.sweep.final import BASE, BEST
from training.experiments.sweep.measuring import trial_folder
from training.experiments.sweep.study import TrialRecord


def best_of(records: Sequence[TrialRecord]) -> TrialRecord | None:
    """Return the complete trial with the highest Elo, the first of several; None if no trial is complete."""
    complete = [record for record in records if record.state == "complete" and record.elo is not None]
    return max(complete, key=lambda record: record.elo or 0.0, default=None)


def results_of(
    sweep: Sweep, records: Sequence[TrialRecord], importances: dict[str, float] | None, final: dict[str, Any]
) -> dict[str, Any]:
    """Return the results, JSON-serializable; scores are from 0 to 1.

    trials: as drawn. best: number of the best trial. measurements: what is known of it: by which battles and runs, and
    whether they have chosen it. importances: setting -> share; None with too few trials.
    """
    evaluation = sweep.evaluation
    best = final["trial"]
    return {
        "name": sweep.name,
        "space": list(sweep.space),
        "opponents": evaluation.opponents,
        "formats": evaluation.formats,
        "teams": evaluation.teams,
        "length": {"unit": sweep.length.unit, "total": sweep.length.total},
        "trials": [
            {
                "trial": record.number, "state": record.state, "settings": record.settings, "at": record.at,
                "problem": record.problem, "folder": str(trial_folder(sweep, record.number)), **(record.result or {}),
            }
            for record in records
        ],
        "best": best,
        "measurements": _measurements(sweep, records[best], final),
        "difference": final.get("difference"),
        "importances": importances,
        "sentences": _sentences(sweep, records, final),
        "notes": _notes(sweep, importances),
    }  # fmt: skip


def _measurements(sweep: Sweep, best: TrialRecord, final: dict[str, Any]) -> list[dict[str, Any]]:
    assert best.result is not None
    drawn = f"trial {best.number}"
    rows = [
        {"what": f"{drawn}: the battles by which it was chosen", "chosen_by": True, **best.result},
        {"what": f"{drawn}: the same checkpoint, other battles", "chosen_by": False, **final["checkpoint"]},
    ]
    if BEST in final:
        seeds = counted(len(sweep.final.training_seeds), "other training seed")
        rows.append({"what": f"{drawn}: its settings with {seeds}", "chosen_by": False, **final[BEST]})
        rows.append({"what": f"the base's settings with {seeds}", "chosen_by": False, **final[BASE]})
    return rows


def _sentences(sweep: Sweep, records: Sequence[TrialRecord], final: dict[str, Any]) -> list[str]:
    best, first = final["trial"], records[final["trial"]].result
    assert first is not None
    score = 100 * final["checkpoint"]["score"]
    shift = score - 100 * first["score"]
    sentences = [
        f"Trial {best} was the best of {len(records)}. On battles that chose nothing its checkpoint scored {score:.1f}%, "
        f"{abs(shift):.1f} points {'less' if shift < 0 else 'more'} than on those that chose it."
    ]
    difference = final.get("difference")
    if difference is None:
        sentences.append(
            "Its settings were trained with one seed only: `final.training_seeds` says what they are worth."
        )
        return sentences
    points, interval = 100 * difference["points"], [100 * difference[key] for key in ("low", "high")]
    size = counted(len(sweep.final.training_seeds), "seed")
    ends = f"[{interval[0]:.1f}, {interval[1]:.1f}]"
    if difference["clear"]:
        order = "better" if points > 0 else "worse"
        sentences.append(f"Its settings are {order} than the base's by {abs(points):.1f} points {ends} ({size} each).")
    else:
        sentences.append(
            f"No significant difference from the base's settings at this size ({size} each): {points:+.1f} points {ends}."
        )
    if len(sweep.final.training_seeds) == 1:
        sentences.append("With one seed the variance between seeds is unknown: the intervals cover the battles only.")
    return sentences


def _notes(sweep: Sweep, importances: dict[str, float] | None) -> list[str]:
    notes = [
        "Elo is the lead over the opponents (of the mean score, if there are several). Intervals of trials cover the "
        "battles, not the training seeds.",
        f"All trials met the opponents with the same teams and seeds, {counted(sweep.evaluation.battles, 'battle')} against "
        f"each; pruned trials were measured before their end.",
    ]
    if importances is not None:
        notes.append("Importances (PED-ANOVA): each setting's share in what sets the best tenth of the trials apart.")
    seen = trained_on(sweep)
    if seen:
        notes.append(f"Not held out in training: {', '.join(seen)}. Add them to `rollout.held_out` of the base.")
    return notes


def trained_on(sweep: Sweep) -> list[str]:
    """Return the team sets of the evaluation whose teams the runs of online training may meet in training."""
    rollout = {**base_settings(sweep).get("rollout", {})}
    rollout |= {key.removeprefix("rollout."): value for key, value in sweep.fixed.items() if key.startswith("rollout.")}
    if sweep.kind == "train" or not rollout.get("teams"):
        return []
    return [name for name in sweep.evaluation.teams if name not in rollout.get("held_out", [])]
