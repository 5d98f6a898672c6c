"""`arena.toml`: the pool of `--all` and the defaults of `arena evaluate`.

A format may have players of its own that need more than set-up brings (a trained network needs torch): they play where they
can, and are named where they cannot.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import Field

from agents import resolve
from agents.external.settings import VARIABLES
from arena.validation import Settings, Texts, limited
from teamsets.errors import BadInput

#: The format of all commands that are given none.
DEFAULT_FORMAT = "gen1ou"
#: In a checkout a link to the project's own arena.toml.
SHIPPED = Path(__file__).parents[1] / "arena.toml"
_SomeTexts = Annotated[tuple[str, ...], Field(strict=False, min_length=1)]


class Defaults(Settings):
    """The table [evaluate] of a pool file; every key may be left out but `agents`.

    optional: format -> agents that play in it besides, where they can.
    """

    agents: _SomeTexts
    formats: _SomeTexts = (DEFAULT_FORMAT,)
    teams: _SomeTexts = ("competitive",)
    battles: Annotated[int, limited("battles")] = 2
    budget: Annotated[int | None, limited("budget")] = None
    anchor: str | None = None
    minutes: Annotated[float | None, limited("minutes")] = None
    seed: Annotated[int, limited("seed")] = 0
    think_limit: Annotated[float, limited("think_limit")] = 10.0
    max_turns: Annotated[int, limited("max_turns")] = 1000
    verify_every: Annotated[int, limited("verify_every")] = 100
    optional: dict[str, Texts] = Field(default={}, description="formats, each with a list of agents")

    def pool(self, formats: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Returns the agents of `--all` in these formats, and a line for each optional agent that cannot play here."""
        players, lines = list(self.agents), []
        for spec in self.optional.get(formats[0], ()):
            if all(spec in self.optional.get(format_id, ()) for format_id in formats):
                lacks = resolve(spec).missing(formats[0])
                if lacks:
                    lines.append(f"{spec} is left out: {lacks}")
                else:
                    players.append(spec)
        return tuple(players), tuple(lines)


def load_defaults(path: Path | None = None) -> Defaults:
    """From `path`, or arena.toml in the current folder, or the shipped one. Raises BadInput naming file and key.

    An arena.toml in the current folder that has no [evaluate] (it says where programs lie, and no more) leaves the pool to
    the shipped one.
    """
    chosen = path is not None
    if path is None:
        path = Path("arena.toml") if Path("arena.toml").is_file() else SHIPPED
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"pool file {path}: {error.strerror}: name another with --pool FILE") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"pool file {path}: not valid TOML: {error}") from None
    strange = sorted(table.keys() - {"evaluate", "external"})
    if strange or not all(isinstance(value, dict) for value in table.values()):
        raise BadInput(
            f"pool file {path}: unknown: {', '.join(strange or table)}; the tables are [evaluate] and [external]"
        )
    for key, value in table.get("external", {}).items():  # where programs of other people lie; agents/external reads it
        if key not in VARIABLES or not isinstance(value, str):
            raise BadInput(f"pool file {path}: [external] {key}: takes {', '.join(VARIABLES)}, each with a path")
    if not chosen and path != SHIPPED and table.keys() == {"external"}:
        return load_defaults(SHIPPED)
    try:
        return Defaults(**table.get("evaluate", {}))
    except BadInput as error:
        raise BadInput(f"pool file {path}: [evaluate] {error}") from None
