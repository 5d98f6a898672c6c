"""Settings of a run: the user's options merged with the pool file's; for the commands and for Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents.braces import expand_all
from arena.options import EvaluateOptions, MatchOptions, OneBattleOptions, checked, declared, default
from arena.ratings.sprt import SprtSettings
from arena.run.pool import load_defaults
from arena.run.tournament import EvaluateSettings
from arena.venue import Rules
from teamsets.errors import BadInput
from teamsets.formats import split_series

#: Maximum number of battles on each team set for a sequential test.
MOST_BATTLES = 20_000
#: Battles on each team set for a match without a test.
MATCH_BATTLES = 100


def evaluate_settings(
    agents: tuple[str, ...], everyone: bool, given: EvaluateOptions
) -> tuple[EvaluateSettings, tuple[str, ...]]:
    """The settings of `arena evaluate`, and one line for each agent of the pool that cannot play.

    everyone: add the whole pool. What is not given is as the pool file has it. Braces in specs are expanded
    (agents/braces.py). Raises BadInput.
    """
    options = _with_series(checked(EvaluateOptions, given))
    agents = expand_all(agents)
    if "challenger" in options:
        options["challenger"] = expand_all(options["challenger"])
    if not agents and not everyone:
        raise BadInput("agents: none given: name agents, or use --all for the pool; `arena agents list` shows them")
    if "battles" in options and "budget" in options:
        raise BadInput(
            f"--battles {options['battles']} --budget {options['budget']}: give only one: --battles is per pairing, "
            "--budget the total"
        )
    pool = load_defaults(options.get("pool"))
    defaults = pool.options()
    if {"battles", "budget", "minutes"} & options.keys():
        defaults.pop("budget", None)
    if "budget" in defaults or {"battles", "budget", "no_limit"} & options.keys():  # the number of battles is the limit
        defaults.pop("minutes", None)
    adaptive = "budget" in options or "budget" in defaults or ("minutes" in options and "battles" not in options)
    options = _with_series(defaults | options)
    everybody, left_out = pool.pool(options.get("format", default("format"))) if everyone else ((), ())
    players = everybody + agents + options.get("challenger", ())
    settings = run_settings(players, options, schedule="adaptive" if adaptive else "round-robin")
    return settings, tuple(f"Note: {line}" for line in left_out)


def match_settings(agents: tuple[str, ...], test: SprtSettings | None, given: MatchOptions) -> EvaluateSettings:
    """The settings of `arena match`. agents: exactly two. test: the sequential test; None plays all battles.

    Braces in specs are expanded. Raises BadInput.
    """
    agents = expand_all(agents)
    if len(agents) != 2:
        raise BadInput(f"agents: a match is between two, not {len(agents)}: `arena evaluate` takes more")
    options = {"battles": MATCH_BATTLES if test is None else MOST_BATTLES, **_with_series(checked(MatchOptions, given))}
    return run_settings(agents, options, schedule="match", anchor=agents[1], sprt=test)


def battle_settings(first: str, second: str, given: OneBattleOptions) -> EvaluateSettings:
    """The settings of `arena battle`: one battle of two agents. Raises BadInput."""
    return run_settings((first, second), checked(OneBattleOptions, given), battles=1)


def _with_series(options: dict[str, Any]) -> dict[str, Any]:
    """Returns the options of a run with formats such as "gen9…bo3" as those of their battles, and `best_of` by their names.

    Raises BadInput where formats and `best_of` say different numbers of battles.
    """
    named = [split_series(format_id) for format_id in options.get("format", ())]
    lengths = {best_of for _, best_of in named}
    if lengths <= {1}:
        return options
    (longest, *others) = sorted(lengths, reverse=True)
    if others or options.get("best_of", longest) != longest:
        raise BadInput(
            f"--format {' --format '.join(options['format'])}"
            + (f" --best-of {options['best_of']}" if "best_of" in options else "")
            + f": all formats of a run are played in series of one length: leave bo{longest} out, and say --best-of N"
        )
    return {**options, "format": tuple(format_id for format_id, _ in named), "best_of": longest}


def run_settings(agents: tuple[str, ...], options: Mapping[str, Any], **more: Any) -> EvaluateSettings:
    """Options by their names as settings of a run. more: fields of the settings that are no options."""
    rules = {name: options[name] for name in Rules.model_fields if name in options}
    fields = {
        option.in_settings: options[name]
        for name, option in declared(EvaluateOptions).items()
        if name in options and option.in_settings in EvaluateSettings.model_fields
    }
    return EvaluateSettings(agents=agents, rules=Rules(**rules), **{**fields, **more})
