"""Self-play against past checkpoints of the lineage: how often each is an opponent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agents import resolve
from agents.coached import coached_parts
from arena.ratings.bradley_terry import fit
from arena.ratings.evidence import make_evidence
from arena.ratings.pentanomial import elo_score
from arena.store import rows
from training.experiments.curriculum.stage import PastOpponents

#: Prior on the result against a past checkpoint: so many battles, half of them won.
PRIOR_BATTLES = 8


def with_temperature(spec: str, temperature: float) -> str:
    """Return the spec of a checkpoint with a temperature; 0: the most probable action."""
    return resolve(f"{spec}?temperature={temperature:g}" if temperature else spec).spec


def checkpoint_of(spec: str) -> str:
    """Return a spec without its options; for `coached`, that of the learner."""
    parts = coached_parts(spec)
    return checkpoint_of(parts["learner"]) if parts else spec.partition("?")[0]


def earlier(past: PastOpponents, learner: str, lineage: Sequence[str]) -> list[str]:
    """Return the past checkpoints that a learner can play, the base first. learner: its spec. lineage: kept checkpoints.

    They include the learner's own checkpoint, unless its spec would be the same. The base, which may be untrained, is used
    only if there is no other.
    """
    able = [each for each in lineage if with_temperature(each, past.temperature) != learner]
    return [each for each in able if each != lineage[0]] or able


def past_weights(db: Path, past: PastOpponents, parent: str, met: Sequence[str]) -> dict[str, float]:
    """Return spec -> weight of past checkpoints; the weights sum to `past.weight`.

    met: one or more checkpoints, the latest last. prioritised: (1 - p) ** power, with p of `chances` (prioritised fictitious
    self-play, Vinyals et al. 2019).
    """
    if past.sampling == "latest":
        weights = {met[-1]: 1.0}
    elif past.sampling == "uniform":
        weights = dict.fromkeys(met, 1.0)
    else:
        weights = {each: (1 - p) ** past.power for each, p in chances(db, parent, met).items()}
    total = sum(weights.values())
    return {with_temperature(each, past.temperature): past.weight * w / total for each, w in weights.items()}


def chances(db: Path, parent: str, others: Sequence[str]) -> dict[str, float]:
    """Return the expected score of a checkpoint against each other one; 1/2 against itself.

    From a Bradley-Terry fit of all stored battles, including those against the pool: checkpoints that have not played each
    other are compared through common opponents. Battles of a checkpoint with different options are combined. PRIOR_BATTLES
    even battles against each are added, which shrinks estimates from few battles towards 1/2.
    """
    stored = "SELECT agent, opponent, sum(score)::DOUBLE, count(score) FROM results WHERE agent < opponent GROUP BY ALL"
    battles = rows(stored, db) if db.exists() else []
    played = [
        (checkpoint_of(agent), checkpoint_of(opponent), won or 0.0, games) for agent, opponent, won, games in battles
    ]
    even = [(parent, each, PRIOR_BATTLES / 2, PRIOR_BATTLES) for each in {*others} - {parent}]
    pairs = [(*pair, "") for pair in [*played, *even] if pair[0] != pair[1]]
    evidence = make_evidence(pairs, [parent, *others])
    elo = dict(zip(evidence.agents, fit(*evidence.tables()), strict=True))
    return {each: elo_score(float(elo[parent] - elo[each])) for each in others}
