"""The evaluation battles of a checkpoint: the same pairs for all checkpoints of an ablation."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agents.policy import checkpoint
from teamsets.atomic import write_atomic
from training.experiments.ablation.config import HeldOutEvaluation
from training.runs.evaluation import BattleBlock, paired_blocks


def measured(evaluation: HeldOutEvaluation, spec: str, kept: Path) -> list[BattleBlock]:
    """Play the remaining evaluation battles of a checkpoint. kept: file that caches their scores.

    Raises BadInput, and BattlesStopped.
    """
    key: dict[str, Any] = {
        "player": checkpoint.identity(checkpoint.find(spec.partition(":")[2])),
        "asked": evaluation.model_dump(mode="json", exclude={"workers"}),
    }
    if evaluation.venue == "showdown":  # files of earlier versions do not name it
        del key["asked"]["venue"]
    cached = json.loads(kept.read_text()) if kept.exists() else {}
    if cached.get("what") != key:
        cached = {"what": key, "blocks": [asdict(block) for block in paired_blocks(evaluation, spec)]}
        write_atomic(kept, json.dumps(cached, indent=1) + "\n")
    return [BattleBlock(**block) for block in cached["blocks"]]
