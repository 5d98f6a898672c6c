"""The simulator is found in the right place, and `arena setup` installs it once and whole or not at all."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.command_line import PROJECT, Said

from teamsets import installing, showdown
from teamsets.errors import MissingTool

#: A stand-in for npm: it writes down each call, and makes what `npm ci` would make.
NPM = """#!/bin/sh
echo "$* $PWD" >> "$NPM_CALLS"
test -f package.json && test -f package-lock.json || exit 9
mkdir -p node_modules/pokemon-showdown/dist/sim
echo '{"version": "0.11.11"}' > node_modules/pokemon-showdown/package.json
touch node_modules/pokemon-showdown/dist/sim/index.js
"""


def _forget() -> None:
    for known in (showdown.node, showdown.node_version, showdown.package):
        known.cache_clear()


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No checkout and no variables: as from a wheel. `node` and `npm` are stand-ins."""
    monkeypatch.setattr(showdown, "PROJECT", tmp_path / "site-packages")
    for name in ("ARENA_SHOWDOWN", "ARENA_NODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NPM_CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    program(tmp_path, "node", "#!/bin/sh\necho v22.1.0\n")
    program(tmp_path, "npm", NPM)
    _forget()
    yield
    _forget()


def program(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    _forget()


def calls(tmp_path: Path) -> list[str]:
    return (tmp_path / "calls").read_text().splitlines() if (tmp_path / "calls").exists() else []


def made(folder: Path) -> Path:
    """A folder that passes for the npm package."""
    (folder / "dist" / "sim").mkdir(parents=True)
    (folder / "dist" / "sim" / "index.js").touch()
    return folder


def test_it_is_looked_for_in_the_variable_then_the_checkout_then_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(MissingTool, match=r"^pokemon-showdown: the simulator is not installed: run `arena setup`"):
        showdown.package()
    for folder in (showdown.cached(), showdown.PROJECT):
        place = made(folder / "node_modules" / "pokemon-showdown")
        _forget()
        assert showdown.package() == place
    monkeypatch.setenv("ARENA_SHOWDOWN", str(made(tmp_path / "mine")))
    _forget()
    assert showdown.package() == tmp_path / "mine"
    monkeypatch.setenv("ARENA_SHOWDOWN", str(tmp_path))
    _forget()
    with pytest.raises(MissingTool, match=f"not found in ARENA_SHOWDOWN={tmp_path}: name the folder"):
        showdown.package()


def test_set_up_installs_once(tmp_path: Path) -> None:
    said: list[str] = []
    folder = installing.install(said.append)
    assert folder == showdown.package() == showdown.cached() / "node_modules" / "pokemon-showdown"
    assert len(said) == 1 and "0.11.11" in said[0] and str(showdown.cached()) in said[0]
    assert len(calls(tmp_path)) == 1 and calls(tmp_path)[0].startswith(
        "ci --omit=optional --omit=dev --ignore-scripts "
    )
    assert installing.install(said.append) == folder
    assert len(said) == 1 and len(calls(tmp_path)) == 1


def test_the_command_says_what_it_did(arena: Callable[..., Said], tmp_path: Path) -> None:
    first, second = arena("setup"), arena("setup")
    assert (first.code, first.err, second.code, second.err) == (0, "", 0, "")
    assert "setup: installing pokemon-showdown 0.11.11 into " in first.out
    assert "is already installed; nothing to do" in second.out
    assert len(calls(tmp_path)) == 1


def test_another_lockfile_has_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = installing.install(lambda line: None)
    other = tmp_path / "pinned"
    shutil.copytree(showdown.PINNED, other)
    (other / "package-lock.json").write_text("{}")
    monkeypatch.setattr(showdown, "PINNED", other)
    _forget()
    assert installing.install(lambda line: None) != first
    assert showdown.is_package(first)


def test_half_an_installation_is_never_taken_for_one(tmp_path: Path) -> None:
    part = showdown.cached().with_name(
        f".{showdown.cached().name}.1a2b3c4d.partial"
    )  # of an installation that was killed
    made(part / "node_modules" / "pokemon-showdown")
    program(tmp_path, "npm", NPM + "echo npm error code EINTEGRITY >&2; echo npm error a sum differs >&2; exit 1\n")
    with pytest.raises(
        MissingTool, match=r"^npm ci failed \(code EINTEGRITY; a sum differs\): fix the problem, then run"
    ):
        installing.install(lambda line: None)
    assert not showdown.cached().exists() and not part.exists()
    with pytest.raises(MissingTool, match="run `arena setup`"):
        showdown.package()
    program(tmp_path, "npm", NPM)
    assert showdown.is_package(installing.install(lambda line: None))


def test_without_a_registry_one_line_says_so(tmp_path: Path) -> None:
    program(tmp_path, "npm", "#!/bin/sh\necho npm error code ENOTFOUND >&2\nexit 1\n")
    with pytest.raises(MissingTool, match=rf"^{installing.NOT_REACHED} \(npm ci: code ENOTFOUND\): check the network"):
        installing.install(lambda line: None)


def test_two_at_once_install_once(tmp_path: Path) -> None:
    """The second waits for the first, which holds its lock until a pipe has told it to go on."""
    os.mkfifo(tmp_path / "gate")
    program(tmp_path, "npm", NPM + f'read line < "{tmp_path / "gate"}"\n')
    line = (
        "from teamsets import installing, showdown\nfrom pathlib import Path\n"
        f"showdown.PROJECT = Path({str(tmp_path)!r})\ninstalling.install(print)"
    )
    both = [subprocess.Popen([sys.executable, "-c", line], cwd=PROJECT) for _ in range(2)]
    (tmp_path / "gate").write_text("go on\n")  # blocks until npm reads
    assert [process.wait(timeout=120) for process in both] == [0, 0]
    assert len(calls(tmp_path)) == 1


@pytest.mark.parametrize(
    ("node", "words"),
    [
        ("#!/bin/sh\necho v18.19.0\n", "node: v18.19.0 is too old: install Node.js 20 or newer"),
        ("#!/bin/sh\nexit 3\n", "printed no version: install Node.js 20"),
        ("#!/bin/sh\necho nonsense\n", "printed no version: install Node.js 20"),
        ("no program at all", "printed no version: install Node.js 20"),
    ],
)
def test_a_node_that_cannot_run_it_is_one_line(tmp_path: Path, node: str, words: str) -> None:
    program(tmp_path, "node", node)
    with pytest.raises(MissingTool, match=words):
        installing.install(lambda line: None)
    assert not calls(tmp_path)


def test_without_npm_one_line_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin" / "npm").unlink()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(MissingTool, match=r"^npm: not found beside node"):
        installing.install(lambda line: None)


def test_a_cache_that_cannot_be_written_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(MissingTool, match=r"is not writable: .*: make it writable, or set XDG_CACHE_HOME"):
        installing.install(lambda line: None)
