"""The pages on training say how long a run takes, as measured."""

from __future__ import annotations

import re

import pytest
from support.command_line import PROJECT


@pytest.mark.parametrize(("page", "command"), [("training.md", "train base"), ("online.md", "train online")])
def test_a_page_says_how_long_its_command_takes(page: str, command: str) -> None:
    text = (PROJECT / "docs" / page).read_text(encoding="utf-8")
    section = text.partition("## How long it takes")[2].partition("\n## ")[0]
    assert command in section and "two cores" in section
    assert re.search(r"[\d,]+ decisions/s", section) and re.search(r"\d+ (s|minutes)\b", section)
