"""A database of a million battles: is it small enough, and how long do queries, the report and a run on it take?

    python scripts/bench/million.py make big.duckdb [--battles 1000000]
    python scripts/bench/million.py measure big.duckdb [--only report]

`make` truly plays 528 battles of twelve agents of generation 1 on two team sets. All others are inserted by SQL, as copies
of these: with the key, pair, teams and seed of a fixture that the run's schedule really has, a winner drawn by the win rate
of the pairing, and think times and logs that differ (so that they do not compress as copies would). The database has two
runs with equal numbers of battles; the second one reuses those of the first, so all of them count for its report. Its last
battles are missing, for `measure` to resume it. A million battles need about 9 GB on the disk.

`measure` prints a line for each step: wall-clock seconds, CPU seconds, and the peak of resident memory. Each is a process of
its own. The last two write to the database: a run is resumed until its first battle is stored, and a new one is
started.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pandas

from arena.fixture import Fixture
from arena.report import html
from arena.report.page.battles import DEFAULT
from arena.report.summary import summarize
from arena.run.tournament import EvaluateSettings, Run, play, prepare, resume
from arena.store import Store, connect, frame, open_store, rows
from arena.workers.progress import RunProgress

AGENTS = (
    "random", "heuristic:restless", "heuristic:red-blue", "heuristic:max-power", "heuristic:gambler",
    "heuristic:type-switcher", "heuristic:status-spreader", "heuristic:max-damage", "heuristic:balanced",
    "heuristic:revenger", "heuristic:pessimist", "heuristic:emerald",
)  # fmt: skip
TEAM_SETS = ("competitive", "verdict")  # shipped: generated ones differ with the seed, and would not be reused
PLAYED = 528  # two pairs of each pairing on each set
LEFT = 24  # battles of the second run that are not inserted
CHUNK = 20_000
DOCS = Path(__file__).parents[2] / "docs" / "sql.md"

_TEMPLATES = """
    CREATE TEMP TABLE templates AS
    SELECT b.*, row_number() OVER (PARTITION BY p1, p2, team_set ORDER BY battle_id) - 1 AS number,
        (1 + sum(winner = 'p1') OVER pairing) / (2 + count(*) OVER pairing) AS chance, chosen
    FROM battles b JOIN (
        SELECT battle_id, list(d ORDER BY seat, index) AS chosen FROM decisions d WHERE battle_id <= $played GROUP BY ALL
    ) USING (battle_id)
    WHERE battle_id <= $played WINDOW pairing AS (PARTITION BY p1, p2)
"""
# Nothing is sorted: a join keeps the order of its larger side, the fixtures.
_BATTLES = (
    """
    CREATE OR REPLACE TEMP TABLE incoming AS
    SELECT f.id + n.last AS id, f.key, f.pair, f.p1_team, f.p2_team, f.seed, t.battle_id AS template,
        random() < chance AS first,
        unhex('502A4D1808000000' || substr(md5(f.key), 1, 16)) AS skipped  -- a frame that zstd skips
    FROM fixtures f JOIN templates t ON t.p1 = f.p1 AND t.p2 = f.p2 AND t.team_set = f.team_set AND t.number = f.id % 2,
        (SELECT max(battle_id) AS last FROM battles) n
    """,
    """
    INSERT INTO battles (battle_id, run_id, key, pair, format, team_set, p1, p2, p1_team, p2_team, seed, winner, reason,
        fault, detail, turns, started, seconds, parse_warnings, input_log, p1_log, p2_log, venue)
    SELECT i.id, $run, i.key, i.pair, format, team_set, p1, p2, i.p1_team, i.p2_team, i.seed,
        CASE WHEN reason <> 'win' THEN winner WHEN first THEN 'p1' ELSE 'p2' END,
        reason, fault, detail, turns + i.id % 3, started + to_milliseconds(20 * i.id),
        seconds * (0.5 + random()), parse_warnings, input_log || skipped, p1_log || skipped, p2_log || skipped, venue
    FROM incoming i JOIN templates t ON t.battle_id = i.template
    """,
    """
    INSERT INTO decisions (battle_id, seat, index, turn, legal, choice, think_ms, diagnostics)
    SELECT id, d.seat, d.index, d.turn, d.legal, d.choice, d.think_ms * (0.5 + random()), d.diagnostics
    FROM (SELECT i.id, unnest(chosen) AS d FROM incoming i JOIN templates t ON t.battle_id = i.template)
    """,
)
Step = Callable[[Path], object]


def settings(battles: int, seed: int) -> EvaluateSettings:
    """A run of about so many battles, a multiple of its number of pairings."""
    pairings = len(TEAM_SETS) * len(AGENTS) * (len(AGENTS) - 1) // 2
    return EvaluateSettings(agents=AGENTS, team_sets=TEAM_SETS, battles=-(-battles // pairings), seed=seed)


def make(db: Path, battles: int) -> None:
    """Make the database."""
    began = time.perf_counter()
    with open_store(db) as store:
        first = prepare(store, settings(battles // 2, 1))
        asyncio.run(play(first, store, limit=PLAYED))
        known = store.results(first.run_id)
        insert(db, first, (fixture for fixture in first.schedule() if fixture and fixture.key not in known))
        store.end_run(first.run_id, "finished")
        second = prepare(store, settings(battles // 2, 2))
        insert(db, second, itertools.islice(second.schedule(), len(second.plan) - LEFT))
        store.end_run(second.run_id, "stopped")
    stored, decisions = rows("SELECT count(*), (SELECT count(*) FROM decisions) FROM battles", db)[0]
    size = db.stat().st_size
    print(
        f"{stored:,} battles, {decisions:,} decisions, {size / 1e9:.2f} GB, {size / stored:,.0f} bytes a battle, "
        f"made in {time.perf_counter() - began:.0f} s"
    )


def insert(db: Path, run: Run, fixtures: Iterator[Fixture | None]) -> None:
    """Insert a result for each of the fixtures."""
    with connect(db, read_only=False) as connection:
        connection.execute("SET memory_limit = '4GB'; SELECT setseed(0.5)")
        connection.execute(_TEMPLATES, {"played": PLAYED})
        while chunk := list(itertools.islice(fixtures, CHUNK)):
            fixtures_table = pandas.DataFrame(
                [
                    (f.key, f.pair, *f.agents, *(team.id for team in f.teams), f.seed, f.team_set)
                    for f in chunk
                    if f is not None
                ],
                columns=["key", "pair", "p1", "p2", "p1_team", "p2_team", "seed", "team_set"],
            )
            fixtures_table["id"] = range(1, len(fixtures_table) + 1)
            connection.register("fixtures", fixtures_table)
            for statement in _BATTLES:
                values = {"run": run.run_id} if "$run" in statement else None
                connection.execute(statement, values)


def latest(db: Path) -> str:
    """The second run."""
    return str(rows("SELECT run_id FROM runs WHERE kind = 'evaluate' ORDER BY run_id LIMIT 1 OFFSET 1", db)[0][0])


def first_battle(db: Path, ready: Callable[[Store], Run]) -> str:
    """Play a run until a battle of it is in the database; returns how long the first one took."""
    began = time.perf_counter()
    played = []

    def watch(progress: RunProgress) -> None:
        if progress.played and not played:
            played.append(time.perf_counter() - began)

    with open_store(db) as store:
        opened = time.perf_counter() - began
        run = ready(store)
        prepared = time.perf_counter() - began
        asyncio.run(play(run, store, workers=1, show=watch, limit=len(run.results) + 1 if run.results else 1))
    ended = time.perf_counter() - began
    return f"opened after {opened:.1f} s, prepared {prepared:.1f}, first battle {played[0]:.1f}, ended {ended:.1f}"


def queries() -> dict[str, Step]:
    """The queries of docs/sql.md by their titles."""
    sections = re.findall(r"([^\n]+)\n\n```sql\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    return {f"sql: {title}": lambda db, query=query: f"{len(frame(query, db))} rows" for title, query in sections}


def report_html(db: Path) -> str:
    text = html.render(summarize(db, latest(db)), db, battles=DEFAULT)
    return f"{len(text.encode()) / 1e6:.1f} MB"


def ranking(db: Path) -> str:
    from arena.ratings.bradley_terry import fit_ratings
    from arena.report.evidence import load_evidence

    return f"{len(fit_ratings(load_evidence(db, latest(db), 'gen1ou')).agents)} agents"


STEPS: dict[str, Step] = {
    **queries(),
    "ranking alone": ranking,
    "report: summary": lambda db: f"{sum(part['battles'] for part in summarize(db, latest(db))['formats']):,} battles",
    "report: HTML": report_html,
    "resume": lambda db: first_battle(db, lambda store: resume(store, latest(db), None)),
    "new run": lambda db: first_battle(db, lambda store: prepare(store, settings(1000, 3))),
}


def measure(db: Path, only: str) -> None:
    """Take each step in a process of its own, and print what it cost."""
    for name in STEPS:
        if only in name:
            done = subprocess.run(
                [sys.executable, __file__, "step", str(db), "--only", name], capture_output=True, text=True, check=False
            )
            if done.returncode:
                print(f"{name}: FAILED: {done.stderr.strip().splitlines()[-1]}")
                continue
            result = json.loads(done.stdout.splitlines()[-1])
            print(
                f"{result['wall']:6.2f} s  {result['cpu']:6.2f} s CPU  {result['peak']:6.0f} MB  {name}"
                f" ({result['answer']})",
                flush=True,
            )


def step(db: Path, name: str) -> None:
    """Take one step here, without the start of the process."""
    began, cpu = time.perf_counter(), time.process_time()
    answer = STEPS[name](db)
    wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"answer": str(answer), "wall": wall, "cpu": cpu, "peak": peak}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["make", "measure", "step"])
    parser.add_argument("db", type=Path)
    parser.add_argument("--battles", type=int, default=1_000_000)
    parser.add_argument("--only", default="", help="steps whose names contain this")
    options = parser.parse_args()
    if options.what == "make":
        make(options.db, options.battles)
    elif options.what == "measure":
        measure(options.db, options.only)
    else:
        step(options.db, options.only)


if __name__ == "__main__":
    try:
        main()
    except duckdb.Error as error:
        sys.exit(str(error))
