"""foul-play as an agent: the ladder bot by pmariglia, run as an external program.

Its checkout is not modified. Its files are in the folder `foul-play` of the cache folder: an environment with its pinned
requirements, a build of poke-engine for each generation, and a copy of its code with set data in its caches.
"""

from __future__ import annotations

import hashlib
import math
import shutil
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from agents.contract import OptionLimits
from agents.external import foul_play_sets
from agents.external.contract import BattleAddress, Program, ProgramAgent
from agents.external.settings import VARIABLES, program_path
from teamsets import cache as cache_folder
from teamsets.atomic import atomic_folder
from teamsets.builder import published
from teamsets.errors import BadInput, MissingTool
from teamsets.formats import get_format
from teamsets.locking import file_lock

#: Generation -> poke-engine's feature name.
FEATURES = {gen: f"gen{gen}" for gen in range(1, 9)} | {9: "terastallization"}
_LAUNCH, RESIDENT = (Path(__file__).with_name(name) for name in ("foul_play_launch.py", "foul_play_resident.py"))
_GET = "git clone https://github.com/pmariglia/foul-play"
_NAME_IT = f'name its folder in {VARIABLES["foul-play"]}, or in arena.toml: [external] foul-play = "FOLDER"'
# Not part of the program: caches that it fills itself, and teams.
_NOT_CODE = {"pkmn_sets_cache", "smogon_stats_cache", "local_data", "__pycache__"}


class FoulPlay(ProgramAgent):
    """foul-play, the search bot by pmariglia: the ladder bot with its own poke-engine, as an external program.

    It samples hidden information, searches each sample for `ms` milliseconds, and samples among the good choices. While
    little is revealed it searches twice as many samples, so a decision takes about 2 * ms plus overhead.

    Needs its checkout, Rust's cargo, and `arena agents setup foul-play`; `arena agents doctor foul-play` shows what is
    missing.

    Options: ms, milliseconds per sample, 100; parallelism, number of samples searched at once, each in a process, 1;
    threads, of each search, 1; allowance, seconds per decision beyond the think limit, 5; start, seconds from its start to
    the battle, 60.
    """

    option_limits: ClassVar[OptionLimits] = {
        **ProgramAgent.option_limits,
        **dict.fromkeys(("ms", "parallelism", "threads"), (1, math.inf)),
    }

    def __init__(
        self, ms: int = 100, parallelism: int = 1, threads: int = 1, allowance: float = 5.0, start: float = 60.0
    ) -> None:
        if problem := self.wrong_option(
            ms=ms, parallelism=parallelism, threads=threads, allowance=allowance, start=start
        ):
            raise BadInput(f"foul-play: {problem}")
        self.ms, self.parallelism, self.threads = ms, parallelism, threads
        self.allowance, self.start_limit = allowance, start

    @classmethod
    def missing(cls, format_id: str | None = None, **options: Any) -> str:
        """Return what is missing of the checkout, its environment and poke-engine's builds."""
        place = program_path("foul-play")
        if place is None:
            return f"the folder of foul-play is not configured: {_GET}, {_NAME_IT}, then `arena agents setup foul-play`"
        if not _is_checkout(place):
            return f"{place} is not a checkout of foul-play: {_GET}, {_NAME_IT}"
        home = Home(place)
        if format_id is None:
            return "" if home.built() else "it is not set up: run `arena agents setup foul-play`"
        chosen = get_format(format_id)
        if chosen.random:
            return "its sets for random battles are not installed: choose a format with teams"
        gen = chosen.gen
        if gen in home.built():
            return ""
        return f"it is not set up for generation {gen}: run `arena agents setup foul-play --gen {gen}`"

    @classmethod
    def version(cls, **options: Any) -> str:
        """Return a hash of the checkout and of our launcher."""
        place = program_path("foul-play")
        if place is None or not _is_checkout(place):
            return ""
        return contents(place) + hashlib.sha256(_LAUNCH.read_bytes()).hexdigest()

    def program(self, address: BattleAddress) -> Program:
        bot: dict[str, object] = {
            "websocket-uri": address.uri,
            "ps-username": address.user,
            "bot-mode": "challenge_user" if address.role == "challenge" else "accept_challenge",
            "user-to-challenge": address.opponent,
            "pokemon-format": address.format,
            **search_options(self.ms, self.parallelism, self.threads),
        }
        if address.team_file is not None:
            bot["team-name"] = address.team_file
        command = [*launcher_command(address.format), address.team or "", *command_line(bot)]
        return Program(command, folder=address.folder)


def search_options(ms: int, parallelism: int, threads: int) -> dict[str, object]:
    """Return foul-play's options of a search and of its output, without their dashes."""
    search = {"search-time-ms": ms, "search-parallelism": parallelism, "search-threads": threads}
    return {**search, "run-count": 1, "log-level": "INFO"}


def command_line(options: Mapping[str, object]) -> list[str]:
    """Return options of foul-play as words of its command line."""
    return [word for name, value in options.items() for word in (f"--{name}", str(value))]


def launcher_command(format_id: str, *, resident: bool = False) -> list[str]:
    """Return the command that starts foul-play for a format by our code. Raises MissingTool if there is no checkout.

    resident: it forks a process for each battle; otherwise it plays one, whose team and options follow the command.
    """
    checkout = program_path("foul-play")
    if checkout is None or not _is_checkout(checkout):
        raise MissingTool(f"foul-play: {FoulPlay.missing()}")
    home = Home(checkout)
    place = [str(home.prepared(format_id)), str(home.engine(get_format(format_id).gen))]
    return [str(home.python), "-u", str(RESIDENT if resident else _LAUNCH), *place]


class Home:
    """The cache folder of one checkout of foul-play."""

    def __init__(self, checkout: Path) -> None:
        self.checkout = checkout
        self.requirements = (checkout / "requirements.txt").read_text(encoding="utf-8")
        # The environment is shared by all checkouts with the same requirements.
        made_of = f"{self.requirements}{sys.version}"
        self.folder = cache_folder.folder() / "foul-play" / hashlib.sha256(made_of.encode()).hexdigest()[:12]
        self.python = self.folder / "environment" / "bin" / "python"

    def engine(self, gen: int) -> Path:
        """Return the folder of poke-engine for a generation, whether it exists or not."""
        return self.folder / f"gen{gen}"

    def built(self) -> list[int]:
        """Return the generations that can be played."""
        return [gen for gen in FEATURES if (self.engine(gen) / ".ready").is_file()] if self.python.exists() else []

    def prepared(self, format_id: str) -> Path:
        """Return a copy of the checkout's code with data for the format in its caches; created if necessary."""
        copy = self.folder / f"copy-{_made_of(self.checkout)}-{format_id}"
        if not copy.is_dir():
            with file_lock(self.folder / f".{copy.name}.lock"):
                if not copy.is_dir():  # another process may have created it meanwhile
                    self._copy_to(copy, format_id)
        return copy

    def _copy_to(self, copy: Path, format_id: str) -> None:
        with atomic_folder(copy) as work:
            shutil.copytree(self.checkout / "fp", work / "fp", ignore=lambda _, names: _NOT_CODE & set(names))
            foul_play_sets.write_sets(work / "fp" / "data", format_id)


def _is_checkout(folder: Path) -> bool:
    return (folder / "fp" / "run_battle.py").is_file() and (folder / "requirements.txt").is_file()


def _made_of(checkout: Path) -> str:
    """Return a hash of a copy's inputs: the checkout, and the data in its caches."""
    parts = (contents(checkout), Path(foul_play_sets.__file__).read_text(encoding="utf-8"), published.version())
    return hashlib.sha256("".join(parts).encode()).hexdigest()[:12]


@cache
def contents(checkout: Path) -> str:
    """Return a hash of the checkout's code, data and requirements in the working tree."""
    digest = hashlib.sha256((checkout / "requirements.txt").read_bytes())
    for path in sorted((checkout / "fp").rglob("*")):
        if path.suffix in (".py", ".json") and not _NOT_CODE & set(path.relative_to(checkout).parts):
            digest.update(str(path.relative_to(checkout)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
