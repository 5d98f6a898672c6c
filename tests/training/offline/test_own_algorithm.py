"""A learning algorithm of the user's own: named as MODULE:CLASS, with settings like those of the built-in ones."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.command_line import PROJECT, Said
from support.page_commands import blocks

from agents.policy import checkpoint
from training.offline.config import Config
from training.runs.config_reader import BadConfig, load, validated
from training.runs.settings import parsed
from training.runs.shipped import text

Small = Callable[..., Config]

OWN = """
from training.offline.config import AlgorithmSettings

class Clone(AlgorithmSettings):
    strength: float = 0.5
    rounds: int

    def loss(self, output, batch):
        wanted = output.logits.gather(-1, batch.actions.clamp(min=0)[..., None])[..., 0]
        loss = self.strength * ((output.logits.logsumexp(-1) - wanted) * batch.action_known).sum()
        return loss, {"own_loss": (loss.detach(), batch.action_known.sum())}

nothing = 3
"""


#: Where torch is installed, the base class has the types of `loss`, too.
TYPED = "training.offline.losses import Algorithm as AlgorithmSettings"


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A current folder with modules that no test before has imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("")
    for name in ("own_rule", "broken_rule", "rule_without_its_package", "rule_without_torch"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    (tmp_path / "own_rule.py").write_text(OWN)
    (tmp_path / "broken_rule.py").write_text("1 / 0\n")
    (tmp_path / "rule_without_torch.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')\n"
    )
    (tmp_path / "rule_without_its_package.py").write_text("import package_that_is_missing\n")


def told(**algorithm: object) -> dict[str, Any]:
    found = yaml.safe_load(text("tiny", "preset"))
    assert isinstance(found, dict)
    return found | {"algorithm": algorithm}


def test_its_fields_are_settings_that_are_kept() -> None:
    config = validated(Config, told(name="own_rule:Clone", rounds=3), "my.yaml")
    kept = config.model_dump(mode="json")
    assert kept["algorithm"] == {"name": "own_rule:Clone", "strength": 0.5, "rounds": 3}
    assert validated(Config, kept, "again") == config


def test_settings_change_from_the_command_line(tmp_path: Path, train_command: Callable[..., Said]) -> None:
    file = tmp_path / "my.yaml"
    file.write_text(yaml.safe_dump(told(name="own_rule:Clone", rounds=3)))
    assert load(Config, file, [parsed("algorithm.rounds=4")]).algorithm.model_dump()["rounds"] == 4
    whole = parsed("algorithm={name: 'own_rule:Clone', rounds: 5}")
    assert load(Config, file, [whole]).algorithm.model_dump()["rounds"] == 5
    ends = train_command("config", "tiny", "--set", "algorithm={name: own_rule:Clone, rounds: 2}")
    assert yaml.safe_load(ends.out)["algorithm"] == {"name": "own_rule:Clone", "rounds": 2}


@pytest.mark.parametrize(
    ("algorithm", "words"),
    [
        ({"name": "own_rule:Clone"}, "algorithm.rounds is missing"),
        ({"name": "own_rule:Clone", "rounds": 1, "round": 2}, "algorithm.round is not a known setting"),
        ({"name": "own_rule:Clone", "rounds": "x"}, "algorithm.rounds: input should be a valid integer.*not 'x'"),
        (
            {"name": "clone"},
            "algorithm: name 'clone': accepted are cloning, offline-rl, dpo and MODULE:CLASS of your own",
        ),
        ({"name": "own_rule:"}, "algorithm: name 'own_rule:': accepted are"),
        ({"rounds": 1}, "algorithm: name '': accepted are"),
        (
            {"name": "no_rule:Clone"},
            "name 'no_rule:Clone': there is no module 'no_rule' in the current folder or installed",
        ),
        (
            {"name": "own_rul:Clone"},
            r"there is no module 'own_rul' in the current folder or installed: did you mean own_rule",
        ),
        ({"name": "own_rule:Clown"}, r"name 'own_rule:Clown': module 'own_rule' has no 'Clown': did you mean Clone\?"),
        (
            {"name": "training.offline.config:AlgorithmSettings"},
            "AlgorithmSettings is no subclass of",
        ),
        ({"name": "own_rule:nothing"}, "name 'own_rule:nothing': nothing is no subclass of .*Algorithm"),
        ({"name": "rule_without_torch:Clone"}, "No module named 'torch': `make training` installs it"),
        ({"name": "broken_rule:Clone"}, "name 'broken_rule:Clone': importing 'broken_rule' failed: ZeroDivisionError"),
        (
            {"name": "rule_without_its_package:Clone"},
            "could not be imported: No module named 'package_that_is_missing'",
        ),
    ],
)
def test_a_bad_one_is_refused_in_one_line(algorithm: dict[str, object], words: str) -> None:
    with pytest.raises(BadConfig, match=f"^my.yaml: .*{words}") as error:
        validated(Config, told(**algorithm), "my.yaml")
    assert "\n" not in str(error.value)


@pytest.mark.torch
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch")
def test_it_trains_with_its_metrics_and_resumes_with_its_settings_only(small: Small, tmp_path: Path) -> None:
    (tmp_path / "own_rule.py").write_text(OWN.replace("training.offline.config import AlgorithmSettings", TYPED))
    from training.offline.trainer import train

    def losses(strength: float, out: str) -> list[float]:
        algorithm = {"name": "own_rule:Clone", "rounds": 1, "strength": strength}
        config = small(algorithm=algorithm, out=str(tmp_path / out), **{"length.max_steps": 2})
        train(config)
        assert checkpoint.find(f"{config.out}@last").is_dir()
        measured = [json.loads(line) for line in Path(config.out, "metrics.jsonl").read_text().splitlines()]
        return [line["own_loss"] for line in measured if "own_loss" in line]

    whole, half = losses(1.0, "whole"), losses(0.5, "half")
    assert len(whole) == 2 and whole[0] == pytest.approx(2 * half[0])
    with pytest.raises(BadConfig, match=r"was started with other settings \(algorithm.strength 0.5, now 0.6\)"):
        losses(0.6, "half")


@pytest.mark.torch
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch")
def test_the_algorithm_of_the_documentation_learns(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from training.offline.trainer import train

    (page,) = [block for block in blocks(PROJECT / "docs" / "extend.md") if block.file == "margin.py"]
    assert len(page.lines) <= 40
    page.save(tmp_path)
    monkeypatch.delitem(sys.modules, "margin", raising=False)
    algorithm = {"name": "margin:LargeMargin", "margin": 1.0}
    config = small(algorithm=algorithm, **{"length.max_steps": 30, "optimizer.schedule": "constant"})
    train(config)
    measured = [json.loads(line) for line in Path(config.out, "metrics.jsonl").read_text().splitlines()]
    losses = [line["policy_loss"] for line in measured if "policy_loss" in line]
    assert sum(losses[-5:]) < sum(losses[:5])
