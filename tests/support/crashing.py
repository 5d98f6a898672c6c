"""A training run that breaks off: its loss raises in a step."""

from __future__ import annotations

from typing import Any

import pytest


class Crash(Exception):
    pass


def crash_in(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next run of cloning that begins at its first step fails in this one."""
    from training.offline.losses import LOSSES

    loss, steps = LOSSES["cloning"], 0

    def crashing(output: Any, *more: Any) -> Any:
        nonlocal steps
        steps += output.logits.requires_grad  # not in a validation
        if steps == step:
            raise Crash
        return loss(output, *more)

    monkeypatch.setitem(LOSSES, "cloning", crashing)
