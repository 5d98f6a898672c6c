"""Archives of runs: what is in them, that they play at once, and that nothing damaged is taken for whole."""

from __future__ import annotations

import io
import json
import random
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
import zstandard
from click.testing import CliRunner

from agents.policy import checkpoint
from agents.registry import resolve
from teamsets.errors import BadInput
from training.archive.contents import MANIFEST, run_of, sha256
from training.archive.packing import pack, unpack
from training.cli import cli
from training.runs.shipped import resolve_path

STEP = "checkpoints/step-000001200"
WEIGHTS = f"{STEP}/model.safetensors"


@pytest.mark.parametrize("of", ["", "config.yaml", "model"])
def test_a_language_model_is_refused_by_the_commands_that_are_for_networks(tmp_path: Path, of: str) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "adapter_config.json").write_text("{}")
    config = resolve_path("llm-dpo", "llm")
    (tmp_path / "config.yaml").write_bytes(config.read_bytes())
    told = CliRunner().invoke(cli, ["archive", str(tmp_path / of)]).exception
    assert isinstance(told, BadInput) and "accepted are runs of networks (policy:RUN)" in str(told)
    assert str(told).startswith(f"'{tmp_path / of}': ")
    planned = CliRunner().invoke(cli, ["plan", str(config), "--memory", "40GB"]).exception
    assert str(planned).startswith(
        f"{config}: is a configuration of `train llm-dpo`: accepted here are those of networks"
    )
    checked = CliRunner().invoke(cli, ["doctor", str(config)]).exception
    assert isinstance(checked, BadInput) and str(checked).startswith(f"{config}: train doctor takes no configuration")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run's folder around the shipped network."""
    shipped = checkpoint.find("gen1ou-tiny")
    folder = tmp_path / "runs" / "first"
    (folder / STEP / "training").mkdir(parents=True)
    for name in (checkpoint.WEIGHTS, checkpoint.ABOUT):
        (folder / STEP / name).write_bytes((shipped / name).read_bytes())
    (folder / STEP / "training" / "optimizer.bin").write_bytes(b"large")
    config = yaml.safe_load((shipped / "config.yaml").read_text())
    config["data"]["train"] = [{"path": "data/battles", "weight": 1.0}]
    (folder / "config.yaml").write_text(yaml.safe_dump({**config, "name": "first"}))
    (folder / "metrics.jsonl").write_text('{"step": 1}\n')
    against = {"random": {"score": 0.9, "low": 0.8, "high": 0.95, "battles": 40}}
    told = {"step": 1200, "run": "r", "formats": {"gen1ou": {"elo": 1200, "against": against}}}
    (folder / "evaluations.jsonl").write_text(json.dumps(told) + "\n")
    return folder


@pytest.fixture
def archive(run: Path, tmp_path: Path) -> Path:
    pack(run_of(str(run)), tmp_path / "first.tar.zst", "CC-BY-4.0", "")
    return tmp_path / "first.tar.zst"


def members(archive: Path) -> dict[str, bytes]:
    """What is in an archive, in its order."""
    with zstandard.open(archive) as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
        return {entry.name: tar.extractfile(entry).read() for entry in tar}  # type: ignore[union-attr]


def written(
    archive: Path, content: dict[str, bytes], change: Callable[[tarfile.TarInfo], None] = lambda _: None
) -> Path:
    """An archive with this content, without a look at its checksums."""
    with zstandard.open(archive, "wb") as stream, tarfile.open(fileobj=stream, mode="w|") as tar:
        for name, told in content.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(told)
            change(entry)
            tar.addfile(entry, io.BytesIO(told) if entry.isreg() else None)
    return archive


def test_an_archive_has_what_makes_a_network_understood_and_plays_at_once(
    run: Path, archive: Path, tmp_path: Path
) -> None:
    told = unpack(archive, tmp_path / "elsewhere")
    plays = tmp_path / "elsewhere"
    assert checkpoint.identity(checkpoint.find(f"{plays}@best")) == checkpoint.identity(run / STEP) == told["identity"]
    resolve(f"policy:{plays}")
    assert set(told["files"]) == {
        "README.md", "best.json", "config.yaml", "metrics.jsonl", "evaluations.jsonl", WEIGHTS, f"{STEP}/checkpoint.json",
    }  # fmt: skip
    card = (plays / "README.md").read_text()
    for words in (
        "# first",
        "| random | gen1ou | 90.0 [80.0, 95.0] | 40 |",
        "CC-BY-4.0",
        "data/battles",
        "pokemon-showdown",
    ):
        assert words in card
    assert told["data"]["data/battles"].startswith("not hashed: dataset data/battles: has no dataset.json")
    assert [one["step"] for one in told["lineage"]] == [1200]
    again = pack(run_of(f"{plays}@1200"), tmp_path / "again.tar.zst", "", "my terms")
    assert again["identity"] == told["identity"] and "LICENSE" in again["files"]


@pytest.mark.parametrize("name", [WEIGHTS, "config.yaml", "README.md"])
def test_a_changed_file_is_named_and_nothing_is_left(archive: Path, tmp_path: Path, name: str) -> None:
    content = members(archive)
    middle = len(content[name]) // 2
    content[name] = content[name][:middle] + bytes([content[name][middle] ^ 1]) + content[name][middle + 1 :]
    with pytest.raises(BadInput, match=f"first.tar.zst: {name}: damaged"):
        unpack(written(archive, content), tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.tar.zst", "runs"]


def test_a_file_that_is_missing_or_not_listed_is_named(archive: Path, tmp_path: Path) -> None:
    content = members(archive)
    with pytest.raises(BadInput, match=r"config\.yaml: missing"):
        unpack(written(archive, {k: v for k, v in content.items() if k != "config.yaml"}), tmp_path / "out")
    with pytest.raises(BadInput, match=r"'\.\./evil': not among the files"):
        unpack(written(archive, content | {"../evil": b"x"}), tmp_path / "out")

    def linked(entry: tarfile.TarInfo) -> None:
        if entry.name == "metrics.jsonl":
            entry.type, entry.linkname, entry.size = tarfile.SYMTYPE, "/etc/passwd", 0

    with pytest.raises(BadInput, match=r"'metrics\.jsonl': not among the files"):
        unpack(written(archive, content, linked), tmp_path / "out")
    assert not (tmp_path / "evil").exists() and not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("share", "words"), [(0.0, "damaged at its beginning"), (0.3, f"damaged at {WEIGHTS}"), (0.9999, "damaged at ")]
)
def test_a_truncated_archive_is_refused(archive: Path, tmp_path: Path, share: float, words: str) -> None:
    content = archive.read_bytes()
    archive.write_bytes(content[: int(share * len(content))])
    with pytest.raises(BadInput, match=words):
        unpack(archive, tmp_path / "out")


def test_a_byte_that_changed_anywhere_never_makes_another_network(run: Path, archive: Path, tmp_path: Path) -> None:
    """At the end there is nothing to tell: no content is in tar's padding, and zstd's flags need not matter."""
    content, same = archive.read_bytes(), checkpoint.identity(run / STEP)
    rng, refused = random.Random(7), 0
    for place in [
        *range(12),
        *(rng.randrange(len(content)) for _ in range(12)),
        *range(len(content) - 6, len(content)),
    ]:
        changed = bytearray(content)
        changed[place] ^= 1 << rng.randrange(8)
        archive.write_bytes(changed)
        out = tmp_path / f"out{place}"
        try:
            unpack(archive, out)
        except BadInput as error:
            refused += 1
            assert "first.tar.zst: " in str(error) and "\n" not in str(error) and not out.exists()
        else:
            assert checkpoint.identity(checkpoint.find(str(out))) == same
    assert refused >= 28
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_what_follows_an_archive_is_refused_and_so_is_the_loss_of_its_last_byte(archive: Path, tmp_path: Path) -> None:
    content = archive.read_bytes()
    for changed, words in ((content + b"more", "goes on behind its end"), (content[:-1], "truncated")):
        archive.write_bytes(changed)
        with pytest.raises(BadInput, match=f"first.tar.zst: {words}"):
            unpack(archive, tmp_path / "out")


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "/tmp/evil",
        "checkpoints",
        "config.yaml/x",
        "README.md/",
        "./README.md",
        "",
        ".",
        "x" * 300,
        "a\nb",
        "\udcff",
    ],
)
def test_a_listed_name_that_no_archive_has_is_not_unpacked(archive: Path, tmp_path: Path, name: str) -> None:
    content = members(archive)
    told = json.loads(content[MANIFEST])
    told["files"][name] = {"sha256": sha256(b"x"), "size": 1}
    listed = content | {MANIFEST: json.dumps(told).encode(), name: b"x"}
    with pytest.raises(BadInput, match=r"first.tar.zst: '.*: is no file of an archive, and is not unpacked") as error:
        unpack(written(archive, listed), tmp_path / "out")
    assert "\n" not in str(error.value) and len(str(error.value)) < 300
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.tar.zst", "runs"]


def test_an_archived_checkpoint_that_cannot_be_read_is_named_with_its_archive(archive: Path, tmp_path: Path) -> None:
    content = members(archive)
    told = json.loads(content[MANIFEST])
    for name, words in ((WEIGHTS, "model.safetensors is truncated"), (f"{STEP}/checkpoint.json", "cannot be read")):
        files = told["files"] | {name: {"sha256": sha256(b"{"), "size": 1}}
        changed = content | {MANIFEST: json.dumps(told | {"files": files}).encode(), name: b"{"}
        with pytest.raises(BadInput, match=f"first.tar.zst: checkpoint {STEP}: .*{words}.*: archive the run again"):
            unpack(written(archive, changed), tmp_path / "out")


def test_a_file_of_another_size_is_refused_before_it_is_written(archive: Path, tmp_path: Path) -> None:
    content = members(archive)
    content["README.md"] += b"more"
    with pytest.raises(BadInput, match=r"README.md: damaged \(it has [\d,]+ bytes, and archive.json says "):
        unpack(written(archive, content), tmp_path / "out")


def test_what_is_no_archive_is_refused(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "text.tar.zst").write_text("no archive")
    with pytest.raises(BadInput, match="damaged at its beginning"):
        unpack(tmp_path / "text.tar.zst", tmp_path / "out")
    content = members(archive)
    told = json.loads(content.pop(MANIFEST))
    with pytest.raises(BadInput, match=r"does not begin with archive.json"):
        unpack(written(archive, content), tmp_path / "out")
    for changed, words in (
        ({"format": 2}, "of format 2"),
        ({"files": 3}, "archive.json: damaged"),
        ({"files": {"x": {"sha256": "", "size": float("inf")}}}, "archive.json: damaged"),
        ({"step": "many"}, "archive.json: damaged"),
        ({"checkpoint": "../outside"}, "no weights"),
        ({"files": {}}, "no weights"),
    ):
        first = {MANIFEST: json.dumps(told | changed).encode()}
        with pytest.raises(BadInput, match=words):
            unpack(written(archive, first | content), tmp_path / "out")


def test_the_commands_say_what_they_did_and_refuse_in_one_line(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    packed = CliRunner().invoke(cli, ["archive", str(run)])
    assert packed.exit_code == 0 and "first.tar.zst: " in packed.stderr
    unpacked = CliRunner().invoke(cli, ["unarchive", "first.tar.zst"])
    assert unpacked.exit_code == 0 and "agent: policy:first" in unpacked.stderr
    for words, problem in (
        (["unarchive", "first.tar.zst"], "first: exists already: name another folder"),
        (["archive", "gen1ou-tiny"], "is not in the folder of a run"),
        (["archive", "nowhere"], "no such folder"),
        (["archive", str(run), "--out", str(tmp_path)], "is a folder: name a file"),
    ):
        refused = CliRunner().invoke(cli, words)
        assert isinstance(refused.exception, BadInput) and problem in str(refused.exception)
