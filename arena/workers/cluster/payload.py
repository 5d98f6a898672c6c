"""The files that travel with a run: agents' code of the user's own, checkpoints, files that options name.

Teams are in the fixtures. A machine keeps files by the hash of their content, so what it has already is not sent again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl

from agents import is_built_in
from agents.fingerprint import files_of
from agents.importing import search_here
from agents.paths import destination
from agents.policy import checkpoint
from arena.fixture import digest
from teamsets import cache
from teamsets.atomic import write_atomic
from teamsets.errors import BadInput
from teamsets.locking import file_lock


@dataclass(frozen=True)
class Piece:
    """A file. name: where it lies below the working folder of the workers. sha256: of its content, in hex. modified: in
    nanoseconds; part of the fingerprint of large files."""

    name: str
    sha256: str
    modified: int


@dataclass(frozen=True)
class Payload:
    """pieces: by their names, ascending. paths: sha256 -> a file here with this content."""

    pieces: tuple[Piece, ...]
    paths: dict[str, Path]


def pack(specs: Iterable[str]) -> Payload:
    """Return the files that agents need on another machine on which the arena is installed. Imports no agent."""
    search_here()
    return pack_files({name: path for spec in specs for name, path in sorted(required_files(spec))})


def pack_files(files: Mapping[str, Path]) -> Payload:
    """Return files as payload. files: name below the working folder -> the file here."""
    pieces, paths = [], {}
    for name, path in sorted(files.items()):
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        pieces.append(Piece(name, sha256, path.stat().st_mtime_ns))
        paths[sha256] = path
    return Payload(tuple(pieces), paths)


def required_files(spec: str) -> Iterator[tuple[str, Path]]:
    """Yield name and path of the files that an agent needs."""
    head, _, query = spec.partition("?")
    family, _, argument = head.partition(":")
    options = dict(parse_qsl(query))
    if family == "coached":
        for part in ("learner", "coach"):
            yield from required_files(options.get(part, ""))
    elif family == "policy":
        yield from checkpoint_files(argument)
    elif family == "ensemble":
        for name in argument.split(","):
            yield from checkpoint_files(name)
    elif argument and not is_built_in(spec):
        yield from files_of(family).items()
    for value in options.values():
        if value and os.path.isfile(value):
            yield destination(value).as_posix(), Path(value)


def checkpoint_files(spec: str) -> Iterator[tuple[str, Path]]:
    """Yield what `checkpoint.find(spec)` needs to find the same checkpoint elsewhere."""
    try:
        folder = checkpoint.find(spec)
    except BadInput:
        return  # the run is refused for it
    if folder.parent == checkpoint.SHIPPED:
        return
    best = folder.parents[1] / "best.json"
    files = [folder / checkpoint.WEIGHTS, folder / checkpoint.ABOUT, *([best] if best.is_file() else [])]
    for path in files:
        yield destination(path).as_posix(), path


def _folder() -> Path:
    return cache.folder() / "cluster"


def _file(sha256: str) -> Path:
    return _folder() / "files" / sha256


def missing_files(pieces: Sequence[Piece]) -> list[str]:
    """Return the hashes of the files that this machine lacks."""
    return sorted({piece.sha256 for piece in pieces if not _file(piece.sha256).is_file()})


def keep(sha256: str, content: bytes) -> None:
    """Keep a file that has arrived. Raises ValueError if its content is another one."""
    if hashlib.sha256(content).hexdigest() != sha256:
        raise ValueError(f"file {sha256}: arrived damaged")
    _file(sha256).parent.mkdir(parents=True, exist_ok=True)
    write_atomic(_file(sha256), content)


def unpack(pieces: Sequence[Piece]) -> Path:
    """Return a folder with the files under their names, for workers to run in. All must be kept here."""
    named = digest([[piece.name, piece.sha256, piece.modified] for piece in pieces])
    folder = _folder() / "runs" / named
    folder.mkdir(parents=True, exist_ok=True)
    with file_lock(_folder() / "unpacking.lock"):
        write_files(pieces, folder)
    return folder


def write_files(pieces: Sequence[Piece], folder: Path) -> None:
    """Write the files that are not there under their names in a folder. All must be kept here."""
    for piece in pieces:
        target = folder / piece.name
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(target, _file(piece.sha256).read_bytes())
            os.utime(target, ns=(piece.modified, piece.modified))
