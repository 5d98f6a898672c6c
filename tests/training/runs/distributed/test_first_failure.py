"""Which rank is blamed, from what the ranks have left behind."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from training.runs.distributed.first_failure import EndedRank, describe, first_failure, report
from training.runs.distributed.rank_files import Failure, ProgressWriter, RankFiles, RankProgress
from training.runs.distributed.watchdog import describe_hang


def progress(rank: int, count: int, phase: str, since: float = 100.0) -> RankProgress:
    return RankProgress(rank, "node", 10 + rank, count, 7, phase, since, False)


def ended(
    rank: int,
    code: int,
    time: float,
    message: str = "",
    *,
    kind: str = "raised",
    stopped: bool = False,
    bad: bool = False,
) -> EndedRank:
    place = "step 7, forward"
    failure = Failure(rank, kind, message, "a.py:1 in f", place, time, bad) if message else None
    return EndedRank(RankFiles(Path("run"), rank), code, time, stopped, failure, progress(rank, 5 - rank, "forward"))


LOST = "RuntimeError: [enforce fail at pair.cc] Connection closed by peer [127.0.0.1]:999"


def test_a_rank_that_lost_its_connection_earlier_is_not_blamed_for_one_that_was_killed() -> None:
    ends = [ended(0, 1, 1.0, LOST), ended(1, -signal.SIGKILL, 2.0), ended(2, -signal.SIGTERM, 0.5, stopped=True)]
    assert first_failure(ends).rank == 1


def test_of_several_with_a_reason_the_earliest_is_blamed_and_without_any_the_one_that_lost_its_connection() -> None:
    assert first_failure([ended(0, 1, 3.0, "a"), ended(1, 1, 2.0, "b"), ended(2, 0, 1.0)]).rank == 1
    assert first_failure([ended(0, 1, 3.0, LOST), ended(1, -15, 1.0, stopped=True), ended(2, 0, 1.0)]).rank == 0


def test_of_ranks_that_watchdogs_ended_the_one_that_was_behind_speaks() -> None:
    ends = [ended(0, 75, 1.0, "hung", kind="hung"), ended(1, 75, 2.0, "hung", kind="hung")]
    assert first_failure(ends).rank == 1


@pytest.mark.parametrize(
    ("code", "for_memory", "words"),
    [
        (-signal.SIGKILL, False, "killed by SIGKILL: by somebody, or by the kernel"),
        (-signal.SIGKILL, True, "out of memory (SIGKILL; memory.events counts an oom_kill); `train plan CONFIG"),
        (-signal.SIGSEGV, False, "ended by SIGSEGV: a crash in compiled code; the stack is in its log"),
        (3, False, "exit code 3 and said nothing"),
    ],
)
def test_a_death_without_a_word_is_explained(code: int, for_memory: bool, words: str) -> None:
    line = describe(ended(1, code, 1.0), 2, for_memory)
    assert line.startswith("rank 1 of 2 failed first, in step 7, forward: ") and words in line
    assert line.endswith("; log: run/ranks/rank-1.log")


def test_bad_input_is_its_line_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert report([ended(0, 2, 1.0, "data: empty", bad=True), ended(1, 1, 1.5, LOST)], killed_for_memory=False) == 2
    assert capsys.readouterr().err == "train: data: empty\n"


def test_the_consequences_are_told_after_the_cause(capsys: pytest.CaptureFixture[str]) -> None:
    assert report([ended(0, 1, 1.0, LOST), ended(1, 1, 2.0, "boom")], killed_for_memory=False) == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first == (
        "train: rank 1 of 2 failed first, in step 7, forward: boom, at a.py:1 in f; log: run/ranks/rank-1.log"
    )
    assert second == "train: rank 0 after it: lost its connection in step 7, forward; log: run/ranks/rank-0.log"


def test_a_hang_names_all_that_are_behind_and_those_that_never_started() -> None:
    waiting, behind = progress(0, 9, "backward"), progress(2, 8, "forward")
    assert describe_hang(waiting, [waiting, behind], 4, 130.0) == (
        "a collective operation hung (step 7, backward): missing rank 1 (not started), rank 2 (for 30 s in step 7, forward, "
        "process 12 on node), rank 3 (not started)"
    )
    assert "all 1 ranks have been in step 7, backward for 30 s" in describe_hang(waiting, [waiting], 1, 130.0)


def test_progress_is_read_back_whole_after_a_longer_line_was_there(tmp_path: Path) -> None:
    files = RankFiles(tmp_path, 3)
    files.clear()
    writer = ProgressWriter(files)
    for phase in ("a rather long name of a phase", "short"):
        writer.enter(12, phase, patient=False)
        assert files.read_progress() == writer.now and writer.now.place == f"step 12, {phase}"
    writer.close()
    files.clear()
    assert files.read_progress() is None


def test_the_first_failure_of_a_rank_is_kept(tmp_path: Path) -> None:
    files = RankFiles(tmp_path, 0)
    files.clear()
    for message in ("cause", "consequence"):
        files.note_failure(Failure(0, "raised", message, "", "", 1.0))
    found = files.read_failure()
    assert found is not None and found.message == "cause"
