"""docs/sql.md: every query in it runs on really played battles and gives rows that make sense."""

from __future__ import annotations

import re
from pathlib import Path

import pandas
import pytest
from support.command_line import PROJECT

from arena.report.counts import rate
from arena.store import connect, frame, rows

TEXT = (PROJECT / "docs" / "sql.md").read_text(encoding="utf-8")
#: The query -> the sentence before it, its name.
QUERIES = {query.strip(): title for title, query in re.findall(r"([^\n]+)\n\n```sql\n(.*?)```", TEXT, re.DOTALL)}


def titled(words: str) -> str:
    """The query whose title holds these words."""
    (query,) = [query for query, title in QUERIES.items() if words in title]
    return query


def test_every_block_has_a_title_and_there_are_plenty() -> None:
    assert len(QUERIES) == TEXT.count("```sql") >= 15


@pytest.mark.parametrize("query", QUERIES, ids=list(QUERIES.values()))
def test_a_query_gives_rows(played: Path, query: str) -> None:
    found = frame(query, played)
    assert len(found) > 0 and len(found.columns) > 1
    rates = [column for column in found.columns if column.endswith("rate")]
    for column in rates:
        assert found[column].dropna().between(0, 1).all()
    assert not found.isna().all().any(), "a column of nothing but NULL"


def test_every_table_and_view_is_explained_with_columns_that_it_has(played: Path) -> None:
    with connect(played, read_only=True) as connection:
        names = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'main'"
        existing = {name for (name,) in connection.execute(names).fetchall()} - {"arena_schema", "arena_extensions"}
    explained = dict(re.findall(r"^\| `(\w+)`[^|]*\|[^|]*\|(.*)\|$", TEXT, re.MULTILINE))
    assert set(explained) == existing
    for name, columns in explained.items():
        has = set(frame(f"SELECT * FROM {name} LIMIT 0", played).columns)
        said = set(re.findall(r"`(\w+)`", re.sub(r"\([^)]*\)", "", columns)))
        assert said and said <= has, (name, said - has)


def test_win_rates_rank_the_strong_above_the_weak(played: Path) -> None:
    rates = frame(titled("Win rates over all battles"), played).set_index("agent").win_rate
    assert rates["poke-env:SimpleHeuristicsPlayer"] > rates["random"] > rates["bad_agents:Raises"] == 0


@pytest.mark.parametrize(("score", "battles"), [(0.5, 10), (1.0, 20), (0.0, 1), (0.55, 200)])
def test_the_macro_is_wilson_s_interval(played: Path, score: float, battles: int) -> None:
    [(reach,)] = rows(f"SELECT wilson({score}, {battles})", played)
    expected = rate(score * battles, battles)
    assert reach == pytest.approx({"low": expected["low"], "high": expected["high"]}, abs=1e-6)
    assert rows("SELECT wilson(NULL, 0)", played) == [(None,)]


def test_what_is_no_move_is_not_among_the_most_used(played: Path) -> None:
    query = titled("The moves that each agent uses most")
    assert "fight" not in frame(query, played).move.tolist() and "'move fight', 'move recharge'" in query


def test_who_beat_whom_is_seen_alike_from_both_sides(played: Path) -> None:
    found = frame(titled("Head-to-head results"), played).set_index(["agent", "opponent"])
    for (agent, opponent), row in found.iterrows():
        assert row.wins == found.loc[(opponent, agent)].losses
        assert row.ties == found.loc[(opponent, agent)].ties


def test_pairs_add_up(played: Path) -> None:
    found = frame(titled("Pairs: how often"), played)
    assert (found.swept + found.shared + found.lost_both <= found.pairs).all()  # a tie leaves halves
    assert found.pairs.sum() * 2 == len(frame("FROM results WHERE score IS NOT NULL", played))


def test_the_faulty_agent_is_named_with_its_words(played: Path) -> None:
    found = frame(titled("Failures of each agent"), played).set_index(["agent", "reason"])
    row = found.loc[("bad_agents:Raises", "error")]
    assert row.battles == 2 and "out of ideas" in row.example
    assert ("nobody", "turn-limit") in found.index
    rates = frame(titled("The share of its battles"), played).set_index("agent").fault_rate
    assert rates["bad_agents:Raises"] == 1 and (rates.drop("bad_agents:Raises") == 0).all()


def test_think_times_are_in_order_and_moves_are_moves(played: Path) -> None:
    times = frame(titled("Think time"), played)
    assert (times.median_ms <= times.p99_ms).all() and (times.p99_ms <= times.longest_ms).all()
    assert times.decisions.sum() == frame("SELECT count(*) AS n FROM decisions", played).n[0]
    moves = frame(titled("The moves that each agent"), played)
    assert moves.groupby("agent").size().max() <= 3
    assert moves.move.str.fullmatch("[a-z0-9]+").all()


def test_speeds_are_more_than_nothing(played: Path) -> None:
    speeds = frame(titled("How fast each run was"), played)
    assert len(speeds) == frame("SELECT count(*) AS n FROM runs", played).n[0] == 3
    assert (pandas.to_numeric(speeds.battles_per_second) > 0).all()
