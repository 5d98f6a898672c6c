"""Schedules against numbers worked out by hand, and the messages for invalid ones."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from training.online.schedules import ParameterSchedule, ScheduleSettings
from training.runs.config_reader import BadConfig, Section, validated


class Settings(Section):
    entropy: ScheduleSettings


def schedule(**settings: Any) -> ParameterSchedule:
    return ParameterSchedule(validated(Settings, {"entropy": settings}, "my.yaml").entropy)


SCHEDULES: dict[str, dict[str, Any]] = {
    "constant": {"value": 0.25},
    "linear": {"start": 1.0, "end": 0.2, "steps": 8},
    "cosine": {"start": 3.0, "end": 1.0, "steps": 6},
    "exponential": {"start": 9.0, "end": 1.0, "half_life": 2},
    "inverse": {"start": 6.0, "half_at": 4},
    "piecewise": {"points": [[2, 0.0], [4, 1.0], [14, 0.5]]},
}


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("constant", {0: 0.25, 7: 0.25}),
        ("linear", {0: 1.0, 2: 0.8, 4: 0.6, 8: 0.2, 100: 0.2}),
        ("cosine", {0: 3.0, 2: 2.5, 3: 2.0, 4: 1.5, 6: 1.0, 100: 1.0}),  # cos 60° = 1/2
        ("exponential", {0: 9.0, 1: 1 + 8 / math.sqrt(2), 2: 5.0, 4: 3.0, 6: 2.0, 100_000: 1.0}),
        ("inverse", {0: 6.0, 2: 4.0, 4: 3.0, 8: 2.0, 20: 1.0}),
        ("piecewise", {0: 0.0, 2: 0.0, 3: 0.5, 4: 1.0, 6: 0.9, 14: 0.5, 15: 0.5, 100: 0.5}),
    ],
)
def test_values_by_hand(kind: str, values: dict[int, float]) -> None:
    given = schedule(kind=kind, **SCHEDULES[kind])
    assert {step: given.at(step) for step in values} == pytest.approx(values)


def test_one_point_is_a_constant() -> None:
    given = schedule(kind="piecewise", points=[[5, 0.3]])
    assert [given.at(step) for step in (0, 5, 9)] == [0.3, 0.3, 0.3]


def test_values_stay_finite_between_the_largest_numbers() -> None:
    largest = 1.7e308
    given = schedule(kind="linear", start=largest, end=-largest, steps=4)
    assert [given.at(step) for step in (0, 2, 4)] == [largest, 0.0, -largest]
    assert schedule(kind="exponential", start=1.0, end=0.0, half_life=5e-324).at(1) == 0.0
    assert schedule(kind="inverse", start=1.0, half_at=5e-324).at(1) == 0.0


@pytest.mark.parametrize("kind", SCHEDULES)
def test_a_restored_schedule_continues(kind: str) -> None:
    given, resumed = (schedule(kind=kind, **SCHEDULES[kind]) for _ in range(2))
    assert given.value == given.at(0)
    given.advance()
    given.advance(2)
    assert given.value == given.at(3)
    resumed.restore(json.loads(json.dumps(given.state)))
    resumed.advance()
    assert resumed.value == given.at(4)
    assert resumed.state["step"] == 4


def test_state_of_other_settings_is_refused() -> None:
    given = schedule(kind="linear", start=1, end=0, steps=10)
    with pytest.raises(
        BadConfig, match=r"the saved state has .*'steps': 20.*: resume with the settings of the saved run"
    ):
        given.restore(schedule(kind="linear", start=1, end=0, steps=20).state)
    with pytest.raises(BadConfig, match=r"'linear'.*the saved state has .*'constant'"):
        given.restore(schedule(kind="constant", value=1).state)
    with pytest.raises(BadConfig, match=r"the saved step is -1"):
        given.restore({**given.state, "step": -1})


def test_negative_steps_are_refused() -> None:
    given = schedule(kind="constant", value=1)
    with pytest.raises(ValueError, match="step -1: must be at least 0"):
        given.at(-1)
    with pytest.raises(ValueError, match="steps -1: must be at least 0"):
        given.advance(-1)


@pytest.mark.parametrize("kind", SCHEDULES)
def test_a_missing_and_an_unknown_key_are_named(kind: str) -> None:
    for key in SCHEDULES[kind]:
        wrong = {"kind": kind, **SCHEDULES[kind], "speed": 1}
        del wrong[key]
        with pytest.raises(BadConfig) as caught:
            schedule(**wrong)
        assert str(caught.value) == (f"my.yaml: entropy.{key} is missing; entropy.speed is not a known setting")


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        ("constant", {"value": math.nan}, r"entropy.value: .*finite number, not nan"),
        ("linear", {"end": math.inf}, r"entropy.end: .*finite number, not inf"),
        ("linear", {"steps": 0}, r"entropy.steps: .*greater than or equal to 1, not 0"),
        ("cosine", {"steps": 1.5}, r"entropy.steps: .*integer.*, not 1.5"),
        ("exponential", {"half_life": 0}, r"entropy.half_life: .*greater than 0, not 0"),
        ("inverse", {"half_at": -2}, r"entropy.half_at: .*greater than 0, not -2"),
        ("piecewise", {"points": []}, r"entropy.points: .*at least 1 item.*, not \[\]"),
        ("piecewise", {"points": [[-1, 0.0]]}, r"entropy.points.0.0: .*greater than or equal to 0, not -1"),
        ("piecewise", {"points": [[0, math.nan]]}, r"entropy.points.0.1: .*finite number, not nan"),
        (
            "piecewise",
            {"points": [[3, 0.1], [3, 0.2]]},
            r"entropy.points: must have strictly ascending steps, not \[\[3, 0.1\], \[3, 0.2\]\]",
        ),
    ],
)
def test_a_senseless_value_is_named(kind: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(BadConfig, match=message):
        schedule(kind=kind, **{**SCHEDULES[kind], **changes})


@pytest.mark.parametrize("given", [0.01, {"value": 1}, {"kind": "cubic", "value": 1}, {"kind": ["linear"]}])
def test_what_is_no_schedule(given: Any) -> None:
    with pytest.raises(BadConfig) as caught:
        validated(Settings, {"entropy": given}, "my.yaml")
    assert str(caught.value) == (
        "my.yaml: entropy: must be a schedule whose kind is constant, linear, cosine, exponential, inverse or piecewise, "
        f"not {given!r}"
    )
