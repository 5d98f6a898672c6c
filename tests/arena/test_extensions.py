"""Tables and report sections of other packages: made, brought up to date, shown; one that fails is left out with a line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.command_line import PROJECT
from support.made_store import MadeStore
from support.read_page import Read

from arena.extensions import GROUP, Extension, extensions
from arena.report.html import render
from arena.report.sections import Html, Section, el
from arena.report.summary import summarize
from arena.store import BadDatabase, connect, rows
from teamsets.errors import BadInput

REMARKS = "CREATE TABLE remarks (run_id VARCHAR, remark VARCHAR)"


def remarks_of(db: Path, run_id: str) -> list[str] | None:
    if not rows("SELECT 1 FROM duckdb_tables() WHERE table_name = 'remarks'", db):
        return None
    return [text for (text,) in rows("SELECT remark FROM remarks WHERE run_id = ?", db, [run_id])] or None


def section(remarks: list[str]) -> Section:
    body: Html = el("section", el("h2", "Remarks"), el("ul", [el("li", each) for each in remarks]), id="remarks")
    return Section(
        "remarks", "Remarks", body, reading={"Remark": "What somebody wrote."}, style="#remarks { color: red }"
    )


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Makes extensions installed: the lines of their entry points."""

    def install(*lines: str) -> None:
        info = tmp_path / "site" / "others-1.0.dist-info"
        info.mkdir(parents=True, exist_ok=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *lines]))
        monkeypatch.syspath_prepend(tmp_path / "site")
        extensions.cache_clear()

    yield install
    extensions.cache_clear()


def with_only(monkeypatch: pytest.MonkeyPatch, *found: Extension) -> None:
    for name in ("arena.store.database", "arena.report.summary", "arena.report.html"):
        monkeypatch.setattr(f"{name}.extensions", lambda: found)


def played(path: Path) -> MadeStore:
    made = MadeStore(path)
    made.run("r", ["a", "b"])
    made.pair("r", "a", "b", "WL")
    made.write()
    return made


def test_its_section_is_in_the_page_and_its_data_in_the_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = played(tmp_path / "arena.duckdb").path
    with_only(monkeypatch, Extension("remarks", (REMARKS,), remarks_of, section))
    assert summarize(db, "r")["remarks"] is None, "the tables are not there yet"
    with connect(db, read_only=False) as connection:
        connection.execute("INSERT INTO remarks VALUES ('r', 'a <b>fine</b> run')")
    summary = summarize(db, "r")
    assert json.loads(json.dumps(summary))["remarks"] == ["a <b>fine</b> run"]
    page = render(summary, db, battles=0)
    read = Read(page)
    assert "remarks" in read.ids() and "a <b>fine</b> run" in read.words and "What somebody wrote." in read.words
    assert "#remarks { color: red }" in page and 'href="#remarks"' in page


def test_its_tables_are_brought_up_to_date_when_the_database_is_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = played(tmp_path / "arena.duckdb").path
    with_only(monkeypatch, Extension("remarks", (REMARKS,)))
    for _ in range(2):
        with connect(db, read_only=False) as connection:
            connection.execute("INSERT INTO remarks VALUES ('r', 'kept')")
    with_only(monkeypatch, Extension("remarks", (REMARKS, "ALTER TABLE remarks ADD COLUMN author VARCHAR")))
    connect(db, read_only=False).close()
    assert rows("SELECT * FROM remarks", db) == [("r", "kept", None)] * 2
    assert rows("SELECT extension, version FROM arena_extensions WHERE extension = 'remarks' ORDER BY 2", db) == [
        ("remarks", 1),
        ("remarks", 2),
    ]
    with_only(monkeypatch, Extension("remarks", (REMARKS,)))
    with pytest.raises(
        BadDatabase, match=r"of extension 'remarks' are of a newer version of it \(2, .* 1\): update it"
    ):
        connect(db, read_only=False)
    assert len(rows("SELECT * FROM remarks", db)) == 2


def test_a_name_that_the_report_has_already_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = played(tmp_path / "arena.duckdb").path
    with_only(monkeypatch, Extension("findings"))
    with pytest.raises(BadInput, match="extension 'findings': the report has a part of that name already"):
        summarize(db, "r")


def test_one_that_cannot_be_loaded_is_left_out_with_a_line(
    installed: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    own = {each.name for each in extensions()}
    installed("broken = nowhere.at_all:EXTENSION", "odd = json:dumps", "fine = arena.extensions:nothing")
    found = {each.name for each in extensions()}
    lines = capsys.readouterr().err.splitlines()
    assert own <= found and found == own
    assert lines == [
        "arena: extension 'broken' of others: ModuleNotFoundError: No module named 'nowhere': its tables and its section of "
        "the report are left out",
        "arena: extension 'fine' of others: arena.extensions:nothing is no arena.extensions.Extension: its tables and its "
        "section of the report are left out",
        "arena: extension 'odd' of others: json:dumps is no arena.extensions.Extension: its tables and its section of the "
        "report are left out",
    ]


def test_the_guides_extension_works(
    tmp_path: Path, installed: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    guide = (PROJECT / "docs" / "report.md").read_text(encoding="utf-8")
    code, entry = re.findall(r"```(?:python|toml)\n(.*?)```", guide, re.DOTALL)
    (tmp_path / "my_package").mkdir()
    (tmp_path / "my_package" / "remarks.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    installed(entry.splitlines()[-1].replace('"', ""))
    db = played(tmp_path / "arena.duckdb").path
    assert summarize(db, "r")["remarks"] is None
    with connect(db, read_only=False) as connection:
        connection.execute("INSERT INTO remarks VALUES ('r', 'a <b>fine</b> run')")
    assert "a <b>fine</b> run" in Read(render(summarize(db, "r"), db, battles=0)).words
