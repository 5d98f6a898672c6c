"""metamon's pretrained models as agents: metamon's evaluator in its own environment, run as an external program."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from agents.external.contract import BattleAddress, Program, ProgramAgent
from agents.external.settings import VARIABLES, program_path
from teamsets.errors import BadInput

#: Models that `arena agents list` shows; all other model names of metamon work too.
LISTED = ("SyntheticRLV2", "Abra", "Kakuna")
_LAUNCH = Path(__file__).with_name("metamon_launch.py")
_CACHE = "METAMON_CACHE_DIR"
_GET = "github.com/UT-Austin-RPL/metamon describes how to install it in a separate environment"
_NAME_IT = f'name its Python in {VARIABLES["metamon"]}, or in arena.toml: [external] metamon = "ENVIRONMENT/bin/python"'
#: Tiers that its evaluator supports.
_TIERS = ("ubers", "ou", "uu", "nu")


class Metamon(ProgramAgent):
    """A model of metamon, played by metamon's evaluator in its own environment.

    Needs metamon installed, METAMON_CACHE_DIR set, and the model's weights in it, which its evaluator downloads from
    Hugging Face on its first start; `arena agents doctor metamon` shows what is missing.

    Options: checkpoint, instead of the model's default; temperature of its choices, 1.0; allowance, seconds per decision
    beyond the think limit, 20 (the first one loads kernels); start, seconds from its start to the battle, 300.
    """

    model: ClassVar[str] = ""

    def __init__(
        self, checkpoint: str = "", temperature: float = 1.0, allowance: float = 20.0, start: float = 300.0
    ) -> None:
        if checkpoint and not checkpoint.isdecimal():
            raise BadInput(f"metamon:{self.model}: checkpoint={checkpoint}: must be a number")
        self.checkpoint, self.temperature = checkpoint, temperature
        self.allowance, self.start_limit = allowance, start

    @classmethod
    def missing(cls, format_id: str | None = None, **options: Any) -> str:
        """Return what is missing of its environment, its cache folder and its weights."""
        place = program_path("metamon")
        if format_id is not None and _plays(format_id) is None:
            return f"it plays {', '.join(_TIERS)} of every generation: choose one of these"
        if place is None:
            return f"the Python of metamon's environment is not configured: {_GET}; {_NAME_IT}"
        if not (place.is_file() and os.access(place, os.X_OK)):
            return f"{place} is not a Python that can be started: {_NAME_IT}"
        if package(place) is None:
            return f"{place} has no metamon with an evaluator (metamon.rl.evaluate): {_GET}"
        folder = os.environ.get(_CACHE)
        if not folder:
            return f"{_CACHE} is not set: set it to the folder of metamon's weights and data"
        if next(Path(folder, "pretrained_models").rglob("*.pt"), None) is None:
            return (
                f"no weights in {folder}/pretrained_models: start its evaluator once with a network, e.g. "
                f"`{place} -m metamon.rl.evaluate --eval_type heuristic --agent {cls.model} --total_battles 1`"
            )
        return ""

    @classmethod
    def version(cls, **options: Any) -> str:
        """Return a hash of metamon's code and of our launcher."""
        place = program_path("metamon")
        folder = None if place is None or not place.is_file() else package(place)
        return "" if folder is None else _contents(folder) + hashlib.sha256(_LAUNCH.read_bytes()).hexdigest()

    def program(self, address: BattleAddress) -> Program:
        python = program_path("metamon")
        match = _plays(address.format)
        if python is None or match is None or address.team_file is None:
            raise BadInput(f"{self.name}: cannot play {address.format}: {self.missing(address.format)}")
        teams = address.folder / "teams" / address.format
        teams.mkdir(parents=True)
        (teams / f"team.{address.format}_team").write_bytes(address.team_file.read_bytes())
        options = ["--eval_type", "challenge", "--agent", self.model, "--gens", match[1], "--formats", match[2]]
        options += ["--username", address.user, "--opponent_username", address.opponent, "--total_battles", "1"]
        options += ["--role", "challenger" if address.role == "challenge" else "acceptor"]
        options += [
            "--temperature",
            str(self.temperature),
            *(["--checkpoints", self.checkpoint] if self.checkpoint else []),
        ]
        return Program(
            [str(python), "-u", str(_LAUNCH), address.uri, str(teams.parent), *options], folder=address.folder
        )


def _plays(format_id: str) -> re.Match[str] | None:
    """Match the generation and the tier of a supported format."""
    return re.fullmatch(rf"gen(\d)({'|'.join(_TIERS)})", format_id)


@cache
def model(name: str) -> type[Metamon]:
    """Return the agent class of a model of metamon."""
    if not re.fullmatch(r"\w+", name):
        raise BadInput(f"agent 'metamon:{name}': not a model name: use e.g. metamon:{LISTED[0]}")
    documentation = f"metamon's model {name}, " + (Metamon.__doc__ or "").partition(", ")[2]
    return type(name, (Metamon,), {"__doc__": documentation, "__module__": __name__, "model": name})


@cache
def package(python: Path) -> Path | None:
    """Return the folder of the package `metamon` in a Python environment, if it has the evaluator."""
    look = "import importlib.util as u; s = u.find_spec('metamon'); print(s.submodule_search_locations[0] if s else '')"
    try:
        out = subprocess.run([str(python), "-c", look], capture_output=True, text=True, timeout=60, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    folder = Path(out.strip() or "/nowhere")
    there = (folder / "rl" / "evaluate.py").is_file() or (folder / "rl" / "evaluate" / "__main__.py").is_file()
    return folder if there else None


@cache
def _contents(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.gin")]):
        digest.update(str(path.relative_to(folder)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


#: Name -> agent class, for the registry; "*" for models that are not listed.
MODELS: dict[str, Any] = {**{name: model(name) for name in LISTED}, "*": model}
