"""What the packages import is declared in pyproject.toml, and what is declared is imported."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
from support.command_line import PROJECT

PACKAGES = ("teamsets", "agents", "arena", "training")
#: Modules that are called otherwise than their distribution; pydantic pins pydantic-core, Numba llvmlite.
DISTRIBUTIONS = {"yaml": "pyyaml", "pydantic_core": "pydantic", "llvmlite": "numba"}
#: Needed and never imported by name: DuckDB imports pytz, of localsets only the data is read, and an example in
#: docs/environments.md is what uses sb3-contrib, transformers imports bitsandbytes, torch tensorboard and onnxscript.
NOT_IMPORTED = {"pytz", "localsets", "sb3-contrib", "bitsandbytes", "tensorboard", "onnxscript"}
#: Imported where it is installed: `make search` builds it once per generation.
BUILT = {"poke-engine"}
#: They run in the environments of other people's programs.
PROGRAMS = {
    "agents/external/foul_play_launch.py",
    "agents/external/foul_play_resident.py",
    *(
        f"agents/external/metamon/inside/{name}.py"
        for name in ("attention", "loading", "memory", "resident", "seats", "start")
    ),
}


def imported(source: str) -> set[str]:
    """The distributions of the modules that a file imports, anywhere in it, without Python's own and ours."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return {DISTRIBUTIONS.get(name, name.replace("_", "-")) for name in names - sys.stdlib_module_names - {*PACKAGES}}


#: The extras whose libraries are imported somewhere.
EXTRAS = ("training", "envs-examples", "dashboard", "ray", "llm", "hub", "tensorboard", "onnx", "alpha-rank", "sweep")


def declared(project: dict[str, object]) -> tuple[set[str], set[str]]:
    """The names of the dependencies, and those of EXTRAS, all of which `make training` installs."""

    def named(requirements: Iterable[str]) -> set[str]:
        return {re.split(r"[^\w.-]", line)[0].lower() for line in requirements}

    extras = project["optional-dependencies"]
    assert isinstance(extras, dict) and isinstance(project["dependencies"], list)
    return named(project["dependencies"]), named(line for extra in EXTRAS for line in extras[extra])


def by_file() -> dict[str, set[str]]:
    paths = [path for package in PACKAGES for path in (PROJECT / package).rglob("*.py")]
    found = {str(path.relative_to(PROJECT)): imported(path.read_text(encoding="utf-8")) for path in paths}
    return {name: distributions for name, distributions in found.items() if name not in PROGRAMS}


@pytest.fixture(scope="module")
def needed() -> tuple[set[str], set[str]]:
    return declared(tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"])


@pytest.mark.slow
def test_every_import_is_declared(needed: tuple[set[str], set[str]]) -> None:
    always, training = needed
    missing = {name: rest for name, found in by_file().items() if (rest := found - always - training - BUILT)}
    assert not missing, "declare them in pyproject.toml"


@pytest.mark.slow
def test_every_dependency_is_imported(needed: tuple[set[str], set[str]]) -> None:
    always, training = needed
    assert (always | training) - set().union(*by_file().values()) == NOT_IMPORTED


def test_every_dependency_has_a_pinned_version_that_its_bound_allows() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pins = dict(re.findall(r"^([\w.-]+)==([\w.+]+)", (PROJECT / "constraints.txt").read_text(encoding="utf-8"), re.M))
    extras = project["optional-dependencies"]
    for line in [*project["dependencies"], *(line for extra in EXTRAS for line in extras[extra])]:
        name, _, bound = re.split(r"(>=|==)", line.partition(",")[0])
        pinned = pins[name.partition("[")[0].lower()]
        assert numbers(pinned) >= numbers(bound), f"{line}: constraints.txt has {pinned}"


def numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import websockets.asyncio.client as c", {"websockets"}),
        ("def f():\n    from poke_env.data import GenData", {"poke-env"}),
        ("import os, yaml\nfrom . import a\nfrom arena import cli", {"pyyaml"}),
    ],
)
def test_an_import_is_found_wherever_it_stands(source: str, found: set[str]) -> None:
    assert imported(source) == found


def test_a_dependency_is_read_with_and_without_a_bound() -> None:
    extras = {"training": ["d==2"], "envs-examples": ["e"], "dashboard": [], "ray": ["f[g]>=1"], "llm": []}
    extras |= {"alpha-rank": [], "hub": [], "tensorboard": [], "onnx": [], "sweep": []}
    project: dict[str, object] = {"dependencies": ["A-b>=1,<2", "c"], "optional-dependencies": extras}
    assert declared(project) == ({"a-b", "c"}, {"d", "e", "f"})


def test_the_launchers_of_other_people_s_programs_are_there() -> None:
    assert all(Path(PROJECT, name).is_file() for name in PROGRAMS)
