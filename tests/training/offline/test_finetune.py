"""Fine-tuning: what is frozen stays, a reference holds the policy near, and the command does what it was told."""

from __future__ import annotations

import itertools
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.command_line import PROJECT, Said

torch = pytest.importorskip("torch")

from safetensors.torch import load_file  # noqa: E402

from agents import resolve  # noqa: E402
from agents.policy import checkpoint  # noqa: E402
from teamsets.errors import BadInput  # noqa: E402
from training.cli import cli  # noqa: E402
from training.offline.config import Config  # noqa: E402
from training.offline.finetune import DISTILLED_VALUE, FineTuning  # noqa: E402
from training.offline.trainer import train  # noqa: E402
from training.runs.config_reader import BadConfig, load, validated  # noqa: E402
from training.runs.shipped import text  # noqa: E402

START = "gen1ou-tiny"
Small = Callable[..., Config]


def measured(folder: Path) -> list[dict[str, float]]:
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    return [line for line in map(json.loads, lines) if "loss" in line]


def near(coefficient: float, **changes: Any) -> dict[str, Any]:
    """Settings of a short run from the shipped network on, that a reference may hold back."""
    return {
        "network.start_from": START,
        "reference.coefficient": coefficient,
        "optimizer.warmup_steps": 0,
        "optimizer.schedule": "constant",
        "length.max_steps": 6,
        "checkpoints.every": 6,
        **changes,
    }


def test_what_is_frozen_stays_and_all_else_moves(small: Small) -> None:
    frozen = ["token_embedding.*", "token_layers.*.qkv.*", "token_layers.*.attention_out.*", "position_embedding"]
    finished = train(small(**near(0.0, **{"network.freeze": frozen, "length.max_steps": 2})))
    before = checkpoint.load(checkpoint.find(START))[0].state_dict()
    after = load_file(checkpoint.find(f"{finished.folder}@last") / checkpoint.WEIGHTS)
    stayed = {name for name in before if torch.equal(before[name], after[name])}
    parts = ("weight", "bias")
    layers = ("qkv", "attention_out")
    expected = {f"token_layers.{n}.{layer}.{part}" for n in (0, 1) for layer in layers for part in parts}
    assert stayed == {"token_embedding.weight", "position_embedding", *expected}


def test_patterns_that_match_nothing_or_everything_are_refused(small: Small) -> None:
    with pytest.raises(
        BadConfig, match=r"network.freeze: 'wrds.\*' matches no parameter: their names begin with .*token_embedding"
    ):
        train(small(**{"network.freeze": ["position_embedding", "wrds.*"]}))
    with pytest.raises(BadConfig, match=r"network.freeze: \* leaves no trainable parameter"):
        train(small(**{"network.freeze": ["*"]}))


@pytest.mark.parametrize("preset", ["tiny", "tiny-offline-rl"])
def test_a_reference_holds_the_policy_near_to_where_it_began(small: Small, tmp_path: Path, preset: str) -> None:
    loose = train(small(preset, out=str(tmp_path / "loose"), **near(1e-9)))
    held = train(small(preset, out=str(tmp_path / "held"), **near(30.0)))
    for finished in (loose, held):
        lines = measured(finished.folder)
        assert abs(lines[0]["kl"]) < 1e-6, "it begins where the reference is"
        for line in lines:
            assert line["shaped_return"] == pytest.approx(
                line["reward"] - line["kl_coefficient"] * line["kl"], abs=1e-5
            )
    apart, together = (measured(finished.folder)[-1] for finished in (loose, held))
    assert 0 < together["kl"] < apart["kl"] / 2
    assert together["reward"] == apart["reward"], "raw: the data's, whatever the coefficient"
    assert apart["policy_loss"] < together["policy_loss"], "what it costs"


def test_a_coefficient_of_nothing_loads_nothing(small: Small, tmp_path: Path) -> None:
    finished = train(small(**{"reference.checkpoint": "nowhere", "reference.target": 0.1, "length.max_steps": 1}))
    assert "kl" not in measured(finished.folder)[0]
    other = str(tmp_path / "other")
    with pytest.raises(BadConfig, match=r"reference.checkpoint: not set, nor is network.start_from"):
        train(small(out=other, **{"reference.coefficient": 0.1}))
    with pytest.raises(BadInput, match="checkpoint 'nowhere'"):
        train(small(out=other, **{"reference.checkpoint": "nowhere", "reference.coefficient": 0.1}))


@pytest.mark.parametrize(("target", "grows"), [(1e-5, True), (100.0, False)])
def test_the_coefficient_moves_towards_its_target(small: Small, target: float, grows: bool) -> None:
    finished = train(small(**near(0.1, **{"reference.target": target, "optimizer.learning_rate": 3e-4})))
    found = [line["kl_coefficient"] for line in measured(finished.folder)]
    # The first step's KL is nothing: from the second on it lies above the small target, and below the large one.
    assert all((later > earlier) == grows for earlier, later in itertools.pairwise(found[1:]))
    assert found[1] < found[0] == pytest.approx(0.1)


def base(**changes: Any) -> Config:
    return validated(Config, {**yaml.safe_load(text("finetune", "preset")), **changes}, "test")


def test_everything_that_is_said_ends_in_the_configuration(tmp_path: Path) -> None:
    asked = FineTuning(
        start_from=f"policy:{START}",
        out=tmp_path / "ft",
        own_weight=2.0,
        policy_from="won",
        mix=(("earlier", 0.5),),
        holds_out=True,
        epochs=3.0,
        freeze=("token_embedding.*",),
        distil=True,
        kl=0.1,
        kl_target=0.05,
    )
    told = asked.config(base()).model_dump()
    assert told["out"] == str(tmp_path / "ft") and told["network"]["start_from"] == START
    assert told["network"]["preset"] == "tiny" and told["network"]["freeze"] == ["token_embedding.*"]
    own = {"path": str(tmp_path / "ft" / "data"), "weight": 2.0, "policy_from": "won", "value_from": "all"}
    earlier = {"path": "earlier", "weight": 0.5, "policy_from": "all", "value_from": "all"}
    assert told["data"]["train"] == [own, earlier]
    assert told["data"]["validate_on"] == [str(tmp_path / "ft" / "data-held-out")]
    assert told["length"]["epochs"] == 3.0
    assert (told["algorithm"]["targets"], told["algorithm"]["expert_value_weight"]) == (
        "target_policy",
        DISTILLED_VALUE,
    )
    assert told["reference"] == {"checkpoint": "", "coefficient": 0.1, "target": 0.05}
    assert FineTuning(START, tmp_path, objective="offline-rl").config(base()).algorithm.name == "offline-rl"
    plain = FineTuning(START, tmp_path).config(base())
    unchanged = {"out", "data"}
    assert plain.model_dump(exclude=unchanged) == base().model_dump(exclude=unchanged)


def test_a_name_that_may_mean_another_checkpoint_tomorrow_is_pinned(small: Small, tmp_path: Path) -> None:
    first = train(small(**{"length.max_steps": 1})).folder
    told = FineTuning(f"{first}@last", tmp_path / "ft").config(base())
    assert told.network.start_from == str(first / "checkpoints" / "step-000000001")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--freeze", "wrds.*"], r"network.freeze: 'wrds.\*' matches no parameter"),
        (["--mix", "data/old"], "--mix data/old: must be DIR=WEIGHT"),
        (["--mix", "data/old=much"], "--mix data/old=much: must be DIR=WEIGHT"),
        (["--mix", "data/old=0"], "--mix data/old=0: must be DIR=WEIGHT"),
        (["--mix", "data/old=1"], "dataset data/old: has no dataset.json"),
        (["--kl-target", "0.1"], "--kl-target: there is no KL coefficient to adapt: add --kl"),
        (["--kl", "-1"], r"reference.coefficient: .*, not -1"),
        (["--distil", "--objective", "offline-rl"], "--distil: only cloning trains on expert targets"),
        (["--own-weight", "0"], r"data.train.0.weight: .*, not 0"),
        (["--from", "nobody"], "checkpoint 'nobody'"),
    ],
)
def test_what_makes_no_sense_is_said_before_anything_is_made(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match=said):
        cli.main(["finetune", "--from", START, "--out", "ft", *words], standalone_mode=False)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_command_goes_on_and_does_nothing_twice(
    played: Path, small: Small, tmp_path: Path, train_command: Callable[..., Said]
) -> None:
    settings = small(**{"length.max_steps": 0, "data.batch_size": 8}).model_dump(mode="json")
    (tmp_path / "my.yaml").write_text(yaml.safe_dump(settings))
    words = (
        *(
            "finetune",
            "--from",
            START,
            "--db",
            played,
            "--where",
            "format = 'gen1ou'",
            "--result",
            "won",
            "--out",
            "ft",
        ),
        *("--config", "my.yaml", "--epochs", 1, "--hold-out", 0.5, "--kl", 0.1, "--drop-faulty", "--workers", 1),
    )
    first = train_command(*words, cwd=tmp_path)
    assert first.code == 0, first.err
    told = load(Config, tmp_path / "ft" / "config.yaml")
    assert told.data.validate_on == ["ft/data-held-out"] and told.reference.coefficient == 0.1
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "ft").rglob("*.zst")}
    lines = (tmp_path / "ft" / "metrics.jsonl").read_text()
    assert "validation/kl" in lines and files
    again = train_command(*words, cwd=tmp_path)
    assert again.code == 0 and "agent: policy:ft@best" in again.err
    assert (tmp_path / "ft" / "metrics.jsonl").read_text() == lines
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "ft").rglob("*.zst")} == files
    other = train_command(*words, "--least-decisions", 2, cwd=tmp_path)
    assert other.code == 2 and "ft/data: was built with other settings (gates." in other.err


@pytest.mark.slow
def test_the_commands_of_the_documentation_work(
    tmp_path: Path, train_command: Callable[..., Said], arena: Callable[..., Said]
) -> None:
    text = (PROJECT / "docs" / "training.md").read_text(encoding="utf-8")
    (section,) = re.findall(r"^## Fine-tuning\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    blocks = "".join(re.findall(r"```sh\n(.*?)```", section, re.DOTALL)).replace("\\\n", " ")
    commands = [line for line in blocks.splitlines() if line.strip()]
    assert sum(line.startswith("train finetune") for line in commands) >= 3
    for line in commands:
        small_line = re.sub(r"--battles \d+", "--battles 2", line)
        if resolve("search:mcts").missing("gen1ou"):  # not built here: another coach, who tells no thoughts
            small_line = small_line.replace("search:mcts?ms=100", "heuristic:staller").replace(
                "search:%", "heuristic:%"
            )
        program, *words = shlex.split(small_line)
        said = {"train": train_command, "arena": arena}[program](*words, cwd=tmp_path)
        assert said.code == 0, (line, said.err)
