"""Settings are checked when they are made: one line that names the setting, its value and what is accepted."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import orjson
import pytest

from arena.options import EvaluateOptions, MatchOptions, checked, declared
from arena.ratings.sprt import SprtSettings
from arena.remote.ladder_run import LadderSettings
from arena.remote.lobby import Limits
from arena.remote.serve import ServeSettings
from arena.run import api
from arena.run.settings import evaluate_settings, run_settings
from arena.run.tournament import EvaluateSettings
from arena.validation import Settings
from arena.venue import Rules
from teamsets.errors import BadInput

TWO: dict[str, Any] = {"agents": ("a", "b")}
SERVED: dict[str, Any] = {"agents": ("a",), "formats": ("gen1ou",), "team_set": "competitive"}
LADDER: dict[str, Any] = {"server": "u", "agent": "a", "format": "gen1ou", "team_set": "competitive", "battles": 1}


@pytest.mark.parametrize(
    ("model", "values", "line"),
    [
        (EvaluateSettings, {}, "agents is missing"),
        (EvaluateSettings, {"agents": "random"}, "agents is 'random': must be a list"),
        (EvaluateSettings, {"agents": ("a", 3)}, "agents holds 3: each must be a text"),
        (EvaluateSettings, {**TWO, "battles": 0}, "battles is 0: must be at least 1 and at most 1000000"),
        (EvaluateSettings, {**TWO, "battles": "4"}, "battles is '4': must be a whole number"),
        (EvaluateSettings, {**TWO, "battles": True}, "battles is True: must be a whole number"),
        (EvaluateSettings, {**TWO, "budget": 1}, "budget is 1: must be at least 2 and at most 100000000"),
        (EvaluateSettings, {**TWO, "minutes": float("nan")}, "minutes is nan: must be more than 0 and at most 1000000"),
        (EvaluateSettings, {**TWO, "fresh": 1}, "fresh is 1: must be true or false"),
        (EvaluateSettings, {**TWO, "venue": "moon"}, "venue is 'moon': must be 'simulator', 'server' or 'engine'"),
        (Rules, {"max_turns": 1001}, "max_turns is 1001: must be at least 1 and at most 1000"),
        (Rules, {"think_limit": 0, "max_turns": 0}, "think_limit is 0: must be more than 0 and at most 86400; "
            "max_turns is 0: must be at least 1 and at most 1000"),
        (Rules, {"turns": 3}, "turns is not a setting: there are think_limit, max_turns"),
        (SprtSettings, {"elo0": "0"}, "elo0 is '0': must be a number"),
        (SprtSettings, {"model": "x"}, "--sprt model=x: must be normalized or logistic"),
        (Limits, {"visitor": 0}, "visitor is 0: must be at least 1"),
        (ServeSettings, {**SERVED, "port": 70000}, "port is 70000: must be at least 0 and at most 65535"),
        (LadderSettings, {**LADDER, "battles": 0}, "battles is 0: must be at least 1"),
    ],
)  # fmt: skip
def test_what_is_not_accepted_is_one_line(model: type[Settings], values: dict[str, Any], line: str) -> None:
    with pytest.raises(BadInput) as caught:
        model(**values)
    assert str(caught.value) == line


def test_options_are_checked_as_settings_are() -> None:
    given = checked(
        EvaluateOptions, {"battles": 1, "minutes": None, "seed": -3, "think_limit": 0.5, "format": "gen9ou"}
    )
    assert given == {"battles": 1, "seed": -3, "think_limit": 0.5, "format": ("gen9ou",)}
    assert checked(EvaluateOptions, {"verify_every": 0, "fresh": False, "challenger": ()}) == {"verify_every": 0}
    assert checked(EvaluateOptions, {"format": (name for name in ["gen9ou"]), "teams": ""}) == {
        "format": ("gen9ou",), "teams": ("",)  # an unset variable of a shell is no default
    }  # fmt: skip
    with pytest.raises(BadInput, match=r"^seed is 18446744073709551616: must be at least -9223372036854775808 and "):
        checked(EvaluateOptions, {"seed": 2**64})
    with pytest.raises(BadInput, match=r"^budget is not a setting: there are format, teams, "):
        checked(MatchOptions, {"budget": 10})
    with pytest.raises(BadInput, match=r"^venue is 'moon': must be 'simulator', 'server' or 'engine'"):
        checked(MatchOptions, {"venue": "moon"})


@pytest.mark.parametrize("kind", [str, Path])
def test_a_pool_file_is_named_by_a_text_or_a_path(tmp_path: Path, kind: type) -> None:
    file = tmp_path / "pool.toml"
    file.write_text('[evaluate]\nagents = ["random"]\nbattles = 6\n')
    names = (name for name in ["gen9ou"])  # options are read once
    settings, _ = evaluate_settings(("a", "b"), False, {"pool": kind(file), "format": names})
    assert (settings.battles, settings.formats) == (6, ("gen9ou",))


def test_every_option_reaches_the_settings_of_a_run() -> None:
    """What a command declares and no setting takes up would be without effect."""
    elsewhere = {"no_limit", "pool", "workers", "on"}  # read before a run has settings
    for name, option in declared(EvaluateOptions).items():
        if name in elsewhere:
            continue
        assert option.in_settings in {*EvaluateSettings.model_fields, *Rules.model_fields}, name
        value = {str: "x", bool: True, int: 7, float: 7.0}.get(option.type, ("a",) if option.several else "engine")
        settings = run_settings(("a", "b"), {name: value}).model_dump()
        assert {**settings, **settings["rules"]}[option.in_settings] == value, name


def test_python_shows_the_options_of_a_command_one_by_one() -> None:
    for function, options in ((api.evaluate, EvaluateOptions), (api.match, MatchOptions)):
        shown = inspect.signature(function).parameters
        assert declared(options).keys() <= shown.keys() and "options" not in shown
        assert shown["battles"].default is None, "the pool file's, or a match's own"
    assert shown["venue"].default == "simulator" and shown["isolate"].annotation is bool


def test_settings_come_back_from_the_json_that_a_run_keeps() -> None:
    whole = EvaluateSettings(
        agents=("a", "b"), schedule="quotas", quotas=(("b", "variety", 4),), minutes=3, sprt=SprtSettings(elo1=10),
        rules=Rules(think_limit=30), challengers=("a",), anchor="b",
    )  # fmt: skip
    kept = orjson.loads(orjson.dumps(whole.model_dump()))
    assert EvaluateSettings(**kept) == whole
    assert kept["rules"] == {"think_limit": 30.0, "max_turns": 1000}


def test_the_json_of_a_run_made_before_some_settings_existed_is_read() -> None:
    """As arena evaluate wrote it before schedules, sprt, venues and isolation."""
    kept = {
        "agents": ["random", "heuristic:max-power"], "formats": ["gen1ou"], "team_sets": ["competitive"], "battles": 2,
        "seed": 0, "rules": {"think_limit": 10, "max_turns": 1000}, "minutes": None, "anchor": "random", "sprt": None,
    }  # fmt: skip
    read = EvaluateSettings(**kept)  # type: ignore[arg-type]
    assert read.agents == ("random", "heuristic:max-power") and read.rules == Rules()
    assert (read.schedule, read.venue, read.isolate, read.quotas) == ("round-robin", "simulator", False, ())
    sprt = {"elo0": 0.0, "elo1": 30.0, "alpha": 0.05, "beta": 0.05, "model": "normalized"}
    assert EvaluateSettings(**{**kept, "sprt": sprt}).sprt == SprtSettings()  # type: ignore[arg-type]


def test_settings_cannot_be_changed_and_copies_can() -> None:
    rules = Rules()
    with pytest.raises(ValueError, match="frozen"):
        rules.max_turns = 3  # type: ignore[misc]
    assert rules.model_copy(update={"max_turns": 3}) == Rules(max_turns=3)
    assert len({Rules(), Rules(think_limit=10)}) == 1
