"""scripts/train_in_docker.sh on a stand-in for `docker`, which notes its calls: what it runs, keeps and cleans up."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from support.command_line import PROJECT, wait

#: Notes every call in $CALLS. `start` writes what a run would into the folder mounted as /training, and ends with $TRAIN;
#: with TRAIN=stopped it waits for `docker stop`. $FAILS: a command that fails.
DOCKER = """#!/bin/sh
echo "$*" >> "$CALLS"
case "$1" in
    build | create) [ "${FAILS:-}" != "$1" ] || { echo "docker: $1 failed" >&2; exit 125; } ;;
    info) [ "${FAILS:-}" != info ] || exit 1 ;;
    logs) [ -e "$CALLS.started" ] && echo "step 1" || exit 1 ;;
    stop) : > "$CALLS.stop" ;;
    start)
        mkdir -p "$OUT/runs/toy"
        echo weights > "$OUT/runs/toy/model"
        : > "$CALLS.started"
        [ "${TRAIN:-0}" = stopped ] || exit "${TRAIN:-0}"
        while [ ! -e "$CALLS.stop" ]; do sleep 0.05; done
        exit 130 ;;
esac
"""


def _heed_signals() -> None:
    """Undo what tests in the background of a shell inherit: a shell cannot trap a signal that it was started to ignore."""
    for each in (signal.SIGINT, signal.SIGHUP):
        signal.signal(each, signal.SIG_DFL)


class Place:
    """A folder with a configuration, data, and stand-ins on the PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.out, self.noted = folder, folder / "out", folder / "calls"
        (folder / "data").mkdir()
        (folder / "dpo.yaml").write_text("name: toy\n")
        (folder / "bin").mkdir()
        self.program("docker", DOCKER)
        self.program("nvidia-smi", "#!/bin/sh\nexit 9\n")

    def program(self, name: str, text: str) -> None:
        (self.folder / "bin" / name).write_text(text)
        (self.folder / "bin" / name).chmod(0o755)

    def start(self, *words: str, **environment: str) -> subprocess.Popen[str]:
        settings = ("GPUS", "IMAGE", "BASE", "TORCH_INDEX", "WANDB_API_KEY")
        inherited = {name: value for name, value in os.environ.items() if name not in settings}
        path = f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        told = {"PATH": path, "CALLS": str(self.noted), "OUT": str(self.out), **environment}
        return subprocess.Popen(
            ["sh", str(PROJECT / "scripts" / "train_in_docker.sh"), *(words or ("dpo.yaml", "data", "out"))],
            cwd=self.folder,
            env={**inherited, **told},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=_heed_signals,
        )

    def ended(self, *words: str, **environment: str) -> tuple[int, str]:
        """Exit code and stderr."""
        process = self.start(*words, **environment)
        err = process.communicate()[1]
        return process.returncode, err

    @property
    def calls(self) -> dict[str, str]:
        """The last call of each command of docker."""
        lines = self.noted.read_text().splitlines() if self.noted.exists() else []
        return {line.partition(" ")[0]: line for line in lines}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def is_clean(place: Place) -> bool:
    """No container of ours is left, and no folder that was made for the mount."""
    name = place.calls["create"].split("--name ")[1].split()[0]
    return place.calls.get("rm") == f"rm --force --volumes {name}" and not (place.out / "data").exists()


def test_it_builds_runs_and_leaves_results_and_log(place: Place) -> None:
    assert place.ended() == (0, "")
    create = place.calls["create"]
    assert place.calls["build"].startswith("build --tag battle-arena ") and place.calls["build"].endswith(" .")
    assert create.endswith("battle-arena base /config/dpo.yaml") and "--gpus" not in create
    for mount in (
        f"src={place.folder}/dpo.yaml,dst=/config/dpo.yaml,readonly",
        f"src={place.out},dst=/training",
        f"src={place.folder}/data,dst=/training/data,readonly",
    ):
        assert f"--mount type=bind,{mount} " in create
    assert "--user 0" not in create, "nobody is root in the container, whoever runs this"
    assert (place.out / "runs/toy/model").read_text() == "weights\n"
    assert (place.out / "container.log").read_text() == "step 1\n"
    assert is_clean(place)


def test_gpus_are_used_where_there_are_any(place: Place) -> None:
    place.program("nvidia-smi", "#!/bin/sh\necho 'GPU 0: H100'\n")
    place.ended("dpo.yaml", "data", "out", "online", "--set", "seed=3")
    assert place.calls["create"].endswith("--gpus all battle-arena online --set seed=3 /config/dpo.yaml")
    place.ended(GPUS="none")
    assert "--gpus" not in place.calls["create"]
    place.program("nvidia-smi", "#!/bin/sh\necho 'No devices were found'\n")
    place.ended()
    assert "--gpus" not in place.calls["create"]
    place.ended(GPUS="device=1", IMAGE="mine")
    assert "--gpus device=1 mine base" in place.calls["create"] and "--tag mine " in place.calls["build"]


def test_a_key_is_handed_over_by_name_only(place: Place) -> None:
    place.ended(WANDB_API_KEY="very-secret")
    assert "--env WANDB_API_KEY " in place.calls["create"] and "very-secret" not in place.noted.read_text()


def test_a_run_that_failed_leaves_what_it_made(place: Place) -> None:
    code, err = place.ended(TRAIN="7")
    assert code == 7 and err == f"train_in_docker: train ended with 7; what it made is in {place.out}\n"
    assert (place.out / "runs/toy/model").exists() and (place.out / "container.log").exists() and is_clean(place)


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_run_ends_its_step_and_leaves_what_it_made(place: Place, sent: signal.Signals, code: int) -> None:
    process = place.start(TRAIN="stopped")
    wait(Path(f"{place.noted}.started").exists)
    os.kill(process.pid, sent)
    _, err = process.communicate()
    assert process.returncode == code and f"stopping; what was made is in {place.out}" in err
    assert place.calls["stop"].startswith("stop -t 60 battle-arena-train-")
    assert (place.out / "runs/toy/model").exists() and is_clean(place)


@pytest.mark.parametrize("step", ["build", "create"])
def test_a_failed_step_of_docker_is_passed_on_and_an_earlier_log_stays(place: Place, step: str) -> None:
    place.out.mkdir()
    (place.out / "container.log").write_text("of yesterday\n")
    assert place.ended(FAILS=step) == (125, f"docker: {step} failed\n")
    assert "start" not in place.calls and not (place.out / "data").exists()
    assert [path.name for path in place.out.iterdir()] == ["container.log"]


def test_data_that_lies_in_the_results_stays(place: Place) -> None:
    (place.out / "data").mkdir(parents=True)
    place.ended()
    assert (place.out / "data").is_dir()


@pytest.mark.parametrize(
    ("words", "environment", "problem"),
    [
        (("dpo.yaml", "data"), {}, "train_in_docker: CONFIG, DATA and OUT are needed"),
        (("gone.yaml", "data", "out"), {}, "train_in_docker: CONFIG gone.yaml: is not a file"),
        (("dpo.yaml", "gone", "out"), {}, "train_in_docker: DATA gone: is not a folder"),
        (("dpo.yaml", "data", "dpo.yaml"), {}, "train_in_docker: OUT dpo.yaml: is a file"),
        (("dpo.yaml", "data", "a,b"), {}, "train_in_docker: a path has a comma"),
        (("dpo.yaml", "data", "out"), {"FAILS": "info"}, "docker: no Docker engine answers"),
        (("dpo.yaml", "data", "out"), {"TORCH_INDEX": "https://me:pw@host/"}, "docker: TORCH_INDEX has a user"),
        (("dpo.yaml", "data", "out"), {"TORCH_INDEX": "file:///index"}, "docker: TORCH_INDEX=file:///index: a folder"),
    ],
)
def test_bad_input_is_one_line(place: Place, words: tuple[str, ...], environment: dict[str, str], problem: str) -> None:
    code, err = place.ended(*words, **environment)
    assert code == 2 and err.startswith(problem) and err.count("\n") == 1
    assert "build" not in place.calls and "pw" not in err
