"""Terminal output compared with files in tests/snapshots, so that a change of it is seen in a diff."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable

import pytest

from support.command_line import TESTS

FOLDER = TESTS / "snapshots"
#: Rewrites the files in place of comparing: `make test ARGS="tests/arena/terminal/test_terminal.py --update-snapshots"`.
OPTION = "--update-snapshots"


class Snapshots:
    """Compares the output of one test with its file. update: write the file in place of that."""

    def __init__(self, update: bool) -> None:
        self._update = update

    def same(self, name: str, text: str, replace: dict[str, str] | None = None) -> None:
        """Fails with a diff where `text` is not what tests/snapshots/NAME.txt holds.

        replace: what differs between machines (a folder, a version; regular expressions) -> what stands for it.
        """
        for pattern, stand_in in (replace or {}).items():
            text = re.sub(pattern, stand_in, text)
        text = "\n".join(line.rstrip() for line in text.rstrip().split("\n")) + "\n"
        path = FOLDER / f"{name}.txt"
        if self._update:
            path.write_text(text, encoding="utf-8")
            return
        if not path.exists():
            pytest.fail(f"there is no {path}: run this test with {OPTION} and read the file before you commit it")
        kept = path.read_text(encoding="utf-8")
        if text != kept:
            lines = difflib.unified_diff(kept.splitlines(), text.splitlines(), "as kept", "as printed now", lineterm="")
            pytest.fail("\n".join([f"{path.name} differs; {OPTION} keeps what is printed now:", *lines]), pytrace=False)


Compare = Callable[..., None]
