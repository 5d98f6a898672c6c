"""The proof of the joint choices resumes where its ledger ends, and covers every format of doubles that is tested."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.scripts import script

from teamsets.formats import DOUBLES_FORMATS


def test_every_format_is_in_turn() -> None:
    assert {format_id for format_id, _ in script("parity/joint_choices.py").PLAYED} == set(DOUBLES_FORMATS)


def test_a_ledger_is_continued_and_nothing_is_played_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module, played = script("parity/joint_choices.py"), []

    def compare(options: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        played.append((options["format"], options["teams"], options["first"]))
        return {"decisions": 700}, [{"what": "listed and refused"}] if len(played) == 2 else []

    monkeypatch.setattr(module, "compare", compare)
    ledger = tmp_path / "ledger.jsonl"
    assert module.continue_ledger(ledger, 1000, 70, {"tries": 80}) == (1400, 1)
    assert module.continue_ledger(ledger, 20_000, 70, {"tries": 80}) == (20_300, 1)
    assert len(played) == len(set(played)) == 29 == len(ledger.read_text().splitlines())
    assert module.continue_ledger(ledger, 20_000, 70, {"tries": 80}) == (20_300, 1) and len(played) == 29
    assert {json.loads(line)["seed"] for line in ledger.read_text().splitlines()} == {70}
