"""`train llm-dpo` on a tiny model of random weights: what it learns, a kill, what it writes, and what it refuses."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

torch = pytest.importorskip("torch")
pytest.importorskip("trl")

from click.testing import CliRunner  # noqa: E402
from safetensors.torch import load_file  # noqa: E402
from support.language_models import tiny_model  # noqa: E402
from support.tournaments import tournament  # noqa: E402

from agents import resolve  # noqa: E402
from agents.llm.generation import Model, Question  # noqa: E402
from agents.llm.models import OUTPUT, base_of  # noqa: E402
from agents.serving import client  # noqa: E402
from arena.store import rows  # noqa: E402
from training.commands.llm_dpo import llm_dpo  # noqa: E402
from training.data.shards import BadData  # noqa: E402
from training.llm.config import LlmConfig  # noqa: E402
from training.runs.config_reader import BadConfig, validated  # noqa: E402
from training.runs.shipped import resolve_path  # noqa: E402


def train_llm(config: LlmConfig) -> Any:
    """Trains as `train llm-dpo` does. TRL, which takes seconds, is imported here: every test process imports this module."""
    return import_module("training.llm.run").train_llm(config)


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pairs in which surf is better than switching, in whichever place it is listed."""
    folder = tmp_path_factory.mktemp("pairs")
    for name, numbers in (("pairs.jsonl", range(12)), ("pairs-held-out.jsonl", range(20, 24))):
        lines = [
            {
                "prompt": f"Turn {n}.\nYour legal choices:\n- move surf\n- switch tauros\n",
                "chosen": "Action: move surf" if n % 4 else "Plan: use surf",
                "rejected": "Action: switch tauros" if n % 4 else "Plan: go to tauros",
                "part": "action" if n % 4 else "plan",
            }
            for n in numbers
        ]
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


@pytest.fixture
def small(model: Path, pairs: Path, tmp_path: Path) -> Callable[..., LlmConfig]:
    def make(**changes: Any) -> LlmConfig:
        told = yaml.safe_load(resolve_path("llm-dpo", "llm").read_text())
        plain = {
            "out": str(tmp_path / "run"), "model.path": str(model), "data.pairs": [str(pairs)], "lora.rank": 4,
            "optimizer.learning_rate": 0.01, "optimizer.warmup_steps": 0, "compute.gradient_accumulation_steps": 1,
            "compute.activation_checkpointing": False, "compute.threads": 1, "length.epochs": 2.0,
            "checkpoints.every": 2, "tracking.wandb": "disabled", "tracking.every": 1,
        }  # fmt: skip
        for key, value in {**plain, **changes}.items():
            *way, last = key.split(".")
            place = told
            for name in way:
                place = place[name]
            assert last in place, key
            place[last] = value
        return validated(LlmConfig, told, "test")

    return make


def metrics(out: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]


def weights(folder: Path) -> dict[str, Any]:
    return load_file(folder / "adapter_model.safetensors")


@pytest.mark.slow
def test_a_run_learns_its_pairs_and_plays_and_one_that_was_killed_ends_with_the_same_adapter(
    small: Callable[..., LlmConfig], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = train_llm(small())
    steps = [line for line in metrics(whole.folder) if "loss" in line]
    assert [line["step"] for line in steps] == [1, 2, 3, 4, 5, 6] and whole.step == 6
    assert steps[0]["loss"] == pytest.approx(0.6931, abs=1e-3), (
        "the adapter begins as nothing: policy and reference agree"
    )
    assert steps[-1]["reward_margin"] > 0 and steps[-1]["pair_accuracy"] == 1
    held_out = [line for line in metrics(whole.folder) if "validation/loss" in line]
    assert [line["step"] for line in held_out] == [2, 4, 6] and held_out[-1]["validation/pair_accuracy"] == 1
    assert sorted(path.name for path in (whole.folder / "checkpoints").iterdir()) == ["checkpoint-4", "checkpoint-6"]

    class Killed(BaseException):
        """As SIGKILL: nothing of ours runs after it."""

    trainer = import_module("training.llm.run")._Trainer
    saved = trainer._save_checkpoint

    def killed_while_saving(self: Any, model: Any, trial: Any) -> None:
        if self.state.global_step == 4:  # the folder is there, and not complete
            (Path(self.args.output_dir) / "checkpoint-4").mkdir()
            raise Killed
        saved(self, model, trial)

    other = str(tmp_path / "killed")
    with monkeypatch.context() as patch:
        patch.setattr(trainer, "_save_checkpoint", killed_while_saving)
        with pytest.raises(Killed):
            train_llm(small(out=other))
    resumed = train_llm(small(out=other))
    one, two = weights(whole.folder / OUTPUT), weights(resumed.folder / OUTPUT)
    assert one.keys() == two.keys() and all(torch.equal(one[name], two[name]) for name in one)
    assert [line["step"] for line in metrics(resumed.folder) if "loss" in line] == [1, 2, 3, 4, 5, 6]
    assert train_llm(small(out=other)).step == 6, "nothing is left to do"

    source = resolve(f"llm:{whole.folder}")
    assert (
        source.missing("gen1ou") == ""
        and source.fingerprint != resolve(f"llm:{base_of(whole.folder / OUTPUT)}").fingerprint
    )


#: Trains, and stops for good before the second checkpoint is marked as complete: the kill comes at the same place each time.
HANGING = """
import sys, time
from training.commands.llm_dpo import llm_dpo
from training.llm import run
write = run.write_atomic
run.write_atomic = lambda path, text: time.sleep(600) if path.parent.name == "checkpoint-2" else write(path, text)
llm_dpo([sys.argv[1]])
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_run_that_the_system_killed_is_ended_by_the_same_command_and_plays_in_the_arena(
    small: Callable[..., LlmConfig], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = small(**{"length.max_steps": 3, "checkpoints.every": 1, "data.held_out": False})
    file, out = tmp_path / "my.yaml", Path(config.out)
    file.write_text(yaml.safe_dump(config.model_dump(mode="json")))
    begun = subprocess.Popen([sys.executable, "-c", HANGING, str(file)], stderr=subprocess.PIPE)
    try:
        while not (out / "checkpoints" / "checkpoint-2" / "trainer_state.json").exists():
            assert begun.poll() is None, begun.stderr.read().decode()  # type: ignore[union-attr]
            time.sleep(0.1)
    finally:
        begun.kill()
        begun.communicate()
    assert begun.returncode == -signal.SIGKILL and not (out / OUTPUT).exists()
    assert "its run has not finished" in resolve(f"llm:{out}").missing("gen1ou")

    done = CliRunner().invoke(llm_dpo, [str(file)])
    assert done.exit_code == 0, done.output
    assert "resumed at step 1: 12 pairs" in done.output and done.output.endswith(f"agent: llm:{out}\n")
    assert [line["step"] for line in metrics(out) if "loss" in line] == [1, 2, 3]

    spec, db = f"llm:{out}?constrained=true&device=cpu&style=action", tmp_path / "arena.duckdb"
    monkeypatch.setenv(client.THREADS, "1")
    try:
        tournament(db, spec, "random", max_turns=5, think_limit=300.0)
    finally:
        client.close_all()
    assert rows("SELECT DISTINCT agent, reason FROM faults", db) == [("nobody", "turn-limit")]
    answered = (
        "SELECT count(*) > 5 FROM decisions JOIN results USING (battle_id, seat) WHERE agent = ? AND diagnostics LIKE ?"
    )
    assert rows(answered, db, [spec, "%answer%"]) == [(True,)]


@pytest.mark.slow
def test_a_merged_model_answers_as_its_adapter(small: Callable[..., LlmConfig], tmp_path: Path) -> None:
    adapter = train_llm(small(**{"length.max_steps": 2})).folder / OUTPUT
    merged = train_llm(small(output="merged", out=str(tmp_path / "merged"), **{"length.max_steps": 2})).folder / OUTPUT
    assert base_of(adapter) and not base_of(merged)
    asked = [Question("Turn 3.\nYour legal choices:\n- move surf\n", "action", 0.0, 8, None)]
    cpu = torch.device("cpu")
    assert Model(adapter, cpu, "fp32").answers(asked) == Model(merged, cpu, "fp32").answers(asked)


def test_layers_are_found_by_name(small: Callable[..., LlmConfig]) -> None:
    from training.llm.loading import base_model, layers_of  # here, as `train_llm` above

    model = base_model(small(), quantized=False)
    every = layers_of(model, [])
    assert len(every) == 2 * 7 and "lm_head" not in every, "four of attention, three of the rest, in two layers"
    assert layers_of(model, ["q_proj"]) == [f"model.layers.{n}.self_attn.q_proj" for n in range(2)]
    assert layers_of(model, ["*.1.mlp.*"]) == [f"model.layers.1.mlp.{name}_proj" for name in ("gate", "up", "down")]
    with pytest.raises(BadConfig, match=r"lora.layers: 'c_attn' matches no linear layer of the model: it has q_proj"):
        layers_of(model, ["q_proj", "c_attn"])


def test_pairs_are_selected_by_part_and_length(small: Callable[..., LlmConfig], pairs: Path, tmp_path: Path) -> None:
    from training.llm.data import rows_of
    from training.llm.loading import tokenizer_of

    tokenizer = tokenizer_of(small())
    rows = rows_of(small(**{"data.parts": ["plan"], "data.held_out": False}).data, tokenizer)
    assert len(rows.train) == 3 and not rows.held_out and {row["chosen"] for row in rows.train} == {"Plan: use surf"}
    with pytest.raises(BadData, match=r"no pair to train on: all are longer than data.max_length 8"):
        rows_of(small(**{"data.max_length": 8}).data, tokenizer)
    tokenizer.chat_template = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}"
    chat = rows_of(small().data, tokenizer)
    assert chat.train[1]["chosen"] == [{"role": "assistant", "content": "Action: move surf"}]
    shutil.copytree(pairs, tmp_path / "bad")
    (tmp_path / "bad" / "pairs.jsonl").write_text('{"prompt": "p"}\n')
    with pytest.raises(BadData, match=r"pairs.jsonl, line 1: has no prompt, chosen, rejected"):
        rows_of(small(**{"data.pairs": [str(tmp_path / "bad")]}).data, tokenizer)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"algorithm.loss": "robust"}, "label_smoothing: 0 has no meaning with `loss: robust`: set it above 0"),
        ({"algorithm.label_smoothing": 0.1}, "label_smoothing: 0.1 has no meaning with `loss: sigmoid`: use 0"),
        ({"output": "both"}, "output: .*'adapter' or 'merged'"),
        ({"model.path": ""}, "model.path: "),
    ],
)
def test_settings_that_do_not_fit_are_named(
    small: Callable[..., LlmConfig], changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(BadConfig, match=words):
        small(**changes)


def test_what_cannot_be_trained_is_refused(
    small: Callable[..., LlmConfig], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Exception, match="model nowhere: no such folder here, and not in the Hugging Face cache"):
        train_llm(small(**{"model.path": "nowhere"}))
    monkeypatch.setattr("training.llm.loading.not_installed", lambda *names: list(names))
    with pytest.raises(BadConfig, match=r"model\.quantization: 4bit needs bitsandbytes, which is not installed"):
        train_llm(small(out=str(tmp_path / "other"), **{"model.quantization": "4bit"}))
    with pytest.raises(BadConfig, match=r"was started with other settings \(model.quantization 4bit, now none\)"):
        train_llm(small(out=str(tmp_path / "other"), **{"model.quantization": "none"}))


@pytest.fixture
def working_folder(tmp_path: Path) -> Iterator[Path]:
    before = Path.cwd()
    os.chdir(tmp_path)
    yield tmp_path
    os.chdir(before)


def test_the_command_prints_the_agent(
    model: Path, pairs: Path, working_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {
        "model.path": model, "data.pairs": f"[{pairs}]", "length.max_steps": 1, "tracking.wandb": "disabled",
        "compute.threads": 1,
    }  # fmt: skip
    done = CliRunner().invoke(llm_dpo, ["llm-dpo", *(f"--set={key}={value}" for key, value in told.items())])
    assert done.exit_code == 0, done.output
    assert "12 pairs, 4 held out; " in done.output and done.output.endswith("agent: llm:runs/llm-dpo\n")
    assert resolve("llm:runs/llm-dpo").missing(None) == ""
