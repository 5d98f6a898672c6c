"""Generated sets as files, for people who want to read, mend or add to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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


def make_set(name: str, format_id: str, count: int | None = None, seed: int = 0) -> list[Team]:
    """Make the teams of a generated set. Raises BadInput for a set that is not made but shipped, or unknown."""
    if name not in _MAKERS:
        raise BadInput(f"team set '{name}': not a set that can be made: choose {' or '.join(_MAKERS)}")
    make, usual = _MAKERS[name]
    return make(get_format(format_id), usual if count is None else count, seed)


def write_set(teams: Iterable[Team], folder: Path) -> list[Path]:
    """Write teams as FOLDER/<format>/<name>.txt in Showdown's export text; returns the paths.

    Raises BadInput when such a folder already holds teams: two sets in one folder would be one set.
    """
    written: list[Path] = []
    with TeamValidator() as validator:
        for team in teams:
            target = folder / team.format
            if not written and target.is_dir() and any(target.iterdir()):
                raise BadInput(f"folder '{target}': is not empty: choose another with --out, or remove it first")
            target.mkdir(parents=True, exist_ok=True)
            path = target / f"{team.name}.txt"
            path.write_text(validator.export(team.packed), encoding="utf-8")
            written.append(path)
    return written
