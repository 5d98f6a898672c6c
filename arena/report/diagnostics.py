"""An agent's diagnostics of a decision, prepared for display: tables with a number per legal choice, the rest as text."""

from __future__ import annotations

import re
from typing import Any

import orjson

from arena.report.story_types import ChoiceNumbers

#: Longer texts are cut.
TEXT_LIMIT = 2000


def read_diagnostics(diagnostics: str, legal: list[str]) -> tuple[dict[str, ChoiceNumbers], list[tuple[str, str]]]:
    """The tables, by name, and everything else as (name, text), of one value of `decisions.diagnostics` (JSON).

    A table is anything in it, however deep, that gives numbers to legal choices: {"values": {"move surf": 0.61, …}} (a
    choice as it is stored, or by its move's or Pokémon's name alone) or {"visits": [12, 3, …]}, one for each legal choice in
    their order.
    """
    tables: dict[str, ChoiceNumbers] = {}
    texts: list[tuple[str, str]] = []
    _sort_out("", orjson.loads(diagnostics), legal, tables, texts)
    return tables, texts


def _sort_out(
    name: str, value: Any, legal: list[str], tables: dict[str, ChoiceNumbers], texts: list[tuple[str, str]]
) -> None:
    row, rest = _table(value, legal)
    if row is not None:
        tables[name or "value"] = row
        if rest:
            texts.append((f"{name} (others)".strip(), _text(rest)))
    elif isinstance(value, dict) and (not name or any(isinstance(inner, dict | list) for inner in value.values())):
        for key, inner in value.items():
            _sort_out(f"{name} {key}".strip(), inner, legal, tables, texts)
    else:
        texts.append((name, _text(value)))


def _table(value: Any, legal: list[str]) -> tuple[ChoiceNumbers | None, dict[str, Any]]:
    """The value as a row of numbers, and what of it belongs to no legal choice; (None, …) when it is no table."""
    if isinstance(value, list) and len(value) == len(legal) > 1 and all(_number(v) for v in value):
        return [_rounded(v) for v in value], {}
    if not isinstance(value, dict) or not all(_number(v) or v is None for v in value.values()):
        return None, {}
    columns = _columns(legal)
    row: ChoiceNumbers = [None] * len(legal)
    rest = {}
    for key, number in value.items():
        column = columns.get(_squeezed(key))
        if column is None:
            rest[key] = number
        else:
            row[column] = None if number is None else _rounded(number)
    return (None, {}) if all(number is None for number in row) else (row, rest)


def _columns(legal: list[str]) -> dict[str, int]:
    """The names of a choice -> its index among the legal ones. A whole choice precedes a bare move or species."""
    short = {_squeezed(choice.partition(" ")[2]): column for column, choice in reversed(list(enumerate(legal)))}
    return short | {_squeezed(choice): column for column, choice in enumerate(legal)}


def _squeezed(text: str) -> str:
    return re.sub(r"[^a-z0-9#]", "", text.lower())


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _rounded(number: float) -> float:
    """Four digits are enough to show. Whole numbers stay whole."""
    return number if isinstance(number, int) else float(f"{number:.4g}")


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return text if len(text) <= TEXT_LIMIT else f"{text[:TEXT_LIMIT]} … ({len(text):,} characters)"
