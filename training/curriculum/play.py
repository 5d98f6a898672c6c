"""A stage's battles: under which spec the learner plays, against whom, on which teams, how often."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agents import resolve
from agents.policy import checkpoint
from arena.fixture import digest
from arena.schedules.plan import DRAWN
from arena.tournament import EvaluateSettings
from arena.venue import Rules
from teamsets.errors import BadInput
from training.config import Network
from training.curriculum.config import NEW, Curriculum, Stage
from training.curriculum.selves import checkpoint_of, earlier, past_weights, with_temperature
from training.curriculum.stage import Teams

#: The `kind` of a curriculum's runs in the store.
KIND = "curriculum"

Quotas = tuple[tuple[str, str, int], ...]


def pinned(found: str) -> str:
    """The spec of a checkpoint (as `checkpoint.find` takes it) that means the same one for ever. Raises BadInput."""
    folder = checkpoint.find(found)
    if folder.parent == checkpoint.SHIPPED:
        return f"policy:{folder.name}"
    step = re.fullmatch(r"step-(\d+)", folder.name)
    if step and folder.parent.name == "checkpoints":
        return f"policy:{folder.parents[1]}@{int(step[1])}"
    return f"policy:{folder}"


def base_of(config: Curriculum) -> str:
    """The base as `checkpoint.find` takes it; one that has learned nothing is made now if it is not there yet."""
    if config.base == NEW:
        folder = checkpoint.folder_of(config.new_base, 0)
        if not folder.exists():
            from training.learner import untrained  # torch is not loaded where there is a base

            told = Network.model_validate({**config.training["network"], "start_from": ""})
            checkpoint.save(folder, untrained(told, seed_of(config, "base")), 0)
    return config.base_found


def path_of(spec: str) -> str:
    """What `checkpoint.find` takes, of a policy's spec."""
    return checkpoint_of(spec).removeprefix("policy:")


def learner_spec(parent: str, stage: Stage) -> str:
    """Under which spec the checkpoint `parent` plays in a stage."""
    spec = with_temperature(parent, stage.learner.temperature)
    if not stage.learner.expert:
        return spec
    from agents.coached import coached_spec

    return resolve(coached_spec(spec, stage.learner.expert)).spec


def specs(named: Sequence[str]) -> list[str]:
    """The same specs as the store knows them."""
    return [resolve(each).spec for each in named]


def drawn_quotas(config: Curriculum, stage: Stage, number: int, parent: str, lineage: Sequence[str]) -> Quotas:
    """(opponent, team set, battles) of a stage, in pairs, by its weights.

    number: the stage's, from 1. parent: the checkpoint that learns. lineage: the kept ones, the base first. How hard
    earlier selves are is what the store tells by now.
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


def team_set(teams: Teams, number: int) -> str:
    """The set's name in the stage of this number: `variety:N` grows."""
    if teams.growth == 1:
        return teams.set
    name, _, size = teams.set.partition(":")
    return f"{name}:{round(int(size) * teams.growth ** (number - 1))}"


def apportioned(weights: Sequence[float], total: int) -> list[int]:
    """Whole numbers in proportion to weights that sum to `total` (largest remainders; of equal ones the first)."""
    exact = [total * weight / sum(weights) for weight in weights]
    counts = [int(share) for share in exact]
    for place in sorted(range(len(exact)), key=lambda i: counts[i] - exact[i])[: total - sum(counts)]:
        counts[place] += 1
    return counts


def play_settings(config: Curriculum, learner: str, quotas: Quotas, number: int, attempt: int) -> EvaluateSettings:
    """The run of an attempt's battles. Every attempt draws teams and luck of its own."""
    opponents = tuple(dict.fromkeys(opponent for opponent, _, _ in quotas))
    return EvaluateSettings(
        agents=(learner, *opponents),
        formats=(config.format,),
        team_sets=tuple(dict.fromkeys(name for _, name, _ in quotas)),
        schedule="quotas",
        quotas=quotas,
        seed=seed_of(config, "play", number, attempt),
        rules=Rules(config.think_limit),
        challengers=(learner,),
        anchor=learner,
        fresh=True,
    )


def seed_of(config: Curriculum, *parts: object) -> int:
    """A seed for one part of a curriculum."""
    return int(digest([config.seed, config.name, *map(str, parts)], 8), 16) & 0x7FFFFFFF
