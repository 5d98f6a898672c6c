"""`train llm-dpo`: trains a language model on pairs of a better and a worse answer."""

from __future__ import annotations

import sys

import click

from agents.llm.models import OUTPUT, not_installed
from teamsets.errors import MissingTool
from training.commands.configuring import config_argument, set_option
from training.llm.config import LlmConfig
from training.runs.config_reader import load
from training.runs.settings import Change
from training.runs.shipped import resolve_path

_PACKAGES = ("torch", "transformers", "trl", "peft", "datasets", "accelerate", "wandb")


@click.command("llm-dpo")
@config_argument()
@set_option
def llm_dpo(config: str, changes: tuple[Change, ...]) -> None:
    """Train a language model on preferences, by a YAML file.

    CONFIG: the file, or a preset's name. An existing run is resumed.

    CONFIG is a file or the name of a preset (`llm-dpo`). An adapter (LoRA) is trained by TRL; the reference is the model
    without it. The same command resumes an interrupted run (also after SIGKILL) from its last checkpoint. See docs/llm.md.

    \b
    Examples:
      train preferences build --where "format = 'gen1ou'" --hold-out 0.1 --out data/preferences
      train config llm-dpo > my.yaml
      train llm-dpo my.yaml --set model.path=models/base
      arena evaluate "llm:runs/llm-dpo?style=action" random --think-limit 120
    """
    run_llm(load(LlmConfig, resolve_path(config, "llm"), changes))


def run_llm(config: LlmConfig) -> None:
    """Train to the last step and print the resulting agent spec. Raises MissingTool and what `training.llm.run` raises."""
    lacking = not_installed(*_PACKAGES)
    if lacking:
        raise MissingTool(
            f"{', '.join(lacking)} not installed: `make llm` installs what language models need (from a wheel: "
            "pip install 'battle-arena[training,llm]'); see docs/install.md for sizes"
        )
    print(f"{config.name}: loading torch and transformers ...", file=sys.stderr)
    from training.llm.run import train_llm

    finished = train_llm(config)
    print(f"{finished.folder}: finished {finished.step} steps", file=sys.stderr)
    print(f"{config.output}: {finished.folder / OUTPUT}", file=sys.stderr)
    print(f"agent: llm:{finished.folder}", file=sys.stderr)
