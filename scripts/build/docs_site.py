"""What `make docs` does beside mkdocs: pages outside of docs/ belong to the site, and links are those of the repository.

The pages are written for a viewer of the repository: they link to each other, and to other files of the project, by paths
that lead there from the file itself. mkdocs knows docs/ only. So README.md becomes the first page, every file that a page
links to becomes a part of the site under its path in the repository, and links are rewritten accordingly.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pymdownx.slugs import slugify

PROJECT = Path(__file__).resolve().parents[2]
#: Where pages find their style, and what lets them search without a server (the plugin `offline` loads that from elsewhere).
STYLE, SEARCH = "assets/docs_site.css", "assets/docs_search.js"
#: A link or a picture, with the path before a `#`; not to other sites, and not within the page.
LINK = re.compile(r"(\]\()(?![\w+.-]+:|#)([^)\s#]+)")
#: A fenced block or code in a line: what looks like a link there is none.
CODE = re.compile(r"(^```.*?^```|`[^`\n]+`)", re.DOTALL | re.MULTILINE)


def site_path(path: str) -> str:
    """The place in the site of a file, by its path in the repository."""
    return "index.md" if path == "README.md" else path.removeprefix("docs/")


def repository_path(place: str) -> str:
    """The path in the repository of a file, by its place in the site."""
    if place == "index.md":
        return "README.md"
    return f"docs/{place}" if (PROJECT / "docs" / place).exists() else place


def relinked(text: str, path: str) -> str:
    """The text of the page at `path` in the repository, with links that lead from its place in the site."""

    def target(link: re.Match[str]) -> str:
        there = posixpath.normpath(posixpath.join(posixpath.dirname(path), link[2]))
        return link[1] + posixpath.relpath(site_path(there), posixpath.dirname(site_path(path)) or ".")

    parts = CODE.split(text)
    return "".join(part if number % 2 else LINK.sub(target, part) for number, part in enumerate(parts))


def linked(path: str) -> set[str]:
    """The files of the repository that the page at `path` links to."""
    text = CODE.sub("", (PROJECT / path).read_text("utf-8"))
    folder = posixpath.dirname(path)
    paths = {posixpath.normpath(posixpath.join(folder, link)) for _, link in LINK.findall(text)}
    return {each for each in paths if (PROJECT / each).is_file()}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Gives headings the anchors that repository viewers give them, and names the project's own script and style."""
    config.mdx_configs["toc"]["slugify"] = slugify(case="lower")
    config.extra["polyfills"] = [SEARCH]
    config.extra_css.append(STYLE)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds README.md, and what it and the pages link to outside of docs/, directly or through others."""
    for asset in (STYLE, SEARCH):
        source = PROJECT / "scripts" / "build" / Path(asset).name
        files.append(File.generated(config, asset, abs_src_path=str(source)))
    paths = ["README.md"]
    known = {repository_path(file.src_uri) for file in files}
    paths += [path for path in known if path.endswith(".md")]
    while paths:
        path = paths.pop()
        if path not in known:
            known.add(path)
            files.append(File.generated(config, site_path(path), abs_src_path=str(PROJECT / path)))
        if path.endswith(".md"):
            paths += sorted(linked(path) - known)
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    return relinked(markdown, repository_path(page.file.src_uri))
