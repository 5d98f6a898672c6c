"""The dashboard in a real browser while a run is played: it follows the run to its end, and its own restart."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.browser import Browser, Page, find_browser
from support.command_line import PLAYERS, PROJECT, start_arena
from support.dashboard import served
from support.made_store import MadeStore

from arena.run.live_status import live_status
from arena.workers.progress import RunProgress

PROGRAM = find_browser()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="no browser is installed: apt-get install chromium"),
]
#: The second one waits at each decision, so that on any machine the run outlasts several looks of the dashboard.
AGENTS = ("random", "bad_agents:Patient", "poke-env:RandomPlayer")
LENGTH = ("--format", "gen1randombattle", "--battles", "60")
BATTLES = "Number(document.querySelector('.figure dd').firstChild.textContent.replace(',', ''))"
FOCUS = "document.activeElement"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with Browser.launch(str(PROGRAM), tmp_path_factory.mktemp("profile")) as browser:
        yield browser.page()


def overflow(page: Page) -> int:
    return int(page.run("document.documentElement.scrollWidth - innerWidth"))


@pytest.fixture
def port() -> Iterator[int]:
    """A port that nobody else takes while the server restarts: it is bound here, and not listened on."""
    with socket.socket() as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


def test_it_follows_a_run_to_its_end_and_its_own_restart(page: Page, port: int, tmp_path: Path) -> None:
    db, metrics = tmp_path / "live.duckdb", tmp_path / "runs" / "one" / "metrics.jsonl"
    metrics.parent.mkdir(parents=True)
    metrics.write_text('{"step": 1, "loss": 2.0}\n{"step": 2, "loss": 1.0}\n')
    with served(db, tmp_path / "runs", port=port) as place:
        page.open(place.url)
        with start_arena("evaluate", *AGENTS, *LENGTH, "--db", db, cwd=PROJECT, PYTHONPATH=str(PLAYERS)) as run:
            page.until("document.querySelectorAll('.ranking tbody tr').length === 3")
            before = page.run(BATTLES)
            page.until("document.querySelector('.state-running') !== null")
            page.until(f"{BATTLES} > {before}")
            page.until("document.querySelectorAll('#training .chart polyline').length === 1")
            with metrics.open("a") as file:
                file.write('{"step": 3, "loss": 0.5}\n')
            page.until("document.querySelector('.training-runs tbody').innerText.includes('0.5')")
            assert run.communicate()[1] == "" and run.returncode == 0
        page.until("document.querySelector('#now').innerText.includes('finished')")
        assert page.run(BATTLES) == 180
    page.until("document.querySelector('#connection').classList.contains('lost')")
    assert page.run(BATTLES) == 180
    with served(db, tmp_path / "runs", port=port):
        page.until("!document.querySelector('#connection').classList.contains('lost')")
        page.complaints.clear()  # of the connection that was lost
        page.run("[...document.querySelectorAll('#battle-filters button')].at(-1).click()")
        page.until("document.querySelectorAll('#battle-rows tr').length === 40")
        page.run("document.querySelector('#battle-rows a').click()")
        page.until("!!document.querySelector('#viewer .av-events')")
        page.until(f"{FOCUS}.className === 'av'")
        page.press("ArrowRight", 39)
        assert page.run("document.querySelector('#viewer .av-place').textContent").startswith("Turn 1 ")
        assert overflow(page) <= 0
        assert page.complaints == []
        page.send("Page.navigate", url="about:blank")  # while there is still somebody to talk to


def test_the_end_of_a_run_is_shown_as_the_database_has_it(page: Page, tmp_path: Path) -> None:
    """The server may find what a run last said of itself, and then in the database how it ended."""
    db = tmp_path / "ended.duckdb"
    store = MadeStore(db)
    store.run("the-run", ["random", "heuristic:expert"])
    store.pair("the-run", "random", "heuristic:expert", "LW")
    store.write()
    with live_status(db, "the-run", None) as status, served(db) as place:
        status.show(RunProgress(total=2, known=1))
        page.open(place.url)
        page.until("document.querySelector('#now').innerText.includes('finished')")
        assert place.first()["live"]["status"]["done"] == 1
        assert page.run(BATTLES) == 2
        page.send("Page.navigate", url="about:blank")


def test_held_out_metrics_have_columns_and_a_panel_of_their_own(page: Page, tmp_path: Path) -> None:
    for name, lines in {
        "base": [
            '{"step": 1, "loss": 2.0, "policy_loss": 1.5, "agreement": 0.25}',
            '{"step": 2, "validation/policy_loss": 1.75, "validation/agreement": 0.125}',
        ],
        "fresh": ['{"step": 1, "loss": 3.0, "policy_loss": 2.5, "agreement": 0.5}'],
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "metrics.jsonl").write_text("\n".join(lines) + "\n")
    with served(tmp_path / "none.duckdb", tmp_path) as place:
        page.open(place.url)
        page.until("document.querySelectorAll('.training-runs tbody tr').length === 2")
        read = (
            "[...document.querySelectorAll('.training-runs tr')].map(row => [...row.cells].map(cell => cell.innerText))"
        )
        rows = page.run(read)
        heads = ["loss", "policy loss", "held-out policy loss", "accuracy", "held-out accuracy"]
        assert rows[0] == ["", "run", "step", *heads, "last change"]
        told = {row[1]: row[3:8] for row in rows[1:]}
        assert told == {"base": ["2", "1.5", "1.75", "0.25", "0.125"], "fresh": ["3", "2.5", "–", "0.5", "–"]}
        assert page.run("document.querySelectorAll('figure[data-key=\"Policy loss\"] .held-out').length") > 0
        assert overflow(page) <= 0
        page.send("Page.navigate", url="about:blank")


def test_a_phone_and_a_keyboard_are_enough(page: Page, played: Path, tmp_path: Path) -> None:
    metrics = tmp_path / "a-run-with-a-long-name-of-many-words" / "metrics.jsonl"
    metrics.parent.mkdir()
    metrics.write_text("".join(f'{{"step": {step}, "loss": {1 / step}}}\n' for step in range(1, 101)))
    page.complaints.clear()
    with served(played, tmp_path) as place:
        for dark in (False, True):
            page.open(place.url, width=390, height=844, dark=dark)
            page.until("document.querySelectorAll('#battle-rows tr').length > 0")
            page.until("!!document.querySelector('#training .chart svg')")
            assert overflow(page) <= 0
            # Who played is seen without scrolling sideways.
            assert page.run("(box => box.scrollWidth - box.clientWidth)(document.querySelector('#battles .box'))") == 0
        page.run("document.querySelector('table.heat td[tabindex=\"0\"]').focus()")
        first = page.run("document.querySelector('.told').textContent")
        assert " against " in first
        page.press("ArrowDown", 40)
        page.press("ArrowLeft", 37)
        assert page.run(f"{FOCUS}.tagName") == "TD"
        page.run("document.querySelector('.chart svg').focus()")
        page.press("ArrowLeft", 37)
        assert page.run("document.querySelector('.chart .told').textContent").startswith("step 98: ")
        assert page.run(f"{FOCUS}.tagName") == "svg"
        assert page.complaints == []
