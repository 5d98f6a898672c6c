"""`arena.toml`: the pool of `--all` and the defaults of `arena evaluate`.

A format may have players of its own that need more than set-up brings (a trained network needs torch): they play where they
can, and are named where they cannot.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, create_model

from agents import resolve
from agents.braces import expand_all
from agents.external.settings import VARIABLES
from arena.options import EvaluateOptions, declared, model_field, pool_keys
from arena.validation import Settings, Texts
from teamsets.errors import BadInput
from teamsets.formats import get_format

#: In a checkout a link to the project's own arena.toml.
SHIPPED = Path(__file__).parents[1] / "arena.toml"
_SomeTexts = Annotated[tuple[str, ...], Field(strict=False, min_length=1)]


class Pool(Settings):
    """The table [evaluate] of a pool file: who plays, and options of a run by their keys; `agents` alone is needed.

    optional: format -> agents that play in it besides, where they can.
    """

    agents: _SomeTexts
    optional: dict[str, Texts] = Field(default={}, description="formats, each with a list of agents")

    def options(self) -> dict[str, Any]:
        """Returns the options that the file gives, by their names in `EvaluateOptions`."""
        return {name: getattr(self, key) for key, name in pool_keys().items() if key in self.model_fields_set}

    def pool(self, formats: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Returns the agents of `--all` in these formats, and lines that say who is left out.

        Left out are those that play singles only, in formats of doubles, and optional agents that cannot play here.
        """
        players, lines = list(expand_all(self.agents)), []
        doubles = [format_id for format_id in formats if get_format(format_id).doubles]
        if doubles:
            singles_only = [spec for spec in players if not resolve(spec).plays_doubles]
            players = [spec for spec in players if spec not in singles_only]
            if singles_only:
                lines.append(
                    f"{doubles[0]} is doubles: left out are {', '.join(singles_only)}, which play singles only"
                )
        optional = {format_id: expand_all(self.optional.get(format_id, ())) for format_id in formats}
        for spec in optional[formats[0]]:
            if all(spec in optional[format_id] for format_id in formats):
                lacks = resolve(spec).missing(formats[0])
                if lacks:
                    lines.append(f"{spec} is left out: {lacks}")
                else:
                    players.append(spec)
        return tuple(players), tuple(lines)


_PoolFile = create_model(
    "PoolFile",
    __base__=Pool,
    **{key: model_field(declared(EvaluateOptions)[name]) for key, name in pool_keys().items()},
)


def load_defaults(path: str | Path | None = None) -> Pool:
    """From `path`, or arena.toml in the current folder, or the shipped one. Raises BadInput naming file and key.

    An arena.toml in the current folder that has no [evaluate] (it says where programs lie, and no more) leaves the pool to
    the shipped one.
    """
    chosen = path is not None
    if path is None:
        path = Path("arena.toml") if Path("arena.toml").is_file() else SHIPPED
    path = Path(path)
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
        return _PoolFile(**table.get("evaluate", {}))
    except BadInput as error:
        raise BadInput(f"pool file {path}: [evaluate] {error}") from None
