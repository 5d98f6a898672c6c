"""A run while it goes on: what a terminal and what a file sees."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence

import pytest
from rich.console import Console

from arena.report import live
from arena.workers.progress import RunProgress


@pytest.fixture
def clock() -> list[float]:
    """The time, which stands at 1,000 s until a test moves it."""
    return [1000.0]


def a_progress(clock: Sequence[float] = (1000.0,), **more: object) -> RunProgress:
    values = {
        "now": lambda: clock[0],
        "total": 1200, "known": 100, "played": 200, "turns": 9000,
        "wins": Counter({"strong": 150, "weak [bold]": 30}), "games": Counter({"strong": 200, "weak [bold]": 200}),
        "faults": Counter({"weak [bold]": 4}), "began": 900.0,
        "points": {"gen1ou": {("strong", "weak [bold]"): 150.0, ("weak [bold]", "strong"): 50.0}}, "anchor": "weak [bold]",
    }  # fmt: skip
    return RunProgress(**{**values, **more})  # type: ignore[arg-type]


def header(**more: object) -> dict[str, object]:
    return {
        "format": "gen1ou",
        "agents": ["a", "b"],
        "winner": None,
        "reason": "win",
        "fault": None,
        "turns": 10,
        **more,
    }


def test_progress_counts_wins_games_faults_and_aborted() -> None:
    progress = RunProgress(total=5, known=1)
    for each in (
        header(winner="p1"),
        header(winner="p2", reason="timeout", fault="p1"),
        header(reason="tie"),
        header(reason="aborted", fault="venue"),
    ):
        progress.note(each)
    assert (progress.done, progress.played, progress.turns, progress.aborted) == (5, 4, 40, 1)
    assert progress.games == {"a": 3, "b": 3}
    assert progress.wins == {"a": 1, "b": 1}
    assert progress.faults == {"a": 1}
    assert progress.points == {"gen1ou": {("a", "b"): 1.5, ("b", "a"): 1.5}}, (
        "a tie is a half, and an aborted battle counts for nobody"
    )


def test_speed_is_of_this_invocation_only() -> None:
    assert a_progress().speed == 2.0  # 200 played in 100 s, not 300 done


@pytest.mark.parametrize(
    ("changes", "limit", "left"),
    [
        ({}, None, 450.0),
        ({}, 160.0, 60.0),
        ({}, 1000.0, 450.0),
        ({}, 90.0, 0.0),
        ({"played": 0}, None, None),
        ({"played": 0}, 160.0, 60.0),
    ],
)
def test_time_left_is_the_nearer_of_the_work_and_the_limit(
    changes: dict[str, object], limit: float | None, left: float | None
) -> None:
    assert live.time_left(a_progress(**changes), limit) == left


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, "–"), (0, "0 s"), (59.4, "59 s"), (59.6, "1 min 00 s"), (200, "3 min 20 s"),
        (3599.9, "1 h 00 min"), (3900, "1 h 05 min"), (90_000, "25 h 00 min"),
    ],
)  # fmt: skip
def test_durations_are_spoken_as_people_do(seconds: float | None, words: str) -> None:
    assert live.format_seconds(seconds) == words


def test_without_a_terminal_a_line_comes_every_few_seconds(clock: list[float]) -> None:
    out = io.StringIO()
    shown = live.display(Console(file=out, width=60), None)
    assert isinstance(shown, live.Lines)
    shown.show(a_progress(clock))
    assert out.getvalue() == ""
    clock[0] += live.LINE_EVERY_SECONDS
    shown.show(a_progress(clock, began=905.0))
    shown.show(a_progress(clock, began=905.0))
    line = (
        "300 of 1,200 battles · 2.0 battles/s · 7 min 30 s left · faults: 4 · "
        "Elo so far: strong 1190 ± 56, weak [bold] 1000 (anchor)\n"
    )
    assert out.getvalue() == line
    shown.close(a_progress(clock, began=905.0))
    assert out.getvalue() == line * 2


def test_aborted_battles_are_said_when_there_are_any() -> None:
    assert "aborted: 2" in live.summary(a_progress(aborted=2), None)
    assert "aborted" not in live.summary(a_progress(), None)


def test_in_a_terminal_a_table_ranks_the_agents() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=100, height=20, color_system=None)
    shown = live.display(console, None)
    assert isinstance(shown, live.LiveTable)
    shown.show(a_progress())
    shown._live.refresh()
    drawn = out.getvalue()
    shown.close(a_progress())
    rows = [line.split() for line in drawn.replace("\r", "\n").split("\n")]
    strong = ["strong", "1190", "±", "56", "200", "75", "%", "0"]
    weak = ["weak", "[bold]", "1000", "(anchor)", "200", "25", "%", "4"]
    assert strong in rows and weak in rows
    assert rows.index(strong) < rows.index(weak)
    assert "300 of 1,200 battles · 2.0 battles/s · 7 min 30 s left · faults: 4" in drawn
    assert out.getvalue().rstrip().endswith("faults: 4")


def test_a_table_in_a_low_terminal_keeps_the_strongest_by_rating() -> None:
    """The weakest win the most: an adaptive schedule gives strong agents strong opponents."""
    points: dict[tuple[str, str], float] = {}
    for number in range(40):
        agent, other = f"agent{number:02d}", f"agent{number + 1:02d}"
        points[agent, other], points[other, agent] = 12.0, 8.0
    points |= {("agent40", "none"): 40.0, ("none", "agent40"): 0.0}
    out = io.StringIO()
    shown = live.display(Console(file=out, force_terminal=True, width=100, height=16), None)
    shown.show(a_progress(points={"gen1ou": points}, anchor="agent20"))
    shown._live.refresh()
    shown._live.stop()
    drawn = out.getvalue()
    assert "agent00" in drawn and "agent09" in drawn and "agent40" not in drawn
    assert drawn.index("agent00") < drawn.index("agent01") < drawn.index("agent09")


def two_formats() -> RunProgress:
    points = {("strong", "weak [bold]"): 150.0, ("weak [bold]", "strong"): 50.0}
    other = {("strong", "weak [bold]"): 20.0, ("weak [bold]", "strong"): 20.0}
    return a_progress(points={"gen1ou": points, "gen9ou": other})


def test_two_formats_are_two_ratings() -> None:
    out = io.StringIO()
    live.Lines(Console(file=out, width=60), None).close(two_formats())
    assert out.getvalue().endswith(
        "Elo so far: gen1ou: strong 1190 ± 56, weak [bold] 1000 (anchor); "
        "gen9ou: strong 1000 ± 108, weak [bold] 1000 (anchor)\n"
    )
    drawn = io.StringIO()
    shown = live.LiveTable(Console(file=drawn, force_terminal=True, width=100, height=20, color_system=None), None)
    shown.show(two_formats())
    shown._live.refresh()
    shown._live.stop()
    rows = [line.split() for line in drawn.getvalue().replace("\r", "\n").split("\n")]
    assert ["gen1ou", "strong", "1190", "±", "56", "200", "75", "%", "0"] in rows
    assert ["gen9ou", "strong", "1000", "±", "108", "40", "50", "%", "0"] in rows


def test_a_slow_first_fit_does_not_keep_later_ones_away(clock: list[float]) -> None:
    """It loads libraries: on a busy machine that takes seconds."""
    fits: list[float] = []

    def slow(points: dict[tuple[str, str], float], anchor: str) -> list[live.InterimStanding]:
        fits.append(clock[0])
        clock[0] += 0.01 if len(fits) > 1 else 6.0
        return [live.InterimStanding("a", len(fits), 0.5, 1000.0 + len(fits), 3.0)]

    out = io.StringIO()
    lines = live.Lines(Console(file=out), None, live.Interim(slow))
    for played in range(1, 120):
        clock[0] += 0.25
        lines.show(a_progress(clock, played=played))
    assert [f"{number} ± 3" in out.getvalue() for number in (1001, 1002, 1003)] == [True] * 3


def test_ratings_are_fitted_anew_only_every_few_seconds(clock: list[float]) -> None:
    fits: list[int] = []

    def counted(points: dict[tuple[str, str], float], anchor: str) -> list[live.InterimStanding]:
        fits.append(len(points))
        clock[0] += 0.05  # what the fit costs
        return []

    ratings, played = live.Interim(counted), 0
    for _ in range(400):
        clock[0] += 0.25
        played += 1
        ratings.of(a_progress(clock, played=played))
    assert len(fits) == 20, "a fit that costs 0.05 s comes every 5 s: the display takes 1% of a core at most"
    for _ in range(400):
        clock[0] += 0.25
        ratings.of(a_progress(clock, played=played))
    assert len(fits) <= 21, "and none while nothing new is known"
