"""`arena agents setup metamon`: creates metamon's environment from its public source, or from a folder that has it."""

from __future__ import annotations

import os
import re
import shutil
import sysconfig
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agents.external.metamon import environment
from agents.external.processes import PIP, new_environment, run
from teamsets.errors import BadInput

#: Where metamon's source is, unless another place is given.
SOURCE = "https://github.com/UT-Austin-RPL/metamon"
_LOOK = (
    "import metamon; from metamon.rl.pretrained import get_pretrained_model_names as names; "
    "print(metamon.__version__, len(names()))"
)
_DOWNLOAD = (
    "import sys; from metamon.rl.pretrained import get_pretrained_model as get; m = get(sys.argv[1]); "
    "print(m.get_path_to_checkpoint(m.default_checkpoint))"
)


def set_up(source: str, replaced: Mapping[str, str], share_torch: bool, model: str, say: Callable[[str], None]) -> None:
    """Create metamon's environment, unless there is one, and download a model's weights.

    source: a folder with metamon, or the URL of its repository; "": SOURCE. replaced: of its dependencies that come from
    repositories (amago, poke-env), name -> a folder or a URL instead. share_torch: use the packages of the arena's own
    environment where metamon's versions allow. model: "": none. say: called with progress messages.

    Raises BadInput for a folder without metamon, and ArenaError if pip or a download fails.
    """
    home = environment.home()
    python = home / "environment" / "bin" / "python"
    if not python.exists():
        code = _source(source or SOURCE, home, say)
        needed = _requirements(code, replaced)
        say(f"creating its environment in {home} ...")
        with new_environment(python):
            _install(python, code, needed, replaced, share_torch)
    elif source or replaced:
        raise BadInput(f"metamon is installed in {home}: delete that folder to install it from another place")
    version, models = run([str(python), "-c", _LOOK], _variables()).split()[-2:]
    say(f"metamon {version} is ready, with the names of {models} models")
    if model:
        say(f"weights: {run([str(python), '-c', _DOWNLOAD, model], _variables()).split()[-1]}")


def _source(source: str, home: Path, say: Callable[[str], None]) -> Path:
    """Return the folder with metamon's code; a URL is cloned. Raises BadInput and ArenaError."""
    if "://" in source or source.startswith("git@"):
        code = home / "source"
        if not code.exists():
            say(f"cloning {source} ...")
            run(["git", "clone", "--quiet", "--depth", "1", source, str(code)])
    else:
        code = Path(source).expanduser().absolute()
    if not (code / "metamon" / "rl" / "pretrained.py").is_file() or not (code / "pyproject.toml").is_file():
        raise BadInput(
            f"{code}: has no metamon with pretrained models: give a checkout of {SOURCE}, of 2025-05 or later"
        )
    return code


def _requirements(code: Path, replaced: Mapping[str, str]) -> list[str]:
    """Return metamon's own requirements, without those that are replaced. Raises BadInput for names that it lacks."""
    project: dict[str, Any] = tomllib.loads((code / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    by_name = {re.split(r"[^\w.-]", line)[0].lower().replace("_", "-"): line for line in project["dependencies"]}
    for name in replaced:
        if name not in by_name and name != "amago":  # older versions do not list amago, which they need
            raise BadInput(f"--with {name}=…: metamon does not depend on it: it does on {', '.join(by_name)}")
    return [line for name, line in by_name.items() if name not in replaced]


def _install(python: Path, code: Path, needed: list[str], replaced: Mapping[str, str], share_torch: bool) -> None:
    """Fill a new environment. Nothing is written into the folders."""
    site = Path(run([str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).strip())
    if share_torch:
        (site / "arena_shared.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="arena-metamon-") as work:
        sources = []
        for name, place in replaced.items():
            if Path(place).is_dir():  # a build would write into it
                shutil.copytree(place, Path(work, name), ignore=shutil.ignore_patterns(".git"))
                place = str(Path(work, name))
            sources.append(place)
        if needed or sources:
            run([str(python), *PIP, *needed, *sources])
    # Its package data are read from its checkout: metamon is to be installed in place.
    (site / "metamon_checkout.pth").write_text(f"{code}\n", encoding="utf-8")


def _variables() -> dict[str, str]:
    environment.cache_dir().mkdir(parents=True, exist_ok=True)
    return {**os.environ, environment.CACHE_VARIABLE: str(environment.cache_dir())}
