"""Stored battles as metamon's files: what a round trip keeps, and whether metamon itself describes the battles so."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.command_line import TESTS, Said
from support.metamon_environment import needs_metamon, run_in_metamon
from support.metamon_files import in_play

from arena.record import unpacked
from training.data.from_store import StoredSide, selected, sides, trajectory
from training.data.metamon.export import states_and_actions
from training.data.metamon.files import metamon_trajectories, parsed_files, read_name, read_states
from training.data.metamon.log import side_log
from training.data.metamon.states import action_of, state_of
from training.data.replay_import import Filters
from training.data.trajectory import MISSING, decision_points

pytest.importorskip("lz4")
WHERE = "format IN ('gen1ou', 'gen9ou')"
#: What a log that leads from state to state lacks: moves of the opponent beside the last, who entered and fell in between.
_BETWEEN_STATES = {"move.current_pp", "opponents_remaining"}


def compared(ours: dict[str, Any], theirs: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """Every field of a state by its name, and whether both have the same; Pokémon and moves are paired by name."""
    for name, value in theirs.items():
        if name.endswith("active_pokemon"):
            yield from _pokemon(name.partition("_")[0], ours[name], value)
        elif name == "available_switches":
            bench, other = ({mon["name"]: mon for mon in state[name]} for state in (ours, theirs))
            yield "bench", bench.keys() == other.keys()
            for each in bench.keys() & other.keys():
                yield from _pokemon("bench", bench[each], other[each])
        elif name.endswith("prev_move"):
            yield name, ours[name]["name"] == value["name"]
        else:
            yield name, (sorted(ours[name]) == sorted(value) if isinstance(value, list) else ours[name] == value)


def _pokemon(whose: str, ours: dict[str, Any], theirs: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    for name, value in theirs.items():
        if name == "moves":
            known, other = ({move["name"]: move for move in mon["moves"]} for mon in (ours, theirs))
            yield f"{whose} moves", known.keys() == other.keys()
            for each in known.keys() & other.keys():
                yield from ((f"move.{part}", known[each][part] == other[each][part]) for part in other[each])
        else:
            yield f"{whose} {name}", abs(ours[name] - value) < 0.006 if name == "hp_pct" else ours[name] == value


@pytest.fixture(scope="module")
def stored(played: Path) -> list[StoredSide]:
    return sides(played, selected(played, WHERE))


@pytest.mark.slow
def test_files_come_back_with_their_actions_and_results(
    played: Path, stored: list[StoredSide], tmp_path: Path, train_command: Callable[..., Said]
) -> None:
    out = tmp_path / "files"
    said = train_command(
        "data", "export", "--metamon", "--db", played, "--where", WHERE, "--out", out, "--workers", 1, "--json"
    )
    counted = json.loads(said.out)
    assert sum(counted["files"].values()) + counted["left_out"] == len(stored)
    refused: Counter[str] = Counter()
    back = {
        (one.about["battle"], one.about["agent"], one.result): one
        for one in metamon_trajectories(parsed_files(out), Filters(), refused, workers=1)
    }
    assert not refused
    found, same = 0, []
    for side in stored:
        truth = trajectory(side)
        if truth is None:
            continue
        truth = in_play(truth)
        battle = f"arena-{side.format}-{side.about['battle']}"
        (made,) = [one for (name, agent, result), one in back.items() if name == battle and result == side.score
                   and (agent.startswith(_plain(side.about["agent"])))][:1]  # fmt: skip
        assert len(made) == len(truth)
        known = truth.actions != MISSING
        same += (made.actions[known] == truth.actions[known]).tolist()
        found += 1
    assert found > 10 and sum(same) / len(same) > 0.995


def _plain(spec: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in spec)


@pytest.mark.slow
def test_a_file_that_is_read_and_written_again_is_the_same(stored: list[StoredSide], played: Path) -> None:
    """metamon's states become a seat's log, and the log states again: nothing that both formats have is lost."""
    same, differing = Counter[str](), Counter[str]()
    for side in stored:
        states, actions = states_and_actions(side)
        if not states:
            continue
        log = side_log(copy.deepcopy(states), actions, side.format, "1")
        asked = zip(decision_points("p1", side.format, log.lines), log.choices, strict=False)
        again = [(state_of(battle), choice) for battle, choice in asked]
        assert len(again) == len(states) - 1
        for (made, choice), truth, action in zip(again, states, actions, strict=False):
            for name, equal in [*compared(made, truth), ("action", action_of(made, choice) == action)]:
                (same if equal else differing)[name] += 1
    shares = {name: same[name] / (same[name] + number) for name, number in differing.items()}
    between = {name: shares.pop(name) for name in _BETWEEN_STATES if name in shares}
    assert sum(same.values()) > 20_000
    assert all(share > 0.98 for share in shares.values()), shares
    assert sum(differing[name] for name in shares) < 0.0005 * sum(same.values()), differing
    assert all(share > 0.85 for share in between.values()), between


@pytest.mark.slow
def test_what_cannot_be_exported_is_refused_in_one_line(
    played: Path, tmp_path: Path, train_command: Callable[..., Said]
) -> None:
    words = ("data", "export", "--metamon", "--db", played, "--out", tmp_path)
    said = train_command(*words)
    assert said.code == 2 and "exists already: use --replace" in said.err
    assert "Missing option '--metamon'" in train_command("data", "export", "--db", played, "--out", tmp_path / "x").err
    said = train_command(*words[:-1], tmp_path / "new", "--where", "format = 'gen0ou'")
    assert said.code == 2 and "matches no side" in said.err and not (tmp_path / "new").exists()


@needs_metamon
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_metamon_describes_the_battles_in_the_same_way_and_reads_the_files(
    stored: list[StoredSide], played: Path, tmp_path: Path, train_command: Callable[..., Said]
) -> None:
    order = []
    for side in stored:
        asks, lines = [], list[str]()
        for line in unpacked(side.log):
            if line.startswith("|request|"):
                asks.append({"lines": lines, "request": line[9:]})
                lines = []
            else:
                lines.append(line)
        order.append(json.dumps({"format": side.format, "name": side.seat, "asks": asks}))
    out = tmp_path / "files"
    assert not train_command(
        "data", "export", "--metamon", "--db", played, "--where", WHERE, "--out", out, "--workers", 1
    ).code
    printed = run_in_metamon(str(TESTS / "support" / "metamon_states.py"), str(out), text="\n".join(order))
    *told, read = [json.loads(line) for line in printed.splitlines()]
    files = parsed_files(out)
    assert read["files"] == len(files) and read["decisions"] == sum(len(read_states(file)[0]) - 1 for file in files)
    assert read["illegal"] <= 0.005 * read["decisions"], "a choice that metamon's action space does not have"
    assert {read_name(file).format_id for file in files} == {"gen1ou", "gen9ou"}
    same, differing = Counter[str](), Counter[str]()
    for side, theirs in zip(stored, told, strict=True):
        for ours, truth in zip(states_and_actions(side)[0], theirs, strict=False):
            for name, equal in compared(ours, truth):
                (same if equal else differing)[name] += 1
    assert sum(differing.values()) / sum(same.values()) < 0.003, differing
