"""A sweep's loop on an analytic objective: what is drawn, pruned, resumed, failed, and how the best is measured anew."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

pytest.importorskip("torch")
pytest.importorskip("optuna")

from support.sweeps import BEST_RATE, EPOCHS, RATE, NoTraining, hill, measured_by, sweep_of

from arena.ratings.pentanomial import elo_score
from teamsets.errors import ArenaError
from training.experiments.sweep.config import Sweep
from training.experiments.sweep.loop import run_sweep
from training.experiments.sweep.measuring import result_of
from training.experiments.sweep.report import write
from training.experiments.sweep.study import SweepStudy
from training.online.config import OnlineConfig
from training.runs.config_reader import BadConfig
from training.runs.evaluation import BattleBlock


def run(sweep: Sweep, trainers: NoTraining | None = None, score: Any = hill) -> dict[str, Any]:
    return run_sweep(sweep, trainers or NoTraining(), lambda _: None, measure=measured_by(score))


def drawn(results: dict[str, Any]) -> list[dict[str, Any]]:
    return [trial["settings"] for trial in results["trials"]]


@pytest.mark.parametrize(
    "name", ["tpe", *(pytest.param(name, marks=pytest.mark.slow) for name in ("gp", "qmc", "random"))]
)
def test_a_sampler_finds_the_neighbourhood_of_the_best_settings(tmp_path: Path, name: str) -> None:
    results = run(sweep_of(tmp_path, trials=20, sampler={"name": name}))
    best = results["trials"][results["best"]]
    assert best["elo"] == max(trial["elo"] for trial in results["trials"])
    assert BEST_RATE / 2.5 < best["settings"][RATE] < BEST_RATE * 2.5
    assert len({trial["settings"][RATE] for trial in results["trials"]}) > 15, "a seed for all would repeat itself"


@pytest.mark.parametrize("killed_after", [7, *(pytest.param(start, marks=pytest.mark.slow) for start in (0, 1, 13))])
def test_a_killed_sweep_draws_what_an_uninterrupted_one_does(tmp_path: Path, killed_after: int) -> None:
    pruner = {"at": [5, 10], "startup_trials": 3}
    whole = run(sweep_of(tmp_path / "whole", pruner=pruner))
    sweep, killed = sweep_of(tmp_path / "parts", pruner=pruner), NoTraining(killed_after=killed_after)
    with pytest.raises(KeyboardInterrupt):
        run(sweep, killed)
    resumed = NoTraining()
    parts = run(sweep, resumed)
    keys = ("trial", "state", "settings", "at", "elo")
    assert [[trial.get(key) for key in keys] for trial in parts["trials"]] == [
        [trial.get(key) for key in keys] for trial in whole["trials"]
    ]
    assert "pruned" in {trial["state"] for trial in parts["trials"]}
    assert not set(killed.started) & set(resumed.started), "no part of a run is trained twice"


def test_a_kill_between_the_last_measurement_and_its_end_is_made_good(tmp_path: Path) -> None:
    sweep = sweep_of(tmp_path, trials=2)
    tmp_path.mkdir(exist_ok=True)
    study = SweepStudy(sweep)
    trial = study.ask()
    study.report(trial, sweep.length.total, 123.0, result_of([BattleBlock("gen1ou", "competitive", "random", [0.5])]))
    trainers = NoTraining()
    results = run(sweep, trainers)
    assert (results["trials"][0]["state"], results["best"]) == ("complete", 0)
    assert [name for name, _ in trainers.started] == ["001"]


def test_a_trial_below_the_others_is_pruned_and_costs_no_more(tmp_path: Path) -> None:
    trainers = NoTraining()
    results = run(sweep_of(tmp_path, trials=16, pruner={"at": [5, 10], "startup_trials": 4}), trainers)
    lengths: dict[int, list[int]] = {}
    for name, length in trainers.started:
        lengths.setdefault(int(name), []).append(length)
    for trial in results["trials"]:
        assert lengths[trial["trial"]] == [each for each in (5, 10, 40) if each <= trial["at"]]
        assert (trial["state"] == "complete") == (trial["at"] == 40)
    pruned = [trial for trial in results["trials"] if trial["state"] == "pruned"]
    assert pruned and all(trial["trial"] >= 4 for trial in pruned)
    complete = [trial for trial in results["trials"] if trial["state"] == "complete"]
    assert results["best"] == max(complete, key=lambda trial: trial["elo"])["trial"]


def test_failed_trials_count_and_a_row_of_them_stops_the_sweep(tmp_path: Path) -> None:
    results = run(
        sweep_of(tmp_path / "some"), NoTraining(lambda run: run.learner.optimizer.learning_rate.at(0) > 0.004)
    )
    failed = [trial for trial in results["trials"] if trial["state"] == "failed"]
    assert failed and all(trial["settings"][RATE] > 0.004 and "not finite" in trial["problem"] for trial in failed)
    assert len(results["trials"]) == 12
    with pytest.raises(
        ArenaError, match="5 trials in a row have failed, the last one with: the weights are not finite"
    ):
        run(sweep_of(tmp_path / "all"), NoTraining(lambda run: True))
    with pytest.raises(ArenaError, match="no trial was completed"):
        run(sweep_of(tmp_path / "two", trials=2), NoTraining(lambda run: True))


def test_so_many_trials_are_under_way_at_once(tmp_path: Path) -> None:
    trainers = NoTraining()
    results = run(sweep_of(tmp_path, workers=3), trainers)
    assert trainers.most == 3
    assert [trial["state"] for trial in results["trials"]] == ["complete"] * 12


def test_trials_can_be_added_and_another_sweep_is_refused(tmp_path: Path) -> None:
    first = run(sweep_of(tmp_path, trials=5))
    trainers = NoTraining()
    more = run(sweep_of(tmp_path, trials=9), trainers)
    assert drawn(more)[:5] == drawn(first)
    assert [name for name, _ in trainers.started] == ["005", "006", "007", "008"]
    with pytest.raises(BadConfig, match="was started with other settings"):
        run(sweep_of(tmp_path, trials=9, length={"total": 41}))


def test_a_choice_may_be_of_any_kind_and_a_whole_number_is_one(tmp_path: Path) -> None:
    members = "league.members"
    space = {
        members: {"kind": "choice", "values": [[{"who": "opponent", "weight": 1.0}],
                                               [{"who": "agent", "weight": 1.0, "agent": "random"}]]},
        EPOCHS: {"kind": "int", "low": 1, "high": 3},
    }  # fmt: skip
    results = run(sweep_of(tmp_path, space=space), score=lambda run: 0.3 * run.algorithm.model_dump()["epochs"])
    assert {trial["settings"][EPOCHS] for trial in results["trials"]} == {1, 2, 3}
    written = [yaml.safe_load((tmp_path / "trials" / f"{n:03d}.yaml").read_text()) for n in range(12)]
    assert [each["league"]["members"] for each in written] == [
        trial["settings"][members] for trial in results["trials"]
    ]
    assert [each["algorithm"]["epochs"] for each in written] == [
        trial["settings"][EPOCHS] for trial in results["trials"]
    ]
    assert results["trials"][results["best"]]["settings"][EPOCHS] == 3


def test_the_best_is_measured_anew_beside_the_base_on_seeds_that_chose_nothing(tmp_path: Path) -> None:
    asked: list[tuple[str, int, int, int]] = []

    def measure(run: Any, evaluation: Any, kept: Path) -> list[BattleBlock]:
        asked.append((Path(run.out).name, run.seed, evaluation.seed, evaluation.battles))
        blocks = measured_by(hill)(run, evaluation, kept)
        if evaluation.seed == 5000 and len(blocks[0].scores) == 200:  # luck of the battles that choose
            blocks = [BattleBlock(b.format, b.team_set, b.opponent, [*b.scores[:-20], *[1.0] * 20]) for b in blocks]
        return blocks

    sweep = sweep_of(tmp_path, final={"training_seeds": [7, 8], "battles": 600, "seed": 9000})
    trainers = NoTraining()
    results = run_sweep(sweep, trainers, lambda _: None, measure=measure)
    best = f"{results['best']:03d}"
    final = [(best, 0), (f"trial-{best}-7", 7), (f"trial-{best}-8", 8), ("base-7", 7), ("base-8", 8)]
    assert asked[12:] == [(name, seed, 9000, 600) for name, seed in final]
    assert {(seed, battles) for _, _, seed, battles in asked[:12]} == {(5000, 400)}
    chosen, again, settings, base = results["measurements"]
    assert [row["chosen_by"] for row in results["measurements"]] == [True, False, False, False]
    assert again["score"] < chosen["score"]
    assert settings["low"] < settings["score"] < settings["high"]
    config = yaml.safe_load((tmp_path / "final" / "base-7.yaml").read_text())
    assert base["score"] == pytest.approx(hill(OnlineConfig.model_validate(config)), abs=0.01)
    assert results["difference"]["points"] == pytest.approx(settings["score"] - base["score"])
    assert results["difference"]["clear"] and "better than the base's" in results["sentences"][1]


def test_the_results_are_in_four_files(tmp_path: Path) -> None:
    results = run(sweep_of(tmp_path, pruner={"at": [5], "startup_trials": 3}))
    files = write(tmp_path, results)
    assert {path.name for path in files} == {"results.json", "results.csv", "results.md", "results.svg"}
    assert json.loads((tmp_path / "results.json").read_text()) == results
    rows = list(csv.DictReader((tmp_path / "results.csv").open()))
    assert [float(row["elo"]) for row in rows] == [trial["elo"] for trial in results["trials"]]
    assert [float(row[RATE]) for row in rows] == [trial["settings"][RATE] for trial in results["trials"]]
    assert "biased upwards by the choice" in (tmp_path / "results.md").read_text()
    drawing = "".join(ElementTree.parse(tmp_path / "results.svg").getroot().itertext())
    assert RATE in drawing and "best so far" in drawing


@pytest.mark.slow
def test_importances_say_which_setting_matters(tmp_path: Path) -> None:
    results = run(sweep_of(tmp_path, trials=30, sampler={"name": "random"}))
    assert results["importances"] is not None
    assert max(results["importances"], key=results["importances"].__getitem__) == RATE
    assert sum(results["importances"].values()) == pytest.approx(1)
    assert run(sweep_of(tmp_path / "few", trials=4))["importances"] is None


def test_the_elo_is_the_lead_that_the_score_of_the_pairs_means() -> None:
    pairs = [1.0] * 10 + [0.75] * 20 + [0.5] * 40 + [0.25] * 10 + [0.0] * 20
    found = result_of([BattleBlock("gen1ou", "competitive", "random", list(pairs))])
    assert elo_score(found["elo"]) == pytest.approx(sum(pairs) / 100)
    assert found["elo_low"] < found["elo"] < found["elo_high"] and found["battles"] == 200
    lost = result_of([BattleBlock("gen1ou", "competitive", "random", [0.0] * 10)])
    assert elo_score(lost["elo"]) == pytest.approx(0.025) and lost["elo_low"] is None
    with pytest.raises(ArenaError, match="no pair"):
        result_of([BattleBlock("gen1ou", "competitive", "random", [None])])
