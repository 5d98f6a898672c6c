"""Earlier checkpoints of the lineage as opponents: how often each is met, by how strong it has turned out to be."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agents import resolve
from agents.coached import coached_parts
from arena.ratings.bradley_terry import fit
from arena.ratings.evidence import make_evidence
from arena.ratings.pentanomial import elo_score
from arena.store import rows
from training.curriculum.stage import Past

#: Battles, half of them won, by which the fitted lead over an earlier self is drawn to nothing.
PRIOR_BATTLES = 8


def with_temperature(spec: str, temperature: float) -> str:
    """The spec of a checkpoint that draws its actions; 0 for the likeliest."""
    return resolve(f"{spec}?temperature={temperature:g}" if temperature else spec).spec


def checkpoint_of(spec: str) -> str:
    """The spec without its options; of a learner that was watched, the learner's."""
    parts = coached_parts(spec)
    return checkpoint_of(parts["learner"]) if parts else spec.partition("?")[0]


def earlier(past: Past, learner: str, lineage: Sequence[str]) -> list[str]:
    """The checkpoints that a learner can meet, of the kept ones, the base first. learner: the spec under which it plays.

    A copy of the learner is one, unless it would play under the very same spec. The base, which may have learned nothing,
    is one only where there is no other.
    """
    able = [each for each in lineage if with_temperature(each, past.temperature) != learner]
    return [each for each in able if each != lineage[0]] or able


def past_weights(db: Path, past: Past, parent: str, met: Sequence[str]) -> dict[str, float]:
    """Earlier selves as opponents -> their weights, which sum to `past.weight`.

    met: at least one checkpoint, the latest last. prioritised: (1 - p) ** power, the hardest most (prioritised fictitious
    self-play, Vinyals et al. 2019), p as `chances` has it.
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
    """The expected share of the points of a checkpoint against each other one; 1/2 against itself.

    From one Bradley-Terry fit of all stored battles, also those against the pool: a checkpoint that has never met another
    is compared through the opponents that both have met. A checkpoint's battles count with whatever options it played.
    PRIOR_BATTLES even ones against each are added, so few battles, or none, tell little.
    """
    stored = "SELECT agent, opponent, sum(score)::DOUBLE, count(score) FROM results WHERE agent < opponent GROUP BY ALL"
    battles = rows(stored, db) if db.exists() else []
    found = [
        (checkpoint_of(agent), checkpoint_of(opponent), won or 0.0, games) for agent, opponent, won, games in battles
    ]
    even = [(parent, each, PRIOR_BATTLES / 2, PRIOR_BATTLES) for each in {*others} - {parent}]
    pairs = [(*pair, "") for pair in [*found, *even] if pair[0] != pair[1]]
    evidence = make_evidence(pairs, [parent, *others])
    elo = dict(zip(evidence.agents, fit(*evidence.tables()), strict=True))
    return {each: elo_score(float(elo[parent] - elo[each])) for each in others}
