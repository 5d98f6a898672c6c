"""Why @smogon/calc and Showdown differ in a case of damage_parity.py. Battles are played on Showdown, so it is right."""

from __future__ import annotations

from typing import Any

Case = dict[str, Any]


def of(gen: int, case: Case, answer: dict[str, Any]) -> str:
    """Return the reason, or "" if there is none in the table."""
    return ""
