"""Settings by the names and in the forms of before, as today's have them: files and stored configurations stay readable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agents.policy.parameter_names import present_name

_WHO = ("learner", "coaches")


def run(told: Any) -> Any:
    """A training run's settings. `algorithm.only_won` was for all datasets together what `policy_from` is for each."""
    algorithm = told.get("algorithm") if isinstance(told, dict) else None
    if not isinstance(algorithm, dict) or "only_won" not in algorithm:
        return told
    told = told | {"algorithm": {key: value for key, value in algorithm.items() if key != "only_won"}}
    data = told.get("data")
    if algorithm["only_won"] and isinstance(data, dict) and isinstance(data.get("train"), list):
        told["data"] = data | {"train": [_won(source) for source in data["train"]]}
    return told


def _won(source: Any) -> Any:
    if not isinstance(source, dict) or source.get("policy_from", "all") != "all":
        return source
    return source | {"policy_from": "won"}


def learn_from(told: Any) -> Any:
    """A stage's `learn_from`. `learner: won` with `learner_weight` was a filter, which kept lost sides from the value."""
    if not isinstance(told, dict):
        return told
    told = dict(told)
    for who in _WHO:
        if isinstance(told.get(who), str):
            told[who] = sides(told[who])
            if f"{who}_weight" in told:
                told[who]["weight"] = told.pop(f"{who}_weight")
    return told


def sides(which: str) -> dict[str, Any]:
    """`won`, `all` or `none` as two settings: the value learns from lost sides as well, unless there were none at all."""
    return {"policy_from": which, "value_from": "none" if which == "none" else "all"}


def retry(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """A change that a stage's `retries` name, by dotted key."""
    _, _, last = key.rpartition("learn_from.")
    if last in _WHO and isinstance(value, str):
        yield from ((f"{key}.{name}", part) for name, part in sides(value).items())
    elif last in [f"{who}_weight" for who in _WHO]:
        yield key.replace("_weight", ".weight"), value
    else:
        yield key, value


def notes(told: Any) -> list[str]:
    """One line for each kind of setting in a file that has another name or form by now."""
    found = _freeze_notes(told)
    settings = told.get("training", told) if isinstance(told, dict) else {}
    if isinstance(settings, dict) and "only_won" in (settings.get("algorithm") or {}):
        found.append("algorithm.only_won is now `policy_from: won` (or all) of each dataset of data.train")
    stages = told.get("stages") if isinstance(told, dict) else None
    if any(isinstance((stage.get("learn_from") or {}).get(who), str) for stage in stages or [] for who in _WHO):
        found.append(
            "stages.learn_from: `learner: won, learner_weight: 1` is now `learner: {policy_from: won, value_from: all, "
            "weight: 1}`, and `coaches` alike: the value learns from lost sides, too"
        )
    return found


def _freeze_notes(told: Any) -> list[str]:
    """One line for each pattern of `network.freeze` with a parameter's former name."""
    settings = told.get("training", told) if isinstance(told, dict) else None
    network = settings.get("network") if isinstance(settings, dict) else None
    patterns = network.get("freeze") if isinstance(network, dict) else None
    return [
        f"network.freeze: {pattern} is now {present_name(pattern)}"
        for pattern in (patterns if isinstance(patterns, list) else [])
        if isinstance(pattern, str) and present_name(pattern) != pattern
    ]
