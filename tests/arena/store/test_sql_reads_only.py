"""A query can read the database's tables and nothing else: no file is written or read, whatever the SQL says."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from support.command_line import run_arena

from arena.store import Store, connect, frame, rows
from teamsets.errors import BadInput

#: {db}, {folder}: the database and its folder. All of these must fail, or do nothing.
HOSTILE = (
    "COPY battles TO '{folder}/out.csv'",
    "COPY battles TO '{db}.tmp/out.csv'",
    "COPY (SELECT 1) TO '{db}' (FORMAT csv, USE_TMP_FILE false)",
    "COPY (SELECT 1) TO '{db}.wal' (FORMAT csv, USE_TMP_FILE false)",
    "COPY (SELECT 1) TO '{db}.journal' (FORMAT csv, USE_TMP_FILE false)",
    "COPY (SELECT 1 AS x) TO '{db}.wal' (FORMAT csv, PARTITION_BY (x))",
    "WITH x AS (COPY (SELECT 1) TO '{db}' (FORMAT csv, USE_TMP_FILE false)) FROM x",
    "WITH x AS (COPY (SELECT 1) TO '{db}.wal' (FORMAT csv, USE_TMP_FILE false)) FROM x",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{db}' (FORMAT csv, USE_TMP_FILE false)",
    "COPY (SELECT 1) TO '/dev/stdout'",
    "EXPORT DATABASE '{folder}/export'",
    "EXPORT DATABASE '{db}.tmp/export'",
    "IMPORT DATABASE '{folder}'",
    "FROM read_text('{db}.tmp/secret.txt')",
    "FROM read_text('{folder}/secret.txt')",
    "FROM read_csv('{folder}/secret.txt')",
    "FROM read_json('{folder}/secret.txt')",
    "FROM read_blob('{db}')",
    "FROM read_blob('{db}.lock')",
    "FROM '{folder}/secret.txt'",
    "FROM read_duckdb('{db}', table_name := 'battles')",
    "FROM sniff_csv('{folder}/secret.txt')",
    "FROM glob('{folder}/*')",
    "FROM glob('{db}.tmp/*')",
    "FROM read_text('/dev/fd/0')",
    "ATTACH '{folder}/new.duckdb'",
    "ATTACH '{db}.tmp/new.duckdb'",
    "ATTACH '{db}' AS again",
    "ATTACH 'http://127.0.0.1:9/x.duckdb'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "LOAD '{folder}/secret.txt'",
    "FROM sqlite_scan('{folder}/secret.txt', 't')",
    "CREATE PERSISTENT SECRET s (TYPE s3)",
    "SET temp_directory = '{folder}'",
    "RESET temp_directory",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "SET allowed_directories = ['{folder}']",
    "SET log_query_path = '{folder}/log'",
    "PRAGMA profiling_output = '{folder}/profile.json'",
    "FROM enable_logging('QueryLog', storage := 'file', storage_path := '{folder}/log')",
    "FROM enable_profiling(save_location := '{folder}/profile.json')",
    "SET temp_directory = '{folder}'; COPY battles TO '{folder}/out.csv'",
    "INSERT INTO runs SELECT * FROM runs",
    "WITH x AS (DELETE FROM battles RETURNING *) FROM x",
    "UPDATE battles SET winner = 'p2'",
    "DROP TABLE battles",
    "CREATE TABLE mine (a INT)",
)


def _files(folder: Path) -> dict[str, bytes]:
    """What lies under a folder, links not followed."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A database with a file beside it, and one in the folder where DuckDB would keep its temporary files."""
    path = tmp_path / "there" / "arena.duckdb"
    path.parent.mkdir()
    Store(path)
    Path(f"{path}.lock").write_text("")
    (path.parent / "secret.txt").write_text("secret\n1\n")
    Path(f"{path}.tmp").mkdir()
    Path(f"{path}.tmp", "secret.txt").write_text("secret\n1\n")
    return path


@pytest.mark.parametrize("sql", HOSTILE)
def test_a_query_reaches_no_file(sql: str, db: Path) -> None:
    before = _files(db.parent)
    with pytest.raises(BadInput, match=r"^sql: "):
        frame(sql.format(db=db, folder=db.parent), db)
    assert _files(db.parent) == before


def test_a_link_in_the_place_of_the_temporary_files_leads_nowhere(db: Path) -> None:
    aim = db.parent.parent / "aim"
    aim.mkdir()
    (aim / "secret.txt").write_text("secret")
    Path(f"{db}.tmp", "secret.txt").unlink()
    Path(f"{db}.tmp").rmdir()
    Path(f"{db}.tmp").symlink_to(aim)
    for sql in ("COPY runs TO '{db}.tmp/out.csv'", "FROM read_text('{db}.tmp/secret.txt')", "FROM glob('{db}.tmp/*')"):
        with pytest.raises(BadInput, match=r"^sql: "):
            rows(sql.format(db=db), db)
    assert _files(aim) == {"secret.txt": b"secret"}


def test_the_names_that_duckdb_knows_lead_nowhere(db: Path) -> None:
    ((known,),) = rows("SELECT path FROM duckdb_databases() WHERE path IS NOT NULL", db)
    before = _files(db.parent)
    for name in (known, f"{known}.wal"):
        for sql in (
            f"COPY (SELECT 1) TO '{name}' (FORMAT csv, USE_TMP_FILE false)",
            f"COPY (SELECT 1 AS x) TO '{name}' (FORMAT csv, PARTITION_BY (x))",
            f"FROM read_blob('{name}')",
        ):
            with pytest.raises(BadInput, match=r"^sql: "):
                rows(sql, db)
    assert _files(db.parent) == before
    assert not Path(known).parent.exists() or Path(known).parent == db.parent


def test_two_readers_in_one_process_are_both_locked(db: Path) -> None:
    with connect(db, read_only=True) as first, connect(db, read_only=True) as second:
        for reader in (first, second):
            assert reader.execute("SELECT current_setting('temp_directory')").fetchall() == [("",)]
            with pytest.raises(duckdb.Error, match="disabled"):
                reader.execute(f"FROM read_blob('{db}')")


def test_what_a_killed_writer_left_in_its_log_is_read(db: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.duckdb"
    with duckdb.connect(str(db)) as writer:
        writer.execute("SET checkpoint_threshold = '1GB'")
        writer.execute("INSERT INTO teams (team_id, format, team_set, name) VALUES ('t', 'gen1ou', 's', 'n')")
        copy.write_bytes(db.read_bytes())
        Path(f"{copy}.wal").write_bytes(Path(f"{db}.wal").read_bytes())
    assert rows("SELECT team_id FROM teams", copy) == [("t",)]


@pytest.mark.slow
def test_the_command_reads_only(db: Path) -> None:
    said = run_arena("sql", f"COPY (SELECT 1) TO '{db}' (FORMAT csv, USE_TMP_FILE false)", "--db", db)
    assert (said.code, said.out) == (2, "")
    assert said.err.count("\n") == 1
    assert run_arena("sql", "SELECT count(*) FROM battles", "--csv", "--db", db).code == 0
