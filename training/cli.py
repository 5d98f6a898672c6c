"""The command `train`. Commands only parse arguments, call a function and print its result, as those of `arena` do."""

from __future__ import annotations

import click

from arena.terminal.commands import Commands, run

#: Command -> its module in training/commands.
COMMANDS = {
    "base": "base",
    "dpo": "dpo",
    "llm-dpo": "llm_dpo",
    "finetune": "finetune",
    "online": "online",
    "population": "population",
    "sweep": "sweep",
    "evaluate": "evaluate",
    "exploit": "exploit",
    "config": "config",
    "plan": "plan",
    "doctor": "doctor",
    "data": "data",
    "preferences": "preferences",
    "curriculum": "curriculum",
    "ablate": "ablate",
    "archive": "archive",
    "unarchive": "unarchive",
    "push": "push",
    "export": "export",
}


@click.group(
    cls=Commands,
    package="training.commands",
    table=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="battle-arena", prog_name="train")
def cli() -> None:
    """Train policies on stored battles and human replays, or by playing. A trained policy plays as policy:PATH."""


def main() -> None:
    """The console script."""
    run(cli, "train")


if __name__ == "__main__":  # `accelerate launch -m training.cli base CONFIG`
    main()
