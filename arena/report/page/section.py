"""A section of the report that another package has made."""

from __future__ import annotations

from dataclasses import dataclass, field

from arena.report.page.markup import Html


@dataclass(frozen=True)
class Section:
    """What an extension adds to the HTML report (arena/extensions.py), or what a page of its own is made of.

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
