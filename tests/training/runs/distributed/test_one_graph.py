"""Two processes of which one is killed, and the run that resumes: one graph in wandb, which only one process writes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

pytest.importorskip("torch")
pb = pytest.importorskip("wandb.proto.wandb_internal_pb2")

from training.offline.config import Config  # noqa: E402
from training.runs.distributed.launch import launch  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

#: The second process is killed in step 6, in its first life only.
PROGRAM = """
import os, signal, sys
from pathlib import Path
from training.offline.losses import LOSSES
from training.cli import main

plain, calls, killed = LOSSES["cloning"], 0, Path(sys.argv[-1]).with_suffix(".killed")

def failing(*arguments):
    global calls
    calls += 1
    if os.environ["RANK"] == "1" and calls == 6 and not killed.exists():
        killed.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return plain(*arguments)

LOSSES["cloning"] = failing
main()
"""
#: Of wandb's files: LevelDB's log format behind a header of 7 bytes.
BLOCK, HEADER, FULL, LAST = 32 * 1024, 7, 1, 4


def records(file: Path) -> Iterator[object]:
    """The records of a `.wandb` file; the last one may be cut off."""
    data, at, whole = file.read_bytes(), HEADER, b""
    while at + HEADER <= len(data):
        left = BLOCK - at % BLOCK
        if left < HEADER:
            at += left
            continue
        length, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        whole += data[at + HEADER : at + HEADER + length]
        at += HEADER + length
        if kind in (FULL, LAST):
            record = pb.Record()
            record.ParseFromString(whole)
            whole = b""
            yield record


def graph(file: Path) -> tuple[str, dict[int, float]]:
    """The id of a wandb run, and step -> loss."""
    run_id, losses = "", {}
    for record in records(file):
        kind = record.WhichOneof("record_type")  # type: ignore[attr-defined]
        if kind == "run":
            run_id = record.run.run_id  # type: ignore[attr-defined]
        elif kind == "history":
            items = {"/".join(item.nested_key) or item.key: item.value_json for item in record.history.item}  # type: ignore[attr-defined]
            if "loss" in items:
                losses[int(json.loads(items["_step"]))] = float(json.loads(items["loss"]))
    return run_id, losses


def test_a_run_of_two_that_was_killed_continues_its_graph(
    small: Callable[..., Config], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("PYTHONPATH", os.getcwd())
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    config = small(**{"tracking.wandb": "offline"})
    settings, program = tmp_path / "settings.yaml", tmp_path / "failing.py"
    settings.write_text(yaml.safe_dump(config.model_dump(mode="json")))
    program.write_text(PROGRAM)
    codes = [launch(["base", str(settings)], Path(config.out), 2, [str(program)]) for _ in range(2)]
    assert codes == [1, 0]
    said = capfd.readouterr().err
    assert "rank 1 of 2 failed first, in step 6" in said and "resumed at step 3" in said
    files = sorted(Path(config.out, "wandb").glob("offline-run-*/*.wandb"), key=lambda path: path.stat().st_mtime)
    assert len(files) == 2, "one for each life: the second process writes none"
    (first_id, first), (second_id, second) = map(graph, files)
    assert first_id == second_id == Path(config.out, "wandb-id").read_text()
    assert list(first) == list(range(1, 6)) and list(second) == list(range(4, 9))
    assert all(second[step] == pytest.approx(first[step]) for step in (4, 5)), (
        "the steps done again have the same losses"
    )
    kept = [json.loads(line) for line in Path(config.out, "metrics.jsonl").read_text().splitlines()]
    assert {line["step"]: line["loss"] for line in kept if "loss" in line} == pytest.approx({**first, **second})
