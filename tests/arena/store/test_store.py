"""The store: each battle once, numbers that are right, nothing that a query can change, and older files brought up."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest
from support.command_line import Said
from support.records import RUN, record

from arena.record import unpacked
from arena.report.evidence import latest_run
from arena.store import BadDatabase, Store, connect, database, frame, kept_open, rows, schema
from arena.store.recover import recover
from teamsets.errors import BadInput
from training.experiments.curriculum import tables


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "arena.duckdb"


def test_a_record_comes_back_as_it_was(db: Path) -> None:
    decisions = [
        (0, 0, 1, ["move a", "switch b"], "move a", 1.5, {"value": 0.25}),
        (1, 0, 1, ["move c"], "move c", 2.0, None),
    ]
    store = Store(db)
    store.add(
        record(
            1, winner="p2", turns=7, seconds=0.5, parse_warnings=3, input_log=[">start", "ü"],
            logs=(["|a", "|b|"], ["|c"]), decisions=decisions, detail="in words", fault="p1", reason="error",
        ).to_line(RUN)
    )  # fmt: skip
    store.ingest_journal()
    battle = frame("SELECT * FROM battles", db).iloc[0]
    assert (battle.battle_id, battle.run_id, battle.p1, battle.p2, battle.winner) == (1, RUN, "a", "b", "p2")
    assert (battle.reason, battle.fault, battle.detail, battle.turns, battle.seconds) == (
        "error",
        "p1",
        "in words",
        7,
        0.5,
    )
    assert battle.parse_warnings == 3
    assert battle.started.timestamp() == 1e9
    assert unpacked(bytes(battle.input_log)) == [">start", "ü"]
    assert (unpacked(bytes(battle.p1_log)), unpacked(bytes(battle.p2_log))) == (["|a", "|b|"], ["|c"])
    assert rows("SELECT * FROM decisions ORDER BY seat", db) == [
        (1, "p1", 0, 1, ["move a", "switch b"], "move a", 1.5, '{"value":0.25}'),
        (1, "p2", 0, 1, ["move c"], "move c", 2.0, None),
    ]


def test_an_aborted_battle_that_is_played_again_takes_the_place_of_the_old_one(db: Path) -> None:
    store = Store(db)
    store.add(
        record(1, winner=None, reason="aborted", fault="venue", decisions=[(0, 0, 1, ["a"], "a", 1, None)]).to_line(RUN)
    )
    store.add(record(2).to_line(RUN))
    store.add(record(1, winner=None, reason="aborted", fault="venue").to_line("another run"))
    store.ingest_journal()
    store.forget_aborted(RUN)
    assert store.results(RUN) == {record(2).fixture.key: 1.0}
    assert rows("SELECT count(*) FROM decisions", db) == [(0,)]
    store.add(record(1, winner="p2").to_line(RUN))
    store.ingest_journal()
    assert store.results(RUN) == {record(1).fixture.key: 0.0, record(2).fixture.key: 1.0}
    assert rows("SELECT count(*) FROM battles WHERE reason = 'aborted'", db) == [(1,)]


class TestOnce:
    """A battle is counted once, whenever its run died."""

    def test_a_segment_that_was_taken_in_but_not_deleted_counts_nothing_twice(self, db: Path) -> None:
        store = Store(db)
        for number in range(3):
            store.add(record(number, decisions=[(0, 0, 1, ["x"], "x", 1.0, None)]).to_line(RUN))
        (segment,) = store.journal.segments()
        kept = segment.read_bytes()
        store.ingest_journal()
        segment.write_bytes(kept)  # as if the process had died before it could delete it
        Store(db).add(record(9).to_line(RUN))
        Store(db)
        assert rows("SELECT count(*), max(battle_id) FROM battles", db) == [(4, 4)]
        assert rows("SELECT count(*) FROM decisions", db) == [(3,)]
        assert not segment.exists()

    def test_the_same_battle_twice_in_the_journal_counts_once(self, db: Path) -> None:
        store = Store(db)
        for _ in range(2):
            store.add(record(1).to_line(RUN))
        store.add(record(1).to_line("another run"))
        store.ingest_journal()
        assert rows("SELECT run_id, count(*) FROM battles GROUP BY ALL ORDER BY ALL", db) == [
            (RUN, 1),
            ("another run", 1),
        ]

    def test_a_torn_line_is_dropped_and_the_battles_before_it_are_kept(self, db: Path) -> None:
        store = Store(db)
        store.add(record(1).to_line(RUN))
        with open(f"{db}.journal", "ab") as journal:
            journal.write(record(2).to_line(RUN)[:-20])
        Store(db)
        assert rows("SELECT count(*) FROM battles", db) == [(1,)]

    def test_whoever_looks_next_takes_in_what_a_killed_run_left(self, db: Path) -> None:
        Store(db).add(record(1).to_line(RUN))
        recover(db)
        assert rows("SELECT count(*) FROM battles", db) == [(1,)]
        assert list(db.parent.glob("*.journal*")) == []

    def test_the_journal_of_a_living_run_is_left_to_it(self, db: Path) -> None:
        with database.writer_lock(db):
            store = Store(db)
            store.add(record(1).to_line(RUN))
            recover(db)
            assert rows("SELECT count(*) FROM battles", db) == [(0,)]

    def test_battles_wait_in_the_journal_while_a_reader_is_in_the_file(self, db: Path) -> None:
        store = Store(db)
        store.add(record(1).to_line(RUN))
        with duckdb.connect(str(db), read_only=True):
            assert store.try_ingest_journal() is False
        assert store.try_ingest_journal() is True
        assert rows("SELECT count(*) FROM battles", db) == [(1,)]


@pytest.fixture
def by_hand(db: Path) -> Path:
    """Ten battles of every kind of end, whose numbers can be counted on one's fingers."""
    store = Store(db)
    for number, each in enumerate(
        [
            record(0, ("a", "b"), "p1"),
            record(1, ("b", "a"), "p2"),
            record(2, ("a", "b"), "p2", team_set="beta"),
            record(3, ("a", "b"), None, "tie"),
            record(4, ("b", "a"), None, "turn-limit", turns=1000),
            record(5, ("a", "b"), "p1", "timeout", "p2", detail="no choice within 1 s"),
            record(6, ("a", "c"), "p2", "illegal", "p1", detail="answered None"),
            record(7, ("c", "a"), "p2", "error", "p1", detail="RuntimeError"),
            record(8, ("c", "b"), None, "aborted", "venue", detail="the host died"),
            record(9, ("b", "c"), None, "aborted", "venue", detail="the host died"),
        ]
    ):
        assert each.fixture.pair == f"pair{number}"
        store.add(each.to_line(RUN))
    store.ingest_journal()
    with connect(db, read_only=False) as connection:
        columns = "team_id, format, team_set, name, packed"
        connection.execute(f"INSERT INTO teams ({columns}) VALUES ('team1', 'gen1ou', 'alpha', 'name 1', 'packed')")
    return db


def test_a_reader_waits_for_a_thread_of_its_process_that_writes(db: Path) -> None:
    store = Store(db)
    with ThreadPoolExecutor(1) as threads, store.kept_open():
        reading = threads.submit(rows, "SELECT count(*) FROM battles", db)
        with pytest.raises(TimeoutError):
            reading.result(timeout=0.2)
        store.add(record(1).to_line(RUN))
        store.ingest_journal()
    assert reading.result() == [(1,)]
    with store.kept_open(), pytest.raises(BadDatabase, match=r"\.duckdb: this process has it open"):
        connect(db, read_only=True, patience=0.1)


def test_several_threads_that_ingest_store_each_battle_once(db: Path) -> None:
    store = Store(db)
    with ThreadPoolExecutor(3) as threads:
        taking = []
        for number in range(60):
            store.add(record(number).to_line(RUN))
            if number % 3 == 0:
                taking.append(threads.submit(store.ingest_journal))
        for step in taking:
            step.result()
    store.ingest_journal()
    assert rows("SELECT count(*), count(DISTINCT key) FROM battles", db) == [(60, 60)]
    assert not store.journal.pending()


def test_battles_are_numbered_in_the_order_in_which_they_were_finished(db: Path) -> None:
    store = Store(db)
    for round in range(2):
        for number in range(50):
            store.add(record(100 * round + number, turns=100 * round + number).to_line(RUN))
        store.ingest_journal()
    turns = [turns for (turns,) in rows("SELECT turns FROM battles ORDER BY battle_id", db)]
    assert turns == [*range(50), *range(100, 150)]


class TestViews:
    def test_results_has_two_rows_for_each_battle_with_outcome_and_score(self, by_hand: Path) -> None:
        found = rows(
            "SELECT battle_id, seat, agent, opponent, outcome, score, at_fault FROM results ORDER BY ALL", by_hand
        )
        assert [row[1:] for row in found if row[0] in (1, 4, 6, 9)] == [
            ("p1", "a", "b", "win", 1.0, False),
            ("p2", "b", "a", "loss", 0.0, False),
            ("p1", "a", "b", "tie", 0.5, False),
            ("p2", "b", "a", "tie", 0.5, False),
            ("p1", "a", "b", "win", 1.0, False),
            ("p2", "b", "a", "timeout", 0.0, True),
            ("p1", "c", "b", "aborted", None, False),
            ("p2", "b", "c", "aborted", None, False),
        ]
        assert len(found) == 20

    def test_results_names_each_seats_own_team(self, by_hand: Path) -> None:
        teams = rows("SELECT DISTINCT seat, team_id, opponent_team_id FROM results ORDER BY 1", by_hand)
        assert teams == [("p1", "team1", "team2"), ("p2", "team2", "team1")]

    def test_head_to_head_counts_each_kind_and_leaves_aborted_battles_out(self, by_hand: Path) -> None:
        columns = "agent, opponent, team_set, battles, wins, losses, ties, faults, win_rate"
        assert rows(f"SELECT {columns} FROM head_to_head ORDER BY ALL", by_hand) == [
            ("a", "b", "alpha", 5, 3, 0, 2, 0, 0.8),
            ("a", "b", "beta", 1, 0, 1, 0, 0, 0.0),
            ("a", "c", "alpha", 2, 1, 1, 0, 1, 0.5),
            ("b", "a", "alpha", 5, 0, 3, 2, 1, 0.2),
            ("b", "a", "beta", 1, 1, 0, 0, 0, 1.0),
            ("b", "c", "alpha", 0, 0, 0, 0, 0, None),
            ("c", "a", "alpha", 2, 1, 1, 0, 1, 0.5),
            ("c", "b", "alpha", 0, 0, 0, 0, 0, None),
        ]

    def test_faults_names_whose_failure_it_was(self, by_hand: Path) -> None:
        assert rows("SELECT reason, agent, detail FROM faults ORDER BY battle_id", by_hand) == [
            ("turn-limit", "nobody", None),
            ("timeout", "b", "no choice within 1 s"),
            ("illegal", "a", "answered None"),
            ("error", "c", "RuntimeError"),
            ("aborted", "venue", "the host died"),
            ("aborted", "venue", "the host died"),
        ]

    def test_team_results_goes_by_team_and_names_it(self, by_hand: Path) -> None:
        found = rows(
            "SELECT team, agent, battles, win_rate FROM team_results WHERE team_set = 'alpha' ORDER BY ALL", by_hand
        )
        assert found == [
            ("name 1", "a", 4, 0.625),  # win, tie, win by the other's fault, loss by its own
            ("name 1", "b", 2, 0.25),
            ("name 1", "c", 1, 0.0),
            ("team2", "a", 3, pytest.approx((1 + 0.5 + 1) / 3)),
            ("team2", "b", 3, pytest.approx((0 + 0.5 + 0) / 3)),
            ("team2", "c", 1, 1.0),
        ]


class TestReadingOnly:
    """`arena sql` answers and changes nothing: neither the database nor a file beside it."""

    @pytest.fixture
    def own(self, played: Path, tmp_path: Path) -> Path:
        return Path(shutil.copy(played, tmp_path / "own.duckdb"))

    @pytest.mark.parametrize(
        "query",
        [
            "INSERT INTO arena_schema VALUES (99, now())",
            "DELETE FROM battles",
            "UPDATE battles SET winner = 'p1'",
            "DROP TABLE battles",
            "DROP VIEW results",
            "CREATE TABLE mine (x INTEGER)",
            "COPY battles TO '{folder}/out.csv'",
            "EXPORT DATABASE '{folder}/out'",
            "ATTACH '{folder}/own.duckdb' AS again (READ_WRITE)",
            "ATTACH '{folder}/other.duckdb' AS other",
            "SELECT * FROM read_text('{folder}/secret.txt')",
            "SELECT * FROM '{folder}/secret.txt'",
            "SELECT * FROM read_csv('{folder}/secret.txt')",
            "INSTALL httpfs",
            "LOAD httpfs",
            "SET enable_external_access = true",
            "SET lock_configuration = false",
            "SELECT 1; DELETE FROM battles",
            "SELECT * FROM path",
        ],
    )
    def test_a_query_that_would_change_or_read_something_else_is_refused(
        self, arena: Callable[..., Said], own: Path, query: str
    ) -> None:
        (own.parent / "secret.txt").write_text("secret\n")
        before, files = own.read_bytes(), sorted(own.parent.iterdir())
        said = arena("sql", query.format(folder=own.parent), "--db", own)
        assert said.code == 2, said
        assert said.err.startswith("arena: sql: ") and said.err.count("\n") == 1
        assert "secret\n" not in said.out
        assert own.read_bytes() == before
        assert sorted(own.parent.iterdir()) == files

    def test_the_shapes_of_an_answer(self, arena: Callable[..., Said], played: Path) -> None:
        query = "SELECT 'a' AS name, 0.5 AS share, NULL AS nothing, [1, 2] AS list, 'x'::BLOB AS bytes"
        assert arena("sql", query, "--csv", "--db", played).out.split("\n")[0] == "name,share,nothing,list,bytes"
        as_json = arena("sql", "SELECT 'a' AS name, 0.5 AS share, NULL AS nothing", "--json", "--db", played)
        assert as_json.out.strip() == '[{"name":"a","share":0.5,"nothing":null}]'
        as_table = arena("sql", query, "--db", played)
        assert "<1 bytes>" in as_table.out and "1 row" in as_table.out

    def test_frame_and_rows_take_parameters(self, played: Path) -> None:
        assert frame("SELECT ? AS x", played, [3]).x.tolist() == [3]
        assert rows("SELECT ?", played, ["x"]) == [("x",)]
        with pytest.raises(BadInput, match="sql: "):
            frame("SELECT ?", played, [])


def _database_of_schema_4(db: Path) -> None:
    """One battle with a decision, and a curriculum's gate and checkpoint, as stored before some columns were renamed."""
    with duckdb.connect(str(db)) as connection:
        connection.execute("CREATE TABLE arena_schema (version INTEGER, applied TIMESTAMPTZ DEFAULT now())")
        connection.execute(
            "CREATE TABLE arena_extensions (extension VARCHAR, version INTEGER, applied TIMESTAMPTZ DEFAULT now())"
        )
        for number in range(4):
            connection.execute(schema.MIGRATIONS[number])
            connection.execute("INSERT INTO arena_schema (version) VALUES (?)", [number + 1])
        connection.execute(tables.MIGRATIONS[0])
        connection.execute("INSERT INTO arena_extensions (extension, version) VALUES ('curriculum', 1)")
        connection.execute(
            "INSERT INTO battles (battle_id, run_id, key, pair, format, team_set, p1, p2, p1_team, p2_team, seed, winner, "
            "reason, turns, started, seconds, oddities, input_log, p1_log, p2_log) VALUES (1, ?, 'first', 'pair', 'gen1ou', "
            "'alpha', 'a', 'b', 't', 't', 's', 'p1', 'win', 9, now(), 0.1, 3, ''::BLOB, ''::BLOB, ''::BLOB)",
            [RUN],
        )
        connection.execute(
            "INSERT INTO decisions (battle_id, seat, index, turn, legal, choice, think_ms, thought) "
            """VALUES (1, 'p1', 0, 1, ['a'], 'a', 1.5, '{"value":0.25}')"""
        )
        connection.execute(
            "INSERT INTO gates (curriculum, stage, attempt, gate, run_id, passed, words, told) "
            """VALUES ('c', 1, 1, 'parent', 'r', true, '62% against its parent', '{"score": 0.62}')"""
        )
        connection.execute(
            "INSERT INTO checkpoints (curriculum, checkpoint, stage, attempt, told) VALUES ('c', 'policy:x', 1, 1, ?)",
            ['{"gaps": []}'],
        )


class TestMigration:
    """A file of any older schema becomes a current one, in the writer's hands only."""

    TABLES = (
        "agents", "arena_extensions", "arena_schema", "battles", "best_responses", "checkpoints", "costs", "curricula",
        "decisions", "evidence", "gates", "ladder_ratings", "runs", "stages", "teams",
    )  # fmt: skip
    VIEWS = ("evidence_results", "faults", "head_to_head", "results", "team_results")

    @pytest.mark.parametrize("old", range(schema.VERSION))
    def test_an_older_file_is_brought_up_to_date_when_it_is_written_to(self, db: Path, old: int) -> None:
        with duckdb.connect(str(db)) as connection:
            if old:
                connection.execute("CREATE TABLE arena_schema (version INTEGER, applied TIMESTAMPTZ DEFAULT now())")
            for number in range(old):
                connection.execute(schema.MIGRATIONS[number])
                connection.execute("INSERT INTO arena_schema (version) VALUES (?)", [number + 1])
        with pytest.raises(BadDatabase, match="older schema"):
            connect(db, read_only=True)
        connect(db, read_only=False).close()
        with connect(db, read_only=True) as connection:
            tables = connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()
            views = connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1").fetchall()
            versions = connection.execute("SELECT version FROM arena_schema ORDER BY 1").fetchall()
        assert [name for (name,) in tables] == list(self.TABLES)
        assert set(self.VIEWS) <= {name for (name,) in views}
        assert versions == [(number,) for number in range(1, schema.VERSION + 1)]

    def test_columns_that_were_renamed_keep_what_they_hold(self, db: Path) -> None:
        """A database of schema 4, read by a command: its battles, and those in the journal of a run that was killed."""
        _database_of_schema_4(db)
        line = record(2, parse_warnings=4, decisions=[(0, 0, 1, ["b"], "b", 1.0, {"value": 0.75})]).to_line(RUN)
        former = line.replace(b'"parse_warnings"', b'"oddities"').replace(b'"diagnostics"', b'"thought"')
        Path(f"{db}.journal").write_bytes(former + b"\n" + record(3, parse_warnings=5).to_line(RUN) + b"\n")
        recover(db)
        assert rows("SELECT parse_warnings FROM battles ORDER BY battle_id", db) == [(3,), (4,), (5,)]
        found = rows("SELECT battle_id, diagnostics FROM decisions ORDER BY battle_id", db)
        assert found == [(1, '{"value":0.25}'), (2, '{"value":0.75}')]
        assert rows("SELECT summary, details FROM gates", db) == [("62% against its parent", '{"score": 0.62}')]
        assert rows("SELECT details FROM checkpoints", db) == [('{"gaps": []}',)]

    def test_a_command_that_reads_upgrades_an_older_file_but_not_while_it_is_played(
        self, db: Path, arena: Callable[..., Said]
    ) -> None:
        _database_of_schema_4(db)
        with database.writer_lock(db):
            said = arena("sql", "SELECT parse_warnings FROM battles", "--db", db)
            assert said.code == 2 and "older schema" in said.err and said.err.count("\n") == 1
        assert "3" in arena("sql", "SELECT parse_warnings FROM battles", "--csv", "--db", db).out

    @pytest.mark.parametrize(
        "noted", ["CREATE OR REPLACE MACRO views_version() AS 'views 1'", "DROP MACRO views_version"]
    )
    def test_views_of_an_earlier_version_are_replaced(self, db: Path, noted: str) -> None:
        Store(db).add(record(1, winner="p2").to_line(RUN))
        Store(db)
        expected = rows("FROM results ORDER BY seat", db)
        with connect(db, read_only=False) as connection:
            connection.execute("CREATE OR REPLACE VIEW results AS SELECT 1 AS battle_id, 'old' AS seat")
            connection.execute(noted)
        assert rows("SELECT seat FROM results", db) == [("old",)]
        Store(db)
        assert rows("FROM results ORDER BY seat", db) == expected and len(expected) == 2

    def test_a_current_file_is_left_alone(self, db: Path) -> None:
        connect(db, read_only=False).close()
        applied = rows("SELECT version, applied::VARCHAR FROM arena_schema", db)
        connect(db, read_only=False).close()
        assert rows("SELECT version, applied::VARCHAR FROM arena_schema", db) == applied


def test_rows_gives_times_as_datetimes(db: Path) -> None:
    store = Store(db)
    store.add(record(1).to_line(RUN))
    store.ingest_journal()
    ((started,),) = rows("SELECT started FROM battles", db)
    assert started.timestamp() == 1e9


def test_the_run_to_resume_is_the_last_one_that_is_not_finished_whatever_the_clock_said(db: Path) -> None:
    """The system's clock was set back before the second run, and forward before the third."""
    store = Store(db)
    times = {"finished": "2030-01-02", "killed": "2030-01-01", "serve": "2030-01-04", "finished later": "2030-01-03"}
    for run, started in times.items():
        store.begin_run(run, "serve" if run == "serve" else "evaluate", {}, None, {}, [], {})
        with connect(db, read_only=False) as connection:
            connection.execute("UPDATE runs SET started = ? WHERE run_id = ?", [started, run])
        if run.startswith("finished"):
            store.end_run(run, schema.FINISHED)
    assert latest_run(db) == "finished later"
    assert store.resume_run(None, "evaluate").run_id == "killed"
    store.continue_run("killed", {"again": True})
    store.end_run("killed", schema.STOPPED)
    assert store.resume_run(None, "evaluate").run_id == "killed"
    store.end_run("killed", schema.FINISHED)
    store.continue_run("killed", {})
    store.end_run("killed", schema.FINISHED)
    assert store.resume_run(None, "evaluate").run_id == "finished later"
    assert store.resume_run("finished", "evaluate").run_id == "finished"
    with pytest.raises(BadDatabase, match="the latest are finished later, serve, killed"):
        store.resume_run("no such run", "evaluate")


def test_a_database_that_is_kept_open_is_read_through_one_connection(tmp_path: Path) -> None:
    path = tmp_path / "kept.duckdb"
    connect(path, read_only=False).close()
    with kept_open(path):
        assert rows("SELECT count(*) FROM battles", path) == [(0,)]
        with pytest.raises(BadInput, match="sql: "):
            rows("SELECT nothing FROM battles", path)
        assert rows("SELECT 1", path) == [(1,)]  # an error does not close it
        with pytest.raises(BadDatabase, match="this process has it open"):
            connect(path, read_only=False, patience=0)
    connect(path, read_only=False, patience=0).close()
