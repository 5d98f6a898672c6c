"""Training curves as files: what they show, that they are the same each time, and what happens without matplotlib."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from training.experiments.ablation.plot import ablation_figure
from training.runs import figures
from training.runs.curves import FILE, Point, comparison_figure, write_curves
from training.runs.figures import write_figure


@pytest.fixture
def run(tmp_path: Path) -> Callable[[list[dict[str, float]]], Path]:
    def write(lines: list[dict[str, float]]) -> Path:
        folder = tmp_path / "run-$x$-<b>"
        folder.mkdir(exist_ok=True)
        (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return folder

    return write


def text_of(file: Path) -> str:
    return " ".join("".join(ElementTree.parse(file).getroot().itertext()).split())


def test_curves_of_a_long_run_stay_small_and_leave_out_what_is_not_finite(run: Callable[..., Path]) -> None:
    lines = [{"step": step, "loss": 1 / step, "gradient_norm": float("nan")} for step in range(1, 20_001)]
    folder = run(lines)
    write_curves(folder)
    first = (folder / FILE).read_bytes()
    assert len(first) < 40_000
    assert "run-$x$-<b>: step 20,000" in text_of(folder / FILE) and "gradient norm" not in text_of(folder / FILE)
    write_curves(folder)
    assert (folder / FILE).read_bytes() == first, "the same metrics are the same file"
    for few in ([{"step": 1, "loss": 2.0}], [{"step": 0, "loss": 1e300}, {"step": 1, "loss": -1e300}]):
        write_curves(run(few))
    diverged = run([{"step": 7, "loss": float("nan"), "gradient_norm": float("inf")}])
    write_curves(diverged)
    assert text_of(diverged / FILE).endswith("step 7"), "nothing to draw is no error"


def test_each_curve_is_named(run: Callable[..., Path]) -> None:
    battles = {"evaluation/gen1ou/elo": 1200.0, "evaluation/gen1randombattle/score": 0.625}
    last = {"step": 2, "loss": 1.0, "validation/loss": 3.0, **battles, "agreement": 0.5}
    folder = run([{"step": 1, "loss": 2.0}, last])
    write_curves(folder)
    words = text_of(folder / FILE)
    named = ("rating of checkpoints", "gen1ou, last 1200", "score of checkpoints", "gen1randombattle, last 0.625")
    for label in ("loss", "training, last 1", "held out, last 3", *named, "step"):
        assert label in words
    panels = {
        "KL": {"small": [Point(1, 2.0), Point(9, 3.0)], "large": [Point(2, 1.0)]},
        "entropy": {"large": [Point(1, 1)]},
    }
    figure = comparison_figure(panels, "sizes", "decisions")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["small", "large"]
    first, second = figure.axes
    assert (first.get_xlabel(), first.get_ylabel(), second.get_ylabel()) == ("decisions", "KL", "entropy")
    assert first.lines[1].get_color() == second.lines[0].get_color(), "a run has one colour"


def test_an_ablation_has_a_dot_for_each_score_and_hollow_ones_for_what_is_not_significant() -> None:
    score = {"score": 0.5, "low": 0.4, "high": 0.6}
    opponents = ["random", "heuristic:expert"]
    difference = {"better": "a", "worse": "b", "points": 0.1, "low": 0.0, "high": 0.2}
    figure = ablation_figure(
        {
            "name": "toy",
            "opponents": opponents,
            "variants": [{"variant": name, "against": dict.fromkeys(opponents, score), **score} for name in "ab"],
            "differences": [{**difference, "clear": True}, {**difference, "clear": False}],
        }
    )
    dots = [container.lines[0] for axes in figure.axes for container in axes.containers]
    assert [(len(dot.get_xdata()), dot.get_markerfacecolor() == "white") for dot in dots] == [
        *[(2, False)] * 3,
        (1, False),
        (1, True),
    ]
    assert dots[0].get_xdata()[0] == pytest.approx(50) and dots[-1].get_xdata()[0] == pytest.approx(10)


def test_without_matplotlib_one_line_says_so_and_nothing_else_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    figures._say_missing.cache_clear()
    for _ in range(3):
        assert not write_figure(tmp_path / "curves.svg", lambda: pytest.fail("drawn"))
    assert capsys.readouterr().err.splitlines() == [
        "curves.svg is not drawn: matplotlib is not installed: `make training` installs it (from a wheel: pip install "
        "'battle-arena[training]')"
    ]
    assert not list(tmp_path.iterdir())
