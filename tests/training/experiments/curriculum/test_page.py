"""A curriculum as a page: every checkpoint at its rating, what the gates said, points by stage, costs; in whatever state."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import duckdb
import pytest
import yaml
from rich.console import Console
from support.command_line import PROJECT, TESTS

pytest.importorskip("torch")

from support import stand_in_curriculum as stand_in
from support.browser import Browser, Page, find_browser
from support.made_store import MadeStore
from support.read_page import Read

from arena.report.html import render
from arena.report.summary import summarize
from arena.store import BadDatabase, schema
from teamsets.errors import BadInput
from training.experiments.curriculum.config import Curriculum
from training.experiments.curriculum.lineage import ALL, Lineage, curricula, curriculum_of, lineage
from training.experiments.curriculum.page.drawings import tree
from training.experiments.curriculum.page.section import page
from training.experiments.curriculum.report import PAGE, write_page
from training.experiments.curriculum.store import CurriculumStore
from training.runs.config_reader import validated

NAME = "<b>toy</b>"
SETS, POOL = ["variety:12", "competitive"], ["heuristic:max-damage", "poke-env:MaxBasePowerPlayer"]
#: What came out of each attempt: checkpoint, kept, rating with its interval, words of its gates.
FIRST = ("policy:<i>first</i>@10", True, (1100.0, 1010.0, 1190.0), {"parent": "H1 after 8 battles", "pool": "+150 Elo"})
WEAKER = ("policy:weaker@10", False, (905.0, 800.0, 1003.0), {"parent": "H1 after 90 battles", "pool": "−195 Elo"})
BEATEN = ("policy:beaten@20", False, None, {"parent": "H0 after 12 battles"})
LAST = ("policy:last@30", True, (1250.0, 1150.0, 2990.0), {"parent": "H1 after 14 battles", "pool": "+149 Elo"})


def share(opponent: str, team_set: str, score: float, change: float | None) -> dict[str, Any]:
    changed = (None, None, None) if change is None else (change, change - 0.05, change + 0.05)
    named = dict(zip(("change", "change_low", "change_high"), changed, strict=True))
    ends = {"low": score - 0.1, "high": score + 0.1, "parent": None}
    return {"opponent": opponent, "team_set": team_set, "battles": 8, "score": score, **ends, **named}


def told(score: float, change: float | None) -> dict[str, Any]:
    """An evaluation: `score` on the first team set, 9 points less on the other."""
    scores = {SETS[0]: score, SETS[1]: score - 0.09, ALL: score - 0.045}
    gaps = [
        {"opponent": each, "more_on": SETS[0], "less_on": SETS[1], "gap": 0.09, "low": 0.02, "high": 0.16}
        for each in (*POOL, ALL)
    ]
    cells = [share(each, name, at, change) for each in (*POOL, ALL) for name, at in scores.items()]
    return {"team_sets": SETS, "shares": cells, "gaps": gaps}


def begun(folder: Path) -> tuple[CurriculumStore, dict[str, Any]]:
    """A curriculum that has begun, and its configuration as YAML holds it."""
    config = stand_in.toy(folder, name=NAME)
    config["final_test"] |= {"against": ""}
    folder.mkdir(parents=True)
    store = CurriculumStore(folder / "arena.duckdb", NAME)
    store.begin(validated(Curriculum, config, "toy"), stand_in.BASE)
    store.begin_base(stand_in.BASE)
    return store, config


def attempt(store: CurriculumStore, stage: int, number: int, name: str, parent: str, came: tuple[Any, ...]) -> None:
    """A whole attempt, as the loop writes it."""
    checkpoint, kept, rated, gates = came
    one = store.begin_attempt(stage, number, name, parent, {})
    store.note_play(one, parent, (), f"play-{stage}-{number}")
    store.note_checkpoint(one, checkpoint)
    for place, (gate, words) in enumerate(gates.items(), 1):
        store.begin_gate(one, gate, f"{gate}-{stage}-{number}")
        store.end_gate(one, gate, kept or place < len(gates), words, {})
    if rated is not None:
        store.rate(checkpoint, rated, told(0.5 + 0.1 * stage, 0.1) if kept else None)
    store.decide(one, kept)
    for session, battles in (("one", 0), ("two", 1234)):
        store.spend(stage, number, "play", session, 60.0, battles, 10 * battles)
    store.spend(stage, number, "learn", "two", 5.0, steps=77)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three stages: kept at the second attempt, rejected before it was rated, kept."""
    folder = tmp_path_factory.mktemp("curriculum") / "toy"
    store, config = begun(folder)
    store.begin_evaluation(stand_in.BASE, "evaluation")
    store.rate(stand_in.BASE, (950.0, 900.0, 1000.0), told(0.4, None))
    attempt(store, 1, 1, "first", stand_in.BASE, WEAKER)
    attempt(store, 1, 2, "first", stand_in.BASE, FIRST)
    attempt(store, 2, 1, "worse", FIRST[0], BEATEN)
    attempt(store, 3, 1, "selves", FIRST[0], LAST)
    last = store.attempt(3, 1)
    assert last is not None
    store.begin_gate(last, "verdict: against base", "verdict")
    store.end_gate(last, "verdict: against base", True, "H1 after 40 battles", {})
    (folder.parent / "toy.yaml").write_text(yaml.safe_dump(config))
    return folder


@pytest.fixture(scope="module")
def known(folder: Path) -> Lineage:
    return lineage(folder / "arena.duckdb", NAME)


def marks(known: Lineage) -> list[dict[str, Any]]:
    """Of each attempt: its title, and where its marks lie."""
    nodes = []
    for node in ElementTree.fromstring(tree(known)).iter("svg"):
        if "node" in node.get("class", "").split():
            lines = node.findall("line")
            crosses = [line for line in lines if line.get("class") == "cross"]
            dots = [float(dot.get("cy", "")) for dot in node.findall("circle")]
            middle = dots or [(float(line.get("y1", "")) + float(line.get("y2", ""))) / 2 for line in crosses]
            ends = [float(line.get(end, "")) for line in lines if line.get("class") == "reach" for end in ("y1", "y2")]
            texts = [text.text for text in node.findall("text")]
            title = node.findtext("title")
            nodes.append(
                {
                    "title": title,
                    "crosses": len(crosses),
                    "dots": len(dots),
                    "y": middle[0],
                    "ends": ends,
                    "texts": texts,
                }
            )
    return nodes


def test_the_picture_has_dots_for_what_was_kept_and_crosses_for_what_was_not(known: Lineage) -> None:
    nodes = marks(known)
    assert [(node["dots"], node["crosses"]) for node in nodes] == [(1, 0), (0, 2), (1, 0), (0, 2), (1, 0)]
    assert (
        "rejected, 905 Elo, 95% interval 800 to 1003\nparent: H1 after 90 battles – yes\npool: −195 Elo – no"
        in nodes[1]["title"]
    )
    edges = [line.get("class") for line in ElementTree.fromstring(tree(known)).iter("line")]
    assert [edges.count(f"edge {status}") for status in ("kept", "rejected", "running")] == [2, 2, 0]


def test_a_checkpoint_lies_at_its_rating_or_below_its_parent(known: Lineage) -> None:
    base, weaker, first, beaten, last = marks(known)
    assert last["y"] < first["y"] < base["y"] < weaker["y"], "stronger is higher"
    per_elo = (base["y"] - first["y"]) / 150
    assert weaker["y"] - base["y"] == pytest.approx(45 * per_elo, abs=0.3)
    assert weaker["ends"] == pytest.approx([base["y"] - 53 * per_elo, base["y"] + 150 * per_elo], abs=0.3)
    assert beaten["y"] > first["y"] and beaten["ends"] == [] and beaten["texts"] == []
    assert "▴" in last["texts"] and "1250" in last["texts"], "an end far away is an arrow"
    assert "▴" not in first["texts"]


def test_the_page_has_every_checkpoint_gate_interval_and_cost(known: Lineage) -> None:
    read = Read(page(known))
    text = " ".join("".join(read.words).split())
    for checkpoint, _, rated, gates in (FIRST, WEAKER, BEATEN, LAST):
        assert checkpoint.partition(":")[2] in text
        for gate, words in gates.items():
            assert f"{gate}: {words}" in text
        if rated is not None:
            assert f"{rated[1]:.0f}, {rated[2]:.0f}" in text
    assert "From 950 Elo [900, 1000] to 1250 Elo [1150, 2990] after 2 kept stages" in text
    assert "Final test against base: H1 after 40 battles." in text
    assert "80 [70, 90]" in text and "71 [61, 81]" in text, "on each team set"
    assert "variety:12 − competitive" in text and "+9 [2, 16]" in text
    assert "+10 [5, 15]" in text, "since the parent"
    assert "8 min 20 s" in text and "4,936" in text and "308" in text, "of four attempts"
    assert known["attempts"][2]["spent"] == {"seconds": 125.0, "battles": 1234, "decisions": 12340, "steps": 77}


def test_names_stay_names_and_links_lead_somewhere(known: Lineage) -> None:
    read = Read(page(known))
    assert NAME in read.words and "<i>first</i>@10" in read.words
    assert not {tag for tag, _, _ in read.attributes} & {"b", "i"}
    ids = read.ids()
    assert len(ids) == len(set(ids))
    assert {value[1:] for _, name, value in read.attributes if name == "href" and value.startswith("#")} <= set(ids)


def test_one_that_has_just_begun_is_drawn_too(tmp_path: Path) -> None:
    store, _ = begun(tmp_path / "new")
    assert "No checkpoint has been evaluated yet." in Read(page(lineage(store.db, NAME))).words
    one = store.begin_attempt(1, 1, "first", stand_in.BASE, {})
    store.note_checkpoint(one, "policy:new@1")
    store.begin_gate(one, "parent", "match")
    known = lineage(store.db, NAME)
    base, new = marks(known)
    assert (new["dots"], new["crosses"]) == (1, 0) and new["y"] > base["y"]
    read = Read(page(known))
    assert " parent: in progress" in read.words and "running" in read.words
    assert any("running or stopped" in words for words in read.words)


@pytest.mark.slow
def test_a_run_of_a_curriculum_has_the_section_and_others_have_not(folder: Path, tmp_path: Path) -> None:
    db = tmp_path / "arena.duckdb"
    db.write_bytes((folder / "arena.duckdb").read_bytes())
    made = MadeStore(db)
    for run_id in ("play-1-2", "pool-3-1", "verdict", "evaluation", "outside"):
        made.run(run_id, ["a", "b"])
        made.pair(run_id, "a", "b", "WL")
        made.write()
        summary = summarize(db, run_id)
        read = Read(render(summary, db, battles=0))
        inside = run_id != "outside"
        assert curriculum_of(db, run_id) == (NAME if inside else None)
        assert ("curriculum" in read.ids()) == ("curriculum-lineage" in read.ids()) == inside
        assert (summary["curriculum"] is not None) == inside
        assert ("Kept, rejected" in read.words) == inside
        json.dumps(summary)


def test_a_file_of_an_older_schema_has_no_curricula_once_it_is_up_to_date(tmp_path: Path) -> None:
    db = tmp_path / "old.duckdb"
    with duckdb.connect(str(db)) as connection:
        connection.execute("CREATE TABLE arena_schema (version INTEGER, applied TIMESTAMPTZ DEFAULT now())")
        for number in range(2):
            connection.execute(schema.MIGRATIONS[number])
            connection.execute("INSERT INTO arena_schema (version) VALUES (?)", [number + 1])
    with pytest.raises(BadDatabase, match="older schema"):
        curriculum_of(db, "run")
    made = MadeStore(db)
    made.run("run", ["a", "b"])
    made.pair("run", "a", "b", "WL")
    made.write()
    summary = summarize(db, "run")
    assert (summary["curriculum"], curricula(db)) == (None, [])
    assert "curriculum" not in Read(render(summary, db, battles=0)).ids()


def test_the_command_writes_it_and_names_what_is_wrong(folder: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "training.cli", "curriculum", "report", str(folder.parent / "toy.yaml")]
    page = tmp_path / "page.html"
    for words, code, said in (
        (["--html", str(page)], 0, f"wrote {page}"),
        (
            ["--html", str(tmp_path / "no" / "page.html")],
            2,
            "No such file or directory; name a file in a writable folder",
        ),
    ):
        done = subprocess.run([*command, *words], cwd=PROJECT, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr.count("\n")) == (code, 1) and said in done.stderr
    assert "last@30" in page.read_text() and list(tmp_path.iterdir()) == [page]
    with pytest.raises(BadInput, match="no curriculum 'other'; known are <b>toy</b>"):
        write_page(folder / "arena.duckdb", "other", page)
    assert "last@30" in page.read_text(), "as it was"


def test_the_loop_leaves_the_page_behind(folder: Path) -> None:
    """All stages are through, so nothing is played."""
    stand_in.run(folder.parent / "toy.yaml", Console(file=io.StringIO()))
    words = " ".join(Read((folder / PAGE).read_text()).words)
    assert "kept 2 of 3 stages" in words and "· finished " in words and "under way" not in words


PROGRAM = find_browser()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with Browser.launch(str(PROGRAM), tmp_path_factory.mktemp("profile")) as running:
        yield running.page()


@pytest.mark.skipif(PROGRAM is None, reason="no browser is installed: apt-get install chromium")
def test_in_a_browser_it_can_be_read(browser: Page, known: Lineage, tmp_path: Path) -> None:
    """No text lies on another, all stand out from their ground, and a phone is wide enough."""
    path = tmp_path / "page.html"
    path.write_text(page(known))
    contrast = (TESTS / "support" / "contrast.js").read_text()
    for dark, width in ((False, 1280), (True, 1280), (True, 390)):
        browser.open(path.as_uri(), width=width, dark=dark)
        assert browser.run(contrast) == []
        assert browser.run("document.documentElement.scrollWidth - innerWidth") <= 0
        for picture in ("lineage", "shares"):
            boxes = browser.run(
                f"[...document.querySelectorAll('svg.{picture} text')].map(e => e.getBoundingClientRect())"
                ".map(r => [r.left, r.top, r.right, r.bottom])"
            )
            assert len(boxes) >= 8
            for (l1, t1, r1, b1), (l2, t2, r2, b2) in combinations(boxes, 2):
                assert min(r1, r2) <= max(l1, l2) or min(b1, b2) <= max(t1, t2), (picture, width)
    assert browser.complaints == []
