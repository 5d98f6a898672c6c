"""The command `train`. Thin, like `arena`: every command parses, calls, prints."""

from __future__ import annotations

import click

from arena.commands.group import Commands, run

#: command -> its module in training/commands.
COMMANDS = {
    "base": "base",
    "finetune": "finetune",
    "config": "config",
    "data": "data",
    "curriculum": "curriculum",
    "ablate": "ablate",
}


@click.group(
    cls=Commands,
    package="training.commands",
    table=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="battle-arena", prog_name="train")
def cli() -> None:
    """Trains players from stored battles and people's replays; what comes out plays as policy:PATH."""


def main() -> None:
    """The console script."""
    run(cli, "train")


if __name__ == "__main__":  # `accelerate launch -m training.cli base CONFIG`
    main()
