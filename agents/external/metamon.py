"""metamon's pretrained models as agents: its own evaluator, in its own environment, as a separate program."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from agents.external.contract import Place, Program, ProgramAgent
from agents.external.settings import VARIABLES, place_of
from teamsets.errors import BadInput

#: The models that `arena agents list` shows; any other name of metamon's is taken as well.
LISTED = ("SyntheticRLV2", "Abra", "Kakuna")
_LAUNCH = Path(__file__).with_name("metamon_launch.py")
_CACHE = "METAMON_CACHE_DIR"
_GET = "github.com/UT-Austin-RPL/metamon describes how to install it in a separate environment"
_NAME_IT = f'name its Python in {VARIABLES["metamon"]}, or in arena.toml: [external] metamon = "ENVIRONMENT/bin/python"'
#: The tiers that its evaluator plays.
_TIERS = ("ubers", "ou", "uu", "nu")


class Metamon(ProgramAgent):
    """A model of metamon's, played by metamon's own evaluator in metamon's own environment.

    Needs metamon installed, METAMON_CACHE_DIR set, and the model's weights in it, which its evaluator fetches from
    Hugging Face when it is first started; `arena agents doctor metamon` says what lacks.

    Options: checkpoint, another than the model's own; temperature of its choices, 1.0; allowance, the seconds for a decision
    beyond the think limit, 20 (the first one loads kernels); start, the seconds from its start to the battle, 300.
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
        """What of its environment, its cache folder and its weights is not there."""
        place = place_of("metamon")
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
        """The code of metamon and of our launcher."""
        place = place_of("metamon")
        folder = None if place is None or not place.is_file() else package(place)
        return "" if folder is None else _contents(folder) + hashlib.sha256(_LAUNCH.read_bytes()).hexdigest()

    def program(self, place: Place) -> Program:
        python = place_of("metamon")
        found = _plays(place.format)
        if python is None or found is None or place.team_file is None:
            raise BadInput(f"{self.name}: cannot play {place.format}: {self.missing(place.format)}")
        teams = place.folder / "teams" / place.format
        teams.mkdir(parents=True)
        (teams / f"team.{place.format}_team").write_bytes(place.team_file.read_bytes())
        words = ["--eval_type", "challenge", "--agent", self.model, "--gens", found[1], "--formats", found[2]]
        words += ["--username", place.user, "--opponent_username", place.opponent, "--total_battles", "1"]
        words += ["--role", "challenger" if place.role == "challenge" else "acceptor"]
        words += [
            "--temperature",
            str(self.temperature),
            *(["--checkpoints", self.checkpoint] if self.checkpoint else []),
        ]
        return Program([str(python), "-u", str(_LAUNCH), place.uri, str(teams.parent), *words], folder=place.folder)


def _plays(format_id: str) -> re.Match[str] | None:
    """Generation and tier of a format that it plays."""
    return re.fullmatch(rf"gen(\d)({'|'.join(_TIERS)})", format_id)


@cache
def model(name: str) -> type[Metamon]:
    """The agent of one of metamon's models."""
    if not re.fullmatch(r"\w+", name):
        raise BadInput(f"agent 'metamon:{name}': not a model name: use e.g. metamon:{LISTED[0]}")
    words = f"metamon's model {name}, " + (Metamon.__doc__ or "").partition(", ")[2]
    return type(name, (Metamon,), {"__doc__": words, "__module__": __name__, "model": name})


@cache
def package(python: Path) -> Path | None:
    """The folder of the package `metamon` in a Python's environment, if its evaluator is there."""
    look = "import importlib.util as u; s = u.find_spec('metamon'); print(s.submodule_search_locations[0] if s else '')"
    try:
        told = subprocess.run([str(python), "-c", look], capture_output=True, text=True, timeout=60, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    folder = Path(told.strip() or "/nowhere")
    there = (folder / "rl" / "evaluate.py").is_file() or (folder / "rl" / "evaluate" / "__main__.py").is_file()
    return folder if there else None


@cache
def _contents(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.gin")]):
        digest.update(str(path.relative_to(folder)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


#: Name -> class, as the registry takes it; "*" makes those that are not listed.
MODELS: dict[str, Any] = {**{name: model(name) for name in LISTED}, "*": model}
