"""Pack a run into one `.tar.zst`, and unpack it again only if every file is what its checksum says."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path, PurePosixPath
from typing import Any

import zstandard

from agents.policy import checkpoint
from teamsets.atomic import atomic_folder, replacing
from teamsets.errors import BadInput
from training.archive.card import model_card
from training.archive.contents import CARD, FORMAT, LICENSE, MANIFEST, Run, about, sha256

_BLOCK = 1 << 20
#: The longest archive.json that is read, in bytes.
_MAX_MANIFEST = 1 << 24


def pack(run: Run, out: Path, license_name: str, license_text: str) -> dict[str, Any]:
    """Write the archive of a run; returns its archive.json. license_text: "" for no file. Raises OSError."""
    told = about(run)
    written = {CARD: model_card(run, told, license_name).encode()}
    if license_text:
        written[LICENSE] = license_text.encode()
    best = json.dumps({"step": told["step"], "by": "archived"}).encode() + b"\n"
    written["best.json"] = best
    files = run.files
    told["files"] = {name: {"sha256": sha256(content), "size": len(content)} for name, content in written.items()}
    told["files"] |= {name: {"sha256": _hash_of(file), "size": file.stat().st_size} for name, file in files.items()}
    compressor = zstandard.ZstdCompressor(level=10, write_checksum=True)
    with (
        replacing(out) as raw,
        compressor.stream_writer(raw, closefd=False) as stream,
        tarfile.open(fileobj=stream, mode="w|") as tar,
    ):
        _add(tar, MANIFEST, json.dumps(told, indent=1).encode() + b"\n")
        for name, content in written.items():
            _add(tar, name, content)
        for name, file in files.items():
            with file.open("rb") as source:
                tar.addfile(_entry(name, told["files"][name]["size"]), source)
    return told


def unpack(archive: Path, out: Path) -> dict[str, Any]:
    """Unpack an archive into the new folder `out`; returns its archive.json.

    Nothing is left of it if it is damaged. Raises BadInput that names the file in it that is damaged, missing or not listed.
    """
    if out.exists():
        raise BadInput(f"{out}: exists already: name another folder with --out")
    at = "its beginning"
    try:
        with (
            atomic_folder(out, flush=True) as temporary,
            archive.open("rb") as raw,
            zstandard.ZstdDecompressor().stream_reader(raw) as stream,
        ):
            with tarfile.open(fileobj=stream, mode="r|") as tar:
                told = _manifest(archive, tar)
                (temporary / MANIFEST).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
                left = dict(told["files"])
                while (entry := tar.next()) is not None:
                    at = entry.name
                    listed = left.pop(at, None)
                    if listed is None or not entry.isreg() or not _inside(at):
                        raise BadInput(
                            f"{archive}: {at}: not among the files that {MANIFEST} lists: archive the run again"
                        )
                    _unpack_one(archive, tar, entry, listed, temporary)
            while stream.read(_BLOCK):  # to its end, where zstd's own checksum is
                pass
            if left:
                raise BadInput(f"{archive}: {', '.join(left)}: missing: fetch the archive again")
            checkpoint.read(temporary / told["checkpoint"])
    except (zstandard.ZstdError, tarfile.TarError, EOFError) as error:
        raise BadInput(f"{archive}: damaged at {at} ({error}): fetch the archive again") from None
    return told


def _unpack_one(archive: Path, tar: tarfile.TarFile, entry: tarfile.TarInfo, listed: dict[str, Any], out: Path) -> None:
    content = tar.extractfile(entry)
    assert content is not None  # a regular file
    place = out / entry.name
    place.parent.mkdir(parents=True, exist_ok=True)
    hashed = hashlib.sha256()
    with place.open("wb") as file:
        while block := content.read(_BLOCK):
            hashed.update(block)
            file.write(block)
    if (hashed.hexdigest(), entry.size) != (listed["sha256"], listed["size"]):
        raise BadInput(f"{archive}: {entry.name}: damaged (its SHA-256 is not the listed one): fetch the archive again")


def _manifest(archive: Path, tar: tarfile.TarFile) -> dict[str, Any]:
    """The content of archive.json, the first file."""
    entry = tar.next()
    content = tar.extractfile(entry) if entry is not None and entry.name == MANIFEST else None
    if entry is None or content is None or entry.size > _MAX_MANIFEST:
        raise BadInput(f"{archive}: does not begin with {MANIFEST}: it was not written by `train archive`")
    try:
        told: dict[str, Any] = json.loads(content.read())
        if told["format"] != FORMAT:
            raise BadInput(
                f"{archive}: of format {told['format']}, and this version reads {FORMAT}: use a newer version"
            )
        files = {
            str(name): {"sha256": str(one["sha256"]), "size": int(one["size"])} for name, one in told["files"].items()
        }
        if not _inside(told["checkpoint"]) or f"{told['checkpoint']}/{checkpoint.WEIGHTS}" not in files:
            raise BadInput(f"{archive}: {MANIFEST} lists no weights: archive the run again")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{archive}: {MANIFEST}: damaged ({error!r}): fetch the archive again") from None
    return {**told, "files": files}


def _inside(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    tar.addfile(_entry(name, len(content)), io.BytesIO(content))


def _entry(name: str, size: int) -> tarfile.TarInfo:
    """Without times and owners: the same run makes the same archive but for `created`."""
    entry = tarfile.TarInfo(name)
    entry.size = size
    return entry


def _hash_of(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
