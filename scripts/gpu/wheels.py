"""What `measure.py` needs on a machine without a network, as a folder of wheels.

    python scripts/gpu/wheels.py                                  # what is missing here, a requirement a line
    python scripts/gpu/wheels.py --download wheels --python 3.12 --there torch numba accelerate transformers peft
    python scripts/gpu/wheels.py --wheels wheels --run scripts/gpu/measure.py --out gpu     # on the machine with the GPU

Wanted is what the project, its `training` and its `llm` name in pyproject.toml, with all that these depend on, in the
versions of constraints.txt. --download gets it with pip where there is a network, from an environment that has all of it
(`make llm`). --there names what the other machine has: that, and what it depends on, is left out. --run installs what is
missing there into a temporary folder, for one Python script alone. It needs pip and packaging. Exits with 1 if something
is missing.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Iterable
from email.parser import Parser
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

from packaging.markers import Environment, default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = Path(__file__).parents[2]
#: Platforms whose wheels pip takes; it compares them literally.
PLATFORMS = [f"manylinux_2_{minor}_x86_64" for minor in range(39, 16, -1)] + [
    "manylinux2014_x86_64",
    "manylinux1_x86_64",
]
#: The version of Python that runs this.
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
#: A distribution's own requirements; None if it is not there.
Requires = Callable[[str], list[str] | None]


def wanted() -> list[str]:
    """What pyproject.toml asks for: the project's own dependencies, those of `training`, and those of `llm`."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    return [
        *project["dependencies"],
        *project["optional-dependencies"]["training"],
        *project["optional-dependencies"]["llm"],
    ]


def installed(name: str) -> list[str] | None:
    """The requirements of a distribution that Python has here."""
    try:
        return metadata(name).get_all("Requires-Dist") or []
    except PackageNotFoundError:
        return None


def in_wheels(folder: Path) -> Requires:
    """Looks distributions up among the wheels of a folder. Raises SystemExit for a file that is no wheel."""
    found: dict[str, list[str]] = {}
    for wheel in sorted(folder.glob("*.whl")):
        try:
            with zipfile.ZipFile(wheel) as packed:
                (name,) = [name for name in packed.namelist() if name.endswith(".dist-info/METADATA")]
                about = Parser().parsestr(packed.read(name).decode())
        except (zipfile.BadZipFile, ValueError) as error:
            raise SystemExit(f"wheels: {wheel} is no wheel ({error}): download it again") from None
        found[canonicalize_name(about["Name"])] = about.get_all("Requires-Dist") or []
    return lambda name: found.get(canonicalize_name(name))


def closure(roots: Iterable[str], sources: list[Requires], python: str) -> dict[str, int | None]:
    """Everything that requirements depend on, by name, with the index of the first source that has it; None: no source has.

    python: the version for which markers hold, "3.12". What no source has can't say what it needs itself.
    """
    about = environment_of(python)
    found: dict[str, int | None] = {}
    followed: set[tuple[str, str]] = set()
    waiting = [(Requirement(root), "") for root in roots]
    while waiting:
        requirement, extra = waiting.pop()
        name = canonicalize_name(requirement.name)
        if requirement.marker is not None and not requirement.marker.evaluate({**about, "extra": extra}):
            continue
        if name not in found:
            found[name] = next((n for n, source in enumerate(sources) if source(name) is not None), None)
        source = found[name]
        for own in {"", *requirement.extras}:
            if source is not None and (name, own) not in followed:
                followed.add((name, own))
                waiting += [(Requirement(line), own) for line in sources[source](name) or []]
    return found


def missing(folder: Path | None) -> tuple[list[str], list[str]]:
    """Names of what is not installed here: what the wheels of a folder have, and what they do not have either."""
    sources = [installed] if folder is None else [installed, in_wheels(folder)]
    found = closure(wanted(), sources, HERE)
    in_folder = sorted(name for name, source in found.items() if source == 1)
    return in_folder, sorted(name for name, source in found.items() if source is None)


def unpack(folder: Path, names: list[str], target: Path) -> None:
    """Installs some of a folder's wheels into an empty folder for PYTHONPATH. Raises SystemExit if pip fails."""
    chosen = {canonicalize_name(name) for name in names}
    files = [str(wheel) for wheel in folder.glob("*.whl") if canonicalize_name(wheel.name.partition("-")[0]) in chosen]
    if not files:
        return
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
        "--no-compile",
        "--no-cache-dir",
    ]
    done = subprocess.run([*pip, "--target", str(target), *files], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"wheels: pip could not install those of {folder}: {done.stderr.strip().splitlines()[-1]}")


def environment_of(python: str) -> Environment:
    """What markers are evaluated for: this system, with a version of Python, "3.12"."""
    return {**default_environment(), "python_version": python, "python_full_version": f"{python}.0"}


def pinned(names: Iterable[str], python: str) -> list[str]:
    """Requirements in the versions that constraints.txt has for a version of Python: `name==version`."""
    lines = [Requirement(line) for line in (PROJECT / "constraints.txt").read_text().splitlines() if line.strip()]
    about = environment_of(python)
    versions = {
        canonicalize_name(line.name): str(line.specifier)
        for line in lines
        if line.marker is None or line.marker.evaluate({**about, "extra": ""})
    }
    return [f"{name}{versions.get(name, '')}" for name in sorted(names)]


def download(folder: Path, python: str, there: list[str]) -> int:
    """Gets what `there` lacks into a folder, with pip. Returns pip's exit code."""
    present = closure(there, [installed], python)
    names = [name for name in closure(wanted(), [installed], python) if name not in present]
    options = ["--no-deps", "--only-binary=:all:", "--python-version", python, "--implementation", "cp"]
    for platform in PLATFORMS:
        options += ["--platform", platform]
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--dest",
        str(folder),
        *options,
        *pinned(names, python),
    ]
    code = subprocess.run(command, check=False).returncode
    if code == 0:
        size = sum(wheel.stat().st_size for wheel in folder.glob("*.whl"))
        print(f"{folder}: {len(names)} wheels for Python {python}, {size / 1e6:.0f} MB")
    return code


def run(command: list[str], folder: Path) -> int:
    """Runs a Python script with what is missing here, from a folder of wheels. Returns its exit code."""
    from_folder, lacking = missing(folder)
    if lacking:
        print(
            f"neither installed nor in {folder}: {' '.join(pinned(lacking, HERE))}: what needs them fails", flush=True
        )
    with tempfile.TemporaryDirectory() as work:
        # In a folder of another name dill, with which datasets hashes, takes packages for a user's own code.
        site = Path(work) / "site-packages"
        unpack(folder, from_folder, site)
        paths = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        return subprocess.run([sys.executable, *command], env=environment, check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--download", type=Path, metavar="FOLDER", help="get the wheels, where there is a network")
    parser.add_argument("--python", default="3.12", help="version of the other machine's Python (default: %(default)s)")
    parser.add_argument("--there", nargs="*", default=[], metavar="PACKAGE", help="what the other machine has")
    parser.add_argument("--wheels", type=Path, metavar="FOLDER", help="what they have is not missing")
    parser.add_argument("--run", nargs=argparse.REMAINDER, metavar="SCRIPT", help="a script to run with --wheels")
    options = parser.parse_args()
    if options.wheels and not options.wheels.is_dir():
        parser.error(
            f"--wheels {options.wheels}: there is no such folder: --download fills one, where there is a network"
        )
    if options.run and not options.wheels:
        parser.error("--run needs --wheels FOLDER before it; without wheels run the script itself")
    if options.download:
        return download(options.download, options.python, options.there)
    if options.run:
        return run(options.run, options.wheels)
    lacking = missing(options.wheels)[1]
    print("\n".join(pinned(lacking, HERE)) if lacking else "nothing is missing")
    return int(bool(lacking))


if __name__ == "__main__":
    sys.exit(main())
