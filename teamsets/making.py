"""Writes generated team sets as files, to be read, edited or extended."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from teamsets import variety
from teamsets.builder import competitive
from teamsets.errors import BadInput
from teamsets.formats import Format, get_format
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
    target.mkdir(parents=True, exist_ok=True)
    paths = [target / f"{team.name}.txt" for team in teams]
    with TeamValidator() as validator:
        for path, team in zip(paths, teams, strict=True):
            path.write_text(validator.export(team.packed), encoding="utf-8")
    return paths
