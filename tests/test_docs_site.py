"""The site that `make docs` builds: every page has a place in it, and its links are those of the repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from support.command_line import PROJECT
from support.scripts import script

SETTINGS = yaml.safe_load((PROJECT / "mkdocs.yml").read_text("utf-8"))


def listed(part: Any) -> list[str]:
    """The pages of a part of the order."""
    if isinstance(part, str):
        return [part]
    return [page for each in (part.values() if isinstance(part, dict) else part) for page in listed(each)]


def test_every_page_is_listed_once_and_every_listed_page_exists() -> None:
    pages = listed(SETTINGS["nav"])
    assert len(pages) == len(set(pages))
    assert {path.name for path in (PROJECT / "docs").glob("*.md")} <= set(pages)
    others = [page for page in pages if page != "index.md" and not (PROJECT / "docs" / page).exists()]
    assert not [page for page in others if not (PROJECT / page).is_file()]


@pytest.fixture(scope="module")
def site() -> Any:
    pytest.importorskip("mkdocs", reason="`make docs` installs it")
    return script("build/docs_site.py")


@pytest.mark.parametrize(
    ("page", "link", "in_the_site"),
    [
        ("README.md", "docs/agents.md#fingerprints", "agents.md#fingerprints"),
        ("README.md", "LICENSE", "LICENSE"),
        ("docs/agents.md", "policy.md", "policy.md"),
        ("docs/agents.md", "../README.md", "index.md"),
        ("docs/agents.md", "../agents/policy/shipped/gen1ou/README.md", "agents/policy/shipped/gen1ou/README.md"),
        ("agents/policy/shipped/gen9ou/README.md", "../../../../docs/curriculum.md", "../../../../curriculum.md"),
        ("docs/agents.md", "https://github.com/a/b.md", "https://github.com/a/b.md"),
        ("docs/agents.md", "#fingerprints", "#fingerprints"),
    ],
)
def test_a_link_leads_from_the_pages_place_in_the_site(site: Any, page: str, link: str, in_the_site: str) -> None:
    assert site.relinked(f"See [it]({link}).", page) == f"See [it]({in_the_site})."


def test_what_is_code_is_no_link(site: Any) -> None:
    text = "`[x](../y.md)`\n\n```python\nvalue[a](../b)\n```\n"
    assert site.relinked(text, "docs/agents.md") == text


@pytest.mark.slow
def test_the_site_is_built_without_a_broken_link_and_loads_nothing_from_elsewhere(site: Any, tmp_path: Path) -> None:
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    build(load_config(str(PROJECT / "mkdocs.yml"), site_dir=str(tmp_path)))
    pages = [path.read_text("utf-8") for path in tmp_path.rglob("*.html")]
    assert len(pages) > 40
    assert not [page for page in pages if 'src="http' in page or '<link rel="stylesheet" href="http' in page]
    assert "Your agent in ten lines" in (tmp_path / "index.html").read_text("utf-8")
