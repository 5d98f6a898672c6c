"""Pack a run into one `.tar.zst`, and unpack it again only if every file is what its checksum says."""

from __future__ import annotations

import hashlib
import io
import json
import re
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, cast

import zstandard

from agents.policy import checkpoint
from teamsets.atomic import atomic_folder, replacing
from teamsets.checksums import sha256_of
from teamsets.errors import BadInput
from teamsets.reading import is_no_file
from training.archive.card import model_card
from training.archive.contents import BEST, CARD, FORMAT, LICENSE, MANIFEST, ArchivedRun, about, names_of, sha256
from training.archive.ratings import StoredRating

_BLOCK = 1 << 20
#: Of compressed data, of which a few bytes may be a megabyte.
_SMALL = 1 << 12
#: The longest archive.json that is read, in bytes.
_MAX_MANIFEST = 1 << 20
#: The most bytes that are read from the archive for the headers between two files, with what tarfile reads ahead.
_MAX_HEADERS = 1 << 20
_CHECKPOINT = re.compile(r"checkpoints/step-\d{1,20}")


def pack(
    run: ArchivedRun, out: Path, license_name: str, license_text: str, ratings: Sequence[StoredRating] = ()
) -> dict[str, Any]:
    """Write the archive of a run; returns its archive.json. license_text: "" for no file. Raises OSError.

    ratings: for its model card.
    """
    manifest = about(run)
    written = {CARD: model_card(run, manifest, license_name, has_text=bool(license_text), ratings=ratings).encode()}
    if license_text:
        written[LICENSE] = license_text.encode()
    best = json.dumps({"step": manifest["step"], "by": "archived"}).encode() + b"\n"
    written[BEST] = best
    files = run.files
    manifest["files"] = {name: {"sha256": sha256(content), "size": len(content)} for name, content in written.items()}
    manifest["files"] |= {
        name: {"sha256": sha256_of(file), "size": file.stat().st_size} for name, file in files.items()
    }
    compressor = zstandard.ZstdCompressor(level=10, write_checksum=True)
    with (
        replacing(out) as raw,
        compressor.stream_writer(raw, closefd=False) as stream,
        tarfile.open(fileobj=stream, mode="w|") as tar,
    ):
        _add(tar, MANIFEST, json.dumps(manifest, indent=1).encode() + b"\n")
        for name, content in written.items():
            _add(tar, name, content)
        for name, file in files.items():
            with file.open("rb") as source:
                tar.addfile(_entry(name, manifest["files"][name]["size"]), source)
    return manifest


def unpack(archive: Path, out: Path) -> dict[str, Any]:
    """Unpack an archive into the new folder `out`; returns its archive.json.

    Nothing is left of it if it is damaged. Raises BadInput that names the file in it that is damaged, missing or not listed.
    """
    if problem := is_no_file(archive):
        raise BadInput(f"{archive}: {problem}: name an archive of `train archive`")
    if problem := is_no_file(out) or ("exists already" if out.exists() else ""):
        raise BadInput(
            f"{out}: {'exists already' if problem == 'is a folder' else problem}: name another folder with --out"
        )
    at = "its beginning"
    try:
        with (
            atomic_folder(out, flush=True) as temporary,
            archive.open("rb") as raw,
            zstandard.ZstdDecompressor().stream_reader(raw) as stream,
        ):
            bounded = _Bounded(stream)
            with tarfile.open(fileobj=cast(IO[bytes], bounded), mode="r|") as tar:
                manifest = _manifest(archive, tar, bounded)
                (temporary / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
                remaining = dict(manifest["files"])
                while (entry := tar.next()) is not None:
                    at = entry.name
                    listed = remaining.pop(at, None)
                    if listed is None or not entry.isreg():
                        raise BadInput(
                            f"{archive}: {at!r}: not among the files that {MANIFEST} lists: archive the run again"
                        )
                    _unpack_one(archive, tar, entry, listed, temporary, bounded)
                    bounded.allow(0)
            if remaining:
                first, *others = remaining
                more = f" and {len(others)} more" if others else ""
                raise BadInput(f"{archive}: {first}{more}: missing: fetch the archive again")
            at = "its end"
            _check_end(archive)
            _check_checkpoint(archive, temporary, manifest["checkpoint"])
    except (zstandard.ZstdError, tarfile.TarError, EOFError) as error:
        raise BadInput(f"{archive}: damaged at {at} ({error}): fetch the archive again") from None
    except OSError as error:
        raise BadInput(
            f"{archive}: cannot be unpacked into {out} ({error.strerror or error}): see to that folder"
        ) from None
    return manifest


class _Bounded:
    """A stream of which a tar file's headers are read up to a limit: tarfile reads what a header says into memory."""

    def __init__(self, stream: zstandard.ZstdDecompressionReader) -> None:
        self._stream, self._allowed = stream, _MAX_HEADERS

    def allow(self, size: int) -> None:
        """Let the content of a file be read, of so many bytes, and the headers behind it."""
        self._allowed = size + _MAX_HEADERS

    def read(self, size: int) -> bytes:
        data: bytes = self._stream.read(size)
        self._allowed -= len(data)
        if self._allowed < 0:
            raise tarfile.ReadError(f"a header of more than {_MAX_HEADERS:,} bytes")
        return data


def _unpack_one(
    archive: Path,
    tar: tarfile.TarFile,
    entry: tarfile.TarInfo,
    listed: dict[str, Any],
    out: Path,
    bounded: _Bounded,
) -> None:
    if entry.size != listed["size"]:
        size = f"{entry.size:,} bytes, and {MANIFEST} says {listed['size']:,}"
        raise BadInput(f"{archive}: {entry.name}: damaged (it has {size}): fetch the archive again")
    bounded.allow(entry.size)
    content = tar.extractfile(entry)
    assert content is not None  # a regular file
    place = out / entry.name
    place.parent.mkdir(parents=True, exist_ok=True)
    hashed = hashlib.sha256()
    with place.open("wb") as file:
        while block := content.read(_BLOCK):
            hashed.update(block)
            file.write(block)
    if hashed.hexdigest() != listed["sha256"]:
        raise BadInput(f"{archive}: {entry.name}: damaged (its SHA-256 is not the listed one): fetch the archive again")


def _check_end(archive: Path) -> None:
    """Refuse an archive whose end is missing, or that goes on behind it. Raises BadInput, and ZstdError for its checksum."""
    frame = zstandard.ZstdDecompressor().decompressobj()
    with archive.open("rb") as raw:
        while not frame.eof and (block := raw.read(_SMALL)):
            frame.decompress(block)
        more = len(frame.unused_data) + len(raw.read(1))
    if not frame.eof:
        raise BadInput(f"{archive}: truncated (its last bytes are missing): fetch the archive again")
    if more:
        raise BadInput(f"{archive}: goes on behind its end: fetch the archive again")


def _check_checkpoint(archive: Path, out: Path, name: str) -> None:
    """Refuse an archive of a checkpoint that cannot be read, though it is what was archived. Raises BadInput."""
    try:
        checkpoint.read(out / name)
    except BadInput as error:
        message = str(error).replace(f"{out}/", "")
        raise BadInput(f"{archive}: {message.partition(': use another one')[0]}: archive the run again") from None


def _manifest(archive: Path, tar: tarfile.TarFile, bounded: _Bounded) -> dict[str, Any]:
    """The content of archive.json, the first file. Raises BadInput."""
    entry = tar.next()
    content = tar.extractfile(entry) if entry is not None and entry.name == MANIFEST else None
    if entry is None or content is None or entry.size > _MAX_MANIFEST:
        raise BadInput(f"{archive}: does not begin with {MANIFEST}: it was not written by `train archive`")
    bounded.allow(entry.size)
    try:
        manifest: dict[str, Any] = json.loads(content.read())
        bounded.allow(0)
        if manifest["format"] != FORMAT:
            raise BadInput(
                f"{archive}: of format {manifest['format']!r:.20}, and this version reads {FORMAT}: use a newer version"
            )
        files = {
            str(name): {"sha256": str(file["sha256"]), "size": int(file["size"])}
            for name, file in manifest["files"].items()
        }
        place, step = str(manifest["checkpoint"]), int(manifest["step"])
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise BadInput(
            f"{archive}: {MANIFEST}: damaged ({type(error).__name__}: {error!s:.80}): fetch the archive again"
        ) from None
    if not _CHECKPOINT.fullmatch(place) or f"{place}/{checkpoint.WEIGHTS}" not in files:
        raise BadInput(f"{archive}: {MANIFEST} lists no weights: archive the run again")
    strange = set(files) - names_of(place)
    if strange:
        raise BadInput(
            f"{archive}: {min(strange)!r:.100}: is no file of an archive, and is not unpacked: archive the run again"
        )
    return {**manifest, "files": files, "checkpoint": place, "step": step}


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    tar.addfile(_entry(name, len(content)), io.BytesIO(content))


def _entry(name: str, size: int) -> tarfile.TarInfo:
    """Without times and owners: the same run makes the same archive but for `created`."""
    entry = tarfile.TarInfo(name)
    entry.size = size
    return entry
