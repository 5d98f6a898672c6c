"""A rule of online training of the user's own, by MODULE:CLASS: the example of docs/online.md, and refused names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numba")

from support.command_line import PROJECT  # noqa: E402
from support.online import settings  # noqa: E402

from agents.policy import checkpoint  # noqa: E402
from training.online.config import OnlineConfig  # noqa: E402
from training.online.rules import trainer_class  # noqa: E402
from training.online.run import train_online  # noqa: E402
from training.runs.config_reader import BadConfig, load  # noqa: E402


@pytest.fixture
def reinforce(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The example of the documentation, in the current folder under a name of its own."""
    (code,) = re.findall(r"```python\n(.*?class Reinforce.*?)```", (PROJECT / "docs/online.md").read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "own_online_rule.py").write_text(code)
    return "own_online_rule:Reinforce"


def test_it_trains_and_resumes_with_its_settings(reinforce: str, tmp_path: Path) -> None:
    own = {"name": reinforce, "minibatch_decisions": 64, "entropy": 0.01}
    for iterations in (1, 2):
        config = settings(out=str(tmp_path / "run"), iterations=iterations, algorithm=own, checkpoints__every=1)
        train_online(config, trainer_class(config.algorithm.name))
    kept = load(OnlineConfig, tmp_path / "run" / "config.yaml")
    assert kept.algorithm.model_dump() == own
    first, last = (checkpoint.load(checkpoint.folder_of(tmp_path / "run", step))[0].state_dict() for step in (1, 2))
    assert any((first[name] != last[name]).any() for name in first)


@pytest.mark.parametrize(
    ("algorithm", "words"),
    [
        (
            {"name": "pppo"},
            r"name 'pppo': accepted are ppo, ddqn, iac, maac, magrpo, expert_iteration and MODULE:CLASS",
        ),
        ({"name": "own_online_rule:Reinforced"}, r"has no 'Reinforced': did you mean Reinforce\?"),
        ({"name": "own_online_rule:Averages"}, "Averages is no subclass of training.online.trainer.Trainer"),
        ({"name": "own_online_rule:Reinforce", "entropy": 0.1}, r"algorithm.minibatch_decisions"),
        (
            {"name": "own_online_rule:Reinforce", "entropy": 0.1, "minibatch_decisions": 1, "speed": 2},
            "algorithm.speed",
        ),
    ],
)
def test_a_bad_one_is_refused_in_one_line(reinforce: str, algorithm: dict[str, object], words: str) -> None:
    with pytest.raises(BadConfig, match=words) as error:
        settings(algorithm=algorithm)
    assert "\n" not in str(error.value)
