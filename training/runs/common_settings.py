"""Sections that configurations of several kinds share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from agents.policy import checkpoint
from agents.policy.shape import Shape, Size, resized
from teamsets.errors import BadInput
from teamsets.formats import Format
from training.runs.config_reader import BAD_TOGETHER, Section

#: Of a network: whether it chooses its lead at the team preview of singles.
TeamPreview = bool | Literal["auto"]


def decides_previews(setting: TeamPreview, played: Format, source: Path | None) -> bool:
    """Return whether a network of a run in a format chooses its lead: in doubles it always does, by no setting.

    source: the checkpoint that it starts from; None: random weights. Raises BadInput.
    """
    if setting == "auto":
        setting = played.team_preview if source is None else checkpoint.read(source).decides_previews
    return setting and not played.doubles


class NetworkSize(Section):
    """The sizes of a network. preset: of agents/policy/shape.py. sizes: what differs from it: {layers: 4}."""

    preset: Literal["micro", "tiny", "small", "medium", "large"]
    sizes: dict[Size, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)

    @property
    def shape(self) -> Shape:
        """The preset's shape with these sizes, for singles."""
        return resized(self.preset, self.sizes)

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        try:
            resized(self.preset, self.sizes)
        except BadInput as error:
            raise PydanticCustomError(
                BAD_TOGETHER, "{problem}", {"problem": str(error).replace("network shape", "sizes")}
            ) from None
        return self


class RunConfig(Section):
    """The configuration of a training run of any kind. out: its folder."""

    name: str
    out: str
    seed: int


class LengthSettings(Section):
    """The length of the run. epochs: over the trajectories of all datasets together. max_steps: 0: no limit."""

    epochs: Annotated[float, Field(gt=0)]
    max_steps: Annotated[int, Field(ge=0)]


class ComputeSettings(Section):
    """Devices. gradient_accumulation_steps: micro-batches per batch. threads: of torch on a CPU; 0: torch's default.

    sharding: of parameters, gradients and optimizer state over the processes of a run; none: every process has all of them.
    collective_timeout: seconds after which a rank that others wait for is named, and the run ends. Files of earlier versions
    have neither.
    """

    precision: Literal["fp32", "bf16", "fp16"]
    gradient_accumulation_steps: Annotated[int, Field(ge=1)]
    activation_checkpointing: bool
    sharding: Literal["none", "fsdp2"] = "none"
    collective_timeout: Annotated[float, Field(gt=0)] = 600.0
    threads: Annotated[int, Field(ge=0)]


class CheckpointSettings(Section):
    """Checkpoints. every: interval in steps. keep: number of latest checkpoints that are kept; the best is kept too."""

    every: Annotated[int, Field(ge=1)]
    keep: Annotated[int, Field(ge=1)]


class EvaluationBattles(Section):
    """Battles that measure a checkpoint. battles: against each opponent, in each format and on each team set.

    venue: showdown: any agents and formats, and every battle is stored in `database`; engine: gen1ou, gen1randombattle and
    gen9ou, against networks, `array:` players and random, in this process, of which only scores are kept; in gen9ou also
    against other agents, which act one at a time. Files of earlier versions do not have it. workers: processes for
    battles on Showdown.
    """

    venue: Literal["engine", "showdown"] = "showdown"
    opponents: list[str]
    formats: list[str]
    teams: list[str]
    battles: Annotated[int, Field(ge=2)]
    seed: int
    workers: Annotated[int, Field(ge=1)]
    database: str


class EvaluationSettings(EvaluationBattles):
    """Battles of the current checkpoint against a fixed pool. every: interval in steps; 0: never.

    best_by: how the best checkpoint is selected: by these battles (the rating; on the engine the score), or by the policy
    loss on `data.validate_on`.
    """

    every: Annotated[int, Field(ge=0)]
    best_by: Literal["rating", "validation"]


class TrackingSettings(Section):
    """Metrics. wandb: auto is online if an API key is set, else offline. every: interval in steps.

    tensorboard: also as event files in the run's folder `tensorboard`. Files of earlier versions do not have it.
    """

    wandb: Literal["auto", "online", "offline", "disabled"]
    project: str
    tensorboard: bool = False
    every: Annotated[int, Field(ge=1)]
