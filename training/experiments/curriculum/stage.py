"""The settings of a stage: learner, opponents, team sets, and the sides that are trained on."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from training.data.targets import PolicyFrom, ValueFrom
from training.offline.config import Source
from training.runs.config_reader import Section

Weight = Annotated[float, Field(ge=0)]


class Learner(Section):
    """The learner. temperature: 0: the most probable action.

    expert: an agent that labels each of the learner's decisions (DAgger); "": none.
    """

    temperature: Annotated[float, Field(ge=0)]
    expert: str


class Opponent(Section):
    """An opponent, and its weight in the stage's battles."""

    agent: str
    weight: Annotated[float, Field(gt=0)]


class PastOpponents(Section):
    """Past checkpoints of the lineage as opponents. weight: of all together; 0: none. temperature: of their play.

    sampling: uniform, the latest only, or prioritised by (1 - p) ** power, where p is the learner's expected score against
    each (training/experiments/curriculum/past_checkpoints.py).
    """

    weight: Weight
    sampling: Literal["uniform", "latest", "prioritised"]
    power: Annotated[float, Field(gt=0)]
    temperature: Annotated[float, Field(ge=0)]


class StageTeams(Section):
    """A team set and its weight. growth: `variety:N` has N * growth ** (stage - 1) teams; 1 for other sets."""

    set: str
    weight: Annotated[float, Field(gt=0)]
    growth: Annotated[float, Field(ge=1)]


class Sides(Section):
    """The sides of the learner or of the coaches. policy_from, value_from: as in `Source`; both none: not used.

    weight: sampling weight over trajectories, including those that only enter the value loss.
    """

    policy_from: PolicyFrom
    value_from: ValueFrom
    weight: Weight

    @property
    def used(self) -> bool:
        """Whether any loss uses them."""
        return (self.policy_from, self.value_from) != ("none", "none")


class LearnFrom(Section):
    """The training data.

    learner: the learner's sides (with the expert's labels); coaches: their sides. earlier: total weight of the datasets of
    earlier kept stages; also: further datasets.
    """

    learner: Sides
    coaches: Sides
    earlier: Weight
    also: list[Source]


class Quality(Section):
    """Filters. min_decisions: minimum length of a side. drop_faulty: leave out battles that ended by a fault."""

    min_decisions: Annotated[int, Field(ge=1)]
    drop_faulty: bool
