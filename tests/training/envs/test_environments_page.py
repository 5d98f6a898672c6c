"""The short examples of docs/environments.md; its programs are run by tests/test_docs_commands.py."""

from __future__ import annotations

import pytest

pytest.importorskip("numba")

from support.command_line import PROJECT
from support.page_commands import blocks

EXAMPLES = [
    block for block in blocks(PROJECT / "docs" / "environments.md") if block.kind == "python" and not block.file
]


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_a_short_example_runs(number: int) -> None:
    names: dict[str, object] = {}
    exec("\n".join(EXAMPLES[number].lines).replace("num_envs=1024", "num_envs=4"), names)
    assert {"observations", "rewards", "terminated", "truncated", "infos"} <= names.keys()


def test_the_programs_are_saved_where_the_commands_run_them() -> None:
    assert [
        block.file for block in blocks(PROJECT / "docs" / "environments.md") if block.kind == "python" and block.file
    ] == [
        "sb3_ppo.py",
        "torch_ppo.py",
    ]
