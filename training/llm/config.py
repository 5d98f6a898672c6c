"""The configuration of `train llm-dpo`. Every setting is in its YAML file; none has a hidden default."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from training.runs.common_settings import CheckpointSettings, LengthSettings, RunConfig, TrackingSettings
from training.runs.config_reader import BAD_TOGETHER, Section


class BaseModel(Section):
    """The model that is trained. path: a folder that transformers saved, or a hub's name. quantization: of its weights."""

    path: Annotated[str, Field(min_length=1)]
    quantization: Literal["auto", "4bit", "none"]


class Lora(Section):
    """The adapter (Hu et al. 2021). layers: patterns (as in fnmatch) of the names of linear layers; []: all."""

    rank: Annotated[int, Field(ge=1)]
    alpha: Annotated[float, Field(gt=0)]
    layers: list[str]


class Pairs(Section):
    """The pairs. pairs: folders of `train preferences build`. max_length: of prompt and answer, in tokens.

    held_out: whether the held-out pairs of the folders are measured.
    """

    pairs: Annotated[list[str], Field(min_length=1)]
    parts: Annotated[list[Literal["action", "plan"]], Field(min_length=1)]
    max_length: Annotated[int, Field(ge=8)]
    held_out: bool


class LlmAlgorithm(Section):
    """TRL's losses. label_smoothing: with `robust` only."""

    loss: Literal["sigmoid", "sigmoid_norm", "ipo", "robust"]
    beta: Annotated[float, Field(gt=0)]
    label_smoothing: Annotated[float, Field(ge=0, lt=0.5)]

    @model_validator(mode="after")
    def _fits(self) -> LlmAlgorithm:
        if (self.loss == "robust") != (self.label_smoothing > 0):
            fix = "set it above 0" if self.loss == "robust" else "use 0, or `loss: robust`"
            message = f"label_smoothing: {self.label_smoothing:g} has no meaning with `loss: {self.loss}`: {fix}"
            raise PydanticCustomError(BAD_TOGETHER, "{problem}", {"problem": message})
        return self


class LlmOptimizer(Section):
    """AdamW. schedule: of the learning rate after warm-up; linear and cosine end at 0."""

    learning_rate: Annotated[float, Field(gt=0)]
    schedule: Literal["constant", "linear", "cosine"]
    warmup_steps: Annotated[int, Field(ge=0)]
    weight_decay: Annotated[float, Field(ge=0)]
    max_grad_norm: Annotated[float, Field(gt=0)]


class LlmCompute(Section):
    """Devices. batch_size: pairs per micro-batch. precision: of weights and arithmetic."""

    batch_size: Annotated[int, Field(ge=1)]
    gradient_accumulation_steps: Annotated[int, Field(ge=1)]
    precision: Literal["auto", "fp32", "bf16", "fp16"]
    activation_checkpointing: bool
    threads: Annotated[int, Field(ge=0)]


class LlmConfig(RunConfig):
    """A run. out: its folder. seed: of the adapter's first weights and of the order of the data.

    output: what is in OUT/model.
    """

    model: BaseModel
    lora: Lora
    data: Pairs
    algorithm: LlmAlgorithm
    optimizer: LlmOptimizer
    length: LengthSettings
    compute: LlmCompute
    checkpoints: CheckpointSettings
    output: Literal["adapter", "merged"]
    tracking: TrackingSettings

    printed_by: ClassVar[str] = "train config llm-dpo"
