"""Sets of teams by name: the shipped ones, the generated one, or any folder of a user's own."""

from __future__ import annotations

import difflib
import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from teamsets import cache, variety
from teamsets.errors import BadInput, BadTeam
from teamsets.files import SHIPPED, TeamText, team_files
from teamsets.formats import get_format, lookalikes
from teamsets.teams import Team
from teamsets.validator import TeamCheck, TeamValidator, rules_version


def validate_teams(format_id: str, texts: Sequence[str]) -> list[TeamCheck]:
    """Validate each text, in order. Starts node only for texts that are not in the cache.

    Raises UnknownFormat (and caches nothing) for a format that Showdown does not support.
    """
    name = f"verdicts/{format_id}-{rules_version()}.json"
    known: dict[str, TeamCheck] = _read_verdicts(name)
    keys = [hashlib.sha256(text.encode()).hexdigest()[:32] for text in texts]
    fresh: dict[str, TeamCheck] = {}
    missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
    if missing:
        with TeamValidator() as validator:
            fresh = {key: validator.validate(format_id, text) for key, text in missing.items()}
        # Read again just before writing: another process may have added its own meanwhile.
        merged = _read_verdicts(name) | fresh
        cache.write(name, {key: [check.packed, check.problems] for key, check in merged.items()})
    return [fresh.get(key) or known[key] for key in keys]


def _read_verdicts(name: str) -> dict[str, TeamCheck]:
    try:
        return {key: TeamCheck(packed, tuple(problems)) for key, (packed, problems) in (cache.read(name) or {}).items()}
    except (AttributeError, TypeError, ValueError):
        return {}  # not in the shape that we write: as good as no cache


@dataclass(frozen=True)
class TeamSet:
    """The teams of a set for one format, in a fixed order. skipped: a line per team that was left out, with the reason."""

    name: str
    format: str
    teams: tuple[Team, ...]
    skipped: tuple[str, ...] = ()


def set_names() -> list[str]:
    """Return the names of sets: those shipped as files, and `variety`, which is generated."""
    shipped = [folder.name for folder in SHIPPED.iterdir() if any(folder.glob("gen*/*.txt"))]
    return [*sorted(shipped), variety.NAME]


def count_shipped(name: str, format_id: str) -> int:
    """Return the number of teams that a shipped set has for a format."""
    return sum(1 for _ in (SHIPPED / name / format_id).glob("*.txt"))


def load_set(
    name_or_path: str, format_id: str, *, skip_invalid: bool = False, count: int | None = None, seed: int = 0
) -> TeamSet:
    """Return the teams of a set for a format, all accepted by Showdown's validator.

    `name_or_path` is one of set_names(), `variety:N` for N generated teams, or a folder (or file) of teams. For
    `variety`, `seed` and `count` say which teams are made; for files, `count` draws that many of them by `seed`, kept
    in the order of their paths.

    Raises UnknownFormat; BadInput for an unknown set or an empty folder; BadTeam for a refused team, unless
    `skip_invalid` leaves it out.
    """
    chosen = get_format(format_id)
    if chosen.random:
        raise BadInput(f"format '{format_id}': the simulator generates its teams: leave out the team set")
    if count is not None and count < 1:
        raise BadInput(f"count {count}: must be 1 or more")
    name, _, wanted = name_or_path.partition(":")
    if name == variety.NAME:
        size = count or _variety_size(name_or_path, wanted)
        return TeamSet(name_or_path, chosen.id, tuple(variety.teams(chosen, size, seed)))
    loaded = _load_files(name_or_path, _folder(name_or_path, chosen.id), chosen.id, skip_invalid)
    if count is None or count >= len(loaded.teams):
        return loaded
    kept = sorted(random.Random(seed).sample(range(len(loaded.teams)), count))
    return TeamSet(loaded.name, loaded.format, tuple(loaded.teams[i] for i in kept), loaded.skipped)


def _variety_size(name: str, wanted: str) -> int:
    if not wanted:
        return variety.SIZE
    if not wanted.isdecimal() or int(wanted) == 0:
        raise BadInput(f"team set '{name}': '{wanted}' is not a number of teams: write e.g. {variety.NAME}:250")
    return int(wanted)


def _folder(name_or_path: str, format_id: str) -> Path:
    names = set_names()
    if name_or_path in names:
        if not count_shipped(name_or_path, format_id):
            has = sorted({path.parent.name for path in (SHIPPED / name_or_path).glob("gen*/*.txt")})
            mine = tuple(each for each in has if each[:4] == format_id[:4])
            likely = lookalikes(format_id, mine)
            if variety.is_made_for(get_format(format_id)):
                fix = f"use --teams {variety.NAME}, which has teams for it, or a folder of teams; this set has"
            else:
                fix = f"did you mean {likely}? It has" if likely else "it has"
            raise BadInput(f"team set '{name_or_path}': has no teams for {format_id}: {fix} {', '.join(has)}")
        return SHIPPED / name_or_path / format_id
    path = Path(name_or_path).expanduser()
    if not path.exists():
        close = difflib.get_close_matches(name_or_path, names, n=1)
        mend = f"did you mean {close[0]}?" if close else f"give a folder of teams, or one of {', '.join(names)}"
        raise BadInput(f"team set '{name_or_path}': no such set and no such folder: {mend}")
    return path


def _load_files(name: str, root: Path, format_id: str, skip_invalid: bool) -> TeamSet:
    texts = _team_texts(root, format_id)
    checks = iter(validate_teams(format_id, [each.text for each in texts if isinstance(each, TeamText)]))
    teams: dict[str, Team] = {}
    refused: list[str] = []
    doubled: list[str] = []
    for text in texts:
        if isinstance(text, str):
            refused.append(text)
            continue
        check = next(checks)
        if not check.packed:
            # one line, whatever a nickname holds
            refused.append(f"{text.where}: {' '.join(' '.join(check.problems).split())}")
            continue
        team = Team.of(format_id, check.packed, name=text.name, source=text.where)
        if team.id in teams:
            doubled.append(f"{text.where}: the same team as {teams[team.id].source}")
        teams.setdefault(team.id, team)
    if refused and not skip_invalid:
        others = f"{len(refused) - 1} more refused; " if len(refused) > 1 else ""
        raise BadTeam(f"{refused[0]} ({others}fix the file, or leave such teams out with --skip-invalid)", refused)
    if not teams:
        line = f"team folder '{root}': every team was refused for {format_id}, the first: {refused[0]}"
        raise BadTeam(line, refused)
    return TeamSet(name, format_id, tuple(teams.values()), (*refused, *doubled))


def _team_texts(root: Path, format_id: str) -> list[TeamText | str]:
    """Return the teams for a format in the files under a folder; for a file that cannot be read, a line with the reason.

    Raises BadInput if there are neither.
    """
    teams: list[TeamText | str] = []
    others: set[str] = set()
    for file in team_files(root, format_id):
        try:
            for text in file.teams():
                if text.format in (None, format_id):
                    teams.append(text)
                else:
                    others.add(str(text.format))
        except BadTeam as error:
            teams.append(str(error))
    if not teams:
        has = f"it has teams for {', '.join(sorted(others))}"
        raise BadInput(f"team folder '{root}': contains no team for {format_id}: {has}")
    return teams
