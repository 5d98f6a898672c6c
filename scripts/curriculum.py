#!/usr/bin/env python3
"""Play, learn, judge, keep or go back: a curriculum, as a YAML file says (docs/curriculum.md).

scripts/curriculum.py CONFIG.yaml             go on with it, from wherever it is
scripts/curriculum.py status [CONFIG.yaml]    the lineage with ratings, gates and costs
scripts/curriculum.py report CONFIG.yaml      the same as a page, with pictures: OUT/report.html
scripts/curriculum.py plan CONFIG.yaml        what it will take: battles, steps, disk, time
"""

from __future__ import annotations

import shlex
from pathlib import Path

import click
from rich.console import Console

from arena.commands.group import run
from arena.store import DEFAULT
from training.commands.running import need_packages

_config = click.argument("config", type=click.Path(path_type=Path, dir_okay=False))


class _OrAFile(click.Group):
    """A first word that is no command is a configuration to go on with."""

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = args and args[0] in self.commands
        return super().resolve_command(context, args if known else ["go", *args])


@click.group(cls=_OrAFile, help=__doc__.split("\n", 1)[0], context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    pass


@cli.command()
@_config
def go(config: Path) -> None:
    """Go on with a curriculum, to its end."""
    from training.curriculum.config import read_curriculum
    from training.curriculum.loop import run_curriculum

    told = read_curriculum(config)
    need_packages()
    run_curriculum(told, Console(), shlex.join(["scripts/curriculum.py", str(config)]))


@cli.command()
@click.argument("config", required=False, type=click.Path(path_type=Path, dir_okay=False))
@click.option("--db", type=click.Path(path_type=Path, dir_okay=False), help="Of all curricula in a database.")
def status(config: Path | None, db: Path | None) -> None:
    """Draw the lineage: checkpoints, ratings, gates, costs; also while it goes on."""
    from training.curriculum.config import read_curriculum
    from training.curriculum.status import show_status

    told = None if config is None else read_curriculum(config)
    show_status(db or (DEFAULT if told is None else told.db), None if told is None else told.name, Console())


@cli.command()
@_config
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="The file.  [default: OUT/report.html]")
def report(config: Path, html: Path | None) -> None:
    """Write the lineage, ratings, points and costs as one HTML file; also while it goes on."""
    from training.curriculum.config import read_curriculum
    from training.curriculum.report import PAGE, write_page

    told = read_curriculum(config)
    path = html or Path(told.out) / PAGE
    write_page(told.db, told.name, path)
    click.echo(f"wrote {path}", err=True)


@cli.command()
@_config
@click.option("--calibrate/--no-calibrate", default=True, help="Measure what no stored battle tells.  [default: yes]")
def plan(config: Path, calibrate: bool) -> None:
    """Print what a curriculum will take, without beginning it."""
    from training.curriculum.config import read_curriculum
    from training.curriculum.plan import show_plan

    need_packages()
    show_plan(read_curriculum(config), Console(), calibrate=calibrate)


if __name__ == "__main__":
    run(cli, "curriculum")
