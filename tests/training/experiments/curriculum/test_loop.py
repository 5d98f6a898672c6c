"""The loop keeps, retries and rolls back, and whatever ends it, it goes on as if nothing had happened."""

from __future__ import annotations

import functools
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console
from support.command_line import processes, wait

pytest.importorskip("torch")

from support import stand_in_curriculum as stand_in

from arena.store import BadDatabase, rows
from training.experiments.curriculum.lineage import lineage
from training.experiments.curriculum.status import show_status
from training.experiments.curriculum.store import CurriculumStore
from training.runs.config_reader import BadConfig

pytestmark = pytest.mark.slow


def written(folder: Path, **changes: Any) -> Path:
    path = folder / "toy.yaml"
    path.write_text(yaml.safe_dump(stand_in.toy(folder / "toy", **changes), sort_keys=False))
    return path


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of the toy curriculum, run to its end in one go."""
    folder = tmp_path_factory.mktemp("undisturbed")
    stand_in.run(written(folder), Console(file=io.StringIO()))
    return folder / "toy" / "arena.duckdb"


def told(db: Path) -> dict[str, Any]:
    """Everything that must be the same, however often it was killed.

    A match ends with the pair that decides it; which later pairs had ended by then is the luck of the moment.
    """
    match = "(SELECT run_id FROM gates WHERE gate <> 'pool')"
    stages = (
        "SELECT stage, attempt, name, status, parent, settings, learner, quotas, checkpoint FROM stages ORDER BY 1, 2"
    )
    return {
        "battles": rows(
            f"SELECT key, p1, p2, team_set, winner, reason, turns FROM battles WHERE run_id NOT IN {match} ORDER BY key",
            db,
        ),
        "decisions": rows(
            "SELECT count(*), count(DISTINCT (battle_id, seat, index)) FROM decisions JOIN battles USING (battle_id) "
            f"WHERE run_id NOT IN {match}",
            db,
        ),
        "stages": rows(stages, db),
        "data": [
            [(each["trajectories"], each["decisions"], each["weight"]) for each in json.loads(text)]
            for (text,) in rows("SELECT datasets FROM stages ORDER BY stage, attempt", db)
        ],
        "gates": rows("SELECT stage, attempt, gate, passed, summary, details FROM gates ORDER BY 1, 2, 3", db),
        "checkpoints": rows(
            "SELECT checkpoint, parent, stage, attempt, kept, elo, low, high, details FROM checkpoints ORDER BY 3, 4",
            db,
        ),
        "costs": rows(
            "SELECT stage, attempt, phase, max(battles), max(decisions), max(steps) FROM costs "
            "WHERE phase <> 'gate: parent' AND phase NOT LIKE '%verdict%' GROUP BY ALL ORDER BY ALL",
            db,
        ),
    }


def test_it_keeps_what_is_better_tries_again_and_rolls_back(undisturbed: Path) -> None:
    store = CurriculumStore(undisturbed, "toy")
    said = [(one.stage, one.attempt, one.status, one.parent, one.checkpoint) for one in store.attempts()]
    assert said == [
        (1, 1, "rejected", stand_in.BASE, "random"),
        (1, 2, "kept", stand_in.BASE, "heuristic:expert"),
        (2, 1, "rejected", "heuristic:expert", "poke-env:RandomPlayer"),
        (3, 1, "kept", "heuristic:expert", "heuristic:staller"),
    ]
    assert store.lineage() == [stand_in.BASE, "heuristic:expert", "heuristic:staller"]
    passed = {row[:3]: row[3] for row in rows("SELECT stage, attempt, gate, passed FROM gates", undisturbed)}
    assert passed == {
        (1, 1, "parent"): False, (1, 2, "parent"): True, (1, 2, "pool"): True, (2, 1, "parent"): False,
        (3, 1, "verdict: against first"): False,
    }  # fmt: skip
    assert rows("SELECT ended IS NOT NULL FROM curricula", undisturbed) == [(True,)]


def test_a_retry_that_plays_alike_learns_from_the_same_battles(undisturbed: Path) -> None:
    first, second = CurriculumStore(undisturbed, "toy").attempts()[:2]
    assert first.play_run == second.play_run and first.datasets == second.datasets
    spent = lineage(undisturbed, "toy")["attempts"][1]["spent"]
    assert spent is not None and spent["battles"] > 12, "its play and its gate"
    played = rows("SELECT count(*) FROM battles WHERE run_id = ?", undisturbed, [first.play_run])
    assert played == [(12,)]


def test_earlier_selves_are_met_by_how_hard_they_are(undisturbed: Path) -> None:
    last = CurriculumStore(undisturbed, "toy").attempts()[-1]
    assert last.learner == "heuristic:expert" and last.quotas is not None
    assert {(opponent, teams) for opponent, teams, _ in last.quotas} == {
        (stand_in.BASE, "variety:32"), (stand_in.BASE, "competitive"),
    }, "itself is no opponent, and variety has grown twice"  # fmt: skip
    assert sum(battles for _, _, battles in last.quotas) == 12


def test_the_evaluation_says_where_it_wins_and_what_changed(undisturbed: Path) -> None:
    told = json.loads((undisturbed.parent / "01-first" / "evaluation.json").read_text())
    cells = {(cell["opponent"], cell["team_set"]): cell for cell in told["details"]["shares"]}
    assert {key[1] for key in cells} == {"variety:12", "competitive", "all"}
    for opponent, name in cells:
        cell = cells[opponent, name]
        assert cell["change"] == pytest.approx(cell["score"] - cell["parent"], abs=2e-4)
        assert cell["change_low"] <= cell["change"] <= cell["change_high"] or cell["score"] in (0, 1)
    ((wins,),) = rows(
        "SELECT avg(score) FROM results WHERE agent = 'heuristic:expert' AND opponent = 'heuristic:max-damage' "
        "AND team_set = 'variety:12' AND run_id IN (SELECT run_id FROM gates)",
        undisturbed,
    )
    assert cells["heuristic:max-damage", "variety:12"]["score"] == pytest.approx(float(wins), abs=1e-4)
    assert (undisturbed.parent / "01-first" / "evaluation.md").read_text().count("competitive") >= 2
    root = json.loads((undisturbed.parent / "00-base" / "evaluation.json").read_text())
    assert all(cell["change"] is None for cell in root["details"]["shares"])


def test_the_final_test_is_no_gate_over_again(undisturbed: Path) -> None:
    of_gate = "SELECT {} FROM battles WHERE run_id IN (SELECT run_id FROM gates WHERE gate {} 'verdict%')"
    verdict = rows(
        of_gate.format("team_set, count(*), count(DISTINCT seed)", "LIKE") + " GROUP BY team_set", undisturbed
    )
    assert [name for name, *_ in verdict] == ["verdict"]
    ((again,),) = rows(
        "SELECT count(*) FROM evidence_results JOIN gates ON for_run = gates.run_id JOIN battles USING (battle_id) "
        "WHERE gate LIKE 'verdict%' AND battles.run_id <> gates.run_id",
        undisturbed,
    )
    assert again == 0, "no battle of a gate counts in it"
    teams = "SELECT DISTINCT unnest([p1_team, p2_team]) FROM battles WHERE team_set {} 'verdict'"
    assert not {*rows(teams.format("="), undisturbed)} & {*rows(teams.format("<>"), undisturbed)}


def test_all_checkpoints_meet_the_pool_with_the_same_teams_and_seeds(undisturbed: Path) -> None:
    met = []
    for checkpoint in (stand_in.BASE, "heuristic:expert"):
        measured = CurriculumStore(undisturbed, "toy").measured(checkpoint)
        assert measured is not None
        met.append(
            rows(
                "SELECT opponent, seed, p1_team, p2_team FROM evidence_results JOIN battles USING (battle_id) "
                "WHERE for_run = ? AND agent = ? ORDER BY ALL",
                undisturbed,
                [measured["run_id"], checkpoint],
            )
        )
    assert met[0] and met[0] == met[1]


def test_status_draws_the_lineage(undisturbed: Path) -> None:
    out = io.StringIO()
    show_status(undisturbed, None, Console(file=out, width=200))
    lines = out.getvalue().splitlines()
    place = {name: next(i for i, line in enumerate(lines) if name in line) for name in ("1 first", "3 selves")}
    assert place["1 first"] < place["3 selves"]
    assert any("attempt 2" in line and "kept" in line and "Elo [" in line and "10 steps" in line for line in lines)
    assert any("✗ parent: H0" in line for line in lines)
    assert any("final test against first: " in line for line in lines)
    page = (undisturbed.parent / "report.html").read_text()
    assert all(words in page for words in ("final test against first: ", "kept 2 of 3 stages", "finished "))


def test_it_is_finished_once_and_for_all(undisturbed: Path) -> None:
    before = told(undisturbed)
    stand_in.run(undisturbed.parent.parent / "toy.yaml", Console(file=io.StringIO()))
    assert told(undisturbed) == before


def test_begun_stages_cannot_change_and_later_ones_can(undisturbed: Path, tmp_path: Path) -> None:
    changed = stand_in.toy(undisturbed.parent)
    changed["stages"][1]["battles"] = 14
    changed["pool"]["battles"] = 6
    path = tmp_path / "changed.yaml"
    path.write_text(yaml.safe_dump(changed))
    with pytest.raises(BadConfig, match=r"other settings \(pool.battles 4, now 6; stages.1.battles \d+, now 14\)"):
        stand_in.run(path, Console(file=io.StringIO()))


@pytest.fixture
def mark() -> Iterator[str]:
    """A word in the environment by which the processes are found again; none outlives the test."""
    mark = uuid.uuid4().hex
    yield mark
    for pid in processes(mark):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.timeout(1800)
def test_killed_again_and_again_it_comes_out_the_same(undisturbed: Path, mark: str, tmp_path: Path) -> None:
    config, draw, kills = written(tmp_path), random.Random(1), 3
    db = tmp_path / "toy" / "arena.duckdb"
    ((total,),) = rows("SELECT count(*) FROM battles", undisturbed)

    def kept() -> int:
        try:
            return int(rows("SELECT count(*) FROM battles", db)[0][0])
        except BadDatabase:
            return 0

    def beyond(target: float, process: subprocess.Popen[str]) -> bool:
        time.sleep(0.3)  # who looks into the file holds up who writes
        return kept() > target or process.poll() is not None

    for kill in range(kills):
        # Somewhere in its own stretch; a little later, so that it also comes in the midst of what is no battle.
        target = total * (kill + draw.random()) / kills - 1
        process = start(config, mark)
        wait(functools.partial(beyond, target, process), 600)
        time.sleep(draw.uniform(0, 1.5))
        assert process.poll() in (None, 0), process.communicate()
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=300)
        wait(lambda: not processes(mark), 300)
    process = start(config, mark)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    killed, whole = told(db), told(undisturbed)
    for part in whole:
        assert killed[part] == whole[part], part
    matches = "SELECT key, winner, turns FROM battles WHERE run_id IN (SELECT run_id FROM gates WHERE gate <> 'pool')"
    one, other = ({key: rest for key, *rest in rows(matches, each)} for each in (db, undisturbed))
    assert one.keys() & other.keys() and all(one[key] == other[key] for key in one.keys() & other.keys())
    ((battles, keys),) = rows("SELECT count(*), count(DISTINCT key) FROM battles", db)
    assert battles == keys
    assert not (db.parent / "clock.json").exists()


def start(config: Path, mark: str) -> subprocess.Popen[str]:
    """The toy as a process of its own."""
    command = [sys.executable, stand_in.__file__, str(config)]
    environment = {**os.environ, "MARK": mark}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
