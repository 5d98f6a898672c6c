"""What other packages add to battle databases, the report and the dashboard: tables of their own, sections of their own.

A package offers an `Extension` under the entry point group `arena.extensions` (docs/report.md has an example).
Its tables are made, and brought up to date, in every database that is opened for writing; its section is in the reports of
the runs that it has something to say about.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from arena.markup import Html

#: The entry point group.
GROUP = "arena.extensions"


def nothing(db: Path, run_id: str) -> None:
    """The data of an extension that has tables only."""
    return None


@dataclass(frozen=True)
class Section:
    """A section of the HTML report and of the dashboard, or what a page of its own is made of.

    place: the `id` of its element. title: in the table of contents. body: the element itself. parts: the `id`s inside of it
    that the table of contents lists -> their titles. reading: terms -> what they mean, for "How to read this". style: CSS
    beyond the report's own.
    """

    place: str
    title: str
    body: Html
    parts: dict[str, str] = field(default_factory=dict)
    reading: dict[str, str] = field(default_factory=dict)
    style: str = ""


@dataclass(frozen=True)
class Extension:
    """What a package adds.

    name: its key in the report's JSON, and under which the version of its tables is kept; never to be changed.
    migrations: SQL. The n-th, from 0, turns version n of its tables into n + 1; 0 is a database without them. One that was
        released is never edited.
    data: (database, run id) -> what is to be said about that run as plain values for JSON; None where there is nothing. It
        also gets databases that have not been opened for writing since the package was installed, and so lack the tables.
    section: what `data` has returned -> the section of the HTML report.
    live: database -> what the dashboard shows of it, as a section, also while it changes; None where there is nothing. Like
        `data` it also gets databases that lack the tables.
    """

    name: str
    migrations: tuple[str, ...] = ()
    data: Callable[[Path, str], Any] = nothing
    section: Callable[[Any], Section] | None = None
    live: Callable[[Path], Section | None] | None = None


@cache
def extensions() -> tuple[Extension, ...]:
    """All installed ones, by name. One that cannot be loaded is left out, with a line on stderr."""
    found = (_loaded(entry) for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name))
    return tuple(extension for extension in found if extension is not None)


def _loaded(entry: EntryPoint) -> Extension | None:
    package = entry.dist.name if entry.dist is not None else "an unknown package"
    try:
        extension = entry.load()
    except Exception as error:  # other people's code
        problem = f"{type(error).__name__}: {error}"
    else:
        if isinstance(extension, Extension):
            return extension
        problem = f"{entry.value} is no arena.extensions.Extension"
    print(
        f"arena: extension '{entry.name}' of {package}: {problem}: its tables and its section of the report are left out",
        file=sys.stderr,
    )
    return None
