"""`train data import`: from people's replays to a dataset."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from support.command_line import PROJECT, run_arena
from support.made_logs import replays

from training.data.shards import all_trajectories, opened
from training.data.trajectory import MISSING

#: Real people's replays, which are no part of the project.
PEOPLE = Path(os.environ.get("ARENA_REPLAYS", PROJECT.parent / "shared" / "replays"))


@pytest.mark.slow
def test_replays_become_a_dataset_in_which_what_was_not_shown_is_missing(tmp_path: Path) -> None:
    words = ("data", "import", replays(tmp_path / "replays"), "--out", tmp_path / "people", "--json")
    said = run_arena(*words, program="train")
    assert said.code == 0, said.err
    told = json.loads(said.out)
    assert told["left_out"] == {"truncated: no end in the log": 1}
    assert told["by"]["source"] == {"replay": 4} and told["by"]["result"] == {"won": 2, "lost": 2}
    for one in all_trajectories(opened(tmp_path / "people")):
        assert list(one.actions == MISSING) == [False, False, True]
        assert one.legal[np.arange(2), one.actions[:2]].all()
    won = run_arena(*words, "--replace", "--result", "won", "--least-turns", 2, program="train")
    assert json.loads(won.out)["by"]["result"] == {"won": 2}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--since", "last week"), "date 'last week': not a date: write it as 2024-03-31"),
        (("--least-rating", "9000"), "dataset {out}: nothing to write"),
        (("--format", "gen7ou"), "dataset {out}: nothing to write"),
    ],
)
def test_what_cannot_be_imported_is_said_in_one_line(tmp_path: Path, more: tuple[str, ...], words: str) -> None:
    out = tmp_path / "people"
    said = run_arena("data", "import", replays(tmp_path / "replays"), "--out", out, *more, program="train")
    assert said.code == 2 and words.format(out=out) in said.err and said.err.strip().count("\n") == 0
    assert not out.exists()


@pytest.mark.skipif(not PEOPLE.is_dir(), reason="there are no people's replays here (ARENA_REPLAYS names their folder)")
def test_real_peoples_battles_import_whole(tmp_path: Path) -> None:
    found = {}
    for folder in sorted(path for path in PEOPLE.iterdir() if path.is_dir() and path.name.startswith("gen")):
        said = run_arena("data", "import", folder, "--out", tmp_path / folder.name, "--json", program="train")
        assert said.code == 0, said.err
        found[folder.name] = told = json.loads(said.out)
        assert told["trajectories"] == 2 * (len(list(folder.iterdir())) - sum(told["left_out"].values()))
        assert told["known_actions"] >= 0.8 * told["decisions"]
    read = sum(told["trajectories"] for told in found.values()) / 2
    assert read >= 0.98 * (read + sum(sum(told["left_out"].values()) for told in found.values()))
