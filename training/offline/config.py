"""The configuration of a training run. Every setting is in its YAML file; none has a hidden default.

`train config PRESET > my.yaml` prints a complete file. A missing key, an unknown key or an invalid value is an error that
names it. The presets are in training/presets/; each can be used as it is.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator, SerializeAsAny, model_validator
from pydantic_core import PydanticCustomError

from training.data.targets import PolicyFrom, ValueFrom
from training.runs.common_settings import (
    CheckpointSettings,
    ComputeSettings,
    EvaluationSettings,
    LengthSettings,
    NetworkSize,
    RunConfig,
    TeamPreview,
    TrackingSettings,
)
from training.runs.config_reader import (
    BAD_TOGETHER,
    Section,
    algorithm_class,
    bad_name,
    is_of_language_model,
    settings_by_name,
)


class NetworkSettings(NetworkSize):
    """The network. start_from: initial checkpoint, which may have fewer layers; "": random initialization.

    freeze: patterns (as in fnmatch) of the names of frozen parameters. team_preview: whether it chooses its lead in singles,
    and learns to from the decisions at team previews in the data; auto: like the checkpoint that it starts from, and with
    random weights if the data has such decisions.
    """

    dropout: Annotated[float, Field(ge=0, lt=1)]
    start_from: str
    freeze: list[str]
    team_preview: TeamPreview = "auto"


class Source(Section):
    """A dataset and its sampling weight over trajectories.

    policy_from: sides that enter the policy loss; value_from: sides that enter the value loss. A value trained on won sides
    only predicts the player, not the position.
    """

    path: str
    weight: Annotated[float, Field(gt=0)]
    policy_from: PolicyFrom = "all"
    value_from: ValueFrom = "all"


class Data(Section):
    """The data. validate_on: validation datasets. batch_size: trajectories per step.

    max_length: maximum number of decisions of a trajectory; longer ones are truncated to a random window.
    """

    train: Annotated[list[Source], Field(min_length=1)]
    validate_on: list[str]
    batch_size: Annotated[int, Field(ge=1)]
    max_length: Annotated[int, Field(ge=1)]


class AlgorithmSettings(Section):
    """Settings of a learning algorithm. Algorithms of users subclass `training.offline.losses.Algorithm`.

    name: `cloning`, `offline-rl`, `dpo` or MODULE:CLASS.
    """

    name: str


class Cloning(AlgorithmSettings):
    """Behaviour cloning: training/offline/cloning.py.

    targets: `choices`, the actions played, or `target_policy`, an expert's target policy where there is one, and the actions
    played elsewhere (training/data/targets.py). target_sharpness: power of an expert's target policy; visit shares of a
    search are flatter than what it would play, so 2 to 4 suit them. expert_value_weight: weight of the win probability that
    the expert reported in the value target; the rest is the result.
    """

    name: Literal["cloning"]
    targets: Literal["choices", "target_policy"]
    target_sharpness: Annotated[float, Field(gt=0, le=100)] = 1.0
    expert_value_weight: Annotated[float, Field(ge=0, le=1)]
    value_weight: Annotated[float, Field(ge=0)]


class OfflineRL(AlgorithmSettings):
    """Offline RL: training/offline/offline_rl.py.

    td_lambda: λ of the value's target returns; 1: the result only. gae_lambda: λs of the advantage estimates that are
    averaged; []: `td_lambda` only. max_advantage_weight: maximum weight of a decision in the policy loss. normalize_weights:
    divide the weights by their mean. Files of earlier versions have neither `gae_lambda` nor `normalize_weights`.
    """

    name: Literal["offline-rl"]
    filter: Literal["binary", "exponential"]
    temperature: Annotated[float, Field(gt=0)]
    max_advantage_weight: Annotated[float, Field(gt=0)]
    td_lambda: Annotated[float, Field(ge=0, le=1)]
    gae_lambda: list[Annotated[float, Field(ge=0, le=1)]] = Field(default=[])
    normalize_weights: bool = False
    value_weight: Annotated[float, Field(ge=0)]


class DPO(AlgorithmSettings):
    """Direct preference optimisation on pairs of `train preferences build`: training/offline/dpo.py.

    loss: `sigmoid`, or a variant. beta: β. label_smoothing: the share of pairs that are taken to be the wrong way round, for
    `conservative` and `robust`. unit: `decision`: each pair for itself; `battle`: all pairs of one side of it together.
    length_normalized: with `battle`, their mean instead of their sum. value_weight: of the value's loss on the results.
    """

    name: Literal["dpo"]
    loss: Literal["sigmoid", "conservative", "robust", "ipo"]
    beta: Annotated[float, Field(gt=0)]
    label_smoothing: Annotated[float, Field(ge=0, lt=0.5)]
    unit: Literal["decision", "battle"]
    length_normalized: bool
    value_weight: Annotated[float, Field(ge=0)]

    @model_validator(mode="after")
    def _fits(self) -> DPO:
        smoothed = self.loss in ("conservative", "robust")
        if smoothed != (self.label_smoothing > 0):
            fix = "set it above 0" if smoothed else "use 0, or `loss: conservative` or `robust`"
            message = f"label_smoothing: {self.label_smoothing:g} has no meaning with `loss: {self.loss}`: {fix}"
            raise PydanticCustomError(BAD_TOGETHER, "{problem}", {"problem": message})
        if self.length_normalized and self.unit == "decision":
            message = "length_normalized: true has no effect on single decisions: use false, or `unit: battle`"
            raise PydanticCustomError(BAD_TOGETHER, "{problem}", {"problem": message})
        return self


_BUILT_IN: dict[str, type[AlgorithmSettings]] = {"cloning": Cloning, "offline-rl": OfflineRL, "dpo": DPO}


def _algorithm(given: Any) -> AlgorithmSettings:
    return settings_by_name(given, AlgorithmSettings, _algorithm_class)


def _algorithm_class(name: str) -> type[AlgorithmSettings]:
    if name in _BUILT_IN:
        return _BUILT_IN[name]
    algorithm = algorithm_class(name, _BUILT_IN, "docs/extend.md")
    if not (isinstance(algorithm, type) and issubclass(algorithm, AlgorithmSettings) and hasattr(algorithm, "loss")):
        raise bad_name(name, f"{name.partition(':')[2]} is no subclass of training.offline.losses.Algorithm")
    return algorithm


class ReferenceSettings(Section):
    """The KL penalty: training/offline/reference.py. checkpoint: of the reference policy; "": `network.start_from`.

    coefficient: of the KL in the loss; 0: off. target: KL in nats per decision that the coefficient is adapted to; 0: fixed
    coefficient.
    """

    checkpoint: str
    coefficient: Annotated[float, Field(ge=0)]
    target: Annotated[float, Field(ge=0)]


class OptimizerSettings(Section):
    """AdamW. schedule: of the learning rate after warm-up, which decays to `min_lr_ratio` of its peak."""

    learning_rate: Annotated[float, Field(gt=0)]
    schedule: Literal["constant", "linear", "cosine"]
    warmup_steps: Annotated[int, Field(ge=0)]
    min_lr_ratio: Annotated[float, Field(ge=0, le=1)]
    weight_decay: Annotated[float, Field(ge=0)]
    betas: tuple[float, float]
    max_grad_norm: Annotated[float, Field(gt=0)]


class Config(RunConfig):
    """A training run. out: its folder. seed: of the order of the data, the initial weights and dropout."""

    network: NetworkSettings
    data: Data
    algorithm: Annotated[SerializeAsAny[AlgorithmSettings], PlainValidator(_algorithm)]
    reference: ReferenceSettings
    optimizer: OptimizerSettings
    length: LengthSettings
    compute: ComputeSettings
    checkpoints: CheckpointSettings
    evaluation: EvaluationSettings
    tracking: TrackingSettings

    @model_validator(mode="before")
    @classmethod
    def _is_of_a_network(cls, settings: Any) -> Any:
        if is_of_language_model(settings):
            message = "is a configuration of `train llm-dpo`: accepted here are those of networks (`train config tiny`)"
            raise PydanticCustomError(BAD_TOGETHER, "{problem}", {"problem": message})
        return settings
