"""`train data import`: from people's replays to a dataset."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.command_line import PROJECT, Said
from support.made_logs import replays

from training.commands.data import data
from training.data.shards import BadData, all_trajectories, opened
from training.data.trajectory import MISSING

#: Real people's replays, which are no part of the project.
PEOPLE = Path(os.environ.get("ARENA_REPLAYS", PROJECT.parent / "shared" / "replays"))


@pytest.mark.slow
def test_replays_become_a_dataset_in_which_what_was_not_shown_is_missing(
    tmp_path: Path, train_command: Callable[..., Said]
) -> None:
    words = ("data", "import", replays(tmp_path / "replays"), "--out", tmp_path / "people", "--json")
    said = train_command(*words)
    assert said.code == 0, said.err
    told = json.loads(said.out)
    assert told["left_out"] == {"truncated: no end in the log": 1}
    assert told["by"]["source"] == {"replay": 4} and told["by"]["result"] == {"won": 2, "lost": 2}
    for one in all_trajectories(opened(tmp_path / "people")):
        assert list(one.actions == MISSING) == [False, False, True]
        assert one.legal[np.arange(2), one.actions[:2]].all()
    won = train_command(*words, "--replace", "--result", "won", "--least-turns", 2)
    assert json.loads(won.out)["by"]["result"] == {"won": 2}


def test_some_battles_are_held_out_with_both_sides(tmp_path: Path) -> None:
    folder = replays(tmp_path / "replays")
    log = (folder / "gen1ou-1.log").read_text()
    for number in range(4, 10):
        (folder / f"gen1ou-{number}.log").write_text(log.replace("|turn|2", f"|turn|2\n|-message|{number}"))
    out = tmp_path / "people"
    said = CliRunner().invoke(data, ["import", str(folder), "--out", str(out), "--hold-out", "0.4", "--json"])
    assert said.exit_code == 0, said.output
    parts = [
        Counter(one.about["battle"] for one in all_trajectories(opened(path)))
        for path in (out, out.with_name("people-held-out"))
    ]
    assert set(parts[0].values()) == set(parts[1].values()) == {2} and not parts[0].keys() & parts[1].keys()
    assert len(parts[0]) + len(parts[1]) == 8
    told = json.loads(said.stdout)
    assert (told["trajectories"], told["held_out"]["trajectories"]) == (2 * len(parts[0]), 2 * len(parts[1]))
    with pytest.raises(BadData, match=r"b-held-out: a fraction of 0\.001 selects no side"):
        data.main(["import", str(folder), "--out", str(tmp_path / "b"), "--hold-out", "0.001"], standalone_mode=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people", "people-held-out", "replays"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--since", "last week"), "date 'last week': not a date: write it as 2024-03-31"),
        (("--least-rating", "9000"), "dataset {out}: nothing to write"),
        (("--format", "gen7ou"), "dataset {out}: nothing to write"),
    ],
)
def test_what_cannot_be_imported_is_said_in_one_line(
    tmp_path: Path, more: tuple[str, ...], words: str, train_command: Callable[..., Said]
) -> None:
    out = tmp_path / "people"
    said = train_command("data", "import", replays(tmp_path / "replays"), "--out", out, *more)
    assert said.code == 2 and words.format(out=out) in said.err and said.err.strip().count("\n") == 0
    assert not out.exists()


@pytest.mark.slow
@pytest.mark.skipif(not PEOPLE.is_dir(), reason="there are no people's replays here (ARENA_REPLAYS names their folder)")
def test_real_peoples_battles_import_whole(tmp_path: Path, train_command: Callable[..., Said]) -> None:
    found = {}
    for folder in sorted(path for path in PEOPLE.iterdir() if path.is_dir() and path.name.startswith("gen")):
        said = train_command("data", "import", folder, "--out", tmp_path / folder.name, "--json")
        assert said.code == 0, said.err
        found[folder.name] = told = json.loads(said.out)
        assert told["trajectories"] == 2 * (len(list(folder.iterdir())) - sum(told["left_out"].values()))
        assert told["known_actions"] >= 0.8 * told["decisions"]
    read = sum(told["trajectories"] for told in found.values()) / 2
    assert read >= 0.98 * (read + sum(sum(told["left_out"].values()) for told in found.values()))
