"""The HTML file: whole, safe against what data may hold, and with the battles that it says it has."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from support.hostile import AGENTS, DETAIL, hostile_copy
from support.read_page import Read

from arena.markup import agent_name, el, join, prose
from arena.report.html import render, script_json
from arena.report.page.battles import choose_battles
from arena.report.summary import summarize
from arena.store import rows


@pytest.fixture(scope="module")
def page(played: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Read, dict[str, Any], Path]:
    """A page of hostile data, its summary, and the database."""
    db, run_id = hostile_copy(played, tmp_path_factory.mktemp("hostile"))
    summary = summarize(db, run_id)
    return Read(render(summary, db, battles=8)), summary, db


def test_every_part_is_there_and_every_link_leads_somewhere(page: tuple[Read, dict[str, Any], Path]) -> None:
    read, summary, _ = page
    ids = read.ids()
    assert len(ids) == len(set(ids))
    parts = {"findings", "agents", "battles", "run", "reading"}
    for said in summary["formats"]:
        parts |= {said["format"], *(f"{said['format']}-{part}" for part in ("ranking", "against", "faults", "length"))}
    assert parts <= set(ids)
    battles = {f"battle-{row[0]}" for row in json.loads(read.scripts["battle-index"])}
    for tag, name, value in read.attributes:
        if name == "href" and value.startswith("#") and not value.startswith("#agent="):
            assert value[1:] in battles | set(ids), value
        if name in ("src", "href"):
            assert value.startswith(("#", "data:")), (tag, value)


def test_data_stays_data(page: tuple[Read, dict[str, Any], Path]) -> None:
    read, _, _ = page
    assert not {tag for tag, _, _ in read.attributes} & {"img", "b"}
    assert not [name for _, name, _ in read.attributes if name.startswith("on")]
    assert set(read.scripts) == {"code", "battle-index", "battle-chunks"}
    assert "hacked" not in read.scripts["code"]
    text = "".join(read.words)
    for words in (*AGENTS.values(), DETAIL):
        assert words in text


def test_the_page_loads_nothing_else(page: tuple[Read, dict[str, Any], Path]) -> None:
    read, _, _ = page
    (policy,) = [value for tag, name, value in read.attributes if tag == "meta" and "default-src" in value]
    assert policy.startswith("default-src 'none'")
    assert not re.search(r"https?://(?!www\.w3\.org)", read.scripts["code"])


def test_the_battles_inside_are_those_of_the_store(page: tuple[Read, dict[str, Any], Path]) -> None:
    read, summary, db = page
    index = json.loads(read.scripts["battle-index"])
    chunks = [json.loads(gzip.decompress(base64.b64decode(text))) for text in json.loads(read.scripts["battle-chunks"])]
    assert len(index) == 8 and sum(map(len, chunks)) == 8
    for battle_id, format_id, team_set, p1, p2, winner, reason, fault, turns, chunk in index:
        stored = rows(
            "SELECT format, team_set, p1, p2, winner, reason, fault, turns FROM battles WHERE battle_id = ?",
            db,
            [battle_id],
        )
        assert stored == [(format_id, team_set, p1, p2, winner, reason, fault, turns)]
        story = chunks[chunk][str(battle_id)]
        assert (story["seats"]["p1"]["agent"], story["length"]) == (p1, turns)
    assert DETAIL in {story["detail"] for chunk in chunks for story in chunk.values()}, "failures come first"
    words = "".join(read.words)
    total = sum(said["battles"] for said in summary["formats"])
    assert f"This page contains 8 of {total} battles: 1 with a failure, and a sample over all pairings" in words


def test_battles_are_spread_over_the_pairings_and_the_same_every_time(played: Path) -> None:
    ((run_id,),) = rows("SELECT run_id FROM runs ORDER BY started, run_id LIMIT 1", played)
    chosen = choose_battles(played, run_id, 6)
    assert chosen == choose_battles(played, run_id, 6)
    query = "SELECT DISTINCT least(p1, p2), greatest(p1, p2) FROM battles WHERE list_contains(?, battle_id)"
    assert len(rows(query, played, [chosen])) == 6, "four agents, six pairings, one battle of each"
    everything = choose_battles(played, run_id, None)
    ((total,),) = rows("SELECT count(*) FROM battles WHERE run_id = ?", played, [run_id])
    assert len(everything) == len(set(everything)) == total
    assert choose_battles(played, run_id, 0) == []


def test_failures_leave_room_for_whole_battles(played: Path) -> None:
    (run_id,) = {run for (run,) in rows("SELECT run_id FROM faults WHERE agent = 'bad_agents:Raises'", played)}
    assert len(choose_battles(played, run_id, 4)) == 2, "all of them failed, so they take all places"
    last = rows("SELECT run_id FROM runs ORDER BY started DESC, run_id DESC LIMIT 1", played)[0][0]
    reasons = "SELECT count(*) FILTER (reason = 'win'), count(*) FILTER (reason <> 'win') FROM battles WHERE {}"
    ((whole, failed),) = rows(reasons.format("run_id = ?"), played, [last])
    chosen = choose_battles(played, last, 2)
    ((chosen_whole, chosen_failed),) = rows(reasons.format("list_contains(?, battle_id)"), played, [chosen])
    assert (chosen_whole, chosen_failed) == (min(1, whole), 2 - min(1, whole)) and failed >= chosen_failed


def test_markup_escapes_whatever_is_no_markup() -> None:
    assert el("td", '1 < 2 & "3"', cls='a"b') == '<td class="a&quot;b">1 &lt; 2 &amp; &quot;3&quot;</td>'
    assert join("<", [el("br"), None, 3]) == "&lt;<br/>3"
    assert agent_name("a:<b>") == ('<span class="agent"><span class="family">a:</span><wbr/>&lt;b&gt;</span>')
    assert prose("mine:<i> is `x<y` worse than mine", ["mine", "mine:<i>"]) == (
        f"{agent_name('mine:<i>')} is <code>x&lt;y</code> worse than {agent_name('mine')}"
    )


def test_json_in_a_script_cannot_end_it() -> None:
    hostile = {"</script>": "<!--<script>"}
    assert "<" not in script_json(hostile) and json.loads(script_json(hostile)) == hostile
