"""The files that a training run needs on another machine, under the paths that its settings name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from arena.workers.cluster.payload import Payload, pack_files, required_files
from training.offline.config import Config
from training.online.config import AgentMember, CheckpointMember, OnlineConfig, roles
from training.runs.config_reader import BadConfig

Run = Config | OnlineConfig


def pack_run(config: Run) -> Payload:
    """Return a run's datasets, checkpoints, team sets and own code, and its folder as far as it was trained already.

    Raises BadConfig for a path that is not below the current folder: it would not mean the same on another machine.
    """
    files: dict[str, Path] = {}
    for setting, path in _folders(config):
        for file in sorted(file for file in path.rglob("*") if file.is_file()):
            files[_below(setting, file)] = file
    for setting, spec in _specs(config):
        for name, file in required_files(spec):
            if name.startswith(("absolute/", "above/")):
                raise _elsewhere(setting, file)
            files[name] = file
    _below("out", Path(config.out))
    return pack_files(files)


def _below(setting: str, path: Path) -> str:
    """The path as it is below the current folder."""
    normal = os.path.normpath(path)
    if os.path.isabs(normal) or normal.startswith(".."):
        raise _elsewhere(setting, path)
    return Path(normal).as_posix()


def _elsewhere(setting: str, path: Path) -> BadConfig:
    return BadConfig(
        f"{setting}: {path}: is not below the current folder, so it has no place on the machines of a cluster: move it, and "
        "give a relative path"
    )


def _folders(config: Run) -> Iterator[tuple[str, Path]]:
    """The setting and the path of each folder that travels."""
    yield "out", Path(config.out)
    if isinstance(config, Config):
        for source in config.data.train:
            yield "data.train", Path(source.path)
        for path in config.data.validate_on:
            yield "data.validate_on", Path(path)
    else:
        for name in [*(teams.set for teams in config.rollout.teams), *config.rollout.held_out]:
            if os.path.isdir(name):
                yield "rollout", Path(name)


def _specs(config: Run) -> Iterator[tuple[str, str]]:
    """The setting and the spec of each agent whose files travel; "policy:…" for a checkpoint."""
    if isinstance(config, Config):
        yield "network.start_from", f"policy:{config.network.start_from}"
    else:
        for name, role in roles(config).items():
            yield f"{name}.network.start_from", f"policy:{role.network.start_from}"
            for one in role.replacements:
                yield f"{name}.replacements", f"policy:{one.by}"
        for member in config.league.members:
            if isinstance(member, CheckpointMember):
                yield "league.members", f"policy:{member.checkpoint}"
            elif isinstance(member, AgentMember):
                yield "league.members", member.agent
    yield "reference.checkpoint", f"policy:{config.reference.checkpoint}"
    if ":" in config.algorithm.name:
        yield "algorithm.name", config.algorithm.name
