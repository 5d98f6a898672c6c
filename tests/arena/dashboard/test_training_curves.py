"""The curves of training runs: read as they are written, anew where a resumed run has cut its file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support.dashboard import served

from arena.dashboard.training_runs import Curves, TrainingRuns, search, thinned


def write(file: Path, *lines: dict[str, float], mode: str = "a") -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open(mode) as opened:
        opened.writelines(json.dumps(line) + "\n" for line in lines)


def test_what_is_appended_is_read_on(tmp_path: Path) -> None:
    file = tmp_path / "metrics.jsonl"
    write(file, {"step": 1, "loss": 2.0}, {"step": 2, "loss": 1.0, "validation/loss": 3.0})
    curves = Curves(file)
    curves.update()
    with file.open("a") as opened:
        opened.write('{"step": 3, "lo')
    curves.update()
    assert curves.series == {"loss": [(1.0, 2.0), (2.0, 1.0)], "validation/loss": [(2.0, 3.0)]}
    with file.open("a") as opened:
        opened.write('ss": 0.5}\n')
    curves.update()
    assert curves.series["loss"][-1] == (3.0, 0.5) and curves.step == 3


@pytest.mark.parametrize("replaced", [True, False])
def test_a_file_that_was_cut_is_read_anew(tmp_path: Path, replaced: bool) -> None:
    file = tmp_path / "metrics.jsonl"
    write(file, *({"step": step, "loss": 1.0} for step in range(9)))
    curves = Curves(file)
    curves.update()
    if replaced:
        write(tmp_path / "new", {"step": 0, "loss": 5.0})
        os.replace(tmp_path / "new", file)
    else:
        write(file, {"step": 0, "loss": 5.0}, mode="w")
    curves.update()
    assert curves.series == {"loss": [(0.0, 5.0)]} and curves.step == 0


def test_damaged_lines_and_numbers_that_are_none_cost_only_themselves(tmp_path: Path) -> None:
    file = tmp_path / "metrics.jsonl"
    file.write_text(
        '{"step": 1, "loss": NaN}\n[1]\n{"loss": 1}\n"x"\n{"step": 4, "loss": 2, "name": "x", "flag": null}\n'
    )
    curves = Curves(file)
    curves.update()
    assert curves.series == {"loss": [(4.0, 2.0)]}


def test_long_curves_are_thinned_to_means() -> None:
    steps, values = thinned([(float(step), float(step % 2)) for step in range(1000)], most=100)
    assert len(steps) == 100 and steps[-1] == 999 and set(values) == {0.5}


def test_runs_are_found_below_a_folder_without_links_and_checkpoints(tmp_path: Path) -> None:
    for name in ("a", "deep/er/b", "a/checkpoints/c"):
        write(tmp_path / name / "metrics.jsonl", {"step": 1, "loss": 1.0})
    (tmp_path / "loop").symlink_to(tmp_path)
    found = [path.parent.relative_to(tmp_path).as_posix() for path in search(tmp_path)]
    assert found == ["a", "deep/er/b"]
    assert list(search(tmp_path / "none")) == []


def test_they_are_on_the_stream(tmp_path: Path) -> None:
    write(tmp_path / "runs" / "one" / "metrics.jsonl", {"step": 5, "loss": 1.5})
    with served(tmp_path / "none.duckdb", tmp_path / "runs") as place:
        run = place.first()["training one"]
    assert run["series"] == {"loss": [[5.0], [1.5]]} and run["live"]


def test_names_say_the_folder_where_there_are_several(tmp_path: Path) -> None:
    for name in ("x/one", "y/one"):
        write(tmp_path / name / "metrics.jsonl", {"step": 1, "loss": 1.0})
    assert sorted(TrainingRuns([tmp_path / "x", tmp_path / "y"]).read()) == [
        (tmp_path / "x/one").as_posix(),
        (tmp_path / "y/one").as_posix(),
    ]
