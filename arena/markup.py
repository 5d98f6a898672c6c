"""Markup that cannot be broken by data: whatever is not `Html` already is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

_EMPTY = frozenset({"br", "hr", "wbr", "input", "col", "line", "circle", "rect", "polyline", "path"})


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


Content = str | int | None | Iterable["Content"]


def el(tag: str, /, *content: Content, **attributes: str | int | float | bool | None) -> Html:
    """An element. Attributes: `cls` stands for class, `_` for `-`; True is written bare, None and False left out.

    >>> el("td", "1 < 2", cls="number")
    '<td class="number">1 &lt; 2</td>'
    """
    markup = "".join(_attribute(key, value) for key, value in attributes.items())
    if tag in _EMPTY and not content:
        return Html(f"<{tag}{markup}/>")
    return Html(f"<{tag}{markup}>{join(*content)}</{tag}>")


def join(*content: Content) -> Html:
    """All of it, one behind the other; None is nothing."""
    return Html("".join(map(_markup, content)))


def agent_name(agent: str) -> Html:
    """An agent's spec with the part before the colon de-emphasised."""
    family, colon, name = agent.partition(":")
    if not colon:
        return el("span", agent, cls="agent")
    return el("span", el("span", f"{family}:", cls="family"), el("wbr"), name, cls="agent")


def prose(sentence: str, agents: Iterable[str]) -> Html:
    """A sentence in which agents' names stand out, and what stands in backticks is code."""
    names = sorted(agents, key=len, reverse=True)
    cut = re.compile("|".join([r"(`[^`]+`)", *(rf"(?<![\w:-]){re.escape(name)}(?![\w-]|:\w)" for name in names)]))
    parts: list[Content] = []
    end = 0
    for match in cut.finditer(sentence):
        parts.append(sentence[end : match.start()])
        parts.append(el("code", match[0].strip("`")) if match[1] else agent_name(match[0]))
        end = match.end()
    return join(parts, sentence[end:])


def head_cell(name: str, title: str) -> Html:
    """The head of a column of numbers, with what it means for those who ask."""
    return el("th", el("abbr", name, title=title), scope="col", cls="number")


def box(inner: Html, label: str) -> Html:
    """A table that scrolls in its box where the page is too narrow for it."""
    return el("div", inner, cls="box", tabindex=0, role="region", aria_label=f"{label}; scrolls sideways")


def table(
    heads: Sequence[str], body: Sequence[Html], label: str, *, numbers: Sequence[str], cls: str = "plain"
) -> Html:
    """A table in its box. label: what it holds; numbers: the heads of columns of numbers."""
    top = [el("th", name, scope="col", cls="number" if name in numbers else None) for name in heads]
    return box(el("table", el("thead", el("tr", top)), el("tbody", body), cls=cls), label)


def fold(head: Html, *content: Content) -> Html:
    """Return a collapsible part: opened by a click, by a link to its section, and in print (report.js)."""
    return el("details", el("summary", head), content, cls="fold")


def panels(group: str, label: str, parts: Sequence[tuple[str, Html]]) -> Html:
    """One of several parts at a time, behind a choice that needs no script. group: an id that no other choice has."""
    choices: list[Html] = []
    for number, (name, part) in enumerate(parts):
        place = f"{group}-{number}"
        choices.append(el("input", type="radio", name=group, id=place, checked=number == 0))
        choices.append(el("label", name, for_=place))
        choices.append(el("div", part, cls="panel"))
    return el("div", choices, cls="panels", role="radiogroup", aria_label=label)


def _markup(content: Content) -> str:
    if content is None:
        return ""
    if isinstance(content, Html):
        return content
    if isinstance(content, str | int):
        return escape(str(content))
    return "".join(map(_markup, content))


def _attribute(key: str, value: str | int | float | bool | None) -> str:
    name = "class" if key == "cls" else key.strip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
