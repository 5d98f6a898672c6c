"""`make training` says what will come before it comes, and takes torch from where it is asked to.

Set-up runs on stand-ins for uv, node and npm, which write down what they are asked to do.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.command_line import PROJECT

CALLS = '#!/bin/sh\necho "$(basename "$0") $*" >> "$CALLS"\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that holds what set-up reads, with an environment that has pip but no torch."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "setup.sh").write_bytes((PROJECT / "scripts" / "setup.sh").read_bytes())
    for name in ("pyproject.toml", "constraints.txt", "package-lock.json"):
        (tmp_path / name).write_bytes((PROJECT / name).read_bytes())
    # -S: without the packages of the environment that runs the tests, of which torch may be one.
    python = f'#!/bin/sh\ncase "$*" in *"import pip"*) exit 0 ;; esac\nexec {sys.executable} -S "$@"\n'
    for name, text in {
        ".venv/bin/python": python,
        ".venv/bin/uv": CALLS + 'exit "${UV_EXIT:-0}"\n',
        "bin/node": "#!/bin/sh\nexit 0\n",
        "bin/npm": CALLS + "mkdir -p node_modules/pokemon-showdown\n",
        "bin/nvidia-smi": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755 if text else 0o644)
    return tmp_path


def set_up(project: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    path = f"{project / 'bin'}{os.pathsep}{os.environ['PATH']}"
    inherited = {name: value for name, value in os.environ.items() if name != "TORCH_INDEX"}
    return subprocess.run(
        ["sh", str(project / "scripts" / "setup.sh"), *words],
        env={**inherited, "PATH": path, "PYTHON": sys.executable, "CALLS": str(project / "calls"), **environment},
        capture_output=True,
        text=True,
    )


def calls(project: Path) -> list[str]:
    """What the stand-ins were asked since the last look."""
    made = (project / "calls").read_text().splitlines() if (project / "calls").exists() else []
    (project / "calls").unlink(missing_ok=True)
    return made


def test_what_training_brings_is_said_before_it_comes(project: Path) -> None:
    done = set_up(project, "dev", "training", UV_EXIT="1")  # ends at the first installation
    assert "2.8 GB to download and 4.6 GB on disk" in done.stdout
    assert len(calls(project)) == 1
    assert "TORCH_INDEX=URL make training" in done.stdout, "there is no GPU here"
    (project / "bin" / "nvidia-smi").chmod(0o755)
    assert "TORCH_INDEX" not in set_up(project, "dev", "training").stdout
    assert "torch" not in set_up(project, "dev").stdout


def test_torch_comes_from_the_index_that_is_named(project: Path) -> None:
    done = set_up(project, "dev", "training", TORCH_INDEX="file:///an/index")
    assert done.returncode == 0, done.stderr
    assert "taken from file:///an/index" in done.stdout and "GB" not in done.stdout
    torch, rest = [call for call in calls(project) if call.startswith("uv")]
    assert "--no-deps --default-index file:///an/index" in torch and torch.endswith(" torch")
    assert "index" not in rest and rest.endswith("-e .[dev,training,envs-examples]")


def test_the_index_is_remembered(project: Path) -> None:
    set_up(project, "dev", "training", TORCH_INDEX="file:///an/index")
    calls(project)
    for words in (("dev",), ("training",)):  # `make test`, `make training`
        assert (set_up(project, *words).stdout, calls(project)) == ("", [])
    other = set_up(project, "dev", "training", TORCH_INDEX="file:///another")
    assert other.returncode == 0 and "--default-index file:///another --reinstall-package torch" in calls(project)[0]


@pytest.mark.parametrize("extra", ["ray", "docs"])
def test_an_extra_is_installed_where_it_is_asked_for_and_stays(project: Path, extra: str) -> None:
    for words, extras in ((("dev",), "dev"), ((extra,), f"dev,{extra}")):
        assert set_up(project, *words).returncode == 0
        assert calls(project)[0].endswith(f" -e .[{extras}]")
    assert (set_up(project, "dev").stdout, calls(project)) == ("", [])


def test_an_index_without_torch_is_one_line(project: Path) -> None:
    done = set_up(project, "dev", "training", TORCH_INDEX="file:///nowhere", UV_EXIT="1")
    assert done.returncode == 2
    assert done.stderr.startswith("setup: torch could not be installed from TORCH_INDEX=file:///nowhere ")
    assert done.stderr.count("\n") == 1
    assert not (project / ".venv" / ".ready").exists() and not (project / ".venv" / ".torch-index").exists()


def test_an_index_does_not_concern_who_needs_no_torch(project: Path) -> None:
    assert set_up(project, "dev", TORCH_INDEX="file:///an/index").returncode == 0
    assert not [call for call in calls(project) if "index" in call]


def npm_calls(project: Path) -> int:
    return sum(call.startswith("npm ci") for call in calls(project))


def test_npm_ci_deletes_nothing_that_a_running_command_uses_unless_the_lock_has_changed(project: Path) -> None:
    assert set_up(project, "dev").returncode == 0
    assert npm_calls(project) == 1
    assert set_up(project, "dev", "ray").returncode == 0, "another extra: Python's packages only"
    assert npm_calls(project) == 0
    lock = project / "package-lock.json"
    lock.write_text(lock.read_text() + "\n")
    assert set_up(project, "dev").returncode == 0
    assert npm_calls(project) == 1


def test_npms_error_is_shown(project: Path) -> None:
    (project / "bin" / "npm").write_text(
        "#!/bin/sh\necho 'npm error code EJSONPARSE' >&2\necho 'npm error x' >&2\nexit 1\n"
    )
    done = set_up(project, "dev")
    assert done.returncode == 2
    assert done.stderr.splitlines()[:2] == ["npm error code EJSONPARSE", "npm error x"]
    assert done.stderr.splitlines()[2].startswith("setup: npm ci failed (npm's error is above)")


def test_logs_of_the_doctor_are_no_part_of_the_repository() -> None:
    assert "/doctor-logs/" in (PROJECT / ".gitignore").read_text().splitlines()
