"""A stored battle as a story: every turn, decision and HP of real battles, and the odd ends of made-up ones."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import orjson
import pytest
import zstandard
from rich.console import Console

from arena.record import unpacked
from arena.report import board as boards
from arena.report import story_text
from arena.report.board import Board
from arena.report.diagnostics import TEXT_LIMIT, read_diagnostics
from arena.report.story import stories, story
from arena.store import rows
from teamsets.errors import BadInput

ASSETS = Path(boards.__file__).parent / "assets"
BROWSER = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chromium-browser"))), None)


@pytest.fixture(scope="module")
def told(played: Path) -> list[dict[str, Any]]:
    return stories(played, [battle_id for (battle_id,) in rows("SELECT battle_id FROM battles", played)])


def test_every_decision_is_told_in_its_turn(played: Path, told: list[dict[str, Any]]) -> None:
    kept = rows(
        "SELECT battle_id, turn, seat, legal, choice FROM decisions ORDER BY battle_id, turn, seat, index", played
    )
    found = []
    for battle in told:
        for turn in battle["turns"]:
            for decision in turn["decisions"]:
                words = [choice for choice, _ in battle["seats"][decision["seat"]]["choices"]]
                legal = [words[number] for number in decision["legal"]]
                found.append((battle["id"], turn["turn"], decision["seat"], legal, words[decision["choice"]]))
    assert len(kept) > 1000
    assert sorted(found, key=str) == sorted(kept, key=str)


def test_turns_are_numbered_from_the_start_to_the_end_and_all_is_json(told: list[dict[str, Any]]) -> None:
    for battle in told:
        assert [turn["turn"] for turn in battle["turns"]] == list(range(battle["length"] + 1))
        assert battle["turns"][-1]["events"][-1][1] == battle["result"]
        assert json.dumps(json.loads(json.dumps(battle))) == json.dumps(battle)


def test_who_loses_a_game_played_out_has_nothing_left(told: list[dict[str, Any]]) -> None:
    won = [battle for battle in told if battle["reason"] == "win"]
    assert len(won) > 10
    for battle in won:
        winner, loser = ("p1", "p2") if battle["winner"] == "p1" else ("p2", "p1")
        assert not any(battle["end"][loser]["hp"]), battle["id"]
        assert any(battle["end"][winner]["hp"]), battle["id"]


@pytest.mark.parametrize("seat", ["p1", "p2"])
def test_hp_and_status_followed_from_the_lines_are_those_of_the_requests(played: Path, seat: str) -> None:
    """In generation 1 nothing is healed in silence, so the lines alone must lead to what each request says."""
    compared = 0
    for (log,) in rows(f"SELECT {seat}_log FROM battles WHERE format = 'gen1ou'", played):
        lines = unpacked(log)
        teams = [orjson.loads(line[9:])["side"]["pokemon"] for line in lines if line.startswith("|request|")]
        board = Board()
        board.sides[seat].set_team(teams[0])
        for line in lines:
            if not line.startswith("|request|"):
                board.process(line)
                continue
            for entry in teams.pop(0):
                member = board.sides[seat].team[board.sides[seat].find(entry["ident"])]
                condition = f"{member.hp}/{member.most} {member.status}".strip() if member.hp else "0 fnt"
                assert condition == entry["condition"]
                compared += 1
    assert compared > 1000


def test_both_sides_hp_is_exact(told: list[dict[str, Any]]) -> None:
    for battle in told:
        most = [hp for seat in ("p1", "p2") for _, hp in battle["seats"][seat]["pokemon"]]
        assert len(most) == 12
        assert sum(hp == 100 for hp in most) <= 1
        for turn in battle["turns"]:
            for seat in ("p1", "p2"):
                pokemon = battle["seats"][seat]["pokemon"]
                assert all(0 <= hp <= most for hp, (_, most) in zip(turn["state"][seat]["hp"], pokemon, strict=True))


def test_a_story_is_compact(told: list[dict[str, Any]]) -> None:
    for battle in told:
        assert len(orjson.dumps(battle)) < 10_000 + 1_000 * battle["length"], battle["id"]


def test_a_battle_that_is_not_there_is_refused(played: Path) -> None:
    with pytest.raises(BadInput, match=r"battle 987654: not in .*arena.duckdb"):
        stories(played, [1, 987654])


# Battles made up for what seldom happens.

TEAM = {
    "p1": [("Tauros", "353/353", True), ("Chansey", "703/703", False)],
    "p2": [("Mew", "404/404", True), ("Jynx", "333/333", False)],
}


def _request(seat: str, *conditions: str, active: int = 0) -> str:
    pokemon = [
        {"ident": f"{seat}: {name}", "details": name, "condition": condition, "active": slot == active}
        for slot, ((name, _, _), condition) in enumerate(zip(TEAM[seat], conditions, strict=True))
    ]
    moves = [{"move": "Body Slam", "id": "bodyslam"}, {"move": "Surf", "id": "surf"}]
    return "|request|" + json.dumps({"active": [{"moves": moves}], "side": {"id": seat, "pokemon": pokemon}})


def _log(seat: str) -> list[str]:
    """Turn 1: p1 hits Mew for half, Mew faints by poison; Jynx replaces it."""
    own = ("100/100", "404/404", "202/404", "333/333")
    tauros, before, after, jynx = own if seat == "p2" else ("353/353", "100/100", "50/100", "100/100")
    start = ["|start", f"|switch|p1a: Tauros|Tauros|{tauros}", f"|switch|p2a: Mew|Mew|{before}"]
    first = [*start, "|turn|1", _request(seat, *(condition for _, condition, _ in TEAM[seat]))]
    then = ["|", "|move|p1a: Tauros|Body Slam|p2a: Mew", f"|-damage|p2a: Mew|{after}", "|-status|p1a: Tauros|par"]
    then += ["|-damage|p2a: Mew|0 fnt|[from] psn", "|faint|p2a: Mew"]
    asked = [_request("p2", "0 fnt", "333/333")] if seat == "p2" else []
    return [*first, *then, *asked, f"|switch|p2a: Jynx|Jynx|{jynx}", "|turn|2"]


def _battle(**changes: Any) -> dict[str, Any]:
    battle = {
        **{"battle_id": 1, "format": "gen1ou", "team_set": "human", "p1": "my.bots:Alice", "p2": "heuristic:bob?x=a:b"},
        **{"winner": "p1", "reason": "win", "fault": None, "detail": None, "turns": 2},
        **{"p1_log": _log("p1"), "p2_log": _log("p2"), "p1_team": "big", "p2_team": None},
        **changes,
    }
    for seat in ("p1", "p2"):
        battle[f"{seat}_log"] = zstandard.compress("\n".join(battle[f"{seat}_log"]).encode())
    return battle


def _decision(**changes: Any) -> dict[str, Any]:
    legal = ["move bodyslam", "move surf", "switch chansey"]
    return {
        **{"battle_id": 1, "seat": "p1", "turn": 1, "legal": legal, "choice": "move surf", "think_ms": 1.23456},
        **{"diagnostics": None, **changes},
    }


def test_a_turn_has_its_state_its_words_and_its_choices() -> None:
    forced = _decision(seat="p2", legal=["switch jynx"], choice="switch jynx")
    told = story(_battle(), [_decision(), forced])
    assert [told["seats"][seat]["name"] for seat in ("p1", "p2")] == ["Alice", "bob?x=a:b"]
    first = told["turns"][1]
    assert first["state"] == {"p1": {"hp": [353, 703], "active": 0}, "p2": {"hp": [404, 333], "active": 0}}
    assert first["events"] == [
        ["p1", "Tauros (Alice) uses Body Slam at Mew (bob?x=a:b)."],
        ["p2", "Mew (bob?x=a:b) is hurt: 202/404 HP (−50%)."],
        ["p1", "Tauros (Alice) is paralysed."],
        ["p2", "Mew (bob?x=a:b) is hurt by poison: 0 HP (−50%)."],
        ["p2", "Mew (bob?x=a:b) faints."],
        ["p2", "bob?x=a:b sends out Jynx, 333/333 HP."],
    ]
    assert first["decisions"] == [
        {"seat": "p1", "choice": 0, "legal": [1, 0, 2], "ms": 1.23},
        {"seat": "p2", "choice": 0, "legal": [0], "ms": 1.23, "forced": True},
    ]
    assert told["seats"]["p1"]["choices"][:2] == [["move surf", "Surf"], ["move bodyslam", "Body Slam"]]
    assert told["seats"]["p2"]["choices"] == [["switch jynx", "switch to Jynx"]]
    assert told["turns"][2]["state"] == {
        "p1": {"hp": [353, 703], "active": 0, "status": {"0": "paralysed"}},
        "p2": {"hp": [0, 333], "active": 1},
    }


def test_with_one_log_alone_the_other_sides_hp_is_in_hundredths() -> None:
    told = story(_battle(p2_log=[]), [])
    assert told["seats"]["p2"]["pokemon"] == [("Mew", 100), ("Jynx", 100)]
    assert told["end"]["p2"]["hp"] == [0, 100]
    told = story(_battle(p1_log=[]), [])
    assert told["seats"]["p2"]["pokemon"] == [("Mew", 404), ("Jynx", 333)]
    assert told["end"]["p2"]["hp"] == [0, 333]


def test_dynamax_doubles_the_maximum_too_and_heals_nothing() -> None:
    lines = ["|-start|p1a: Tauros|Dynamax|", "|-heal|p1a: Tauros|706/706|[silent]", "|-damage|p1a: Tauros|553/706"]
    lines += ["|turn|2", "|-end|p1a: Tauros|Dynamax", "|-heal|p1a: Tauros|277/353|[silent]", "|turn|3"]
    told = story(_battle(p1_log=[*_log("p1")[:5], *lines], p2_log=[], turns=3), [])
    first, second, third = told["turns"][1:]
    assert [words for _, words in first["events"]] == [
        "Tauros (Alice): Dynamax begins.",
        "Tauros (Alice) now has 706/706 HP.",
        "Tauros (Alice) is hurt: 553/706 HP (−22%).",
    ]
    assert [words for _, words in second["events"]] == [
        "Tauros (Alice): Dynamax ends.",
        "Tauros (Alice) now has 277/353 HP.",
    ]
    assert second["state"]["p1"]["most"] == {"0": 706} and "most" not in third["state"]["p1"]
    shown = [next(line for line in _shown(told, turn) if "* Tauros" in line) for turn in (1, 2, 3)]
    assert [line.partition("] ")[2].split("/")[0].rpartition(" ")[0].strip() for line in shown] == [
        "100% → 78%",
        "78%",
        "78%",
    ]


def test_a_silent_heal_is_a_heal() -> None:
    told = story(
        _battle(p1_log=[*_log("p1")[:5], "|-damage|p1a: Tauros|200/353", "|-heal|p1a: Tauros|353/353|[silent]"]), []
    )
    assert "Tauros (Alice) is healed: 353/353 HP (+43%)." in [words for _, words in told["turns"][1]["events"]]


def _shown(told: Any, turn: int) -> list[str]:
    """The lines of a turn as a terminal shows them."""
    console = Console(width=80)
    with console.capture() as captured:
        console.print(story_text.turn(told, turn, 80))
    return captured.get().splitlines()


@pytest.mark.parametrize(
    ("changes", "seat", "result"),
    [
        ({"winner": "p2"}, "p2", "bob?x=a:b wins."),
        ({"winner": None, "reason": "tie"}, "", "A tie."),
        ({"winner": None, "reason": "turn-limit"}, "", "Stopped at the turn limit: a tie."),
        ({"winner": None, "reason": "aborted", "fault": "venue", "detail": "host died"}, "", "Aborted before the end."),
        ({"reason": "timeout", "fault": "p2"}, "p2", "Alice wins: bob?x=a:b ran out of time."),
        ({"reason": "illegal", "fault": "p2"}, "p2", "Alice wins: bob?x=a:b made no legal choice."),
        ({"reason": "error", "fault": "p2", "detail": "KeyError"}, "p2", "Alice wins: bob?x=a:b failed with an error."),
    ],
)
def test_every_end_is_said(changes: dict[str, Any], seat: str, result: str) -> None:
    told = story(_battle(**changes), [])
    assert told["result"] == result
    assert told["turns"][-1]["events"][-1] == [seat, result]
    without_logs = story(_battle(**changes, p1_log=[], p2_log=[], turns=0), [])
    assert (without_logs["result"], without_logs["turns"], without_logs["end"]) == (result, [], None)


def test_an_agent_against_itself_is_told_apart_by_seat() -> None:
    told = story(_battle(p1="random", p2="random"), [])
    assert [told["seats"][seat]["name"] for seat in ("p1", "p2")] == ["random p1", "random p2"]
    told = story(_battle(p1="a:Bot", p2="b:Bot"), [])
    assert [told["seats"][seat]["name"] for seat in ("p1", "p2")] == ["a:Bot", "b:Bot"]


def test_what_lies_on_the_field_is_followed() -> None:
    board = Board()
    board.sides["p1"].set_team(
        json.loads(_request("p1", "353/353", "703/703").removeprefix("|request|"))["side"]["pokemon"]
    )
    for line in [
        "|switch|p1a: Tauros|Tauros|353/353",
        "|-sidestart|p1: p1|Spikes",
        "|-sidestart|p1: p1|Spikes",
        "|-sidestart|p1: p1|move: Stealth Rock",
        "|-weather|RainDance",
        "|-fieldstart|move: Trick Room|[of] p2a: Mew",
        "|-boost|p1a: Tauros|atk|2",
        "|-unboost|p1a: Tauros|spe|1",
        "|-start|p1a: Tauros|Substitute",
        "|-start|p1a: Tauros|quarkdrivespe",
        "|-start|p1a: Tauros|fallen1|[silent]",
        "|-terastallize|p1a: Tauros|Ghost",
        "|-damage|p1a: Tauros",
        "|-newthing|p1a: Tauros|what",
        "|",
    ]:
        board.process(line)
    assert board.state() == {
        "p1": {
            **{"hp": [353, 703], "active": 0, "tera": {"0": "Ghost"}, "boosts": {"Attack": 2, "Speed": -1}},
            **{"effects": ["Substitute", "Quark Drive (Speed)"], "layers": ["Spikes ×2", "Stealth Rock"]},
        },
        "p2": {"hp": []},
        "field": ["RainDance", "Trick Room"],
    }
    for line in [
        "|-end|p1a: Tauros|Quark Drive|[silent]",
        "|switch|p1a: Chansey|Chansey|703/703|[from] Baton Pass",
        "|-sideend|p1: p1|Spikes",
        "|-swapsideconditions",
        "|-weather|none",
        "|-fieldend|move: Trick Room",
    ]:
        board.process(line)
    assert board.state()["p1"] == {
        **{"hp": [353, 703], "active": 1, "tera": {"0": "Ghost"}},
        **{"boosts": {"Attack": 2, "Speed": -1}, "effects": ["Substitute"]},
    }
    assert board.state()["p2"]["layers"] == ["Stealth Rock"]
    board.process("|-clearallboost")
    assert "boosts" not in board.state()["p1"]
    board.process("|drag|p1a: Tauros|Tauros|353/353")
    assert "effects" not in board.state()["p1"]


def test_a_new_terrain_replaces_the_old_one_and_leaves_other_conditions() -> None:
    board = Board()
    for line in ("move: Grassy Terrain", "move: Trick Room", "move: Electric Terrain|[from] ability: Electric Surge"):
        board.process(f"|-fieldstart|{line}")
    assert board.state()["field"] == ["Trick Room", "Electric Terrain"]
    board.process("|-fieldend|move: Electric Terrain")
    assert board.state()["field"] == ["Trick Room"]


LEGAL = ["move surf", "move calmmind terastallize", "switch chansey"]


@pytest.mark.parametrize(
    ("thought", "tables", "texts"),
    [
        ({"values": {"move surf": 0.61237, "switch chansey": -1}}, {"values": [0.6124, None, -1]}, []),
        (
            {"Surf": 1, "Calm Mind terastallize": 2, "x": 3},
            {"value": [1, 2, None]},
            [("(others)", '{"x":3}')],
        ),
        ({"probabilities": [0.5, 0.25, 0.25]}, {"probabilities": [0.5, 0.25, 0.25]}, []),
        ({"mcts": {"visits": {"surf": 12}, "depth": 3}}, {"mcts visits": [12, None, None]}, [("mcts depth", "3")]),
        ({"value": 5.24}, {}, [("value", "5.24")]),
        ({"probabilities": [0.5, 0.5]}, {}, [("probabilities", "[0.5,0.5]")]),
        ({"plan": "<b>sweep</b>", "ok": True}, {}, [("plan", "<b>sweep</b>"), ("ok", "true")]),
        ({"values": {"move surf": None}}, {}, [("values", '{"move surf":null}')]),
        ("just words", {}, [("", "just words")]),
        ([1, 2, 3], {"value": [1, 2, 3]}, []),
        ({}, {}, []),
    ],
)
def test_a_thought_is_tables_beside_the_choices_and_texts(
    thought: Any, tables: dict[str, Any], texts: list[tuple[str, str]]
) -> None:
    assert read_diagnostics(json.dumps(thought), LEGAL) == (tables, texts)


def test_a_long_thought_is_cut() -> None:
    _, ((_, text),) = read_diagnostics(json.dumps({"plan": "x" * 3000}), LEGAL)
    assert text.startswith("x" * TEXT_LIMIT + " …") and text.endswith("(3,000 characters)")


# The viewer, in a browser.

PAGE = """<!doctype html><meta charset="utf-8"><style>{css}</style><div id="v"></div><script>{js}</script>
<script>const story = {story}; window.hacked = 0;
ArenaViewer.show(document.getElementById("v"), story);
{then}
document.title = "done " + window.hacked;</script>"""
#: Presses keys on the viewer and writes down, after each, which turn is shown.
KEYS = """const shown = [];
for (const key of ["ArrowRight", "End", "ArrowRight", "ArrowLeft", "Home", "ArrowLeft"]) {
  document.querySelector(".av").dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
  shown.push(document.querySelector(".av-turn h3").textContent);
}
const all = document.querySelector("input[type=checkbox]");
all.click();
shown.push(document.querySelectorAll(".av-turn").length);
const log = document.createElement("pre"); log.id = "log"; log.textContent = shown.join(", ");
document.body.append(log);"""


def _rendered(folder: Path, told: dict[str, Any], then: str = "") -> str:
    css, js = ((ASSETS / f"viewer.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    page = folder / "page.html"
    embedded = json.dumps(told).replace("<", "\\u003c")
    page.write_text(PAGE.format(css=css, js=js, story=embedded, then=then), encoding="utf-8")
    assert BROWSER is not None
    words = [
        BROWSER,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-sync",
    ]
    words += ["--no-first-run", f"--user-data-dir={folder / 'profile'}", "--dump-dom", page.as_uri()]
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=120).stdout


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
def test_the_viewer_shows_the_battle_and_takes_markup_for_text(tmp_path: Path) -> None:
    nasty = "<img src=x onerror='hacked=1'><script>hacked=2</script>"
    thought = json.dumps({"values": {"move surf": -0.5, "move bodyslam": 1}, nasty: nasty})
    battle = _battle(p1=f"bots:{nasty}", reason="error", fault="p2", detail=nasty)
    dom = _rendered(tmp_path, story(battle, [_decision(diagnostics=thought)]), then=KEYS)
    assert "<title>done 0</title>" in dom
    assert "Turn 1, Turn 2, Turn 2, Turn 1, Start, Start, 3" in dom
    body = dom.partition('<pre id="log">')[0].rpartition('<div id="v">')[2]
    assert "<img" not in body
    for words in ("&lt;img src=x", "202/404 HP (−50%)", "404 of 404 HP", "chosen", "−0.5", "made no choice"):
        assert words in body, words


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
def test_the_viewer_says_when_there_is_nothing_to_see(tmp_path: Path) -> None:
    dom = _rendered(tmp_path, story(_battle(p1_log=[], p2_log=[], turns=0, reason="error", fault="p2"), []))
    assert "This battle has no log" in dom and "<title>done 0</title>" in dom


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
def test_the_viewer_folds_most_of_many_choices_and_shows_the_chosen_one(tmp_path: Path) -> None:
    legal = [f"move {number}" for number in range(360)]
    decision = _decision(legal=legal, choice="move 300", diagnostics=json.dumps({"values": list(range(360))}))
    dom = _rendered(tmp_path, story(_battle(), [decision]), then=KEYS)
    shown, _, folded = dom.partition('<div id="v">')[2].partition('<details class="av-more">')
    folded = folded.partition("</details>")[0]
    assert "<summary>and 339 more</summary>" in folded
    assert shown.count('<th scope="row">') == 21 and folded.count('<th scope="row">') == 339
    assert shown.count("chosen</span>") == 1 and "chosen</span>" not in folded
    few = story(_battle(), [_decision(legal=legal[:61], choice="move 30")])
    assert "<details" not in _rendered(tmp_path, few, then=KEYS).partition('<div id="v">')[2]
