"""Every file of the project that a page names is there: paths in backticks, and links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.command_line import PROJECT

PAGES = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", *sorted((PROJECT / "docs").glob("*.md"))]
#: Where the paths of the project begin; what a run or a reader makes (`runs/…`, `data/…`) is not there yet.
FOLDERS = ("teamsets", "agents", "arena", "training", "tests", "scripts", "docs")
#: What experiments.md says was measured in the past, with scripts and files under their names of that day.
PAST = {"experiments.md"}


def named(text: str) -> list[str]:
    """The paths of the project in backticks, without options behind a script."""
    words = (code.split()[0] for code in re.findall(r"`([^`\n]+)`", text) if code.strip())
    return [word for word in words if re.fullmatch(rf"({'|'.join(FOLDERS)})/[\w./*-]*", word)]


def links(text: str) -> list[str]:
    """The files that links and pictures lead to, without what is behind a # and without other sites."""
    found = re.findall(r"\]\(([^)\s]+)\)", text)
    return [target.partition("#")[0] for target in found if not re.match(r"https?:|#|mailto:", target)]


@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in PAST], ids=lambda page: page.name)
def test_every_path_that_a_page_names_exists(page: Path) -> None:
    gone = [path for path in named(page.read_text("utf-8")) if not any(PROJECT.glob(path.rstrip("/")))]
    assert not gone, f"{page.name}: {', '.join(gone)}: moved or removed; name the new path"


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as viewers of repositories make them."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_section_leads_to_one(page: Path) -> None:
    found = re.findall(r"\]\((?!https?:)([^)\s#]*)#([^)\s]+)\)", page.read_text("utf-8"))
    targets = [(page.parent / target if target else page, anchor) for target, anchor in found]
    assert not [f"{path.name}#{anchor}" for path, anchor in targets if anchor not in anchors(path.read_text("utf-8"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file(page: Path) -> None:
    assert not [target for target in links(page.read_text("utf-8")) if not (page.parent / target).exists()]


def test_the_check_sees_a_path_that_is_gone() -> None:
    text = "See `arena/nothing.py`, `arena/store/`, `scripts/bench/*.py --runs 3`, `arena evaluate`, [x](no.md#part)."
    assert named(text) == ["arena/nothing.py", "arena/store/", "scripts/bench/*.py"]
    assert links(text) == ["no.md"]
    assert anchors("# Where do I change …\n## `a` · b\n") == {"where-do-i-change-", "a--b"}
