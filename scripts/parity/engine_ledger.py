"""The ledger of parity ranges: a file of JSON lines, one for each chunk of battles that scripts/parity/engine_parity.py or
gen9_parity.py compared.

A line says what was played (seed, teams, policy, first battle, battles), on what (digest of the engine's sources, version
of Showdown), and the result (decisions, differences, ends; with --coverage also the counts). A chunk that is in the ledger
is not played again, so that a stopped run resumes with the same command.
"""

from __future__ import annotations

import collections
import json
import os
from pathlib import Path
from typing import Any

from teamsets.errors import BadInput

Record = dict[str, Any]
#: What was reached: kind (moves, branches, abilities ...) -> name -> two numbers.
Counts = dict[str, dict[str, list[int]]]
_KEY = ("seed", "teams", "policy", "first", "battles", "engine", "showdown")


def key(record: Record) -> tuple[Any, ...]:
    """What a chunk is recognised by."""
    return tuple(record[name] for name in _KEY)


def read(path: Path) -> dict[tuple[Any, ...], Record]:
    """The records of a ledger by their keys, the later of two; none where there is no file.

    A line that was cut by the end of a process is left out. Raises BadInput for a file of another kind, and for one that
    cannot be read.
    """
    records: dict[tuple[Any, ...], Record] = {}
    try:
        lines = path.read_text().splitlines() if path.exists() else []
    except (OSError, UnicodeError) as error:
        raise BadInput(f"{path} cannot be read as a ledger: {error}: name another --ledger.") from None
    for number, line in enumerate(lines, 1):
        if not line.endswith("}"):
            continue
        try:
            record = json.loads(line)
            records[key(record)] = record
        except (ValueError, KeyError, TypeError):
            raise BadInput(f"{path}, line {number} is no record of a parity script: name another --ledger.") from None
    return records


def check_writable(path: Path) -> None:
    """Raises BadInput unless records can be appended to the ledger; creates the file if there is none."""
    try:
        path.open("ab").close()
    except OSError as error:
        raise BadInput(f"--ledger {path} cannot be written: {error.strerror}: name a file in another folder.") from None


def append(path: Path, record: Record) -> None:
    """Adds a line, whole, in one write."""
    with path.open("ab") as file:
        torn = file.tell() and path.read_bytes()[-1:] != b"\n"
        os.write(file.fileno(), (b"\n" if torn else b"") + json.dumps(record).encode() + b"\n")


def add_coverage(total: Counts, counts: Counts) -> None:
    """Adds the counts of one record to a sum."""
    for kind, rows in counts.items():
        into = total.setdefault(kind, {})
        for name, numbers in rows.items():
            into[name] = [a + b for a, b in zip(into.get(name, [0, 0]), numbers, strict=True)]


def summary(records: list[Record]) -> str:
    """A table of the ranges by teams, policy and versions, in Markdown, and the totals."""
    groups: dict[tuple[str, ...], list[Record]] = collections.defaultdict(list)
    for record in records:
        groups[record["teams"], record["policy"], record["engine"], record["showdown"]].append(record)
    lines = [
        "| teams | policy | seeds | battles | decision points | battles that differ | ends | engine | Showdown |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for (teams, policy, engine, showdown), chunks in sorted(groups.items()):
        seeds = ", ".join(map(str, sorted({record["seed"] for record in chunks})))
        cells = [teams, policy, seeds, *_totals(chunks), _ends(chunks), engine, showdown]
        lines.append(f"| {' | '.join(cells)} |")
    battles, decisions, differences = _totals(records)
    lines.append(f"\n{battles} battles, {decisions} decision points, {differences} battles differ")
    return "\n".join(lines)


def _totals(records: list[Record]) -> list[str]:
    return [f"{sum(record[name] for record in records):,}" for name in ("battles", "decisions", "differences")]


def _ends(records: list[Record]) -> str:
    ends: collections.Counter[str] = collections.Counter()
    for record in records:
        ends.update(record["ends"])
    return ", ".join(f"{end} {number:,}" for end, number in ends.most_common())
