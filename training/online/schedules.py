"""Schedules: settings whose value is a function of the step, the number of iterations of online training so far.

In YAML a schedule is a mapping with its `kind` and every key of that kind:

    {kind: constant, value: 0.01}
    {kind: linear, start: 1.0, end: 0.1, steps: 500}
    {kind: cosine, start: 0.0003, end: 0.00003, steps: 500}
    {kind: exponential, start: 1.0, end: 0.05, half_life: 100}
    {kind: inverse, start: 0.0003, half_at: 200}
    {kind: piecewise, points: [[0, 0.0], [20, 0.0003], [500, 0.00003]]}

Warm-up is written with `piecewise`. Values are finite.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, field_validator
from pydantic_core import PydanticCustomError

from training.runs.config_reader import BadConfig, Section

_Value = Annotated[float, Field(allow_inf_nan=False)]
_Scale = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_Steps = Annotated[int, Field(ge=1)]


class Constant(Section):
    """`value` at every step."""

    kind: Literal["constant"]
    value: _Value

    def at(self, step: int) -> float:
        return self.value


class Linear(Section):
    """A straight line from `start` at step 0 to `end` at step `steps`, then `end`."""

    kind: Literal["linear"]
    start: _Value
    end: _Value
    steps: _Steps

    def at(self, step: int) -> float:
        return _between(self.start, self.end, min(1.0, step / self.steps))


class Cosine(Section):
    """Half a cosine wave from `start` at step 0 to `end` at step `steps`, then `end` (Loshchilov & Hutter 2017, eq. 5)."""

    kind: Literal["cosine"]
    start: _Value
    end: _Value
    steps: _Steps

    def at(self, step: int) -> float:
        progress = min(1.0, step / self.steps)
        return _between(self.start, self.end, (1 - math.cos(math.pi * progress)) / 2)


class Exponential(Section):
    """Decay from `start` towards `end`; the distance halves every `half_life` steps."""

    kind: Literal["exponential"]
    start: _Value
    end: _Value
    half_life: _Scale

    def at(self, step: int) -> float:
        return _between(self.start, self.end, 1 - 2.0 ** (-step / self.half_life))


class Inverse(Section):
    """start / (1 + step / half_at): half of `start` at step `half_at`."""

    kind: Literal["inverse"]
    start: _Value
    half_at: _Scale

    def at(self, step: int) -> float:
        return self.start / (1 + step / self.half_at)


class Piecewise(Section):
    """Straight lines between `points`, each [step, value]; constant before the first and after the last."""

    kind: Literal["piecewise"]
    points: Annotated[list[tuple[Annotated[int, Field(ge=0)], _Value]], Field(min_length=1)]

    @field_validator("points")
    @classmethod
    def _ascending(cls, points: list[tuple[int, float]]) -> list[tuple[int, float]]:
        if any(step >= after for (step, _), (after, _) in pairwise(points)):
            raise PydanticCustomError("ascending_steps", "must have strictly ascending steps")
        return points

    def at(self, step: int) -> float:
        after = bisect_right(self.points, step, key=lambda point: point[0])
        if after in (0, len(self.points)):
            return self.points[min(after, len(self.points) - 1)][1]
        (left, start), (right, end) = self.points[after - 1 : after + 1]
        return _between(start, end, (step - left) / (right - left))


def _between(start: float, end: float, progress: float) -> float:
    """Interpolate: exactly `start` at progress 0 and `end` at 1, and no overflow where both are finite."""
    return start * (1 - progress) + end * progress


def _kind(given: Any) -> str | None:
    """Return the kind of a schedule's settings, given as a mapping or as a model; None where there is none."""
    kind = given.get("kind") if isinstance(given, dict) else getattr(given, "kind", None)
    return kind if isinstance(kind, str) else None


#: The settings of a schedule of any kind, as the type of a field of a `Section`.
ScheduleSettings = Annotated[
    Annotated[Constant, Tag("constant")]
    | Annotated[Linear, Tag("linear")]
    | Annotated[Cosine, Tag("cosine")]
    | Annotated[Exponential, Tag("exponential")]
    | Annotated[Inverse, Tag("inverse")]
    | Annotated[Piecewise, Tag("piecewise")],
    Discriminator(
        _kind,
        custom_error_type="schedule_kind",
        custom_error_message=(
            "must be a schedule whose kind is constant, linear, cosine, exponential, inverse or piecewise"
        ),
    ),
]


class ParameterSchedule:
    """A schedule at its present step, which is part of a run's state. A new schedule is at step 0."""

    def __init__(self, settings: ScheduleSettings) -> None:
        self._settings = settings
        self._step = 0

    @property
    def value(self) -> float:
        """The value at the present step."""
        return self.at(self._step)

    def at(self, step: int) -> float:
        """Return the value at a step, from 0. Raises ValueError for a negative step."""
        if step < 0:
            raise ValueError(f"step {step}: must be at least 0")
        return self._settings.at(step)

    def advance(self, steps: int = 1) -> None:
        """Move the present step forward by `steps`. Raises ValueError if they are negative."""
        if steps < 0:
            raise ValueError(f"steps {steps}: must be at least 0")
        self._step += steps

    @property
    def state(self) -> dict[str, Any]:
        """The present step and the settings, as JSON values."""
        return {"step": self._step, "settings": self._settings.model_dump(mode="json")}

    def restore(self, state: dict[str, Any]) -> None:
        """Move to the step of a saved state. Raises BadConfig if it is that of a schedule with other settings."""
        settings = self._settings.model_dump(mode="json")
        if state.get("settings") != settings:
            raise BadConfig(
                f"schedule {settings}: the saved state has {state.get('settings')}: "
                "resume with the settings of the saved run, or start another run"
            )
        step = state.get("step")
        if not isinstance(step, int) or step < 0:
            raise BadConfig(f"schedule {settings}: the saved step is {step!r}: must be an integer of at least 0")
        self._step = step
