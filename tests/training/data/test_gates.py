"""Datasets of really played battles: what gates let through, and that a dataset is made once."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from pathlib import Path

import pytest
from support.tournaments import tournament

from arena.store import rows
from training.data.build import build_once
from training.data.from_store import selected
from training.data.gates import Gates, agent_ratings
from training.data.hold_out import parts
from training.data.rebuild_command import HELD_OUT, how_to_rebuild
from training.data.shards import BadData, all_trajectories, opened

GEN1 = "format = 'gen1ou'"


def passed(db: Path, gates: Gates, where: str = "true") -> tuple[int, Counter[str]]:
    left_out: Counter[str] = Counter()
    return len(gates.passed(db, selected(db, where), left_out)), left_out


def number(db: Path, where: str) -> int:
    return int(rows(f"SELECT count(*) FROM results WHERE score IS NOT NULL AND {where}", db)[0][0])


def test_results(played: Path) -> None:
    kept, left_out = passed(played, Gates(result="won"))
    assert kept == number(played, "score = 1") > 0
    assert left_out == {"not won": number(played, "score < 1")}
    kept, left_out = passed(played, Gates(result="not-lost"))
    assert kept == number(played, "score > 0") > number(played, "score = 1"), "turn limits are ties"
    assert left_out == {"lost": number(played, "score = 0")}


def test_faulty_battles_are_left_out_on_both_sides(played: Path) -> None:
    kept, left_out = passed(played, Gates(drop_faulty=True))
    faults = int(rows("SELECT count(*) FROM battles WHERE fault IS NOT NULL", played)[0][0])
    assert faults > 0 and left_out == {"ended by error": 2 * faults}
    assert kept == number(played, "true") - 2 * faults


def test_ratings_are_of_all_battles_of_the_format(played: Path) -> None:
    ratings = agent_ratings(played, "gen1ou")
    assert len(ratings) == 4 and ratings["poke-env:SimpleHeuristicsPlayer"] == 1000, "the anchor"
    weak = tuple(agent for agent, rating in ratings.items() if rating < 1000)
    assert "random" in weak
    kept, left_out = passed(played, Gates(min_rating=1000), GEN1)
    assert kept == number(played, f"{GEN1} AND agent NOT IN {weak}") > 0
    assert left_out == {"rated below 1000": number(played, f"{GEN1} AND agent IN {weak}")}
    assert agent_ratings(played, "gen2ou") == {}


@pytest.mark.slow
def test_an_agent_that_nobody_links_to_the_anchor_is_not_rated(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    tournament(db, "random", "heuristic:max-power", formats=("gen1randombattle",), battles=2, think_limit=60.0)
    tournament(
        db, "bad_agents:Raises", "bad_agents:Illegal", formats=("gen1randombattle",), battles=2, think_limit=60.0
    )
    assert agent_ratings(db, "gen1randombattle").keys() == {"random", "heuristic:max-power"}
    assert passed(db, Gates(min_rating=-9999.0))[1] == {"not rated": 4}


@pytest.mark.slow
def test_short_sides_are_left_out_of_the_dataset(played: Path, tmp_path: Path) -> None:
    whole = build_once(played, GEN1, tmp_path / "whole", Gates(), 0.0, workers=1)
    lengths = sorted(len(one) for one in all_trajectories(whole.datasets[0]))
    least = lengths[len(lengths) // 2]
    gated = build_once(played, GEN1, tmp_path / "gated", Gates(min_decisions=least), 0.0, workers=1)
    short = sum(length < least for length in lengths)
    assert gated.left_out == {f"shorter than {least} decisions": short} and short > 0
    assert sorted(len(one) for one in all_trajectories(gated.datasets[0])) == lengths[short:]
    with pytest.raises(BadData, match=rf"nothing to write.*left out: {len(lengths)} shorter than 9999"):
        build_once(played, GEN1, tmp_path / "none", Gates(min_decisions=9999), 0.0, workers=1)
    with pytest.raises(BadData, match="none-held-out: a fraction of 1e-06 selects no side: hold out more, or 0"):
        build_once(played, GEN1, tmp_path / "none", Gates(), 1e-6, workers=1)
    assert not [path for path in tmp_path.iterdir() if "none" in path.name and path.is_dir()]


def test_by_teams_no_learned_battle_has_a_team_that_is_measured(played: Path, tmp_path: Path) -> None:
    built = build_once(played, GEN1, tmp_path / "d", Gates(), 0.3, hold_out_by="teams", workers=1)
    kept, held = ([one.about for one in all_trajectories(each)] for each in built.datasets)
    unknown = {one["team"] for one in held}
    battles = {one["battle"] for one in kept}
    teams = rows("SELECT p1_team, p2_team FROM battles WHERE list_contains(?, battle_id)", played, [list(battles)])
    assert kept and held and not {team for both in teams for team in both} & unknown
    assert not battles & {one["battle"] for one in held}
    unused = built.left_out["against a team that is held out"]
    assert unused > 0 and len(kept) + len(held) + unused == number(played, GEN1)
    assert how_to_rebuild(tmp_path / "d", built.datasets[0].about).count("--hold-out 0.3 --hold-out-by teams") == 1


def test_the_same_teams_are_held_out_whatever_else_is_there_and_never_none(played: Path) -> None:
    every = selected(played, GEN1)
    some = sorted({one.pair for one in every})[::2]
    half = [one for one in every if one.pair in some]
    learned, measured = parts(every, 0.3, "teams")
    of_half = parts(half, 0.3, "teams")
    assert of_half.measured and of_half.measured == measured & {(one.battle_id, one.seat) for one in half}
    assert of_half.learned <= learned
    few = parts(every, 1e-9, "teams")
    assert len({one.team_id for one in every if (one.battle_id, one.seat) in few.measured}) == 1


def test_a_dataset_is_made_once_and_by_one_order(played: Path, tmp_path: Path) -> None:
    out, gates = tmp_path / "d", Gates(result="won")
    first = build_once(played, GEN1, out, gates, 0.5, workers=1)
    assert first.new and [one.folder for one in first.datasets] == [out, tmp_path / f"d{HELD_OUT}"]
    before = os.stat(out / "dataset.json").st_mtime_ns
    again = build_once(played, GEN1, out, gates, 0.5, workers=1)
    assert not again.new and again.datasets == first.datasets
    assert os.stat(out / "dataset.json").st_mtime_ns == before
    with pytest.raises(BadData, match=r"d: was built .* \(gates.result won, now any; hold_out 0.5, now 0.0\): delete"):
        build_once(played, GEN1, out, Gates(), 0.0, workers=1)
    # A process that was killed before its last step has left the part held out, and not the dataset.
    shutil.rmtree(out)
    (tmp_path / ".d.1a2b3c4d.partial").mkdir()
    assert build_once(played, GEN1, out, gates, 0.5, workers=1).new
    assert opened(out).trajectories == first.datasets[0].trajectories
    assert {path.name for path in tmp_path.iterdir()} == {"d", f"d{HELD_OUT}", ".d.lock"}
