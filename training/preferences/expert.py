"""Pairs of an expert's choice and the learner's at the same decision, by the values that the expert gave to both.

The battles are those of `coached?learner=…&coach=…` (DAgger): the expert's diagnostics are stored with each decision. An
expert that values its choices (a search) reports `values` by choice, and `visits`: the value of a choice that it never
visited is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from arena.store import rows
from training.preferences.attempts import TriedChoice
from training.preferences.rules import CLOSE, Judged

#: The rule of these pairs.
EXPERT = "expert-differs"
#: Why a labelled decision has no pair.
AGREED, NO_VALUES = "the expert agrees", "the expert gave no value to both choices"

_LABELLED = """
    SELECT battle_id, seat, index, turn, choice, diagnostics FROM decisions
    WHERE list_contains(?, battle_id) AND diagnostics LIKE '%"coach"%' ORDER BY battle_id, seat, index
"""


def expert_pairs(
    db: Path, sides: Sequence[tuple[int, str]], min_margin: float, dropped: Counter[str]
) -> dict[tuple[int, str], list[tuple[int, int, Judged]]]:
    """Return the pairs of each side as (decision, turn, pair).

    dropped: reason -> number of labelled decisions without a pair; it is added to.
    """
    pairs: dict[tuple[int, str], list[tuple[int, int, Judged]]] = {}
    wanted = set(sides)
    for battle, seat, index, turn, choice, diagnostics in rows(
        _LABELLED, db, [sorted({battle_id for battle_id, _ in sides})]
    ):
        if (battle, seat) not in wanted:
            continue
        pair = expert_pair(choice, orjson.loads(diagnostics), min_margin)
        if isinstance(pair, str):
            dropped[pair] += 1
        else:
            pairs.setdefault((battle, seat), []).append((index, turn, pair))
    return pairs


def expert_pair(played: str, diagnostics: dict[str, Any], min_margin: float) -> Judged | str:
    """Return the pair of a labelled decision, or why it has none. played: the learner's choice."""
    label = diagnostics.get("coach")
    if label == played:
        return AGREED
    better, worse = _valued(label, diagnostics), _valued(played, diagnostics)
    if better is None or worse is None or better.value is None or worse.value is None:
        return NO_VALUES
    margin = better.value - worse.value
    if margin < min_margin:
        return CLOSE
    return Judged(
        "action", EXPERT, better.action, worse.action, better.value, worse.value, "the learner's own", round(margin, 6)
    )


def _valued(label: str | None, diagnostics: dict[str, Any]) -> TriedChoice | None:
    values, visits = diagnostics.get("values") or {}, diagnostics.get("visits")
    if label is None or label not in values or (visits is not None and not visits.get(label)):
        return None
    return TriedChoice(label, value=float(values[label]))
