"""The dashboard's server: what it tells of database and run folders, that it follows changes, and whom it answers."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.command_line import PROJECT, Said
from support.dashboard import Place, served
from support.made_store import MadeStore

from arena.commands import dashboard as command
from arena.dashboard import feed
from arena.dashboard.access import encoded
from arena.dashboard.app import ASSETS
from arena.run.live_status import path_of, read_status
from arena.store import rows
from arena.store.database import writer_lock

TOKEN = "a-token-of-enough-letters"


@pytest.fixture(scope="module")
def place(played: Path) -> Iterator[Place]:
    with served(played, played.parent / "runs") as found:
        yield found


def test_the_page_and_all_that_it_loads_are_served(place: Place) -> None:
    status, headers, body = place.ask("/")
    assert status == 200 and "script-src 'self'" in headers["content-security-policy"]
    page = body.decode()
    for name in ASSETS:
        assert f'"assets/{name}"' in page
        assert place.ask(f"/assets/{name}")[0] == 200
    assert place.ask("/assets/..%2Fapp.py")[0] == 404
    assert place.ask("/assets/report.html")[0] == 404


def test_the_first_look_has_every_run_and_the_latest_in_full(place: Place, played: Path) -> None:
    parts = place.first()
    runs = dict(rows("SELECT run_id, count(*) FROM battles GROUP BY run_id", played))
    assert {run["id"]: run["battles"] for run in parts["runs"]} == runs
    assert parts["run"]["id"] == parts["runs"][0]["id"]
    assert parts["live"] | {"problem": None} == {
        "database": str(played),
        "playing": False,
        "status": None,
        "problem": None,
    }


def test_a_run_is_told_as_the_database_has_it(place: Place, played: Path) -> None:
    run_id = rows("SELECT run_id FROM runs ORDER BY started", played)[0][0]
    run = place.first(f"/events?run={run_id}")["run"]
    assert [each["format"] for each in run["formats"]] == ["gen1ou", "gen9ou"]
    for each in run["formats"]:
        battles, score = rows(
            "SELECT count(score), avg(score) FROM results WHERE run_id = ? AND format = ? AND agent = 'random'",
            played,
            [run_id, each["format"]],
        )[0]
        row = next(row for row in each["ranking"] if row["agent"] == "random")
        assert (row["battles"], row["score"]) == (battles, pytest.approx(float(score)))
        assert all(row["elo"] is None or row["margin"] >= 0 for row in each["ranking"])
        cells = {(agent, opponent): score for agent, opponent, _, score, *_ in each["pairings"]}
        assert all(cells[b, a] == pytest.approx(1 - score) for (a, b), score in cells.items())
    assert sum(run["speed"]["battles_per_s"]) > 0


def test_faults_name_the_agent_and_a_battle(place: Place, played: Path) -> None:
    run_id = rows("SELECT DISTINCT run_id FROM faults WHERE agent = 'bad_agents:Raises'", played)[0][0]
    run = place.first(f"/events?run={run_id}")["run"]
    fault = next(fault for fault in run["faults"] if fault["agent"] == "bad_agents:Raises")
    assert fault["reason"] == "error"
    listed = place.json(f"/battles?run={run_id}&failed=1")["battles"]
    assert fault["battle"] in [battle[0] for battle in listed]
    raising = next(row for row in run["formats"][0]["ranking"] if row["agent"] == "bad_agents:Raises")
    assert raising["faults"] == fault["battles"]


def test_battles_are_listed_and_told(place: Place, played: Path) -> None:
    run_id = rows("SELECT run_id FROM runs ORDER BY started", played)[0][0]
    listed = place.json(f"/battles?run={run_id}&agent=random")["battles"]
    assert listed and all("random" in battle[3:5] for battle in listed)
    assert [battle[0] for battle in listed] == sorted((battle[0] for battle in listed), reverse=True)
    rest = place.json(f"/battles?run={run_id}&agent=random&before={listed[0][0]}")["battles"]
    assert rest == listed[1:]
    story = place.json(f"/battle/{listed[0][0]}")
    assert story["id"] == listed[0][0] and story["turns"]
    assert place.ask("/battle/999999")[0] == 404
    assert place.ask("/battle/99999999999999999999999")[0] == 404


def test_it_only_reads(place: Place) -> None:
    for method in ("POST", "PUT", "DELETE"):
        assert place.ask("/battles", method=method)[0] == 405


def test_another_sites_name_for_this_machine_is_refused(place: Place) -> None:
    assert place.ask("/", Host="evil.example")[0] == 421
    assert place.ask("/events", Host="evil.example:8700")[0] == 421
    assert place.ask("/", Host="localhost:8700")[0] == 200


def test_with_a_token_nothing_is_told_without_it(played: Path) -> None:
    with served(played, token=TOKEN) as place:
        for path in ("/", "/events", "/battles?run=x", "/battle/1", "/assets/viewer.js", "/?token=wrong", "/?token="):
            assert place.ask(path)[0] == 401, path
        assert place.ask("/", Authorization=f"Bearer {TOKEN}")[0] == 200
        status, headers, _ = place.ask(f"/?token={TOKEN}&x=1")
        assert (status, headers["location"]) == (303, "/?x=1")
        assert "HttpOnly" in headers["set-cookie"] and "SameSite=strict" in headers["set-cookie"]
        assert place.ask("/", Cookie=headers["set-cookie"].partition(";")[0], Host="evil.example")[0] == 200


@pytest.mark.parametrize("token", ['a-token+with&signs#and%41;and, =quotes"', "ein-Schlüssel-日本語-鍵"])
def test_a_token_may_have_any_characters(token: str, played: Path, arena: Callable[..., Said]) -> None:
    with served(played, token=token) as place:
        address = f"/?token={encoded(token)}"
        status, headers, _ = place.ask(address)
        assert (status, headers["location"]) == (303, "/")
        assert place.ask("/", Cookie=headers["set-cookie"].partition(";")[0])[0] == 200
        assert place.ask("/", Authorization=f"Bearer {token}".encode().decode("latin-1"))[0] == 200
        assert place.ask("/?token=" + encoded(token + "x"))[0] == 401
        assert place.ask("/", Cookie="arena-dashboard=%ff", Authorization="Bearer \xff")[0] == 401
        assert place.ask(f"//evil.example{address}")[1]["location"] == "/evil.example/"


def test_the_url_that_is_printed_has_the_token_encoded(capsys: pytest.CaptureFixture[str]) -> None:
    command._announce("127.0.0.1", 8700, "a+b&c#d%e-ü", Path("x.duckdb"), (Path(os.fsdecode(b"caf\xe9")),))
    assert "http://127.0.0.1:8700/?token=a%2Bb%26c%23d%25e-%C3%BC\n" in capsys.readouterr().out


def test_it_waits_for_a_database_and_follows_it(tmp_path: Path) -> None:
    db = tmp_path / "later.duckdb"
    with served(db) as place, place.stream() as told:
        name, live = next(told)
        assert name == "live" and "no such file" in live["problem"]
        store = MadeStore(db)
        store.run("the-run", ["random", "heuristic:expert"])
        store.pair("the-run", "random", "heuristic:expert", "LW")
        store.write()
        run = next(data for name, data in told if name == "run" and data and data["formats"])
    assert run["id"] == "the-run"
    assert {row["agent"]: row["battles"] for row in run["formats"][0]["ranking"]} == {
        "random": 2,
        "heuristic:expert": 2,
    }


def test_readings_take_a_fiftieth_of_a_core_but_costly_first_ones_do_not_hold_up_the_page(tmp_path: Path) -> None:
    db = tmp_path / "growing.duckdb"
    database = Readings(db, iter([0.5, 0.3, 0.2, 0.2, 0.4, 0.4, 0.4, 0.4]))
    clock, readings = database.clock, database.readings
    for clock[0] in range(80):
        db.write_text("x" * clock[0])
        database.update(None, True, None)
    assert [when for when, _ in readings] == [0, 3, 6, 16, 26, 36, 46, 66]


def test_pages_on_different_runs_share_the_fiftieth_and_each_gets_on(tmp_path: Path) -> None:
    db = tmp_path / "growing.duckdb"
    database = Readings(db, itertools.repeat(0.1))
    clock, readings = database.clock, database.readings
    runs = [f"run-{number}" for number in range(20)]
    for clock[0] in range(600):
        db.write_text("x" * clock[0])
        for run in runs:
            database.update(run, True, None)
    assert len(readings) * 0.1 <= 600 / 50 + 1
    assert readings[-1][1] == runs, "one reading is for all pages"
    first = [wanted for when, wanted in readings if when == 0]
    assert len(first) > 10, "pages that are opened are answered at once, while the pause is not too long"
    clock[0] = 10_000
    database.update("run-1", True, None)
    assert readings[-1][1] == ["run-1"], "the others are closed"


class Readings(feed.DatabaseParts):
    """A database by a clock that the test sets: its readings as they come, when, and which runs. costs: of each."""

    def __init__(self, path: Path, costs: Iterator[float]) -> None:
        super().__init__(path, now=lambda: self.clock[0], processor_time=lambda: self.worked)
        self.clock, self.worked, self.costs = [0], 0.0, costs
        self.readings: list[tuple[int, list[str | None]]] = []

    def read(self, wanted: Iterable[str | None], playing: bool, status: object) -> list[str]:
        self.worked += next(self.costs)
        self.readings.append((self.clock[0], list(wanted)))
        return []


def test_two_pages_on_different_runs_each_have_theirs(place: Place, played: Path) -> None:
    runs = [run for (run,) in rows("SELECT run_id FROM runs ORDER BY started", played)]
    for run in [*runs, *runs]:
        assert place.first(f"/events?run={run}")["run"]["id"] == run
    assert place.first("/events?run=nobody")["run"] is None


def test_a_section_that_fails_is_said_and_the_page_has_the_rest(
    place: Place, monkeypatch: pytest.MonkeyPatch, played: Path
) -> None:
    def live(db: Path) -> None:
        raise OSError("no disk")

    monkeypatch.setattr(feed, "extensions", lambda: [SimpleNamespace(name="own", live=live)])
    with served(played) as broken:
        parts = broken.first()
    assert parts["run"]["id"] and "section 'own' is left out: OSError: no disk" in parts["live"]["problem"]


def test_the_stream_says_what_a_living_run_says_of_itself(played: Path) -> None:
    run_id = rows("SELECT max(run_id) FROM runs", played)[0][0]
    said = {"run": run_id, "pid": os.getpid(), "done": 3, "total": 9, "nodes": {"one": "2 workers"}}
    path_of(played).write_text(json.dumps(said))
    try:
        with writer_lock(played), served(played) as place:
            live = place.first()["live"]
            assert live["playing"] and live["status"]["nodes"] == {"one": "2 workers"}
    finally:
        path_of(played).unlink()


def test_the_status_of_a_dead_process_is_ignored(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    db = tmp_path / "x.duckdb"
    path_of(db).write_text(json.dumps({"run": "x", "pid": ended.pid}))
    assert read_status(db) is None
    path_of(db).write_text('{"run": "x", "pi')
    assert read_status(db) is None
    path_of(db).write_text(json.dumps({"run": "x", "pid": os.getpid()}))
    assert read_status(db) == {"run": "x", "pid": os.getpid()}


def test_an_address_that_is_taken_and_a_short_token_are_one_line(
    arena: Callable[..., Said], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: Place
) -> None:
    said = arena("dashboard", "--port", str(place.port), "--db", tmp_path / "x.duckdb")
    assert said.code == 2 and said.err.count("\n") == 1 and f"--port {place.port}" in said.err
    monkeypatch.setenv("ARENA_DASHBOARD_TOKEN", "short")
    said = arena("dashboard", "--port", "0", "--db", tmp_path / "x.duckdb")
    assert said.code == 2 and "too few" in said.err


def test_without_the_extra_it_says_how_to_install_it(
    arena: Callable[..., Said], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith(("arena.dashboard", "uvicorn"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    said = arena("dashboard", "--port", "0")
    assert said.code == 2 and "battle-arena[dashboard]" in said.err and said.err.count("\n") == 1


@pytest.mark.slow
def test_it_ends_with_ctrl_c_while_a_page_is_open(played: Path) -> None:
    main = "from arena.cli import main; main()"
    words = [sys.executable, "-c", main, "dashboard", "--port", "0", "--db", str(played)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=PROJECT) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        port = int(line.rsplit(":", 1)[1].strip().rstrip("/"))
        with Place(port).stream() as told:
            next(told)
            process.send_signal(2)
            assert process.wait(60) == 0
        assert process.stderr is not None and process.stderr.read() == ""
