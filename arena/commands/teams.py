"""`arena teams`: shows, validates and makes team sets."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click
from rich.table import Table

from arena.replays.team_sets import LEAST_SHOWN, gather
from arena.report.numbers import counted
from arena.terminal.commands import BAD_INPUT_CODE, Suggesting, json_option, print_json
from arena.terminal.console import Console
from teamsets import variety
from teamsets.builder import competitive
from teamsets.errors import BadInput, BadTeam
from teamsets.formats import DOUBLES_FORMATS, LADDER_FORMATS, Format, get_format
from teamsets.loading import count_shipped, load_set, set_names
from teamsets.splitting import split_teams
from teamsets.teams import Team
from teamsets.validator import TeamValidator

_MAKERS: dict[str, tuple[Callable[[Format, int, int], list[Team]], int]] = {
    "competitive": (competitive.make, competitive.SIZE),
    variety.NAME: (variety.teams, variety.SIZE),
}


def make_files(name: str, format_id: str, folder: Path, *, count: int | None = None, seed: int = 0) -> list[Path]:
    """Generate the teams of a set and write them as FOLDER/<format>/<name>.txt in Showdown's export format.

    Returns the paths. Raises BadInput for a set that cannot be generated, and for a folder that is not empty, because two
    sets in one folder would be one set.
    """
    if name not in _MAKERS:
        raise BadInput(f"team set '{name}': not a set that can be generated: choose {' or '.join(_MAKERS)}")
    make, usual = _MAKERS[name]
    chosen = get_format(format_id)
    target = folder / chosen.id
    if target.is_dir() and any(target.iterdir()):
        raise BadInput(f"folder '{target}': is not empty: choose another with --out, or remove it first")
    teams = make(chosen, usual if count is None else count, seed)
    with TeamValidator() as validator:
        return _write(teams, target, validator)


def _write(teams: Sequence[Team], target: Path, validator: TeamValidator) -> list[Path]:
    """Write teams into a folder in Showdown's export format; returns the paths."""
    target.mkdir(parents=True, exist_ok=True)
    paths = [target / f"{team.name}.txt" for team in teams]
    for path, team in zip(paths, teams, strict=True):
        path.write_text(validator.export(team.packed), encoding="utf-8")
    return paths


_format_option = click.option("--format", "format_id", required=True, metavar="F", help="A format, e.g. gen1ou.")
_count_option = click.option("--count", type=click.IntRange(min=1), help="Number of teams.")
_seed_option = click.option("--seed", type=int, default=0, show_default=True, help="Random seed.")


@click.group(cls=Suggesting)
def teams() -> None:
    """List, show, validate and make team sets."""


@teams.command("list")
@click.option("--format", "format_id", metavar="F", help="Only this format.")
@json_option
def list_sets(format_id: str | None, as_json: bool) -> None:
    """List the team sets, with the number of teams by format.

    \b
    Example:
      arena teams list --format gen9ou
    """
    bring_teams = [each for each in (*LADDER_FORMATS, *DOUBLES_FORMATS) if not get_format(each).random]
    names = set_names()
    table = Table("format", *names)
    sizes = []
    for each in [get_format(format_id).id] if format_id else bring_teams:
        made = variety.SIZE if variety.is_made_for(get_format(each)) else 0
        size = {name: made if name == variety.NAME else count_shipped(name, each) for name in names}
        sizes.append({"format": each, **size})
        table.add_row(
            each, *(f"{count}*" if name == variety.NAME and count else str(count) for name, count in size.items())
        )
    if as_json:
        print_json(sizes)
        return
    console = Console()
    console.print(table)
    console.print(
        f"* made on demand from a seed; {variety.NAME}:N for N teams. Your own folder of teams is a set, too."
    )


@teams.command()
@click.argument("team_set", metavar="SET")
@click.argument("name", required=False)
@_format_option
@_count_option
@_seed_option
@json_option
def show(team_set: str, name: str | None, format_id: str, count: int | None, seed: int, as_json: bool) -> None:
    """Show the teams of a set, or one team.

    SET: a team set. NAME: of a team, which is shown as Showdown's export text.

    \b
    Examples:
      arena teams show competitive --format gen1ou
      arena teams show competitive 01-starmie-rhydon --format gen1ou
    """
    loaded = load_set(team_set, format_id, count=count, seed=seed, skip_invalid=True)
    chosen = [team for team in loaded.teams if name in (None, team.name, team.id)]
    if name is not None and not chosen:
        raise BadInput(
            f"team '{name}': not in {team_set} for {format_id}: `arena teams show {team_set}` lists the names"
        )
    if as_json:
        print_json([{"name": t.name, "id": t.id, "species": t.species, "export": t.export} for t in chosen])
    elif name is None:
        table = Table("name", "species, lead first")
        for team in chosen:
            table.add_row(team.name, ", ".join(team.species))
        Console().print(table)
    else:
        click.echo(chosen[0].export, nl=False)


@teams.command()
@click.argument("path", metavar="PATH")
@_format_option
@click.option("--skip-invalid", is_flag=True, help="Skip rejected teams and count them, instead of stopping.")
@json_option
def validate(path: str, format_id: str, skip_invalid: bool, as_json: bool) -> None:
    """Check teams with Showdown's own validator.

    PATH: a folder, a file, or a set's name.

    \b
    Example:
      arena teams validate my-teams --format gen3ou
    """
    try:
        loaded = load_set(path, format_id, skip_invalid=skip_invalid)
    except BadTeam as error:
        if as_json:
            print_json({"format": format_id, "valid": None, "left_out": [], "refused": error.reasons})
            sys.exit(BAD_INPUT_CODE)
        for reason in error.reasons:
            click.echo(f"refused: {reason}")
        fix = "fix them" if skip_invalid else "fix them, or leave them out with --skip-invalid"
        raise BadTeam(
            f"{path}: {counted(len(error.reasons), 'team')} refused for {format_id}, listed above: {fix}"
        ) from error
    if as_json:
        print_json({"format": loaded.format, "valid": len(loaded.teams), "left_out": loaded.skipped, "refused": []})
        return
    for line in loaded.skipped:
        click.echo(f"left out: {line}")
    left_out = f", {len(loaded.skipped)} left out" if loaded.skipped else ""
    click.echo(f"{path}: {counted(len(loaded.teams), 'team')} valid for {loaded.format}{left_out}")


@teams.command()
@click.argument("team_set", metavar="SET")
@_format_option
@_count_option
@_seed_option
@click.option("--out", type=click.Path(path_type=Path), help="The folder to write to.  [default: teams/SET]")
@json_option
def make(team_set: str, format_id: str, count: int | None, seed: int, out: Path | None, as_json: bool) -> None:
    """Write the teams of a generated set as files.

    SET: competitive or variety.

    \b
    Example:
      arena teams make variety --format gen9ou --count 50 --seed 7 --out my-teams
    """
    written = make_files(team_set, format_id, out or Path("teams", team_set), count=count, seed=seed)
    if as_json:
        print_json(written)
        return
    click.echo(f"{counted(len(written), 'team')} written to {written[0].parent}")


@teams.command()
@click.argument("team_set", metavar="SET")
@_format_option
@click.option("--train", "training", type=click.IntRange(1), multiple=True, default=(1, 4, 16, 64), show_default=True,
              metavar="N", help="Number of teams to train on. Can be repeated.")  # fmt: skip
@click.option("--unseen", type=click.IntRange(1), default=72, show_default=True, metavar="N",
              help="Number of other teams to evaluate on.")  # fmt: skip
@_seed_option
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The folder to write to.")
@json_option
def split(
    team_set: str, format_id: str, training: tuple[int, ...], unseen: int, seed: int, out: Path, as_json: bool
) -> None:
    """Split teams into training and unseen ones.

    SET: a folder of teams, or a set's name. Writes the team sets OUT/train-N, each contained in the larger ones, and
    OUT/unseen. The split depends on the teams and the seed alone. The defaults are those of vgc-bench (docs/teams.md).

    \b
    Example:
      arena teams split my-teams --format gen9championsvgc2026regma --seed 1 --out splits/1
    """
    if out.exists() and any(out.iterdir()):
        raise BadInput(f"--out {out}: is not empty: choose another folder, or remove it first")
    loaded = load_set(team_set, format_id, skip_invalid=True)
    made = split_teams(loaded.teams, training, unseen, seed)
    sets = {f"train-{count}": chosen for count, chosen in made.training.items()} | {"unseen": made.unseen}
    with TeamValidator() as validator:
        for name, chosen in sets.items():
            _write(chosen, out / name / loaded.format, validator)
    if as_json:
        names = {name: [team.name for team in chosen] for name, chosen in sets.items()}
        print_json({"sets": names, "left_out": loaded.skipped, "same_species": made.same_species})
        return
    for line in loaded.skipped:
        click.echo(f"left out: {line}")
    for name, chosen in sets.items():
        click.echo(f"{out / name}: {counted(len(chosen), 'team')}")
    click.echo(f"{made.same_species} of the unseen teams have the six species of a training team, with other sets")


@teams.command("from-replays")
@click.argument("replays", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--set", "name", required=True, metavar="NAME", help="Name of the set, which is written to teams/NAME.")
@click.option("--format", "format_id", metavar="F", help="Only this format.")
@click.option("--least-shown", type=click.IntRange(1, 6), default=LEAST_SHOWN, show_default=True, metavar="N",
              help="Skip teams with fewer revealed Pokémon.")  # fmt: skip
@_seed_option
@click.option("--out", type=click.Path(path_type=Path), help="The folder to write to.  [default: teams/NAME]")
@json_option
def from_replays(
    replays: Path, name: str, format_id: str | None, least_shown: int, seed: int, out: Path | None, as_json: bool
) -> None:
    """Extract people's teams from replays.

    DIR: the replays. What a replay does not reveal is drawn from published sets.

    \b
    Example:
      arena teams from-replays my-replays --set human --format gen1ou
    """
    folder = out or Path("teams", name)
    done = gather(replays, folder, format_id=format_id, least_shown=least_shown, seed=seed)
    if as_json and done.paths:
        print_json({"teams": done.teams, "left_out": done.refused, "duplicates": done.doubled, "paths": done.paths})
        return
    for reason, count in done.refused.most_common():
        click.echo(f"left out: {count:5}  {reason}")
    if done.doubled:
        click.echo(f"left out: {done.doubled:5}  duplicate of another team (in doubles: the same open sheet)")
    if not done.paths:
        raise BadInput(f"replays '{replays}': no team could be extracted: the reasons are above")
    for each, count in sorted(done.teams.items()):
        click.echo(f"{counted(count, 'team')} written to {folder / each}")
