"""Converts settings that had another form in earlier versions, so that files and stored configurations stay readable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agents.policy.parameter_names import present_name

_WHO = ("learner", "coaches")


def run(settings: Any) -> Any:
    """Convert a training run's settings: `algorithm.only_won` applied to all datasets what `policy_from` does to each."""
    algorithm = settings.get("algorithm") if isinstance(settings, dict) else None
    if not isinstance(algorithm, dict) or "only_won" not in algorithm:
        return settings
    settings = settings | {"algorithm": {key: value for key, value in algorithm.items() if key != "only_won"}}
    data = settings.get("data")
    if algorithm["only_won"] and isinstance(data, dict) and isinstance(data.get("train"), list):
        settings["data"] = data | {"train": [_won(source) for source in data["train"]]}
    return settings


def _won(source: Any) -> Any:
    if not isinstance(source, dict) or source.get("policy_from", "all") != "all":
        return source
    return source | {"policy_from": "won"}


def learn_from(settings: Any) -> Any:
    """Convert a stage's `learn_from`: `learner: won` with `learner_weight` was a filter, also on the value's data."""
    if not isinstance(settings, dict):
        return settings
    settings = dict(settings)
    for who in _WHO:
        if isinstance(settings.get(who), str):
            settings[who] = sides(settings[who])
            if f"{who}_weight" in settings:
                settings[who]["weight"] = settings.pop(f"{who}_weight")
    return settings


def sides(which: str) -> dict[str, Any]:
    """Convert `won`, `all` or `none` to two settings; the value loss uses lost sides too, unless it is `none`."""
    return {"policy_from": which, "value_from": "none" if which == "none" else "all"}


def retry(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Convert a change in a stage's `retries`, by dotted key."""
    _, _, last = key.rpartition("learn_from.")
    if last in _WHO and isinstance(value, str):
        yield from ((f"{key}.{name}", part) for name, part in sides(value).items())
    elif last in [f"{who}_weight" for who in _WHO]:
        yield key.replace("_weight", ".weight"), value
    else:
        yield key, value


def notes(settings: Any) -> list[str]:
    """Return a line for each kind of setting in a file that has another form now."""
    found = _freeze_notes(settings)
    run_settings = settings.get("training", settings) if isinstance(settings, dict) else {}
    if isinstance(run_settings, dict) and "only_won" in (run_settings.get("algorithm") or {}):
        found.append("algorithm.only_won is now `policy_from: won` (or all) of each dataset of data.train")
    stages = settings.get("stages") if isinstance(settings, dict) else None
    if any(isinstance((stage.get("learn_from") or {}).get(who), str) for stage in stages or [] for who in _WHO):
        found.append(
            "stages.learn_from: `learner: won, learner_weight: 1` is now `learner: {policy_from: won, value_from: all, "
            "weight: 1}`, and `coaches` alike: the value learns from lost sides, too"
        )
    return found


def _freeze_notes(settings: Any) -> list[str]:
    """Return a line for each pattern of `network.freeze` with a parameter's former name."""
    run_settings = settings.get("training", settings) if isinstance(settings, dict) else None
    network = run_settings.get("network") if isinstance(run_settings, dict) else None
    patterns = network.get("freeze") if isinstance(network, dict) else None
    return [
        f"network.freeze: {pattern} is now {present_name(pattern)}"
        for pattern in (patterns if isinstance(patterns, list) else [])
        if isinstance(pattern, str) and present_name(pattern) != pattern
    ]
