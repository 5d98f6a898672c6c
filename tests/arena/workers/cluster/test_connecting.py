"""What `--on` accepts, and what it says without Ray."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from arena.workers.cluster.connection import RayCluster, ThisMachine, connect_cluster
from teamsets.errors import BadInput, MissingTool


@pytest.fixture(autouse=True)
def surroundings() -> Iterator[None]:
    """The environment afterwards as before: connecting sets variables of Ray's, which a later test's cluster would read."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


def test_without_it_workers_are_processes_here() -> None:
    with connect_cluster(None, 3) as cluster:
        assert isinstance(cluster, ThisMachine) and cluster.workers == 3


@pytest.mark.parametrize("on", ["slurm", "ray://", "ray://host", "ray://host:1/x", "ray:auto", ""])
def test_other_values_are_refused_in_one_line(on: str) -> None:
    with (
        pytest.raises(BadInput, match=r"^--on .*: give ray, .* or ray://HOST:PORT \(docs/scale.md\)$"),
        connect_cluster(on, None),
    ):
        pass


def test_commands_without_the_option_read_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_ON", "rays")
    with pytest.raises(BadInput, match=r"^ARENA_ON=rays: give ray"), connect_cluster(None, None):
        pass


def test_without_ray_the_option_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with (
        pytest.raises(MissingTool, match=r"^--on ray: needs Ray.*: `make ray` .*battle-arena\[ray\]'\)$"),
        connect_cluster("ray", None),
    ):
        pass


def test_a_damaged_ray_is_told_apart_from_none(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ray.py").write_text("import raylib_that_is_gone\n")
    monkeypatch.delitem(sys.modules, "ray", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with (
        pytest.raises(
            MissingTool, match=r"cannot be imported \(No module named 'raylib_that_is_gone'\): .*--reinstall"
        ),
        connect_cluster("ray", None),
    ):
        pass


@pytest.fixture
def fake_ray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Ray's module, which does not connect: set `says` to the words of its error."""
    fake = SimpleNamespace(says="", is_initialized=lambda: False)

    def init(*arguments: Any, **options: Any) -> None:
        raise RuntimeError(fake.says)

    fake.init = init
    monkeypatch.setitem(sys.modules, "ray", fake)
    monkeypatch.setattr("os.environ", {"HOME": str(tmp_path)})
    return fake


@pytest.mark.parametrize(
    "address, line",
    [
        ("nobody.invalid:10001", r"host 'nobody.invalid' is not known here \(.*\): give the address"),
        ("127.0.0.1:0", r"port 0: must be between 1 and 65535"),
        ("127.0.0.1:65536", r"port 65536: must be between 1 and 65535"),
        (
            "127.0.0.1:{closed}",
            r"nothing listens there \(Connection refused\): .*--ray-client-server-port=\d+` has started$",
        ),
    ],
)
def test_an_address_without_an_answer_is_refused_before_ray_tries_it(
    fake_ray: SimpleNamespace, address: str, line: str
) -> None:
    with socket.socket() as unused:  # bound, not listening: nobody else takes the port
        unused.bind(("127.0.0.1", 0))
        on = f"ray://{address.format(closed=unused.getsockname()[1])}"
        with (
            pytest.raises(BadInput, match=f"^--on {on}: {line}"),
            connect_cluster(on, None, listen_seconds=0.2),
        ):
            pass


def test_a_head_that_has_just_started_may_listen_a_moment_later(fake_ray: SimpleNamespace) -> None:
    fake_ray.init = fake_ray.shutdown = lambda *arguments, **options: None
    started = threading.Event()
    with socket.socket() as head:
        head.bind(("127.0.0.1", 0))

        def listen() -> None:
            started.set()
            head.listen()

        threading.Timer(0.5, listen).start()
        with connect_cluster(f"ray://127.0.0.1:{head.getsockname()[1]}", None):
            assert started.is_set()


def test_the_address_of_a_job_is_tried_first_too(fake_ray: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:0")
    with (
        pytest.raises(BadInput, match=r"^--on ray with RAY_ADDRESS=127.0.0.1:0: port 0: "),
        connect_cluster("ray", None),
    ):
        pass


@pytest.mark.parametrize(
    "says, line",
    [
        (
            "Version mismatch: The cluster was started with:\n    Ray: 2.60.0\n    Python: 3.11.7\nThis process on Ray "
            "Client was started with:\n    Ray: 2.40.0\n    Python: 3.11.7\n",
            r"Version mismatch: .* Ray: 2.60.0 .* Ray: 2.40.0 .*: install the same versions of Python and Ray",
        ),
        (
            "ray client connection timeout",
            r"what listens there does not answer Ray's client: .*10001.*auth_token here$",
        ),
        (
            "Initialization failure from server:\nRuntimeError: Starting Ray client server failed. See some.err",
            r"the process that Ray starts for each client did not start in 3 attempts: .*GRPC_ENABLE_FORK_SUPPORT=0.*$",
        ),
        ("strange", r"no Ray cluster answers at ray://127.0.0.1:\d+: strange$"),
    ],
)
def test_an_answer_of_another_kind_is_one_line(fake_ray: SimpleNamespace, says: str, line: str) -> None:
    fake_ray.says = says
    said: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        on = f"ray://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(BadInput, match=f"^--on {on}: {line}") as refused, connect_cluster(on, None, said.append):
            pass
    assert "\n" not in str(refused.value)
    assert said[0] == f"Connecting to the Ray cluster at {on}…", "before a wait of seconds"
    assert len(said) == (3 if "3 attempts" in line else 1)


@pytest.mark.parametrize("says", ["Starting Ray client server failed.", "psutil.ZombieProcess: PID still exists"])
def test_a_client_for_which_ray_could_start_no_process_tries_again(fake_ray: SimpleNamespace, says: str) -> None:
    attempts: list[str] = []

    def init(address: str, **options: Any) -> None:
        attempts.append(address)
        if len(attempts) == 1:
            raise ConnectionAbortedError(says)

    fake_ray.init, fake_ray.shutdown = init, lambda: None
    said: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        on = f"ray://127.0.0.1:{server.getsockname()[1]}"
        with connect_cluster(on, 1, said.append) as cluster:
            assert isinstance(cluster, RayCluster)
    assert attempts == [on, on] and "trying again" in said[1]


def test_the_commands_check_it_before_they_record_a_run(arena: Any, tmp_path: Any) -> None:
    for command in ("evaluate", "match"):
        said = arena(command, "random", "heuristic:max-damage", "--on", "rays", "--db", tmp_path / "a.duckdb")
        assert said.code == 2 and "--on rays: give ray" in said.err
    assert not (tmp_path / "a.duckdb").exists()


@pytest.mark.parametrize("there", [True, False])
def test_a_token_that_ray_has_made_here_is_shown_to_a_cluster(
    fake_ray: SimpleNamespace, tmp_path: Path, there: bool
) -> None:
    (tmp_path / ".ray").mkdir()
    if there:
        (tmp_path / ".ray" / "auth_token").write_text("0" * 64)
    with pytest.raises(BadInput, match="port 0"), connect_cluster("ray://127.0.0.1:0", None):
        pass
    assert os.environ.get("RAY_AUTH_MODE") == ("token" if there else None)
