"""What changed since the parent: shares, ratings and their intervals, from made battles."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.made_store import MadeStore

from arena.store import connect
from training.experiments.curriculum.compare import against_all, gathered, rating_change, set_gaps
from training.experiments.curriculum.lineage import ALL

POOL, SETS = ["a", "b"], ["far", "near"]
#: Against a and b, on each team set: pairs won, shared and lost of 100.
PARENT = {
    ("a", "far"): (25, 50, 25),
    ("b", "far"): (40, 50, 10),
    ("a", "near"): (25, 50, 25),
    ("b", "near"): (40, 50, 10),
}
CHILD = PARENT | {("a", "far"): (60, 30, 10)}


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pool's own battles, counted for the runs of a parent, of a child that is better on one of four, and of one that
    only beats its parent."""
    made = MadeStore(tmp_path_factory.mktemp("compared") / "arena.duckdb")
    made.run("pool", POOL)
    for results, count in (("WW", 30), ("WL", 40), ("LL", 30)):
        for team_set in SETS:
            made.pair("pool", "a", "b", results, count=count, team_set=team_set)
    for name, met in (("parent", PARENT), ("child", CHILD), ("twin", PARENT)):
        made.run(name, [name, *POOL])
        for (opponent, team_set), counts in met.items():
            for results, count in zip(("WW", "WL", "LL"), counts, strict=True):
                made.pair(name, name, opponent, results, count=count, team_set=team_set)
    made.pair("twin", "twin", "parent", "WW", count=60)
    path = made.write()
    with connect(path, read_only=False) as connection:
        for name in ("parent", "child", "twin"):
            connection.execute(
                "INSERT INTO evidence (run_id, battle_id) SELECT ?, battle_id FROM battles WHERE run_id = 'pool'",
                [name],
            )
    return path


@pytest.mark.slow
def test_shares_and_changes_are_by_opponent_and_team_set(db: Path) -> None:
    told = against_all(db, POOL, SETS, ("child", "child"), ("parent", "parent"))
    cells = {(cell["opponent"], cell["team_set"]): cell for cell in told}
    assert cells.keys() == {(a, s) for a in [*POOL, ALL] for s in [*SETS, ALL]}
    better = cells["a", "far"]
    assert (better["score"], better["parent"], better["change"], better["battles"]) == (0.75, 0.5, 0.25, 200)
    assert 0.1 < better["change_low"] < 0.25 < better["change_high"] < 0.4
    for key in (("b", "far"), ("a", "near"), ("b", "near")):
        assert cells[key]["change"] == 0 and cells[key]["change_low"] < 0 < cells[key]["change_high"]
    assert cells[ALL, "far"]["score"] == pytest.approx((0.75 + 0.65) / 2)
    assert cells["a", ALL]["change"] == pytest.approx(0.125) and cells["a", ALL]["change_low"] > 0
    assert cells[ALL, ALL]["change"] == pytest.approx(0.0625) and cells[ALL, ALL]["battles"] == 800
    width = better["change_high"] - better["change_low"]
    half = cells["a", ALL]["change_high"] - cells["a", ALL]["change_low"]
    assert half < 0.85 * width, "an average over two team sets is known better than either"


def test_the_root_has_no_change(db: Path) -> None:
    told = against_all(db, POOL, SETS, ("parent", "parent"), None)
    assert all(cell["change"] is None and cell["low"] < cell["score"] < cell["high"] for cell in told)


def test_the_gap_between_team_sets(db: Path) -> None:
    gaps = {gap["opponent"]: gap for gap in set_gaps(db, POOL, SETS, ("child", "child"))}
    assert gaps["a"]["gap"] == 0.25 and gaps["a"]["low"] > 0 and gaps["a"]["more_on"] == "far"
    assert gaps["b"]["gap"] == 0 and gaps["b"]["low"] < 0 < gaps["b"]["high"]
    assert gaps[ALL]["gap"] == pytest.approx(0.125)


def test_a_rating_against_the_pool_does_not_count_the_battles_with_its_parent(db: Path) -> None:
    def change(child: str) -> tuple[float, float, float]:
        evidence = gathered(db, [child, "parent"], SETS, [child, "parent", *POOL])
        return rating_change(evidence, child, "parent", "a")

    better = change("child")
    assert better[0] > 30 and better[1] > 0
    twin = change("twin")
    assert abs(twin[0]) < 1 and twin[1] < 0 < twin[2], "it has won 120 battles against its parent, and no more"


def test_every_battle_counts_once(db: Path) -> None:
    evidence = gathered(db, ["child", "parent", "twin"], ["far"], POOL)
    assert len(evidence) == 100 and evidence.games.sum() == 200
