"""`arena.toml`: the pool of `--all` and the defaults of `arena evaluate`.

A format may have players of its own that need more than set-up brings (a trained network needs torch): they play where they
can, and are named where they cannot.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents import resolve
from agents.external.settings import VARIABLES
from teamsets.errors import BadInput

#: In a checkout a link to the project's own arena.toml.
SHIPPED = Path(__file__).with_name("arena.toml")
#: Key -> lowest and highest value; `minutes` and `think_limit` must be more than the lowest. Showdown ends a battle at turn
#: 1000; a seed is kept in 64 bits; seconds beyond a day are more than a timer takes.
LIMITS: dict[str, tuple[float, float]] = {
    "battles": (1, 1_000_000),
    "budget": (2, 100_000_000),
    "minutes": (0, 1_000_000),
    "seed": (-(2**63), 2**63 - 1),
    "think_limit": (0, 86_400),
    "max_turns": (1, 1000),
}
_OPEN = ("minutes", "think_limit")
_KINDS: dict[str, type | tuple[type, ...]] = {
    "agents": list,
    "formats": list,
    "teams": list,
    "battles": int,
    "budget": int,
    "anchor": str,
    "minutes": (int, float),
    "seed": int,
    "think_limit": (int, float),
    "max_turns": int,
}


@dataclass(frozen=True)
class Defaults:
    """The table [evaluate] of a pool file; every key may be left out but `agents`.

    optional: format -> agents that play in it besides, where they can.
    """

    path: Path
    agents: tuple[str, ...]
    formats: tuple[str, ...] = ("gen1ou",)
    teams: tuple[str, ...] = ("competitive",)
    battles: int = 2
    budget: int | None = None
    anchor: str | None = None
    minutes: float | None = None
    seed: int = 0
    think_limit: float = 10.0
    max_turns: int = 1000
    optional: dict[str, tuple[str, ...]] = field(default_factory=dict)

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
    values: dict[str, Any] = dict(table.get("evaluate", {}))
    optional = _optional(path, values.pop("optional", {}))
    for key, value in values.items():
        if key not in _KINDS:
            raise BadInput(f"pool file {path}: [evaluate] has no key '{key}': it takes {', '.join(_KINDS)}")
        if not isinstance(value, _KINDS[key]) or isinstance(value, bool):
            raise BadInput(f"pool file {path}: [evaluate] {key} has the wrong type: {value!r}")
        if isinstance(value, list) and not all(isinstance(item, str) for item in value):
            raise BadInput(f"pool file {path}: [evaluate] {key} must be a list of strings")
        if isinstance(value, list) and not value:
            raise BadInput(f"pool file {path}: [evaluate] {key} is empty: name at least one, or remove the line")
        if isinstance(value, int | float):
            _check_limit(f"pool file {path}: [evaluate] {key}", key, value)
    if "agents" not in values:
        raise BadInput(f"pool file {path}: [evaluate] agents is missing or empty: name at least one")
    lists = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
    return Defaults(path=path, optional=optional, **{**values, **lists})


def check_limits(**values: float | None) -> None:
    """Raises BadInput for a number outside of LIMITS. None is no number."""
    for key, value in values.items():
        if value is not None:
            _check_limit(key, key, value)


def _check_limit(where: str, key: str, value: float) -> None:
    lowest, highest = LIMITS[key]
    if not lowest <= value <= highest or (key in _OPEN and value == lowest):  # nan is not in any range
        bound = f"more than {lowest}" if key in _OPEN else f"at least {lowest}"
        raise BadInput(f"{where} is {value}: must be {bound} and at most {highest}")


def _optional(path: Path, told: Any) -> dict[str, tuple[str, ...]]:
    """The table [evaluate.optional]: for each format a list of specs."""
    whole = isinstance(told, dict) and all(isinstance(specs, list) for specs in told.values())
    if not whole or not all(isinstance(spec, str) for specs in told.values() for spec in specs):
        raise BadInput(f"pool file {path}: [evaluate.optional] takes formats, each with a list of agents")
    return {format_id: tuple(specs) for format_id, specs in told.items()}
