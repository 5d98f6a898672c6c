"""The curves of training runs: read as they are written, anew where a resumed run has cut its file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support.dashboard import served

from arena.dashboard import training_runs
from arena.dashboard.training_runs import Curve, Curves, TrainingRuns, search


def points(curves: Curves) -> dict[str, list[tuple[float, float]]]:
    return {name: curve.points for name, curve in curves.series.items()}


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
    assert points(curves) == {"loss": [(1.0, 2.0), (2.0, 1.0)], "validation/loss": [(2.0, 3.0)]}
    with file.open("a") as opened:
        opened.write('ss": 0.5}\n')
    curves.update()
    assert curves.series["loss"].points[-1] == (3.0, 0.5) and curves.step == 3


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
    assert points(curves) == {"loss": [(0.0, 5.0)]} and curves.step == 0


def test_damaged_lines_and_numbers_that_are_none_cost_only_themselves(tmp_path: Path) -> None:
    file = tmp_path / "metrics.jsonl"
    file.write_text(
        '{"step": 1, "loss": NaN}\n[1]\n{"loss": 1}\n"x"\n{"step": 4, "loss": 2, "name": "x", "flag": null}\n'
    )
    curves = Curves(file)
    curves.update()
    assert points(curves) == {"loss": [(4.0, 2.0)]}


@pytest.mark.parametrize("step", ['"nan"', '"inf"', "-1e300", "1e999", "null", "[]"])
def test_a_step_that_is_not_a_finite_number_costs_only_its_line(tmp_path: Path, step: str) -> None:
    file = tmp_path / "runs" / "one" / "metrics.jsonl"
    write(file, {"step": 1, "loss": 2.0})
    with file.open("a") as opened:
        opened.write(f'{{"step": {step}, "loss": 7}}\n')
    write(file, {"step": 2, "loss": 1.0})
    (part,) = TrainingRuns([tmp_path / "runs"]).read().values()
    assert json.loads(part)["series"] == {"loss": [[1.0, 2.0], [2.0, 1.0]]} and json.loads(part)["step"] == 2.0


def test_values_whose_sum_is_not_finite_are_left_out(tmp_path: Path) -> None:
    write(tmp_path / "metrics.jsonl", *({"step": step, "loss": 1.5e308, "kl": 1.0} for step in range(1000)))
    curves = Curves(tmp_path / "metrics.jsonl")
    curves.update()
    series = json.loads(curves.part())["series"]
    assert list(series) == ["kl"] and None not in series["kl"][1]


def test_long_curves_are_thinned_to_means() -> None:
    curve = Curve()
    for step in range(1000):
        curve.add(float(step), float(step % 2))
    steps, values = curve.thinned(100)
    assert len(steps) == 100 and steps[-1] == 999 and set(values) == {0.5}


def test_what_is_kept_of_a_curve_does_not_grow_with_its_file() -> None:
    curve = Curve()
    for step in range(50_001):
        curve.add(float(step), float(step))
    assert len(curve.points) < training_runs.KEPT_POINTS
    steps, values = curve.thinned()
    assert len(steps) <= training_runs.POINTS and steps[-1] == 50_000 and steps == sorted(steps)
    assert values[0] == pytest.approx(steps[0] / 2, rel=1e-4), "the mean of the steps from 0"


def test_a_large_file_is_read_in_pieces_each_byte_once(tmp_path: Path) -> None:
    file = tmp_path / "metrics.jsonl"
    write(file, *({"step": step, "loss": 1.0} for step in range(9)))
    with file.open("a") as opened:
        opened.write("x" * 950 + "\n")
    write(file, {"step": 9, "loss": 3.0})
    curves, read = Curves(file, read_bytes=100), [0]
    while read[-1] < file.stat().st_size:
        curves.update()
        assert read[-1] < curves._read <= read[-1] + 100, "each look gets on, by no more than it may read"
        read.append(curves._read)
    assert [step for step, _ in curves.series["loss"].points] == list(range(10))


def test_runs_are_found_below_a_folder_without_links_and_checkpoints(tmp_path: Path) -> None:
    for name in ("a", "deep/er/b", "a/checkpoints/c"):
        write(tmp_path / name / "metrics.jsonl", {"step": 1, "loss": 1.0})
    (tmp_path / "loop").symlink_to(tmp_path)
    found = [path.parent.relative_to(tmp_path).as_posix() for path in search(tmp_path)]
    assert found == ["a", "deep/er/b"]
    assert list(search(tmp_path / "none")) == []


def test_they_are_on_the_stream(tmp_path: Path) -> None:
    write(tmp_path / "runs" / "one" / "metrics.jsonl", {"step": 5, "loss": 1.5})
    write(tmp_path / "runs" / os.fsdecode(b"caf\xe9") / "metrics.jsonl", {"step": 5, "loss": 2.5})
    with served(tmp_path / "none.duckdb", tmp_path / "runs") as place:
        parts = place.first()
    run = parts["training one"]
    assert parts["training caf\\udce9"]["series"] == {"loss": [[5.0], [2.5]]}, "a name that is not UTF-8 is shown"
    assert run["series"] == {"loss": [[5.0], [1.5]]} and run["live"]


def test_names_say_the_folder_where_there_are_several(tmp_path: Path) -> None:
    for name in ("x/one", "y/one"):
        write(tmp_path / name / "metrics.jsonl", {"step": 1, "loss": 1.0})
    assert sorted(TrainingRuns([tmp_path / "x", tmp_path / "y"]).read()) == [
        (tmp_path / "x/one").as_posix(),
        (tmp_path / "y/one").as_posix(),
    ]
