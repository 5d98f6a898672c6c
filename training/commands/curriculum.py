"""`train curriculum`: play, train, evaluate, keep or roll back, stage by stage."""

from __future__ import annotations

from pathlib import Path

import click

from arena.store import DEFAULT
from arena.terminal.commands import json_option, print_json, say
from arena.terminal.console import Console
from teamsets.errors import BadInput
from training.commands.configuring import config_argument, set_arguments, set_option
from training.commands.running import need_packages
from training.runs.settings import Change
from training.runs.shipped import names, resolve_path


class _OrAConfig(click.Group):
    """Treats a first argument that is a configuration as `run`: `train curriculum my.yaml`."""

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0] if args else ""
        if word not in self.commands and (word.endswith((".yaml", ".yml")) or word in names("curriculum")):
            args = ["run", *args]
        return super().resolve_command(context, ["run", *args[1:]] if word == "go" else args)


@click.group(cls=_OrAConfig)
def curriculum() -> None:
    """Play, train and evaluate, stage by stage.

    CONFIG is a YAML file or the name of a shipped curriculum: `train config --curriculum` lists them.
    """


@curriculum.command("run")
@config_argument()
@set_option
def run_(config: str, changes: tuple[Change, ...]) -> None:
    """Run a curriculum to its end. The same command resumes an interrupted one.

    \b
    Examples:
      train curriculum run gen1ou-cpu
      train curriculum run my.yaml --set workers=8
    """
    from training.experiments.curriculum.config import Curriculum
    from training.experiments.curriculum.loop import run_curriculum
    from training.runs.config_reader import load

    settings = load(Curriculum, resolve_path(config, "curriculum"), changes)
    need_packages()
    run_curriculum(settings, Console(), f"train curriculum run {config}{set_arguments(changes)}")


@curriculum.command()
@config_argument(required=False)
@set_option
@click.option("--db", type=click.Path(path_type=Path, dir_okay=False), help="Show all curricula in this database.")
@json_option
def status(config: str | None, changes: tuple[Change, ...], db: Path | None, as_json: bool) -> None:
    """Show the lineage: checkpoints, ratings, gates, costs. Works while the curriculum runs.

    \b
    Examples:
      train curriculum status gen1ou-cpu
      train curriculum status --db runs/gen1ou-cpu/arena.duckdb
    """
    from training.experiments.curriculum.config import Curriculum
    from training.experiments.curriculum.status import lineages, not_started, show_status
    from training.runs.config_reader import load

    if config is None:
        if as_json:
            print_json(lineages(db or DEFAULT, None))
        else:
            show_status(db or DEFAULT, None, Console())
        return
    settings = load(Curriculum, resolve_path(config, "curriculum"), changes)
    if as_json:
        path = db or settings.db
        print_json([] if not_started(path, settings.name) else lineages(path, settings.name))
        return
    if not_started(db or settings.db, settings.name):
        say(Console(), f"{settings.name}: not started: run `train curriculum run {config}{set_arguments(changes)}`")
        return
    show_status(db or settings.db, settings.name, Console())


@curriculum.command()
@config_argument()
@set_option
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), help="Output file.  [default: OUT/report.html]"
)
def report(config: str, changes: tuple[Change, ...], html: Path | None) -> None:
    """Write the lineage, ratings, scores and costs as one HTML file. Works while the curriculum runs.

    \b
    Examples:
      train curriculum report gen1ou-cpu
      train curriculum report my.yaml --html page.html
    """
    from training.experiments.curriculum.config import Curriculum
    from training.experiments.curriculum.report import PAGE, write_page
    from training.experiments.curriculum.status import not_started
    from training.runs.config_reader import load

    settings = load(Curriculum, resolve_path(config, "curriculum"), changes)
    if not_started(settings.db, settings.name):
        raise BadInput(f"{settings.name}: not started: run `train curriculum run {config}{set_arguments(changes)}`")
    path = html or Path(settings.out) / PAGE
    write_page(settings.db, settings.name, path)
    click.echo(f"wrote {path}", err=True)


@curriculum.command()
@config_argument()
@set_option
@click.option(
    "--calibrate/--no-calibrate", default=True, help="Measure speeds that no stored battle gives.  [default: yes]"
)
@click.option("--quick", is_flag=True, help="Measure two battles of each kind instead of eight (wider intervals).")
@json_option
def plan(config: str, changes: tuple[Change, ...], calibrate: bool, quick: bool, as_json: bool) -> None:
    """Estimate a curriculum's battles, steps, disk and time.

    Nothing is started.

    \b
    Examples:
      train curriculum plan gen1ou-cpu
      train curriculum plan gen1ou-cpu --quick
    """
    from training.experiments.curriculum.config import Curriculum
    from training.experiments.curriculum.plan import show_plan
    from training.runs.config_reader import load

    settings = load(Curriculum, resolve_path(config, "curriculum"), changes)
    need_packages()
    show_plan(settings, Console(stderr=as_json), calibrate=calibrate, quick=quick, as_json=as_json)
