"""Cached validation of teams."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from teamsets import cache
from teamsets.validator import TeamCheck, TeamValidator, rules_version


def validate_teams(format_id: str, texts: Sequence[str]) -> list[TeamCheck]:
    """Validate each text, in order. Starts node only for texts that are not in the cache.

    Raises UnknownFormat (and caches nothing) for a format that Showdown does not support.
    """
    name = f"verdicts/{format_id}-{rules_version()}.json"
    known: dict[str, TeamCheck] = _read(name)
    keys = [hashlib.sha256(text.encode()).hexdigest()[:32] for text in texts]
    fresh: dict[str, TeamCheck] = {}
    missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
    if missing:
        with TeamValidator() as validator:
            fresh = {key: validator.validate(format_id, text) for key, text in missing.items()}
        # Read again just before writing: another process may have added its own meanwhile.
        merged = _read(name) | fresh
        cache.write(name, {key: [check.packed, check.problems] for key, check in merged.items()})
    return [fresh.get(key) or known[key] for key in keys]


def _read(name: str) -> dict[str, TeamCheck]:
    try:
        return {key: TeamCheck(packed, tuple(problems)) for key, (packed, problems) in (cache.read(name) or {}).items()}
    except (AttributeError, TypeError, ValueError):
        return {}  # not in the shape that we write: as good as no cache
