"""Every file of a run and of a dataset, damaged: the commands that read it end, with one line."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml
import zstandard
from support.damage import DAMAGES, command_ends_in_order, damaged, ends_in_order

from agents import resolve
from agents.policy import checkpoint
from teamsets.errors import BadInput
from training.archive.contents import MANIFEST, run_of
from training.archive.packing import pack, unpack
from training.cli import cli
from training.data.shards import opened
from training.runs.config_reader import BadConfig
from training.runs.curves import write_curves
from training.runs.run_folder import json_lines

STEP = "checkpoints/step-000001200"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run's folder around the shipped network, with checksums."""
    shipped, folder = checkpoint.find("gen1ou-tiny"), tmp_path / "run"
    with checkpoint.writing(folder / STEP) as temporary:
        for name in (checkpoint.WEIGHTS, checkpoint.ABOUT):
            (temporary / name).write_bytes((shipped / name).read_bytes())
    config = yaml.safe_load((shipped / "config.yaml").read_text())
    (folder / "config.yaml").write_text(yaml.safe_dump({**config, "name": "first"}))
    (folder / "metrics.jsonl").write_text("".join(json.dumps({"step": n, "loss": 1 / n}) + "\n" for n in range(1, 30)))
    (folder / "evaluations.jsonl").write_text(json.dumps({"step": 1200, "run": "r", "formats": {}}) + "\n")
    (folder / "best.json").write_text('{"step": 1200, "by": "rating", "value": 1.5}\n')
    return folder


def _readers(run: Path, out: Path) -> dict[str, Any]:
    def best() -> Any:
        return checkpoint.best_of(run)

    def plays() -> Any:
        source = resolve(f"policy:{run}@best")
        return source.fingerprint, source.missing("gen1ou")

    return {
        "best": best,
        "plays": plays,
        "curves": lambda: write_curves(run),
        "lines": lambda: json_lines(run / "evaluations.jsonl"),
    }


FILES = [
    "best.json",
    "metrics.jsonl",
    "evaluations.jsonl",
    "config.yaml",
    f"{STEP}/model.safetensors",
    f"{STEP}/checkpoint.json",
]


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_of_a_run_is_one_line(run: Path, tmp_path: Path, name: str) -> None:
    for how in DAMAGES:
        with damaged(run / name, how):
            for reader, act in _readers(run, tmp_path).items():
                ends_in_order(act, (name, how, reader))
            archive = tmp_path / "a.tar.zst"
            command_ends_in_order(cli, ["archive", f"{run}@best", "--out", str(archive)])
            archive.unlink(missing_ok=True)
    assert resolve(f"policy:{run}@best").missing("gen1ou") == "" or True


def test_a_damaged_line_and_a_damaged_best_name_themselves(run: Path) -> None:
    with damaged(run / "best.json", "truncated"), pytest.raises(BadInput, match=r"best\.json: damaged: names no step"):
        checkpoint.best_of(run)
    lines = (run / "metrics.jsonl").read_text().splitlines()
    for bad in ('{"step": 3', '{"loss": 1}', '{"step": NaN}', "[]", '{"step": "x"}'):
        (run / "metrics.jsonl").write_text("\n".join([*lines[:2], bad, *lines[3:]]))
        with pytest.raises(BadConfig, match=r"metrics\.jsonl: line 3 is damaged: delete that line"):
            write_curves(run)
    (run / "metrics.jsonl").write_text("\n".join([*lines, '{"step": 3']))
    assert len(json_lines(run / "metrics.jsonl", cut_off=True)) == len(lines)


def test_a_damaged_archive_is_one_line_and_leaves_nothing(run: Path, tmp_path: Path) -> None:
    archive, out = tmp_path / "a.tar.zst", tmp_path / "out"
    pack(run_of(str(run)), archive, "CC-BY-4.0", "")
    for how in DAMAGES:
        with damaged(archive, how):
            command_ends_in_order(cli, ["unarchive", str(archive), "--out", str(out)])
            assert not out.exists(), how


def test_a_header_of_a_tar_file_is_read_up_to_a_limit(run: Path, tmp_path: Path) -> None:
    """A name of 64 MB that tarfile would read into memory: behind the manifest, and as the first thing of all."""
    archive = tmp_path / "a.tar.zst"
    pack(run_of(str(run)), archive, "CC-BY-4.0", "")
    with zstandard.open(archive) as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
        entry = tar.next()
        assert entry is not None and entry.name == MANIFEST
        manifest = tar.extractfile(entry).read()  # type: ignore[union-attr]
    name = tarfile.TarInfo("././@LongLink")
    name.type, name.size = tarfile.GNUTYPE_LONGNAME, 64 << 20
    long_name = name.tobuf(tarfile.GNU_FORMAT) + b"x" * name.size
    first = entry.tobuf() + manifest + bytes(-len(manifest) % 512)
    for content in (first + long_name, long_name):
        archive.write_bytes(zstandard.compress(content))
        with pytest.raises(BadInput, match=r"a header of more than 1,048,576 bytes|does not begin with archive\.json"):
            unpack(archive, tmp_path / "out")


def test_a_full_disk_is_one_line(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "a.tar.zst"
    pack(run_of(str(run)), archive, "CC-BY-4.0", "")

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(BadInput, match=r"a\.tar\.zst: cannot be unpacked into .*out \(No space left on device\)"):
        unpack(archive, tmp_path / "out")


@pytest.mark.parametrize(
    ("key", "value"), [("layers", 10**9), ("width", 10**6), ("window", 10**9), ("bins", 10**9), ("width", "x")]
)
def test_a_shape_that_is_larger_than_the_weights_is_refused(run: Path, key: str, value: Any) -> None:
    about = run / STEP / checkpoint.ABOUT
    told = json.loads(about.read_text())
    told["shape"][key] = value
    about.write_text(json.dumps(told))
    refused = rf"larger than model\.safetensors|checkpoint\.json: network shape: .*{key}={value!r}.*: it is damaged"
    with pytest.raises(BadInput, match=refused):
        checkpoint.read(run / STEP)


def test_a_damaged_dataset_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "data" / "dataset.json"
    file.parent.mkdir()
    for content in (
        b"", b"[]", b"{}", b"\xff\xfe", b"[" * 100_000, b'{"about": [], "shards": 1}',
        b'{"format": 4, "about": {}, "shards": [{"file": "../../x", "lengths": ["a"]}]}',
    ):  # fmt: skip
        file.write_bytes(content)
        ends_in_order(lambda: opened(file.parent), content[:40])
        command_ends_in_order(cli, ["data", "stats", str(file.parent)])
    for how in DAMAGES:
        with damaged(file, how):
            ends_in_order(lambda: opened(file.parent), how)
