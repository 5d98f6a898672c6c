"""Damaged files among replays: each is left out with its reason, no other is, and nothing is labelled wrongly."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest
from support.made_logs import BATTLE_BODY, choices, four_shown, made

from arena.replays import reading
from arena.replays.reading import read_folder
from arena.replays.team_sets import gather
from training.data import replay_import
from training.data.replay_import import Filters, import_replays, replay_trajectories
from training.data.trajectory import Trajectory

LOG = "\n".join(made(BATTLE_BODY, gen=1, size=6).lines)
DAMAGED = {
    "a condition that is none": (LOG.replace("Tauros|100/100", "Tauros|abc/def"), "health that cannot be read"),
    "reversed": ("\n".join(reversed(LOG.split("\n"))), "lines out of order"),
    "no empty lines": ("\n".join(line for line in LOG.split("\n") if line != "|"), "no empty lines (|) in the log"),
    "a turn is missing": (LOG.replace("|turn|2\n", ""), "the turns are not counted from 1"),
    "two turns changed places": (
        LOG.replace("turn|1", "turn|x").replace("turn|2", "turn|1").replace("turn|x", "turn|2"),
        "the turns are not counted from 1",
    ),
    "it goes on behind its end": (LOG + "\n|move|p1a: Al|Surf|p2a: Star", "goes on behind its end"),
    "a team": ("Tauros @ Leftovers\n- Body Slam\n", "a text that is no replay"),
    "zeros": ("\0" * 500, "file cannot be read"),
    "nothing": ("", "a text that is no replay"),
}


@pytest.mark.parametrize(("text", "reason"), DAMAGED.values(), ids=DAMAGED)
def test_one_damaged_file_is_counted_and_the_others_are_read(text: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(text)
    (tmp_path / "gen1ou-2.log").write_text(LOG)
    refused: Counter[str] = Counter()
    assert [battle.id for battle, _, _ in import_replays(tmp_path, Filters(), refused)] == ["gen1ou-2"]
    assert refused.total() == 1 and reason in next(iter(refused))


@pytest.mark.parametrize("text", ["[" * 100_000, '{"log":' * 50_000, '{"log": "x", "id": NaN}', "{}", '{"log": 5}'])
def test_hostile_json_is_counted(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(text)
    refused: Counter[str] = Counter()
    assert list(read_folder(tmp_path, None, refused)) == []
    assert refused.total() == 1


def test_what_nobody_thought_of_is_counted_by_the_files_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.log").write_text(LOG)
    (tmp_path / "gen1ou-2.log").write_text(LOG)
    end = reading._end
    seen = []

    def odd(*arguments: object) -> object:
        seen.append(arguments)
        if len(seen) == 1:
            raise RecursionError
        return end(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(reading, "_end", odd)
    refused: Counter[str] = Counter()
    assert len(list(import_replays(tmp_path, Filters(), refused))) == 1
    assert refused == {"damaged file a.log (RecursionError)": 1}


def test_a_side_that_is_left_out_is_counted_as_one_and_the_other_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two sides for each battle that is read: those that are kept, and those of the reasons."""
    (tmp_path / "gen1ou-2.log").write_text(LOG)
    build = replay_import.build_trajectory

    def odd(role: str, *arguments: Any) -> Trajectory | None:
        if role == "p2":
            raise ValueError
        return build(role, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(replay_import, "build_trajectory", odd)
        refused: Counter[str] = Counter()
        assert [one.about["seat"] for one in replay_trajectories(tmp_path, Filters(), refused)] == ["p1"]
    assert refused == {"one side: damaged file gen1ou-2.log (ValueError)": 1}
    refused = Counter()
    [won] = replay_trajectories(tmp_path, Filters(), refused, results=(1.0,))
    assert won.result == 1 and refused == {"one side: another result": 1}


def test_the_same_battle_in_another_form_counts_once(tmp_path: Path) -> None:
    (tmp_path / "gen1ou-7.log").write_text(LOG)
    (tmp_path / "gen1ou-7.json").write_text(json.dumps({"id": "gen1ou-7", "log": LOG}))
    (tmp_path / "copy.log").write_text(LOG.replace("|start", "|c|☆Ann|hello\n|start"))
    refused: Counter[str] = Counter()
    assert len(list(read_folder(tmp_path, None, refused))) == 1
    assert refused == {"the same battle as in another file": 2}


def test_teams_of_the_other_replays_are_still_gathered(tmp_path: Path) -> None:
    (tmp_path / "replays").mkdir()
    for number, (text, _) in enumerate(DAMAGED.values()):
        (tmp_path / "replays" / f"bad{number}.log").write_text(text)
    (tmp_path / "replays" / "gen1ou-2.log").write_text(four_shown())
    done = gather(tmp_path / "replays", tmp_path / "out")
    assert len(done.paths) == 2
    assert done.refused.total() == len(DAMAGED)


def test_a_switch_after_a_faint_is_no_turns_choice_without_pursuit() -> None:
    turn = """
|switch|p1a: Al|Tauros|100/100
|switch|p2a: Star|Starmie|100/100
|turn|1
|
|move|p2a: Star|{move}|p1a: Al
|-damage|p1a: Al|0 fnt
|faint|p1a: Al
|switch|p1a: Snore|Snorlax|100/100
|turn|2
"""
    assert choices(turn.format(move="Surf"))[0][:2] == [None, "switch snorlax"]
    assert choices(turn.format(move="Pursuit"))[0][0] == "switch snorlax"


def _mutated(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    for _ in range(rng.randint(1, 3)):
        place, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        kind = rng.randrange(6)
        if kind == 0:
            lines[place], lines[other] = lines[other], lines[place]
        elif kind == 1:
            del lines[place : place + rng.randint(1, 5)]
        elif kind == 2:
            lines = lines[: place + 1]
        elif kind == 3:
            lines.reverse()
        elif kind == 4:
            lines.insert(place, lines[other])
        else:
            letters = list(lines[place])
            for _ in range(rng.randint(1, 4)):
                letters.insert(rng.randint(0, len(letters)), rng.choice("|/: 0x-é[]\\\"'"))
            lines[place] = "".join(letters)
        lines = lines or [""]
    return "\n".join(lines)


def test_damaged_at_random_a_file_is_left_out_or_its_choices_are_of_its_requests(tmp_path: Path) -> None:
    rng = random.Random(13)
    for number in range(150):
        (tmp_path / f"f{number:03d}.log").write_text(_mutated(LOG, rng))
    refused: Counter[str] = Counter()
    for _, *sides in import_replays(tmp_path, Filters(), refused):
        for side in sides:
            asked = [orjson.loads(line[9:]) for line in side.lines if line.startswith("|request|")]
            assert len(asked) == len(side.choices)
            for request, choice in zip(asked, side.choices, strict=True):
                if choice is not None and choice.startswith("move "):
                    moves = [move["id"] for move in request["active"][0]["moves"]]
                    assert choice.split()[1] in moves
    assert refused.total() > 50
