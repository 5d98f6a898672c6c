"""Team files in folders, and the format of each."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from teamsets.errors import BadInput, BadTeam
from teamsets.reading import UnusableText, read_text

#: Maximum size of a team file, in bytes. A team in export format has about one kilobyte.
MAX_TEAM_BYTES = 1024 * 1024

#: Folder of the team sets that are shipped as files.
SHIPPED = Path(__file__).parent

_FORMAT_FOLDER = re.compile(r"gen[1-9][a-z0-9]+")
# A heading of Showdown's teambuilder before each team: "=== [gen9ou] folder/name ===", "=== name ===".
_HEADING = re.compile(r"^===[ \t]*(?:\[(?P<format>[^\]\n]*)\])?[ \t]*(?P<name>[^\n]*?)[ \t]*===[ \t\r]*$", re.MULTILINE)
_METAMON = re.compile(r"(?P<name>.+)\.(?P<format>gen[1-9][a-z0-9]+)_team(\.txt)?")


@dataclass(frozen=True)
class TeamText:
    """One team as its file has it. name: the file's, with that of its heading where the file has several teams.

    where: the file, and the heading. format: that of the heading ("gen9ou"), None if there is none.
    """

    name: str
    where: str
    text: str
    format: str | None = None


@dataclass(frozen=True)
class TeamFile:
    """A file with a team, or several under headings. format: from its name or its folders, None if they name none."""

    path: Path
    name: str
    format: str | None

    def text(self) -> str:
        """The file's text. Raises BadTeam when it is no UTF-8 text, or too large for a team."""
        try:
            return read_text(self.path, MAX_TEAM_BYTES)
        except (OSError, UnusableText) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise BadTeam(f"{self.path}: cannot be read ({reason}): give a text file with one team") from error

    def teams(self) -> list[TeamText]:
        """Return the file's teams: each heading (`=== [gen9ou] name ===`) begins another. Raises BadTeam as text() does.

        A file with fewer than two headings is one team.
        """
        text = self.text()
        headings = [match for match in _HEADING.finditer(text) if match["name"] or match["format"]]
        if not headings or (len(headings) == 1 and not text[: headings[0].start()].strip()):
            return [TeamText(self.name, str(self.path), text)]
        teams: list[TeamText] = []
        if text[: headings[0].start()].strip():
            teams.append(TeamText(self.name, f"{self.path}, first team", text[: headings[0].start()]))
        ends = [*(match.start() for match in headings[1:]), len(text)]
        names: Counter[str] = Counter(team.name for team in teams)
        for match, end in zip(headings, ends, strict=True):
            name = f"{self.name}-{_slug(match['name'])}".rstrip("-")
            names[name] += 1
            if names[name] > 1:
                name = f"{name}-{names[name]}"
            format_id = (match["format"] or "").strip().lower() or None
            where = f"{self.path}, {match[0].strip('= ' + chr(13) + chr(9))}"
            teams.append(TeamText(name, where, text[match.end() : end], format_id))
        return teams


def _slug(name: str) -> str:
    return re.sub(r"[^\w]+", "-", name.lower()).strip("-")


def team_files(root: Path, format_id: str) -> list[TeamFile]:
    """Return the team files for a format under a folder (or the given file), sorted by path.

    A file's format is that in its name (`*.gen1ou_team`, as metamon writes them), or else that of the nearest folder named
    like a format; a file with neither is for any format. Raises BadInput if there are none.
    """
    if root.is_file():
        return [_team_file(root, root.parent) or TeamFile(root, root.stem, None)]
    files = [file for path in _walk(root) if (file := _team_file(path, root))]
    fitting = [file for file in files if file.format in (None, format_id)]
    if not fitting:
        others = sorted({file.format for file in files if file.format})
        has = f"it has teams for {', '.join(others)}" if others else "put one team per file there, named *.txt"
        raise BadInput(f"team folder '{root}': contains no team for {format_id}: {has}")
    return fitting


def _walk(root: Path) -> list[Path]:
    paths: list[Path] = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths += [Path(folder, name) for name in names if not name.startswith(".")]
    return sorted(paths)


def _team_file(path: Path, root: Path) -> TeamFile | None:
    if metamon := _METAMON.fullmatch(path.name):
        return TeamFile(path, metamon["name"], metamon["format"])
    if path.suffix != ".txt":
        return None
    inside = [root.resolve().name, *path.parent.relative_to(root).parts]
    named = [part for part in inside if _FORMAT_FOLDER.fullmatch(part)]
    return TeamFile(path, path.stem, named[-1] if named else None)
