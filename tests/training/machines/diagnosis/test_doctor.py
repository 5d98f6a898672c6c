"""Each finding of `train doctor`, from what the machine or the logs of NCCL would say."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from training.machines.diagnosis.collectives import collective_findings, known_fixes, read_check
from training.machines.diagnosis.machine import clock, disk, interfaces, locked_memory, open_files, shared_memory


def test_each_limit_has_a_finding_below_it_and_none_above() -> None:
    assert (shared_memory(64 << 20).level, shared_memory(8 << 30).level) == ("NO", "ok")
    assert "--shm-size" in shared_memory(64 << 20).line
    assert (open_files(1024).level, open_files(65_536).level) == ("note", "ok")
    assert open_files(resource.RLIM_INFINITY).level == "ok"
    assert (locked_memory(64 << 10).level, locked_memory(resource.RLIM_INFINITY).level) == ("note", "ok")
    assert (clock(0.0).level, clock(1.8e9).level) == ("NO", "ok")
    assert (disk(Path(), 1 << 30).level, disk(Path(), 1 << 40).level) == ("note", "ok")


@pytest.mark.parametrize(
    ("names", "wanted", "level", "words"),
    [
        (["lo", "docker0", "eth0"], "", "ok", "NCCL would take eth0"),
        (["lo", "eth0", "ib0"], "", "note", "NCCL_SOCKET_IFNAME=ib0"),
        (["lo", "docker0"], "", "note", "several machines need"),
        (["lo", "eth0"], "ens", "NO", "NCCL_SOCKET_IFNAME=ens matches no interface"),
        (["lo", "eth0"], "^lo", "ok", "NCCL would take eth0"),
        (["eth01", "eth0"], "=eth0", "ok", "NCCL would take eth0 "),
    ],
)
def test_the_interface_that_nccl_would_take(names: list[str], wanted: str, level: str, words: str) -> None:
    found = interfaces(names, wanted, lambda name: True)
    assert found.level == level and words in found.line


@pytest.mark.parametrize(
    ("line", "fix"),
    [
        ("ncclSystemError: unhandled system error, NCCL version 2.27", "--shm-size=8g"),
        ("NCCL WARN Bootstrap : no socket interface found", "NCCL_SOCKET_IFNAME"),
        ("NCCL WARN Call to ibv_create_qp failed", "NCCL_IB_DISABLE=1"),
        ("Duplicate GPU detected : rank 0 and rank 1", "as many processes as there are GPUs"),
    ],
)
def test_known_failures_in_a_log_are_found(line: str, fix: str) -> None:
    (found,) = known_fixes(f"NCCL INFO something\n{line}\nNCCL INFO end")
    assert fix in found


def test_a_check_that_hangs_says_where_each_rank_is(tmp_path: Path) -> None:
    texts = ["at: rendezvous\nat: all-reduce\n", "at: rendezvous\n"]
    (found,) = read_check(texts, [-9, -9], [0, 1], "nccl", 60, tmp_path)
    assert found.level == "NO"
    assert "not finished after 60 s (rank 0 in all-reduce, rank 1 in rendezvous)" in found.line


@pytest.mark.slow
@pytest.mark.torch
def test_a_real_check_over_gloo(tmp_path: Path) -> None:
    (found,) = collective_findings(2, "gloo", 200.0, tmp_path)
    assert found.level == "ok" and "over 2 processes on cpu" in found.text
    (failed,) = collective_findings(2, "no-such-backend", 200.0, tmp_path)
    assert failed.level == "NO" and "rank 0 failed: " in failed.text
