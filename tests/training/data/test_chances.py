"""Only a chance to win that an agent declared as one becomes a target of the value."""

from __future__ import annotations

import json
import math
import shlex
import shutil
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import orjson
import pytest
import zstandard
from click.testing import CliRunner
from safetensors.numpy import save
from support.tournaments import tournament

from agents.coached import coached_spec
from agents.registry import resolve
from arena.store import rows
from training.cli import cli
from training.data.build import build_once
from training.data.gates import Gates
from training.data.rebuild_command import how_to_rebuild
from training.data.shards import BadData, Dataset, all_trajectories, opened, read_shard
from training.data.targets import Target
from training.data.win_probabilities import win_probability

WATCHED = resolve(coached_spec("heuristic:max-damage", "heuristic:expert")).spec
WHERE = "agent LIKE 'coached%'"
pytestmark = pytest.mark.usefixtures("in_this_process")


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A battle of a learner that `heuristic:expert` watched."""
    db = tmp_path_factory.mktemp("watched") / "arena.duckdb"
    tournament(db, WATCHED, "heuristic:max-power", formats=("gen1ou",), battles=2, workers=1, think_limit=60.0)
    return db


def diagnostics(db: Path) -> list[dict[str, Any]]:
    found = rows(f"SELECT diagnostics FROM decisions JOIN results USING (battle_id, seat) WHERE {WHERE}", db)
    return [orjson.loads(text) for (text,) in found]


def values(dataset: Dataset) -> np.ndarray[Any, np.dtype[np.float16]]:
    return np.concatenate([one.values for one in all_trajectories(dataset)])


def as_before(db: Path, to: Path) -> Path:
    """The database as it was when the expert left its score under the name `value`."""
    shutil.copy(db, to)
    with duckdb.connect(str(to)) as connection:
        connection.execute("UPDATE decisions SET diagnostics = replace(diagnostics::VARCHAR, '\"score\"', '\"value\"')")
    return to


@pytest.mark.slow
def test_a_rule_players_score_is_no_chance_to_win(
    watched: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left = diagnostics(watched)
    scores = [one["score"] for one in left if "score" in one]
    assert min(scores) < 0 or max(scores) > 1, "a score is not bounded as a chance is"
    assert not any("value" in one or "win_probability" in one for one in left)
    assert np.isnan(values(build_once(watched, WHERE, tmp_path / "d", Gates(), 0.0, workers=1).datasets[0])).all()
    assert "left out" not in capsys.readouterr().err


def test_a_score_in_battles_that_were_stored_before_is_left_out_and_counted(
    watched: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    db = as_before(watched, tmp_path / "before.duckdb")
    scored = sum("value" in one for one in diagnostics(db))
    dataset = build_once(db, WHERE, tmp_path / "d", Gates(), 0.0, workers=1).datasets[0]
    assert np.isnan(values(dataset)).all()
    assert scored > 0 and sum(one.about["refused"]["value"] for one in all_trajectories(dataset)) == scored
    said = capsys.readouterr().err
    assert f"left out: {scored} `value` in the diagnostics of {WATCHED}: they may be scores; an agent reports a" in said


@pytest.mark.parametrize(
    ("agent", "left", "chance", "refused"),
    [
        ("my_agents:Mine", {"win_probability": 0.25, "value": 6.6}, 0.25, ""),
        ("policy:runs/tiny@best?temperature=1.0", {"value": 0.25}, 0.25, ""),
        ("search:mcts?ms=100", {"visits": {"a": 0.75, "b": 0.25}, "values": {"a": 0.4, "b": 0.8}}, 0.5, ""),
        (coached_spec("heuristic:expert", "policy:gen1ou-tiny"), {"value": 0.25}, 0.25, ""),
        (coached_spec("policy:gen1ou-tiny", "heuristic:expert"), {"value": 0.25}, None, "value"),
        ("heuristic:expert", {"value": 0.25}, None, "value"),
        ("my_agents:Mine", {"value": 0.25}, None, "value"),
        ("my_agents:Mine", {"visits": {"a": 1}, "values": {"a": 0.4}}, None, ""),
        ("policy:runs/tiny", {"value": 1.5}, None, "value"),
        ("heuristic:expert", {"score": 0.25}, None, ""),
        ("heuristic:expert", {}, None, ""),
        *(("policy:runs/tiny", {"win_probability": wrong}, None, "win_probability")
          for wrong in (1.01, -0.01, math.nan, math.inf, "0.5", None, True, [0.5])),
    ],
)  # fmt: skip
def test_what_is_taken_as_a_chance_to_win(agent: str, left: dict[str, Any], chance: float | None, refused: str) -> None:
    counted: Counter[str] = Counter()
    found = win_probability(left, agent, counted)
    assert math.isnan(found) if chance is None else found == chance
    assert dict(counted) == ({refused: 1} if refused else {})


def of_version(dataset: Dataset, version: int, **about: str) -> None:
    """Writes into a dataset that it was made by another version of the program, and by what."""
    file = dataset.folder / "dataset.json"
    told = json.loads(file.read_text())
    file.write_text(json.dumps(told | {"format": version, "about": about or told["about"]}))


def test_a_dataset_made_before_is_refused_with_the_command_that_makes_it_again(watched: Path, tmp_path: Path) -> None:
    where, out = f"{WHERE} AND turns > 0", tmp_path / "d"
    gates = Gates(min_decisions=2, drop_faulty=True)
    of_version(build_once(watched, where, out, gates, 0.0, workers=1).datasets[0], 1)
    with pytest.raises(BadData) as error:
        opened(out)
    before, _, command = str(error.value).partition(": build it again: ")
    assert before == f"dataset {out}: built by a version that took a rule player's score for a win probability"
    assert command == (
        f'train data build --db {watched} --where "{where}" --min-decisions 2 --drop-faulty --out {out} --replace'
    )
    said = CliRunner().invoke(cli, [*shlex.split(command)[1:], "--workers", "1"])
    assert said.exit_code == 0, said.output
    assert opened(out).trajectories == 2
    assert not build_once(watched, where, out, gates, 0.0, workers=1).new, "it is what was asked for before"


def test_of_a_part_held_out_the_command_makes_the_whole_again(watched: Path, tmp_path: Path) -> None:
    about = {
        "source": "arena", "database": "arena.duckdb", "where": "true", "hold_out": 0.5, "held_out": True,
        "by_expert": True, "gates": asdict(Gates(result="won", min_rating=1200.0)),
    }  # fmt: skip
    assert how_to_rebuild(tmp_path / "d-held-out", about) == (
        "build it again: train data build --db arena.duckdb --where true --result won --min-rating 1200.0 --expert "
        f"--hold-out 0.5 --out {tmp_path / 'd'} --replace"
    )
    assert how_to_rebuild(tmp_path / "d", {**about, "cut_from": "x"}).startswith(
        "delete it, and run the same `train ablate`"
    )


def test_what_was_imported_from_people_before_is_as_good_as_it_was(watched: Path, tmp_path: Path) -> None:
    dataset = build_once(watched, WHERE, tmp_path / "d", Gates(), 0.0, workers=1).datasets[0]
    shard = read_shard(dataset, 0).arrays
    del shard["targets"]
    about = np.frombuffer(json.dumps([{"format": "gen1ou"}] * dataset.trajectories).encode(), dtype=np.uint8)
    packed = zstandard.ZstdCompressor().compress(save({**shard, "about": about}))
    (dataset.folder / dataset.names[0]).write_bytes(packed)
    of_version(dataset, 1, source="replays", folder="replays")
    assert all((one.targets == Target.CHOICE).all() for one in all_trajectories(opened(tmp_path / "d")))
    assert opened(tmp_path / "d").trajectories == dataset.trajectories
    of_version(dataset, 0, source="replays", folder="replays")
    with pytest.raises(BadData, match="built with format 0"):
        opened(tmp_path / "d")
