"""The lines that docs/troubleshooting.md explains are lines that the code prints or stores."""

from __future__ import annotations

import re

import pytest
from support.command_line import PROJECT

#: What is the same in every such line.
LINES = (
    "Aborted by the simulator or server, counted for neither agent",
    "the simulator's host ended with status",
    "the server refused the battle",
    "and it is not clear who",
    "the Showdown server ended with status",
    "no connection for",
    "nothing was heard in",
    "no choice within",
    "was not ready within",
    "blocked its worker, out of reach of any signal, until it was ended",
    "blocked its worker outside of its turn until it was ended",
    "times in a row; legal:",
    "the simulator refused its choice",
    "ended its worker process",
    "(and again when it was played alone)",
    "worker processes keep dying; the last one",
    "battles stored so far are safe; resume when the problem is fixed",
    "has changed since it started, so its battles would mix two versions under one name",
    "is writing to it: wait, or name another with --db FILE",
    "has it open: close it there, or name another with --db FILE",
    "the battles are safe in",
    "the disk is full at step",
    "the disk is full at iteration",
    "make room and resume",
    "failed first",
    "before its first step",
    "killed by SIGKILL: by somebody, or by the kernel because memory was short",
    "killed by the kernel: out of memory (SIGKILL; memory.events counts an oom_kill)",
    "a crash in compiled code; the stack is in its log",
    "a collective operation hung",
    "lost its connection in",
    "in use by another training process: wait, or name another folder",
    "battles in progress were played again",
    "`train plan CONFIG --gpus N --memory SIZE` prints settings that fit",
    "the gradient is not finite: step skipped",
    "lower optimizer.learning_rate and start another run",
    "so they are not saved: lower learner.optimizer.learning_rate and start another run",
)


@pytest.fixture(scope="module")
def code() -> str:
    """The sources of arena and training, with literals that are written one after another as one, without values."""
    files = [path for package in ("arena", "training") for path in sorted((PROJECT / package).rglob("*.py"))]
    text = re.sub(r'"\s*f?"', "", "\n".join(path.read_text("utf-8") for path in files))
    return " ".join(text.split())


@pytest.mark.parametrize("line", LINES)
def test_a_line_that_is_explained_is_one_of_the_code(line: str, code: str) -> None:
    page = " ".join((PROJECT / "docs" / "troubleshooting.md").read_text("utf-8").split())
    assert line in page, "the page does not explain it any more: leave it out here, too"
    assert line in code, "docs/troubleshooting.md quotes another text than the code has now"
