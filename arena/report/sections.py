"""Building blocks of a report section: for packages that add one (docs/extend.md), and for pages in the same style.

`el`, `join` and the others of arena/markup.py escape whatever is not `Html` already, so that no name can break a page.
`render_section` makes a page of its own of a section.
"""

from arena.extensions import Section
from arena.markup import Content, Html, agent_name, box, el, join, panels, prose, table
from arena.report.html import render_section
from arena.report.page.drawings import Axis, axis_labels, bar, whisker
from arena.report.page.heat import heat

__all__ = [
    "Axis",
    "Content",
    "Html",
    "Section",
    "agent_name",
    "axis_labels",
    "bar",
    "box",
    "el",
    "heat",
    "join",
    "panels",
    "prose",
    "render_section",
    "table",
    "whisker",
]
