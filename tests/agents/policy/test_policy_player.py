"""`policy:PATH` in real battles: one inference server for all workers, what it costs when it dies, and what is refused."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from support.command_line import PROJECT, TESTS, processes, wait
from support.players.server_killer import KILLED, MARK, SERVER
from support.tournaments import tournament

from agents import resolve
from agents.observation.observation import Observation
from agents.policy import client
from agents.serving import client as serving
from arena.store import rows
from teamsets.errors import BadInput

torch = pytest.importorskip("torch")
needs_proc = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found through /proc")


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A word by which this test's servers are found; none is left over."""
    word = uuid.uuid4().hex
    monkeypatch.setenv(MARK, word)
    monkeypatch.setenv(serving.THREADS, "1")
    with_support = [str(PROJECT), str(TESTS), os.environ.get("PYTHONPATH", "")]  # what server_killer imports
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(with_support))
    yield word
    serving.close_all()
    for left in processes(word, SERVER):
        os.kill(left, signal.SIGKILL)


def _parent(pid: int) -> int:
    """The process that started another; 0 where that has ended."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


def seen(number: int) -> Observation:
    """A made-up observation, the same for the same number."""
    draw = np.random.default_rng(number)
    legal = draw.random(13) < 0.5
    legal[3] = True
    ids = draw.integers(0, 4000, (19, 12)).astype(np.int16)
    return Observation(ids, draw.standard_normal((19, 56)).astype(np.float32), legal)


@needs_proc
def test_the_server_answers_as_the_network_and_forgets(run_folder: Path, mark: str) -> None:
    from agents.policy import checkpoint
    from agents.policy.network import expected_value

    folder = checkpoint.find(str(run_folder))

    async def play() -> dict[tuple[int, int], Any]:
        connection = client.connection_to(folder, "cpu")
        assert client.connection_to(folder, "cpu") is connection
        sessions = [connection.new_session() for _ in range(20)]  # more than the slots at the start
        found = {}
        for position in range(7):
            asked = [connection.ask(session, position, seen(100 * session + position)) for session in sessions]
            for session, answer in zip(sessions, await asyncio.gather(*asked), strict=True):
                found[session, position] = answer
        for session in sessions:
            connection.forget(session)
        again = await connection.ask(connection.new_session(), 0, seen(100))
        np.testing.assert_allclose(again, found[1, 0], atol=1e-4)
        return found

    found = asyncio.run(play())
    network, _ = checkpoint.load(folder)
    for session in (1, 20):
        views = [seen(100 * session + position) for position in range(7)]
        ids, numbers, legal = (
            torch.from_numpy(np.stack([getattr(view, name) for view in views]))[None]
            for name in ("token_ids", "features", "legal")
        )
        with torch.no_grad():
            logits, value, _ = network(ids, numbers, legal, torch.ones(1, 7, dtype=torch.bool))
        together = torch.cat([logits, expected_value(value)[..., None]], dim=-1)[0].numpy()
        np.testing.assert_allclose(np.stack([found[session, position] for position in range(7)]), together, atol=1e-4)


@needs_proc
def test_a_checkpoint_that_its_run_deletes_plays_on(run_folder: Path, mark: str, tmp_path: Path) -> None:
    from agents.policy import checkpoint

    folder = Path(shutil.copytree(checkpoint.find(str(run_folder)), tmp_path / "copy"))

    async def play() -> None:
        before = await client.connection_to(folder, "cpu").ask(1, 0, seen(1))
        shutil.rmtree(folder)
        np.testing.assert_array_equal(await client.connection_to(folder, "cpu").ask(2, 0, seen(1)), before)

    asyncio.run(play())
    with pytest.raises(
        BadInput, match=r"nowhere: it is gone; a run keeps its latest ones only .*: use another one, or a copy"
    ):
        client.connection_to(tmp_path / "nowhere", "cpu")


@pytest.mark.slow
@needs_proc
def test_all_workers_ask_one_server_and_its_death_costs_the_battles_that_asked_it(
    run_folder: Path, mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server is killed in mid-run; the next battle starts another, which ends when the run has ended."""
    monkeypatch.setenv(KILLED, str(tmp_path / "killed"))
    looks: list[set[int]] = []
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.05):
            found = processes(mark, SERVER)
            # A server that starts a program itself looks like two for a moment.
            parents = {pid: _parent(pid) for pid in found}
            looks.append({pid for pid, parent in parents.items() if parent and parent not in found})

    watcher = threading.Thread(target=watch)
    watcher.start()
    db, spec = tmp_path / "a.duckdb", f"policy:{run_folder}@12?temperature=1.0"
    try:
        tournament(db, spec, "server_killer:KillsTheServer", battles=44, think_limit=60.0)
    finally:
        over.set()
        watcher.join()
    servers = set().union(*looks)
    assert len(servers) == 2 and max(map(len, looks)) == 1 and int((tmp_path / "killed").read_text()) in servers
    ends = rows("SELECT fault, IF(fault = 'p1', p1, p2), reason, detail FROM battles ORDER BY started", db)
    faults = [end for end in ends if end[0] is not None]
    assert len(ends) == 44 and faults and ends[-1][0] is None, ends
    for _, agent, reason, detail in faults:
        assert (agent, reason) == (spec, "error")
        assert "the inference server of" in detail and ".log" in detail
    query = f"""SELECT legal, choice, diagnostics FROM decisions JOIN battles USING (battle_id)
                WHERE IF(seat = 'p1', p1, p2) = '{spec}'"""
    for legal, choice, kept in rows(query, db):
        diagnostics = orjson.loads(kept)
        assert choice in diagnostics["probabilities"] and set(diagnostics["probabilities"]) <= set(legal)
        assert (
            sum(diagnostics["probabilities"].values()) == pytest.approx(1, abs=0.01)
            and 0 <= diagnostics["win_probability"] <= 1
        )
    wait(lambda: not processes(mark, SERVER))


def test_what_cannot_play_says_so_before_the_run(run_folder: Path, tmp_path: Path) -> None:
    assert resolve(f"policy:{run_folder}@1").missing("gen1ou") == ""
    assert "no checkpoint of step 3; there are 1, 12" in resolve(f"policy:{run_folder}@3").missing("gen1ou")
    assert "no such folder" in resolve(f"policy:{tmp_path}/no").missing(None)
    with pytest.raises(BadInput, match="temperature=-1"):
        resolve(f"policy:{run_folder}?temperature=-1").make()
    with pytest.raises(BadInput, match="device=tpu"):
        resolve(f"policy:{run_folder}?device=tpu").make()
    with pytest.raises(BadInput, match="the name of a policy is missing: use policy:NAME"):
        resolve("policy")


def test_a_fingerprint_is_that_of_the_checkpoint(run_folder: Path) -> None:
    from agents.policy import checkpoint
    from agents.policy.network import Network

    last, first = resolve(f"policy:{run_folder}"), resolve(f"policy:{run_folder}@1")
    assert last.fingerprint == resolve(f"policy:{run_folder}@12").fingerprint != first.fingerprint
    shape = checkpoint.load(checkpoint.find(str(run_folder)))[0].shape
    checkpoint.save(checkpoint.folder_of(run_folder, 13), Network(shape), 13)
    assert resolve(f"policy:{run_folder}").fingerprint != last.fingerprint


def test_it_is_repeatable_on_a_cpu(run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.serving.client._GPU_FILES", ())
    assert resolve(f"policy:{run_folder}").repeatable
    assert not resolve(f"policy:{run_folder}?device=cuda").repeatable
    monkeypatch.setattr("agents.serving.client._GPU_FILES", ("/",))
    assert not resolve(f"policy:{run_folder}").repeatable
    assert resolve(f"policy:{run_folder}?device=cpu").repeatable


def test_a_server_that_does_not_start_says_so(
    run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho no memory for it\nexit 3\n")
    python.chmod(0o700)
    monkeypatch.setattr(serving.sys, "executable", str(python))
    with pytest.raises(serving.ServerFailed, match=r"did not start with code 3: no memory for it; its log: .*\.log"):
        client.connection_to(run_folder / "checkpoints" / "step-000000001", "cpu")


def test_a_refused_choice_is_asked_again_at_its_own_place() -> None:
    from agents.policy.player import Policy

    player = Policy.__new__(Policy)
    player._position, player._turn = -1, None
    found = []
    for turn in (1, 2, 2, None, None, 3):  # None: a forced switch
        player._count(turn)
        found.append(player._position)
    assert found == [0, 1, 1, 2, 3, 4]
