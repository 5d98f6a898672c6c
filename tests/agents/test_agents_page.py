"""docs/agents.md lists every method and attribute of `Agent`, and every field of `battle.legal`'s items."""

from __future__ import annotations

import inspect
import re

from support.command_line import PROJECT

from agents import Agent, Choice

PAGE = (PROJECT / "docs" / "agents.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## The class `Agent`")[2].partition("\n## ")[0]
#: Read as another attribute's former name.
FORMER = {"thought"}


def rows(head: str) -> list[str]:
    """The names in the first column of the table with this head."""
    table = SECTION.partition(f"| {head} |")[2].partition("\n\n")[0]
    return re.findall(r"^\| `(\w+)", table, re.MULTILINE)


def test_every_method_and_attribute_of_an_agent_is_listed_and_no_other() -> None:
    public = {name for name in {**vars(Agent), **Agent.__annotations__} if not name.startswith("_")} - FORMER
    methods = {name for name in public if inspect.isroutine(getattr(Agent, name, None))}
    assert sorted(rows("method")) == sorted(methods)
    assert sorted(rows("attribute")) == sorted(public - methods)


def test_every_field_of_a_legal_choice_is_listed_and_no_other() -> None:
    assert rows("field") == list(Choice._fields)


def test_the_page_on_installing_says_where_the_wheel_comes_from() -> None:
    page = (PROJECT / "docs" / "install.md").read_text(encoding="utf-8")
    wheel = page.partition("## Without a clone, from a wheel")[2].partition("\n## ")[0]
    assert wheel.index("uv build --wheel") < wheel.index("pip install battle_arena-*.whl")
