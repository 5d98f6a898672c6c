"""Pairs of `train preferences build` as TRL reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.data.shards import BadData
from training.llm.config import Pairs
from training.preferences.pairs import HELD_OUT_PAIRS, PAIRS, lines_of, read_pairs

_COLUMNS = ("prompt", "chosen", "rejected")


@dataclass(frozen=True)
class Rows:
    """Pairs of texts: `prompt`, `chosen`, `rejected`, each a text or, for a model with a chat template, messages.

    too_long: pairs that were left out for their length.
    """

    train: list[dict[str, Any]]
    held_out: list[dict[str, Any]]
    too_long: int


def rows_of(settings: Pairs, tokenizer: Any) -> Rows:
    """Read the pairs of all folders. Raises BadData if none is left to train on, and BadInput."""
    train, held_out, too_long = [], [], 0
    for folder in map(Path, settings.pairs):
        next(read_pairs(folder), None)  # a folder without pairs is refused by its name
        train += _selected(folder / PAIRS, settings.parts)
        if settings.held_out:
            held_out += _selected(folder / HELD_OUT_PAIRS, settings.parts)
    kept = []
    for rows in (train, held_out):
        ready = [_in_template(row, tokenizer) for row in rows]
        fits = [row for row in ready if _length(row, tokenizer) <= settings.max_length]
        too_long += len(ready) - len(fits)
        kept.append(fits)
    if not kept[0]:
        parts = " or ".join(settings.parts)
        why = f"all are longer than data.max_length {settings.max_length}" if train else f"there are none of {parts}"
        raise BadData(f"data.pairs {', '.join(settings.pairs)}: no pair to train on: {why}")
    return Rows(kept[0], kept[1], too_long)


def _selected(file: Path, parts: Sequence[str]) -> list[dict[str, str]]:
    pairs = []
    for number, line in enumerate(lines_of(file), 1):
        if not isinstance(line, dict) or not all(isinstance(line.get(name), str) for name in _COLUMNS):
            raise BadData(f"{file}, line {number}: has no {', '.join(_COLUMNS)}: build the pairs again with --replace")
        if line.get("part", "action") in parts:
            pairs.append({name: line[name] for name in _COLUMNS})
    return pairs


def _in_template(row: dict[str, str], tokenizer: Any) -> dict[str, Any]:
    """As messages where the model has a chat template: `llm:` asks it in the same way."""
    if tokenizer.chat_template is None:
        return dict(row)
    roles = {"prompt": "user", "chosen": "assistant", "rejected": "assistant"}
    return {name: [{"role": role, "content": row[name]}] for name, role in roles.items()}


def _length(row: dict[str, Any], tokenizer: Any) -> int:
    """The tokens of the prompt with the longer answer, and one for its end."""
    lengths = []
    for name in ("chosen", "rejected"):
        if isinstance(row["prompt"], str):
            ids = tokenizer(row["prompt"] + row[name])["input_ids"]
        else:
            ids = tokenizer(tokenizer.apply_chat_template(row["prompt"] + row[name], tokenize=False))["input_ids"]
        lengths.append(len(ids) + 1)
    return max(lengths)
