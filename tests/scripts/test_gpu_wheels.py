"""scripts/gpu/wheels.py: what a machine without a network lacks, and what that needs in turn, comes from a folder."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.scripts import script

WHEELS = script("gpu/wheels.py")
RUN = [sys.executable, WHEELS.__file__]


def wheel(folder: Path, name: str, *requires: str) -> None:
    """A wheel with one module, which holds its name."""
    about = [f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0"] + [f"Requires-Dist: {line}" for line in requires]
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as packed:
        packed.writestr(f"{name}.py", f"NAME = {name!r}\n")
        packed.writestr(f"{name}-1.0.dist-info/METADATA", "\n".join(about) + "\n")
        packed.writestr(f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr(f"{name}-1.0.dist-info/RECORD", "")


def test_what_is_needed_is_followed_through_extras_and_markers(tmp_path: Path) -> None:
    wheel(tmp_path, "outer", "inner[fast]>=1", "absent; python_version < '3.12'", "newer; python_version >= '3.12'")
    wheel(tmp_path, "inner", "quick; extra == 'fast'", "slow; extra == 'slow'")
    wheel(tmp_path, "quick")
    found = WHEELS.closure(["outer"], [lambda name: None, WHEELS.in_wheels(tmp_path)], "3.11")
    assert found == {"outer": 1, "inner": 1, "quick": 1, "absent": None}
    assert "newer" in WHEELS.closure(["outer"], [WHEELS.in_wheels(tmp_path)], "3.12")


def test_versions_are_those_of_the_constraints_for_the_other_python() -> None:
    ours, theirs = WHEELS.pinned(["contourpy", "numpy"], "3.11"), WHEELS.pinned(["contourpy", "numpy"], "3.12")
    lines = (WHEELS.PROJECT / "constraints.txt").read_text().splitlines()
    assert ours[0] != theirs[0]
    for name, marker in ((ours[0], "python_full_version < '3.12'"), (theirs[0], "python_full_version >= '3.12'")):
        assert f"{name} ; {marker}" in lines


def test_a_script_runs_with_what_only_the_folder_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "wheels"
    folder.mkdir()
    wheel(folder, "arena_test_outer", "arena_test_inner")
    wheel(folder, "arena_test_inner")
    shown = tmp_path / "shown.py"
    shown.write_text("import sys, arena_test_inner, arena_test_outer; print(arena_test_inner.NAME, sys.argv[1:])")
    out = tmp_path / "site-packages"
    monkeypatch.setattr(WHEELS, "wanted", lambda: ["arena_test_outer", "pytest"])
    assert WHEELS.missing(folder) == (["arena-test-inner", "arena-test-outer"], [])
    assert WHEELS.missing(None)[1] == ["arena-test-outer"]  # what it needs in turn is not known
    WHEELS.unpack(folder, ["arena-test-inner", "arena-test-outer"], out)
    done = subprocess.run(
        [sys.executable, str(shown), "--out", "x"], env={"PYTHONPATH": str(out)}, capture_output=True, text=True
    )
    assert done.stdout == "arena_test_inner ['--out', 'x']\n", done.stderr


def test_a_run_returns_the_scripts_exit_code(tmp_path: Path) -> None:
    wheel(tmp_path, "arena_test_alone")
    (tmp_path / "ends.py").write_text("import sys; sys.exit(int(sys.argv[1]))")
    done = subprocess.run([*RUN, "--wheels", str(tmp_path), "--run", str(tmp_path / "ends.py"), "7"])
    assert done.returncode == 7


@pytest.mark.parametrize(
    "arguments, line",
    [
        (["--wheels", "nowhere"], "--wheels nowhere: there is no such folder"),
        (["--run", "measure.py"], "--run needs --wheels FOLDER before it"),
    ],
)
def test_wrong_options_are_one_line(arguments: list[str], line: str, tmp_path: Path) -> None:
    done = subprocess.run([*RUN, *arguments], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2
    assert line in done.stderr.splitlines()[-1]


def test_a_file_that_is_no_wheel_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken-1.0-py3-none-any.whl").write_text("half a download")
    done = subprocess.run([*RUN, "--wheels", str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 1
    assert "broken-1.0-py3-none-any.whl is no wheel" in done.stderr
