"""A run of online training: its folder, resuming with the same numbers, roles that are frozen and replaced, its errors."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

torch = pytest.importorskip("torch")
pytest.importorskip("numba")

from click.testing import CliRunner  # noqa: E402
from support.command_line import Said  # noqa: E402
from support.matrix_game import MatrixGame, MatrixGames  # noqa: E402
from support.online import settings, trainer, without_clock  # noqa: E402

from agents.policy import checkpoint  # noqa: E402
from teamsets.errors import BadInput  # noqa: E402
from training.cli import cli  # noqa: E402
from training.online.config import OnlineConfig  # noqa: E402
from training.online.rules import trainer_class  # noqa: E402
from training.online.rules.ppo import PPO  # noqa: E402
from training.online.run import STATE, train_online  # noqa: E402
from training.online.trainer import LEARNER  # noqa: E402
from training.runs.config_reader import BadConfig  # noqa: E402
from training.runs.run_folder import RunFolder  # noqa: E402

SELF = [{"who": "opponent", "weight": 1.0}]
OWN = {
    "kind": "own",
    "copy_every": 0,
    "network": {"preset": "micro", "start_from": "", "freeze": []},
    "optimizer": {
        "learning_rate": {"kind": "constant", "value": 0.001},
        "weight_decay": 0.0,
        "betas": [0.9, 0.98],
        "max_grad_norm": 0.5,
    },
    "exploration": {
        "temperature": {"kind": "constant", "value": 1.0},
        "epsilon": {"kind": "constant", "value": 0.0},
    },
    "replay": {"capacity": 0, "prioritised": False, "priority_exponent": 0.0},
    "learning": {"active": True, "start": 0, "end": 0},
    "replacements": [],
}


def metrics(folder: Path) -> list[dict[str, float]]:
    return [without_clock(json.loads(line)) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def weights(folder: Path, step: int) -> dict[str, torch.Tensor]:
    return checkpoint.load(checkpoint.folder_of(folder, step))[0].state_dict()


def test_a_run_that_is_stopped_and_resumed_has_the_same_numbers(tmp_path: Path) -> None:
    league = [*SELF, {"who": "past", "weight": 1.0, "choose": "hardest"}]
    changes = {"league__members": league, "league__snapshot_every": 1, "checkpoints__every": 1}
    changes |= {"learner__optimizer__average": 0.9}  # checkpoints store the average
    whole = settings(out=str(tmp_path / "whole"), iterations=4, **changes)
    train_online(whole, trainer_class("ppo"))
    for iterations in (2, 4):
        train_online(settings(out=str(tmp_path / "parts"), iterations=iterations, **changes), trainer_class("ppo"))
    assert metrics(tmp_path / "whole") == metrics(tmp_path / "parts")
    one, other = weights(tmp_path / "whole", 4), weights(tmp_path / "parts", 4)
    assert all((one[name] == other[name]).all() for name in one)
    first = weights(tmp_path / "whole", 3)
    assert any((one[name] != first[name]).any() for name in one)  # it does learn


def test_checkpoints_store_the_moving_average_of_the_weights_where_it_is_asked_for() -> None:
    one = trainer(learner__optimizer__average=0.5)
    role, seen = one.roles[LEARNER], []
    assert role.published is not role.network
    for _ in range(3):
        role.update(sum(parameter.square().sum() for parameter in role.network.parameters()))
        seen.append([parameter.detach().clone() for parameter in role.network.parameters()])
    for averaged, first, second, third in zip(role.published.parameters(), *seen, strict=True):
        torch.testing.assert_close(averaged, 0.25 * first + 0.25 * second + 0.5 * third)
    plain = trainer().roles[LEARNER]
    assert plain.published is plain.network


def test_a_run_says_that_it_plays_before_its_first_iteration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[str] = []

    class Watched(trainer_class("ppo")):  # type: ignore[misc]
        def iterate(self) -> Any:
            seen.append(capsys.readouterr().err)
            return super().iterate()

    config = settings(out=str(tmp_path / "run"), iterations=2)
    train_online(config, Watched)
    assert f"iteration 1: playing {config.rollout.battles:,} battles on engine ..." in seen[0]
    assert "playing" not in seen[1]


def test_what_will_replace_weights_is_looked_at_before_the_first_iteration(tmp_path: Path) -> None:
    def started(by: str) -> None:
        changes = {"learner__replacements": [{"at": 1, "by": by}], "checkpoints__every": 1}
        train_online(settings(out=str(tmp_path / "run"), iterations=2, **changes), trainer_class("ppo"))

    with pytest.raises(BadInput, match="no-such-run"):
        started(str(tmp_path / "no-such-run"))
    with pytest.raises(BadConfig, match=r"one of another shape \(tiny, not micro\): change `replacements`"):
        started("gen1ou")
    assert not (tmp_path / "run" / "metrics.jsonl").exists()
    started(str(tmp_path / "run@1"))  # which there is by then
    assert len(metrics(tmp_path / "run")) == 2


def test_a_run_that_was_interrupted_before_its_second_checkpoint_is_resumed(tmp_path: Path) -> None:
    class Interrupted(trainer_class("ppo")):  # type: ignore[misc]
        def iterate(self) -> Any:
            raise KeyboardInterrupt

    config = settings(out=str(tmp_path / "run"), iterations=1, checkpoints__every=1)
    with pytest.raises(KeyboardInterrupt):
        train_online(config, Interrupted)
    assert (tmp_path / "run" / "checkpoints" / "step-000000000").exists()
    assert train_online(config, trainer_class("ppo")).steps()[-1] == 1


def test_a_limit_of_minutes_counts_playing_and_learning_of_all_processes_of_a_run(tmp_path: Path) -> None:
    class Slow(PPO):
        """A minute and a half for each iteration, by its own account."""

        def __init__(self, config: OnlineConfig) -> None:
            super().__init__(config, battles=MatrixGame(config.rollout.battles, [[0.5] * 2] * 2), games=MatrixGames())

        def iterate(self) -> dict[str, float]:
            metrics = super().iterate()
            self.seconds = 90.0 * self.iteration
            return metrics

    limited: dict[str, Any] = {"out": str(tmp_path / "run"), "iterations": 100, "checkpoints__every": 1}
    limited["league__members"] = [{"who": "opponent", "weight": 1.0}]
    assert train_online(settings(**limited, max_minutes=1), Slow).steps()[-1] == 1
    assert train_online(settings(**limited, max_minutes=3), Slow).steps()[-1] == 2
    assert train_online(settings(**limited, max_minutes=3), Slow).steps()[-1] == 2


#: Trains, and is killed when the metrics of an iteration have been written, whose checkpoint has not.
KILLED = """
import os, signal, sys
from training.cli import main
from training.runs.tracking import Tracking

note, last = Tracking.note, int(sys.argv.pop(1))

def note_and_end(tracking, step, *arguments):
    note(tracking, step, *arguments)
    if step == last:
        os.kill(os.getpid(), signal.SIGKILL)

Tracking.note = note_and_end
main()
"""


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_run_that_is_killed_again_and_again_has_the_same_numbers(
    tmp_path: Path, train_command: Callable[..., Said]
) -> None:
    config = tmp_path / "mine.yaml"
    told = settings(out="killed", iterations=6, checkpoints__every=2).model_dump(mode="json")
    config.write_text(yaml.safe_dump(told))
    for last in (2, 5):
        command = [sys.executable, "-c", KILLED, str(last), "online", str(config)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert [line["step"] for line in metrics(tmp_path / "killed")] == list(range(1, last + 1))
    assert train_command("online", config, cwd=tmp_path).code == 0
    undisturbed = settings(out=str(tmp_path / "undisturbed"), iterations=6, checkpoints__every=2)
    train_online(undisturbed, trainer_class("ppo"))
    assert metrics(tmp_path / "killed") == metrics(tmp_path / "undisturbed")


def test_two_networks_are_trained_together_each_on_its_own_seat() -> None:
    one = trainer(opponent=OWN, league__members=SELF)
    before = {name: [p.clone() for p in role.network.parameters()] for name, role in one.roles.items()}
    told = one.iterate()
    for name, role in one.roles.items():
        assert any((old != new).any() for old, new in zip(before[name], role.network.parameters(), strict=True))
    assert told["raw_return"] == -told["opponent/raw_return"]
    assert told["decisions"] != told["opponent/decisions"] or told["entropy"] != told["opponent/entropy"]


def test_a_frozen_opponent_stays_as_it_is_until_it_is_replaced() -> None:
    frozen = {**OWN, "learning": {"active": False, "start": 0, "end": 0}, "copy_every": 2}
    one = trainer(opponent=frozen, league__members=SELF)
    learner, opponent = one.roles[LEARNER], one.roles["opponent"]

    def same() -> bool:
        pairs = zip(learner.network.parameters(), opponent.network.parameters(), strict=True)
        return all((a == b).all() for a, b in pairs)

    assert not same()
    one.iterate()  # iteration 0: it becomes the learner, which then learns
    copied = [p.clone() for p in opponent.network.parameters()]
    assert not same()
    one.iterate()
    assert all((a == b).all() for a, b in zip(copied, opponent.network.parameters(), strict=True))
    one.iterate()
    assert any((a != b).any() for a, b in zip(copied, opponent.network.parameters(), strict=True))
    one.replace("opponent", LEARNER)
    assert same()


def test_a_role_learns_only_in_its_iterations() -> None:
    one = trainer(league__members=SELF, learner__learning={"active": True, "start": 1, "end": 2})
    learner = one.roles[LEARNER]
    updates = [one.iterate() and learner.updates for _ in range(3)]
    assert updates[0] == 0 < updates[1] == updates[2]


def test_checkpoints_play_pairs_on_the_engine_and_the_one_with_the_best_score_is_kept(tmp_path: Path) -> None:
    battles = {
        "every": 1,
        "opponents": ["array:max-damage", "random"],
        "battles": 4,
        "database": str(tmp_path / "none"),
    }
    config = settings(
        out=str(tmp_path / "run"),
        iterations=2,
        league__members=SELF,
        checkpoints__every=1,
        **{f"evaluation__{key}": value for key, value in battles.items()},
    )
    folder = train_online(config, trainer_class("ppo"))
    told = [json.loads(line) for line in (folder.path / "evaluations.jsonl").read_text().splitlines()]
    assert [line["step"] for line in told] == [0, 1, 2]
    for line in told:
        rated = line["formats"]["gen1ou"]
        assert rated["battles"] == 8 and {cell["battles"] for cell in rated["against"].values()} == {4}
        assert rated["score"] == sum(cell["score"] for cell in rated["against"].values()) / 2
        assert rated["low"] <= rated["score"] <= rated["high"] and sum(rated["pairs"]) == 4
    scores = [line["formats"]["gen1ou"]["score"] for line in told]
    assert folder.best is not None and (folder.best["by"], folder.best["value"]) == ("score", 100 * max(scores))
    assert [
        line["evaluation/gen1ou/score"] for line in metrics(folder.path) if "evaluation/gen1ou/score" in line
    ] == scores
    assert not (tmp_path / "none").exists()


def test_an_opponent_that_cannot_play_on_the_engine_is_refused_before_the_first_iteration(tmp_path: Path) -> None:
    config = settings(out=str(tmp_path / "run"), evaluation__every=20, evaluation__opponents=["foul-play"])
    with pytest.raises(BadInput, match=r"'foul-play': an external program.*evaluation.venue: showdown"):
        train_online(config, trainer_class("ppo"))
    assert not (tmp_path / "run").exists()


def test_a_checkpoint_of_the_run_plays_and_is_the_opponent_of_another(tmp_path: Path) -> None:
    config = settings(out=str(tmp_path / "run"), iterations=1)
    train_online(config, trainer_class("ppo"))
    name = str(tmp_path / "run")
    member = {"who": "checkpoint", "weight": 1.0, "checkpoint": name, "temperature": 0.0}
    other = trainer(league__members=[member], learner__network__start_from=name)
    told = other.iterate()
    assert f"raw_return/{name}" in told
    assert other.roles[LEARNER].lineage[-1]["step"] == 1


def test_the_kl_to_the_reference_is_zero_at_its_own_weights_and_grows(tmp_path: Path) -> None:
    config = settings(out=str(tmp_path / "run"), iterations=1)
    train_online(config, trainer_class("ppo"))
    one = trainer(
        league__members=SELF,
        learner__network__start_from=str(tmp_path / "run"),
        reference__coefficient={"kind": "constant", "value": 0.1},
    )
    first, second = one.iterate(), one.iterate()
    assert first["kl"] == pytest.approx(0, abs=1e-6) and second["kl"] > 1e-6
    assert first["kl_coefficient"] == 0.1
    assert second["shaped_return"] == pytest.approx(
        second["raw_return"] - 0.1 * second["kl"] * second["battle_decisions"], abs=1e-4
    )


def test_norms_of_each_layer_are_logged_when_asked_for() -> None:
    told = trainer(league__members=SELF, tracking__norms_every=2).iterate()
    assert told["norms/learner/weight/value_head.weight"] > 0
    assert told["norms/learner/gradient/value_head.weight"] > 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rollout__held_out": ["competitive"]}, "rollout.teams: competitive is held out"),
        ({"rollout__teams": []}, "rollout.teams: name at least one team set"),
        ({"learner__replay__capacity": 100}, "learner.replay.capacity: 100: this algorithm has no use for it: set 0"),
        ({"league__members": [*SELF, *SELF]}, "league.members: 'opponent' is named twice"),
        ({"evaluation__every": 7}, "evaluation.every: not a multiple of checkpoints.every"),
        ({"format": "gen1randombattle"}, "rollout.teams: Showdown generates the teams: leave it empty"),
        (
            {"format": "gen8ou"},
            "gen8ou: the engines play gen1ou, gen1randombattle and gen9ou: choose one of them, or set venue: showdown",
        ),
        ({"iterations": 0}, "iterations: "),
        ({"learner__optimizer__learning_rate": {"kind": "linear", "start": 1.0}}, "learner.optimizer.learning_rate"),
    ],
)
def test_a_wrong_setting_is_named(changes: dict[str, object], message: str) -> None:
    with pytest.raises(BadConfig, match=r"^ppo: ") as raised:
        settings(**changes)
    assert message in str(raised.value)


def test_a_missing_and_an_unknown_key_are_named(tmp_path: Path) -> None:
    told = settings().model_dump(mode="json")
    del told["algorithm"]["clip"]
    told["rollout"]["colour"] = "red"
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(told))
    result = CliRunner().invoke(cli, ["online", str(file)])
    assert isinstance(result.exception, BadConfig)
    assert "algorithm.clip is missing" in str(result.exception)
    assert "rollout.colour is not a known setting" in str(result.exception)


def test_a_damaged_state_is_named(tmp_path: Path) -> None:
    config = settings(out=str(tmp_path / "run"), iterations=1)
    folder = train_online(config, trainer_class("ppo"))
    file = folder.step_folder(1) / STATE
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(Exception, match=f"{STATE}: is damaged"):
        train_online(settings(out=str(tmp_path / "run"), iterations=2), trainer_class("ppo"))


@pytest.mark.parametrize("before", [False, True])
def test_a_run_that_is_refused_leaves_no_folder_that_it_has_made(before: bool, tmp_path: Path) -> None:
    out = tmp_path / "runs" / "ppo"
    if before:
        out.mkdir(parents=True)
        (out / "notes.txt").touch()
    with pytest.raises(BadInput, match="gen9ouu"):
        train_online(settings(out=str(out), learner__network__start_from="gen9ouu"), trainer_class("ppo"))
    assert (out / "notes.txt").exists() if before else not out.parent.exists()
    with RunFolder(settings(out=str(out))).locked():
        assert (out / "config.yaml").exists()


def test_a_run_that_is_refused_keeps_what_is_in_its_folder(tmp_path: Path) -> None:
    folder = RunFolder(settings(out=str(tmp_path / "run")))
    with pytest.raises(BadInput, match="late"), folder.locked():
        (folder.path / "metrics.jsonl").touch()
        raise BadInput("late")
    assert {each.name for each in folder.path.iterdir()} == {"config.yaml", "lock", "metrics.jsonl"}


def test_other_settings_than_the_runs_are_refused(tmp_path: Path) -> None:
    train_online(settings(out=str(tmp_path / "run"), iterations=1), trainer_class("ppo"))
    with pytest.raises(BadConfig, match=r"algorithm\.clip 0\.2, now 0\.3"):
        train_online(settings(out=str(tmp_path / "run"), iterations=1, algorithm__clip=0.3), trainer_class("ppo"))


def test_settings_of_evaluation_battles_may_change_where_none_are_played(tmp_path: Path) -> None:
    """A run that was begun with an earlier version's preset is resumed by the same command."""
    earlier = {"evaluation__venue": "showdown", "evaluation__opponents": ["random"], "evaluation__battles": 40}
    train_online(settings(out=str(tmp_path / "run"), iterations=1, **earlier), trainer_class("ppo"))
    train_online(settings(out=str(tmp_path / "run"), iterations=1), trainer_class("ppo"))


@pytest.mark.slow
def test_any_singles_format_is_played_on_showdown_against_any_agent() -> None:
    member = {"who": "agent", "weight": 1.0, "agent": "heuristic:max-damage"}
    one = trainer(venue="showdown", format="gen9ou", rollout__battles=2, league__members=[*SELF, member], seed=3)
    try:
        told = [one.iterate() for _ in range(2)]
    finally:
        one.close()
    assert sum(each["decisions"] for each in told) > 20
    assert any("raw_return/heuristic:max-damage" in each for each in told)


def test_the_return_against_past_learners_is_the_mean_over_all_of_them() -> None:
    past = [{"who": "past", "weight": 1.0, "choose": "uniform"}]
    one = trainer(league__members=past, league__snapshot_every=1)
    one.iterate()
    one.iterate()
    given = []
    learn = one.learn
    one.learn = lambda role, found, reference: given.append(found) or learn(role, found, reference)  # type: ignore[method-assign]
    told = one.iterate()
    names = given[0].opponents
    assert len(names) > 1 and all(name.startswith("past:") for name in names)
    assert told["raw_return/past"] == pytest.approx(float(given[0].results.mean()))
