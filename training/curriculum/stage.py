"""The parts of a curriculum's stage: who plays whom on which teams, and what is learned from which sides of it."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from training import former
from training.config import PolicyFrom, Section, Source, ValueFrom

Weight = Annotated[float, Field(ge=0)]


class Learner(Section):
    """How the learner plays. temperature: 0 for its likeliest action.

    expert: an agent that is asked at each of the learner's decisions and whose answers are kept with them, as in DAgger; ""
    for none.
    """

    former_keys: ClassVar = {"watched_by": "expert"}
    temperature: Annotated[float, Field(ge=0)]
    expert: str


class Opponent(Section):
    """An agent, and its share of the stage's battles in parts of the sum of all weights."""

    agent: str
    weight: Annotated[float, Field(gt=0)]


class Past(Section):
    """Earlier checkpoints of the lineage as opponents. weight: of all together, 0 for none. temperature: theirs.

    sampling: the battles are shared out evenly, all go to the latest, or by (1 - p) ** power, p being the learner's
    expected share of the points against each by the battles so far (training/curriculum/selves.py).
    """

    weight: Weight
    sampling: Literal["uniform", "latest", "prioritised"]
    power: Annotated[float, Field(gt=0)]
    temperature: Annotated[float, Field(ge=0)]


class Teams(Section):
    """A team set and its share. growth: `variety:N` is N * growth ** (stage - 1) teams; 1 for other sets."""

    set: str
    weight: Annotated[float, Field(gt=0)]
    growth: Annotated[float, Field(ge=1)]


class Sides(Section):
    """Somebody's sides of a stage's battles. policy_from, value_from: as of a `Source`; both none: not learned from.

    weight: in the mixture, in trajectories, those from which the value alone learns included.
    """

    policy_from: PolicyFrom
    value_from: ValueFrom
    weight: Weight

    @property
    def used(self) -> bool:
        """Whether anything learns from them."""
        return (self.policy_from, self.value_from) != ("none", "none")


class LearnFrom(Section):
    """Which sides of which battles are learned from.

    learner: its own sides (with the answers of who watched); coaches: theirs. earlier: the weight of all datasets of kept
    stages before; also: datasets from elsewhere.
    """

    learner: Sides
    coaches: Sides
    earlier: Weight
    also: list[Source]

    _former = model_validator(mode="before")(former.learn_from)


class Quality(Section):
    """Which sides are left out of the data. min_decisions: shorter ones. drop_faulty: battles in which somebody failed."""

    former_keys: ClassVar = {"least_decisions": "min_decisions"}
    min_decisions: Annotated[int, Field(ge=1)]
    drop_faulty: bool
