"""The tree of exceptions in teamsets/errors.py is that of the code."""

from __future__ import annotations

import ast
import builtins
import re
from pathlib import Path
from typing import NamedTuple

import pytest
from support.command_line import PROJECT

import teamsets.errors
from teamsets.errors import last_error

_LINE = re.compile(r" {4}(?P<lead>[│ ]*(?:[├└]── )?)(?P<name>[A-Z]\w+)(?: +(?P<module>[a-z][\w.]+): +(?P<words>\S.*))?")
_WITH_BASES = re.compile(r"^ *class \w+\(", re.MULTILINE)


class Error(NamedTuple):
    module: str
    bases: tuple[str, ...]


def declared(root: Path) -> dict[str, Error]:
    """Every exception class below the packages of a folder: name -> its module and the names of its bases."""
    found: dict[str, Error] = {}
    for package in ("teamsets", "agents", "arena", "training"):
        for path in sorted((root / package).rglob("*.py")):
            module = ".".join(path.relative_to(root).with_suffix("").parts)
            text = path.read_text(encoding="utf-8")
            for node in ast.walk(ast.parse(text)) if _WITH_BASES.search(text) else ():
                if isinstance(node, ast.ClassDef):
                    bases = tuple(ast.unparse(base).rpartition(".")[2] for base in node.bases)
                    assert node.name not in found or not {node.name} & exceptions(found), f"two classes {node.name}"
                    found[node.name] = Error(module, bases)
    return {name: error for name, error in found.items() if name in exceptions(found)}


def exceptions(classes: dict[str, Error]) -> set[str]:
    """The names of those that derive from one of Python's exceptions, be it by way of others."""
    known = {
        name for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, BaseException)
    }
    found: set[str] = set()
    while more := {name for name, one in classes.items() if {*one.bases} & (known | found)} - found:
        found |= more
    return found


def drawn(text: str) -> dict[str, Error]:
    """The tree of a docstring in the form of `declared`."""
    found: dict[str, Error] = {}
    above: list[str] = []
    for line in filter(None, map(_LINE.fullmatch, text.splitlines())):
        del above[len(line["lead"]) // 4 :]
        if line["module"]:
            also = re.findall(r"\+ (\w+):", line["words"])
            found[line["name"]] = Error(line["module"], (*(above[-1:] or ["Exception"]), *also))
        above.append(line["name"])
    return found


@pytest.mark.slow
def test_the_tree_is_that_of_the_code() -> None:
    there, shown = declared(PROJECT), drawn(teamsets.errors.__doc__ or "")
    assert sorted(there) == sorted(shown), "the docstring of teamsets/errors.py lists every exception, and no other"
    assert there == shown


def test_what_a_user_may_see_is_an_arena_error() -> None:
    text = teamsets.errors.__doc__ or ""
    seen, unseen = text.split("never seen by a user")
    assert len(drawn(seen)) > 25 and not {"Fault", "TimeUp"} & drawn(seen).keys()
    assert drawn(unseen).keys() == {
        "AskSeparately",
        "BadMessage", "BadAnswer", "ReplayDiffers", "Fault", "DiagnosticsTooLarge", "TimeUp",
    }  # fmt: skip


@pytest.mark.parametrize("line", ["class New(BadInput): ...", "class New(errors.BadInput, OSError): ..."])
def test_a_new_exception_is_found(tmp_path: Path, line: str) -> None:
    (tmp_path / "arena").mkdir()
    (tmp_path / "arena" / "a.py").write_text(
        f"class ArenaError(Exception): ...\nclass BadInput(ArenaError): ...\n{line}\n"
    )
    found = declared(tmp_path)
    assert found["New"].module == "arena.a" and found["New"].bases[0] == "BadInput" and len(found) == 3


NODE = """node:internal/modules/cjs/loader:1228
  throw err;
  ^

Error: Cannot find module '/x/node_modules/pokemon-showdown'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15) {
  code: 'MODULE_NOT_FOUND'
}

Node.js v20.19.2
"""


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (NODE, "Error: Cannot find module '/x/node_modules/pokemon-showdown'"),
        (
            "Error: an earlier one\nTypeError [ERR_X]: the last\n    at y\n\nNode.js v22.1.0\n",
            "TypeError [ERR_X]: the last",
        ),
        ("Traceback (most recent call last):\n  File\nValueError: no\n", "ValueError: no"),
        ("Error: long ago\nall is well\n", "all is well"),
        ("Node.js v20.19.2\n", "Node.js v20.19.2"),
        ("\n", ""),
    ],
)
def test_the_error_of_a_process_that_has_ended_is_found(text: str, error: str) -> None:
    assert last_error(text) == error
