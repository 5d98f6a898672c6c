"""The counts behind a report: Wilson's intervals, lengths, who wins when, best and worst, numbers as they are said."""

from __future__ import annotations

from itertools import pairwise

import pytest

from arena.report import lengths, profiles
from arena.report.counts import LeadCount, LengthCount, MoveCount, TeamUse, rate
from arena.report.numbers import duration, interval, listed, moment, percent, whole

PREVIEW = "Tyranitar||Leftovers]Nick|Skarmory|Leftovers]Blissey||Leftovers"


@pytest.mark.parametrize(
    ("points", "battles", "low", "high"),
    [  # Newcombe (Statistics in Medicine 17, 1998), table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilsons_interval_is_the_published_one(points: float, battles: int, low: float, high: float) -> None:
    said = rate(points, battles)
    assert said["score"] == pytest.approx(points / battles, abs=1e-6)
    assert (said["low"], said["high"]) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_lengths_count_each_battle_once() -> None:
    of_a = [LengthCount("a", turns, 1, 1.0) for turns in (5, 10, 10, 20, 400)]
    said = lengths.describe([*of_a, *(count._replace(agent="b", points=0.0) for count in of_a)])
    assert (said["battles"], said["shortest"], said["median"], said["longest"]) == (5, 5, 10, 400)
    assert said["mean"] == 89
    assert sum(each["battles"] for each in said["bins"]) == 5
    borders = [(each["from"], each["to"]) for each in said["bins"]]
    assert all(before[1] + 1 == after[0] for before, after in pairwise(borders))


def test_far_longer_battles_share_the_last_bin() -> None:
    said = lengths.describe([LengthCount(name, turns, n, 0.0) for name in "ab" for turns, n in ((10, 400), (900, 1))])
    assert said["bins"][-1]["to"] is None and said["bins"][-1]["battles"] == 1


def test_the_win_rate_by_turn_counts_the_battles_that_reached_it() -> None:
    said = profiles.by_turn(
        [
            LengthCount(*row)
            for row in (("a", 4, 10, 10.0), ("a", 12, 6, 3.0), ("a", 70, 5, 0.0), ("b", 3, 1, 0.5), ("c", 0, 4, 0.0))
        ]
    )
    assert [(e["turn"], e["battles"], e["score"]) for e in said["a"]] == [
        (1, 21, pytest.approx(13 / 21, abs=1e-6)),
        (5, 11, pytest.approx(3 / 11, abs=1e-6)),
        (10, 11, pytest.approx(3 / 11, abs=1e-6)),
        *((turn, 5, 0.0) for turn in (15, 20, 30, 40, 60)),
    ]
    assert [e["turn"] for e in said["b"]] == [1], "one battle is too few for more"
    assert said["c"] == [], "an agent that failed before the first turn of each battle"


def test_two_lucky_battles_are_not_the_best_of_all() -> None:
    entries = [
        {"name": n, **rate(p, b)} for n, p, b in (("lucky", 2, 2), ("good", 45, 50), ("bad", 5, 50), ("unlucky", 0, 1))
    ]
    best, worst = profiles.best_and_worst(entries)
    assert [e["name"] for e in best] == ["good", "lucky"]
    assert [e["name"] for e in worst] == ["bad", "unlucky"]


def test_best_and_worst_never_name_the_same_one() -> None:
    for size in range(6):
        entries = [{"name": n, **rate(1, 2)} for n in range(size)]
        best, worst = profiles.best_and_worst(entries)
        assert not {e["name"] for e in best} & {e["name"] for e in worst}
        assert len(best) == (1 if size == 1 else min(3, size // 2))


def test_teams_say_whether_they_can_be_told_apart() -> None:
    uses = [TeamUse("a", "s", "1", "one", PREVIEW, 2, 2.0), TeamUse("a", "s", "2", "two", PREVIEW, 2, 0.0)]
    said = profiles.teams(uses)["a"]
    assert (said["of"], said["told_apart"]) == (2, False)
    assert said["best"][0]["species"] == ["Tyranitar", "Skarmory", "Blissey"]
    many = [use._replace(battles=200, points=use.points * 100) for use in uses]
    assert profiles.teams(many)["a"]["told_apart"] is True


def test_leads_are_chosen_at_a_preview_or_come_with_the_team() -> None:
    said = profiles.leads(
        [
            LeadCount("a", PREVIEW, 2, 6, 3.0),
            LeadCount("a", PREVIEW, 1, 4, 4.0),
            LeadCount("a", PREVIEW, 2, 1, 1.0),
            LeadCount("b", PREVIEW, None, 5, 1.0),
            LeadCount("c", None, None, 5, 1.0),
        ]
    )
    assert [(e["lead"], e["battles"], e["score"]) for e in said["a"]["leads"]] == [
        ("Skarmory", 7, pytest.approx(4 / 7, abs=1e-6)),
        ("Tyranitar", 4, 1.0),
    ]
    assert said["a"]["chosen"] and not said["b"]["chosen"]
    assert said["b"]["leads"][0]["lead"] == "Tyranitar"
    assert "c" not in said, "Showdown drew its teams"


def test_moves_have_their_names_and_shares() -> None:
    counts = [MoveCount("a", "bodyslam", 3), MoveCount("a", "thunderwave", 1), MoveCount("a", "nosuchmove", 1)]
    said = profiles.moves("gen1ou", counts)["a"]
    assert said[0] == {"move": "Body Slam", "times": 3, "share": 0.6}
    assert {each["move"] for each in said} == {"Body Slam", "Thunder Wave", "nosuchmove"}


def test_numbers_as_people_read_them() -> None:
    assert [percent(p) for p in (0.0, 0.005, 0.71, 0.99, 0.999)] == ["< 1%", "< 1%", "71%", "99%", "> 99%"]
    assert [whole(x) for x in (-12.4, 0.2, -0.2, 1000)] == ["−12", "0", "0", "1000"]
    assert [whole(x, signed=True) for x in (-12.4, 0.2, 80)] == ["−12", "0", "+80"]
    assert [duration(x) for x in (0.0123, 2.84, 47.2, 137.4, 1320.0, 250_000.0)] == [
        *("0.012 ms", "2.8 ms", "47 ms", "137 ms", "1.3 s", "250 s")
    ]
    assert interval(0.312, 0.86) == "[31, 86]" and interval(None, None) == ""
    assert [listed(names) for names in ([], ["a"], ["a", "b", "c"])] == ["", "a", "a, b and c"]
    assert moment("2026-11-21T18:35:39+00:00") == "21 Nov 2026, 18:35 UTC"
