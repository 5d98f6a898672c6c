"""The battles of a stage: the learner's spec, its opponents, the team sets, and the numbers of battles."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agents import resolve
from agents.policy import checkpoint
from arena.fixture import digest
from arena.run.tournament import EvaluateSettings
from arena.schedules.plan import DRAWN
from arena.venue import Rules
from teamsets.errors import BadInput
from teamsets.formats import get_format
from training.experiments.curriculum.config import NEW, Curriculum, Stage
from training.experiments.curriculum.past_checkpoints import checkpoint_of, earlier, past_weights, with_temperature
from training.experiments.curriculum.stage import StageTeams
from training.offline.config import NetworkSettings
from training.runs.common_settings import decides_previews

#: The `kind` of a curriculum's runs in the store.
KIND = "curriculum"

Quotas = tuple[tuple[str, str, int], ...]


def pinned(reference: str) -> str:
    """Return the spec of a checkpoint with its step resolved. reference: for `checkpoint.find`. Raises BadInput."""
    folder = checkpoint.find(reference)
    if folder.parent == checkpoint.SHIPPED:
        return f"policy:{folder.name}"
    step = re.fullmatch(r"step-(\d+)", folder.name)
    if step and folder.parent.name == "checkpoints":
        return f"policy:{folder.parents[1]}@{int(step[1])}"
    return f"policy:{folder}"


def base_of(config: Curriculum) -> str:
    """Return the base, for `checkpoint.find`; a randomly initialized one is created if it does not exist."""
    if config.base == NEW:
        folder = checkpoint.folder_of(config.new_base, 0)
        if not folder.exists():
            from training.offline.learner import untrained  # torch is imported only if it is needed

            settings = NetworkSettings.model_validate({**config.training["network"], "start_from": ""})
            played = get_format(config.format)
            decides = decides_previews(settings.team_preview, played, None)
            checkpoint.save(folder, untrained(settings, seed_of(config, "base"), played.slots, decides), 0)
    return config.base_found


def path_of(spec: str) -> str:
    """Return the path in a policy's spec, for `checkpoint.find`."""
    return checkpoint_of(spec).removeprefix("policy:")


def learner_spec(parent: str, stage: Stage) -> str:
    """Return the spec under which the checkpoint `parent` plays in a stage."""
    spec = with_temperature(parent, stage.learner.temperature)
    if not stage.learner.expert:
        return spec
    from agents.coached import coached_spec

    return resolve(coached_spec(spec, stage.learner.expert)).spec


def specs(named: Sequence[str]) -> list[str]:
    """Return the canonical form of specs, as in the database."""
    return [resolve(each).spec for each in named]


def drawn_quotas(config: Curriculum, stage: Stage, number: int, parent: str, lineage: Sequence[str]) -> Quotas:
    """Return (opponent, team set, battles) of a stage, in whole pairs, by its weights.

    number: of the stage, from 1. parent: the learner's checkpoint. lineage: the kept checkpoints, the base first. Weights of
    past checkpoints use the battles stored so far.
    """
    against = {spec: each.weight for each in [*stage.opponents, *stage.coaches] for spec in specs([each.agent])}
    if stage.past.weight:
        met = earlier(stage.past, learner_spec(parent, stage), lineage)
        for spec, weight in (past_weights(config.db, stage.past, parent, met) if met else {}).items():
            against[spec] = against.get(spec, 0.0) + weight
    if not against:
        raise BadInput(
            f"stage {stage.name}: its only opponent is the learner itself, and both are deterministic: set a temperature"
        )
    on = {team_set(teams, number): teams.weight for teams in stage.teams} or {DRAWN: 1.0}
    keys = [(opponent, name) for opponent in against for name in on]
    pairs = apportioned([against[opponent] * on[name] for opponent, name in keys], (stage.battles + 1) // 2)
    return tuple((*key, 2 * count) for key, count in zip(keys, pairs, strict=True) if count)


def team_set(teams: StageTeams, number: int) -> str:
    """Return the team set's name in a stage; `variety:N` grows with the stage's number."""
    if teams.growth == 1:
        return teams.set
    name, _, size = teams.set.partition(":")
    return f"{name}:{round(int(size) * teams.growth ** (number - 1))}"


def apportioned(weights: Sequence[float], total: int) -> list[int]:
    """Divide `total` into integers in proportion to weights (largest remainder method; ties go to the first)."""
    exact = [total * weight / sum(weights) for weight in weights]
    counts = [int(share) for share in exact]
    for place in sorted(range(len(exact)), key=lambda i: counts[i] - exact[i])[: total - sum(counts)]:
        counts[place] += 1
    return counts


def play_settings(config: Curriculum, learner: str, quotas: Quotas, number: int, attempt: int) -> EvaluateSettings:
    """Return the run of an attempt's battles. Each attempt has its own seed."""
    opponents = tuple(dict.fromkeys(opponent for opponent, _, _ in quotas))
    return EvaluateSettings(
        agents=(learner, *opponents),
        formats=(config.format,),
        team_sets=tuple(dict.fromkeys(name for _, name, _ in quotas)),
        schedule="quotas",
        quotas=quotas,
        seed=seed_of(config, "play", number, attempt),
        rules=Rules(think_limit=config.think_limit),
        venue=config.venue,
        challengers=(learner,),
        anchor=learner,
        fresh=True,
    )


def seed_of(config: Curriculum, *parts: object) -> int:
    """Return the seed of a part of a curriculum."""
    return int(digest([config.seed, config.name, *map(str, parts)], 8), 16) & 0x7FFFFFFF
