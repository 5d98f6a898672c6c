"""The battles in an HTML report: their selection and their encoding.

Stories are JSON, some dozens to a chunk; a chunk is gzip in base64, and the browser opens one when a battle of it is
asked for. Neighbours in a chunk share a format and agents where they can, so that they shrink together.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict

import orjson

from arena.report.story import stories
from arena.report.story_types import Story
from arena.store import rows

DEFAULT = 300
CHUNK = 16  # stories: opening one takes some milliseconds, and a larger chunk would not be much smaller
AT_ONCE = 20 * CHUNK  # stories read from the store together

# Kinds (of failure, or pairings) by turns; within a kind the fixture's key decides: the same for everybody.
_CHOOSE = """
    WITH known AS (
        SELECT battle_id, key,
            CASE WHEN $2 THEN concat(format, ' ', reason, ' ', CASE fault WHEN 'p1' THEN p1 WHEN 'p2' THEN p2 END)
                ELSE concat(least(p1, p2), ' ', greatest(p1, p2)) END AS kind
        FROM battles
        WHERE (reason NOT IN ('win', 'tie')) = $2
            AND battle_id IN (SELECT battle_id FROM evidence_results WHERE for_run = $1)
    )
    SELECT battle_id FROM known ORDER BY row_number() OVER (PARTITION BY kind ORDER BY key), key, battle_id LIMIT $3
"""
_INDEX = """
    SELECT battle_id, format, team_set, p1, p2, winner, reason, fault, turns FROM battles
    WHERE list_contains(?, battle_id) ORDER BY format, least(p1, p2), greatest(p1, p2), team_set, battle_id
"""


def choose_battles(db: Path, run_id: str, count: int | None) -> list[int]:
    """The ids of at most `count` battles of a run (None: all of them), the same ones every time.

    First those in which something failed, then a spread over the pairings. Failures take more than half of the places
    only when the rest does not need them.
    """
    most = 10**9 if count is None else count
    failed, whole = (
        [battle_id for (battle_id,) in rows(_CHOOSE, db, [run_id, failed, most])] for failed in (True, False)
    )
    failed = failed[: max(most // 2, most - len(whole))]
    return failed + whole[: most - len(failed)]


class EmbeddedBattles(TypedDict):
    """The battles of a page, as its script reads them."""

    #: [id, format, team set, p1, p2, winner, reason, fault, turns, chunk], by id.
    battles: list[list[Any]]
    #: Base64 of gzip of JSON {id: story}.
    chunks: list[str]


def embed(db: Path, battle_ids: Sequence[int]) -> EmbeddedBattles:
    """Encode stored battles for a page."""
    index = rows(_INDEX, db, [list(battle_ids)])
    chunks = []
    for start in range(0, len(index), AT_ONCE):
        found = stories(db, [row[0] for row in index[start : start + AT_ONCE]])
        chunks += [_chunk(found[first : first + CHUNK]) for first in range(0, len(found), CHUNK)]
    battles = [[*row, number // CHUNK] for number, row in enumerate(index)]
    return {"battles": sorted(battles), "chunks": chunks}


def _chunk(some: Sequence[Story]) -> str:
    text = orjson.dumps({str(story["id"]): story for story in some})
    return base64.b64encode(gzip.compress(text, 9, mtime=0)).decode()
