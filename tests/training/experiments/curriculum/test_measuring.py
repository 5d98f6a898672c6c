"""The progress of a plan's measuring: which kinds of battles, how many of them, how long it has taken."""

from __future__ import annotations

import io

from rich.console import Console

from arena.workers.progress import RunProgress
from training.experiments.curriculum.measuring import Measuring


def test_a_log_gets_a_line_for_each_kind_and_one_now_and_then() -> None:
    now, out = 100.0, io.StringIO()
    with Measuring(Console(file=out, width=60), 17, clock=lambda: now) as shown:
        shown.begin("policy against random, heuristic:max-damage", 2)
        for played in range(1, 5):
            now += 2
            shown.battles(RunProgress(total=16, played=played))
        shown.begin("policy against heuristic:expert", 1)
        shown.learning(4)
    assert out.getvalue().splitlines() == [
        "measuring 1–2 of 17: policy against random, heuristic:max-damage · 0 s",
        "measuring 1–2 of 17: policy against random, heuristic:max-damage · 3 of 16 battles · 6 s",
        "measuring 3 of 17: policy against heuristic:expert · 8 s",
        "measuring 4 training steps",
    ]


def test_a_terminal_gets_one_line_in_place_and_is_given_back() -> None:
    out = io.StringIO()
    console = Console(file=out, width=120, force_terminal=True)
    with Measuring(console, 2) as shown:
        shown.begin("policy against random", 2)
        shown.battles(RunProgress(total=4, played=1))
    hidden, shown_again = out.getvalue().index("\x1b[?25l"), out.getvalue().index("\x1b[?25h")
    line = out.getvalue()[hidden:shown_again]
    assert line.count("\n") == 1 and "measuring 1–2 of 2: policy against random · 1 of 4 battles" in line
    assert out.getvalue()[shown_again:].endswith("\x1b[2K"), "the line is removed at the end"
