"""foul-play as an agent like any other, with a stand-in: what its process receives and answers, its failures, its end."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.command_line import TESTS, Said, is_running, wait
from support.foul_play_environment import CHECKOUT, prepare_stand_in
from support.real_battles import fixtures

from agents import new_battle, resolve
from agents.battle.choices import legal_choices
from agents.coached import coached_spec
from agents.external import foul_play_process
from agents.external.foul_play import launcher_command
from agents.external.foul_play_piped import PipedFoulPlay, selected_move, split_updates
from arena.battles.guard import StepGuard
from arena.record import BattleRecord
from arena.venue import Rules
from arena.venues.simulator.host import Host
from arena.venues.simulator.simulator import Simulator

SPEC = "foul-play:piped?ms=10"
LEARNER = "heuristic:max-damage"


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The stand-in, ready for generations 1 and 9; the file of what its processes read."""
    monkeypatch.setenv("ARENA_FOUL_PLAY", str(CHECKOUT))
    prepare_stand_in(CHECKOUT, 1, 9)
    log = tmp_path / "read.jsonl"
    monkeypatch.setenv("ARENA_STAND_IN_LOG", str(log))
    yield log
    foul_play_process.residents.close_all()


def played(
    spec: str, format_id: str = "gen1ou", battles: int = 1, other: str = "random", think_limit: float = 60.0
) -> list[BattleRecord]:
    chosen = [replace(fixture, agents=(spec, other)) for fixture in fixtures(format_id, battles)]

    async def all_at_once() -> list[BattleRecord]:
        async with await Host.launch() as host:
            simulator = Simulator(host, StepGuard(), Rules(think_limit=think_limit))
            return await asyncio.gather(*(simulator.play(fixture, index) for index, fixture in enumerate(chosen)))

    return asyncio.run(all_at_once())


def read(log: Path) -> dict[int, list[dict[str, Any]]]:
    """What each process has read, in order."""
    found: dict[int, list[dict[str, Any]]] = {}
    for line in log.read_text().splitlines():
        entry = json.loads(line)
        found.setdefault(entry.pop("pid"), []).append(entry)
    return found


def requests_of(messages: list[str]) -> list[dict[str, Any]]:
    texts = [message.partition("|request|")[2] for message in messages]
    return [request for text in texts if text and not (request := json.loads(text)).get("wait")]


@pytest.mark.parametrize("format_id", ["gen1ou", "gen9ou"])
def test_a_process_for_each_battle_reads_what_the_seat_receives(format_id: str, log: Path) -> None:
    records = played(SPEC, format_id, battles=2)
    assert [(record.fault, record.reason in ("win", "tie")) for record in records] == [(None, True)] * 2
    processes = list(read(log).values())
    assert len(processes) == 2

    def seen(lines: list[str]) -> tuple[list[str], list[list[str]]]:
        """The lines up to the last request, and the Pokémon of each request."""
        last = max(index for index, line in enumerate(lines) if line.startswith("|request|"))
        kept = [line for line in lines[:last] if not line.startswith("|request|")]
        conditions = [
            [mon["condition"] for mon in request["side"]["pokemon"]] for request in requests_of(lines[: last + 1])
        ]
        return kept, conditions

    texts = [[entry["message"].partition("\n")[2] for entry in entries] for entries in processes]
    as_read = []
    for messages in texts:
        assert messages[0].startswith("|init|battle\n|title|") and messages[1].startswith("|player|p2|")
        as_read.append(seen([line for message in messages[2:] for line in message.split("\n")]))
    assert sorted(as_read) == sorted(seen(record.logs[0]) for record in records)
    # Where only the opponent had to choose, foul-play is asked to wait, as on a server.
    for messages in texts:
        assert all(sum(line == "|" for line in text.split("\n")) <= 1 or "|upkeep" in text for text in messages[3:])
    waits = [text for messages in texts for text in messages if '"wait":true' in text]
    assert waits and all("side" in json.loads(text[9:]) for text in waits)
    for record in records:
        choices = [row[4] for row in record.decisions if row[0] == 0]
        visits = {row[4]: row[6]["visits"] for row in record.decisions if row[0] == 0 and row[6]}
        assert all(shares[choice] in (0.75, 1.0) for choice, shares in visits.items()) and visits.keys() & set(
            choices[:1]
        )
        assert (choices[0] == "team 213456") == (format_id == "gen9ou")


def test_a_pokemon_that_cannot_act_is_asked_for_a_move_and_answers_fight(log: Path) -> None:
    (record,) = played(SPEC, other="heuristic:status-spreader")
    assert record.fault is None
    visits = {row[4]: row[6]["visits"] for row in record.decisions if row[0] == 0 and row[6]}
    assert visits["move fight"] == {"move fight": 1.0}


def test_natures_and_evs_of_its_team_are_those_behind_the_request_s_stats(log: Path) -> None:
    (record,) = played(SPEC, "gen9ou")
    (entries,) = read(log).values()
    team = next(entry["team"] for entry in entries if "team" in entry)
    packed = record.fixture.teams[0].packed
    assert packed is not None
    fields = [text.split("|") for text in packed.split("]")]
    evs = [[int(number or 0) for number in (each[6].split(",") if each[6] else [0] * 6)] for each in fields]
    assert [[nature, spread] for _, nature, spread in team] == [
        [each[5].lower() or "serious", spread] for each, spread in zip(fields, evs, strict=True)
    ]


@pytest.mark.parametrize("format_id", ["gen1ou", "gen9ou"])
def test_as_a_coach_it_infers_from_the_learner_s_moves(format_id: str, log: Path) -> None:
    spec = coached_spec(LEARNER, SPEC)
    assert resolve(spec).missing(format_id) == "" and not resolve(spec).repeatable
    (record,) = played(spec, format_id)
    assert record.fault is None, record.detail
    rows = [row for row in record.decisions if row[0] == 0]
    labelled = [row for row in rows if not row[4].startswith("team")]
    assert all(row[6]["coach"] in row[3] for row in labelled if row[6])
    assert any(row[6]["coach"] != row[4] for row in labelled if row[6])
    (entries,) = read(log).values()
    messages = [entry["message"].partition("\n")[2] for entry in entries]
    assert len(requests_of(messages)) == len(rows), "the team preview, which it does not label, included"
    # Before it reads what has come of a decision, it has selected what the learner played.
    selected = []
    for before, entry in zip(["", *messages], entries, strict=False):
        if before.startswith("|request|") and '"wait":true' not in before:
            selected.append(entry["selected"])
    assert len(selected) == len(rows) - 1
    for name, row in zip(selected, rows, strict=False):
        kind, _, rest = row[4].partition(" ")
        wanted = rest.split()[0] if kind == "move" else f"switch {rest.split()[0]}"
        assert name == wanted or (kind == "team" and name.startswith("switch ")) or rest == "fight"


@pytest.mark.parametrize(
    ("habit", "reason", "detail"),
    [
        ("dies", "error", "foul-play's process ended with status 1: RuntimeError: lost its mind; its log is /"),
        ("is killed", "error", "foul-play's process ended with status -9"),
        ("cheats", "illegal", "answered '/choose move splash', 3 times in a row"),
    ],
)
def test_every_failure_loses_with_its_reason(
    habit: str, reason: str, detail: str, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_STAND_IN_HABIT", habit)
    (record,) = played(SPEC)
    assert (record.fault, record.reason) == ("p1", reason)
    assert detail in str(record.detail)


def test_a_process_that_answers_too_late_loses_and_ends(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_STAND_IN_HABIT", "hangs")
    (record,) = played(SPEC, think_limit=3.0)
    assert (record.fault, record.reason) == ("p1", "timeout")
    (pid,) = read(log)
    assert_gone([pid])


def test_a_resident_process_that_does_not_start_says_why(
    log: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    prepare_stand_in(CHECKOUT, 1)
    engine = Path(launcher_command("gen1ou")[-1])
    (engine / "poke_engine.py").write_text("raise ImportError('built for another Python')\n")
    (record,) = played(SPEC)
    assert (record.fault, record.reason) == ("p1", "error")
    assert "foul-play did not start: ImportError: built for another Python; its log is /" in str(record.detail)


def test_a_resident_process_that_was_killed_is_started_again(log: Path) -> None:
    assert played(SPEC)[0].fault is None
    command = launcher_command("gen1ou", resident=True)
    first = foul_play_process.residents.get(tuple(command))
    os.kill(first.pid, signal.SIGKILL)
    wait(lambda: not first.alive)
    assert played(SPEC)[0].fault is None
    assert foul_play_process.residents.get(tuple(command)).pid != first.pid


def test_nothing_is_left_after_a_battle_but_the_resident_process(log: Path) -> None:
    played(SPEC, battles=2)
    assert_gone(list(read(log)))
    resident = foul_play_process.residents.get(tuple(launcher_command("gen1ou", resident=True)))
    assert resident.alive
    foul_play_process.residents.close_all()
    assert_gone([resident.pid])


OWNER = """
import random, sys
from agents import new_battle, resolve
agent = resolve("foul-play:piped").make()
agent.prepare("gen1ou")
battle = new_battle("battle-gen1ou-1", "p1", "p1", 1, "gen1ou", random.Random(0))
request = {request}
battle.feed(["|player|p1|p1||", "|player|p2|p2||", "|start", "|turn|1"])
for _ in range(3):
    battle.ask(request)
    agent.act(battle)
"""


@pytest.mark.parametrize("habit", ["has children", "starts others"])
def test_its_processes_end_with_their_owner(habit: str, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_STAND_IN_HABIT", habit)
    code = OWNER.format(request=json.dumps(gen1_request()).replace("true", "True").replace("false", "False"))
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) as owner:
        wait(lambda: log.exists() and ("searches" in log.read_text() or "started" in log.read_text()))
        owner.kill()
    pids = list(read(log))
    pids += [entry["child"] for entries in read(log).values() for entry in entries if "child" in entry]
    assert len(pids) == 2
    assert_gone(pids)


def gen1_request(*moves: str, active: int = 0) -> dict[str, Any]:
    team = [
        {"ident": f"p1: {name}", "details": name, "condition": "353/353", "active": index == active}
        | {"stats": dict.fromkeys(("atk", "def", "spa", "spd", "spe"), 200), "moves": ["bodyslam", "earthquake"]}
        | {"baseAbility": "noability", "item": "", "pokeball": "pokeball"}
        for index, name in enumerate(("Tauros", "Snorlax"))
    ]
    listed = [{"move": move, "id": move, "pp": 8, "disabled": False} for move in moves or ("bodyslam", "earthquake")]
    return {"active": [{"moves": listed}], "side": {"name": "p1", "id": "p1", "pokemon": team}}


def test_a_battle_that_it_has_not_seen_from_the_start_is_refused(log: Path) -> None:
    for format_id, lines in (("gen1ou", ["|start", "|turn|1", "|turn|2"]), ("gen9ou", ["|clearpoke", "|start"])):
        battle = new_battle(f"battle-{format_id}-1", "p1", "p1", int(format_id[3]), format_id, random.Random(0))
        battle.lines += lines
        battle._last_request = gen1_request()
        with pytest.raises(ValueError, match="first decision"):
            PipedFoulPlay().act(battle)


def test_a_choice_is_named_as_foul_play_names_what_it_selects() -> None:
    request = gen1_request("bodyslam", "hiddenpower", "fight")
    request["active"][0]["moves"][1]["move"] = "Hidden Power Fire 70"
    choices = legal_choices(request)
    assert [selected_move(request, choice) for choice in choices] == [
        "bodyslam",
        "hiddenpowerfire70",
        "bodyslam",
        "switch snorlax",
    ]


def test_lines_are_split_where_only_the_opponent_chose() -> None:
    turn, end, entered = ["|", "|move|p1a: A|Surf|p2a: B", "|faint|p2a: B"], ["|", "|upkeep"], ["|", "|switch|p2a: C|C"]
    assert split_updates([*turn, *end, *entered, "|turn|4"]) == [[*turn, *end], [*entered, "|turn|4"]]
    assert split_updates([*turn, *entered, *end]) == [turn, [*entered, *end]]
    assert split_updates([]) == []


def test_it_is_listed_and_lacks_what_foul_play_lacks(arena: Callable[..., Said], log: Path) -> None:
    assert "foul-play:piped" in arena("agents", "list").out
    said = arena("agents", "doctor", "foul-play")
    assert said.out.split("\n")[:2] == [
        "foul-play: ready for generations 1, 9",
        "foul-play:piped: ready for generations 1, 9",
    ]
    source = resolve("foul-play:piped")
    assert "arena agents setup foul-play --gen 4" in source.missing("gen4ou")
    assert "random battles" in source.missing("gen1randombattle")
    assert source.fingerprint != resolve("foul-play").fingerprint and not source.is_external
    said = arena("evaluate", "foul-play:piped?ms=0", "random", "--db", TESTS / "none.duckdb")
    assert said.code == 2 and "ms=0: must be 1 or more" in said.err and len(said.err.strip().split("\n")) == 1


def assert_gone(pids: list[int]) -> None:
    """Fail unless the processes end soon."""
    assert pids
    wait(lambda: not any(map(is_running, pids)))
