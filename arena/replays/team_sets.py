"""Team sets from replays: human teams as far as revealed, completed from published sets, checked by Showdown's validator."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from pathlib import Path

from poke_env.data import to_id_str

from arena.fixture import SEATS
from arena.replays.completing import export
from arena.replays.doubles.sheets import open_sheets
from arena.replays.lines import Line
from arena.replays.reading import PublicBattle, UnusableReplay, counted, read_folder
from arena.replays.reconstruction import SideLog, reconstruct
from teamsets.errors import BadInput
from teamsets.formats import get_format
from teamsets.teams import Team
from teamsets.validator import TeamValidator

#: A team of which fewer Pokémon were shown would be more ours than its player's.
LEAST_SHOWN = 4
_SEEDS = 5  # how often the hidden part is drawn again where the validator refuses it


@dataclass
class Gathered:
    """The result of `gather`. paths: the team files; teams: number by format.

    refused: reason -> number of replays and teams left out; doubled: number of duplicate teams, in doubles of
    duplicate sheets.
    """

    paths: list[Path] = field(default_factory=list)
    teams: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    doubled: int = 0


def gather(
    replays: Path, folder: Path, *, format_id: str | None = None, least_shown: int = LEAST_SHOWN, seed: int = 0
) -> Gathered:
    """Writes the teams of a folder of replays as FOLDER/<format>/<name>.txt in Showdown's export text.

    Each team is written once, in doubles each open sheet, whose stat points are drawn for every battle.
    format_id: only that format. least_shown: how many of its Pokémon a team must have shown. Raises BadInput where there
    are no replays, and for a folder that holds teams of a format already.
    """
    chosen = None if format_id is None else get_format(format_id).id
    done = Gathered()
    kept: dict[str, dict[Hashable, tuple[str, str]]] = {}
    with TeamValidator() as validator:
        for battle in read_folder(replays, chosen, done.refused):
            for place in (0, 1):
                with counted(done.refused, battle.file):
                    team = _team(battle, place, least_shown, seed, validator)
                    of_format = kept.setdefault(battle.format_id, {})
                    key = _shown_sheet(battle, place) if get_format(battle.format_id).doubles else team.id
                    done.doubled += key in of_format
                    of_format.setdefault(key, (team.name, validator.export(team.packed)))
    for name, teams in kept.items():
        _write(folder / name, teams, done)
        done.teams[name] = len(teams)
    return done


def _shown_sheet(battle: PublicBattle, place: int) -> Hashable:
    """Return what an open team sheet says of a team, in no order."""
    sheet = open_sheets([Line.read(text) for text in battle.lines])[SEATS[place]]
    return frozenset(replace(member, moves=tuple(sorted(member.moves)), gender="") for member in sheet)


def _team(battle: PublicBattle, place: int, least_shown: int, seed: int, validator: TeamValidator) -> Team:
    """Return one side's team. Raises UnusableReplay with a reason."""
    problem = ""
    for draw in range(_SEEDS):
        side = reconstruct(battle, seed * _SEEDS + draw)[place]
        if sum(member.shown for member in side.team) < least_shown:
            raise UnusableReplay(f"team: fewer than {least_shown} Pokémon shown")
        check = validator.validate(battle.format_id, export(list(side.team), battle.gen))
        if check.packed:
            name = f"{_slug(battle.id)}-{side.role}-{_slug(side.team[0].species)}"
            return Team.of(battle.format_id, check.packed, name=name, source=battle.id)
        problem = problem or " ".join(check.problems[0].split())
    raise UnusableReplay(f"team: {_kind(problem, side)}")


def _kind(problem: str, side: SideLog) -> str:
    """Return the validator's message without this team's names, so that equal problems are counted together."""
    message = problem
    for member in side.team:
        message = re.sub(
            rf"\b{re.escape(member.details.split(',')[0])}\b(?:'s)?", "a Pokémon", message, flags=re.IGNORECASE
        )
    return message


def _write(folder: Path, teams: dict[Hashable, tuple[str, str]], done: Gathered) -> None:
    if folder.is_dir() and any(folder.iterdir()):
        raise BadInput(f"folder '{folder}': is not empty: choose another name for the set, or remove the folder first")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in teams.values():
        path = folder / f"{name}.txt"
        path.write_text(text, encoding="utf-8")
        done.paths.append(path)


def _slug(name: str) -> str:
    return "-".join(part for part in (to_id_str(word) for word in name.split("-")) if part)
