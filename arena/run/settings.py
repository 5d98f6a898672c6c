"""Settings of a run: the user's options merged with the pool file's defaults; for the commands and for Python."""

from __future__ import annotations

from pathlib import Path

from arena.ratings.sprt import SprtSettings
from arena.run.pool import load_defaults
from arena.run.tournament import EvaluateSettings
from arena.venue import Rules
from teamsets.errors import BadInput

#: Maximum number of battles on each team set for a sequential test.
MOST_BATTLES = 20_000
#: One battle on the engine in so many is replayed on Showdown in a match.
VERIFY_EVERY = 100
#: Battles on each team set for a match without a test.
MATCH_BATTLES = 100


def evaluate_settings(
    agents: tuple[str, ...],
    everyone: bool,
    *,
    formats: tuple[str, ...] = (),
    team_sets: tuple[str, ...] = (),
    battles: int | None = None,
    budget: int | None = None,
    minutes: float | None = None,
    challengers: tuple[str, ...] = (),
    anchor: str | None = None,
    fresh: bool = False,
    no_limit: bool = False,
    seed: int | None = None,
    think_limit: float | None = None,
    max_turns: int | None = None,
    skip_invalid: bool = False,
    pool: Path | None = None,
    stock: bool = False,
    venue: str | None = None,
    verify_every: int | None = None,
    isolate: bool = False,
) -> tuple[EvaluateSettings, tuple[str, ...]]:
    """The settings of `arena evaluate`, and one line for each agent of the pool that cannot play.

    everyone: add the whole pool. None and () take the pool file's value. Raises BadInput.
    """
    defaults = load_defaults(pool)
    formats = formats or defaults.formats
    everybody, left_out = defaults.pool(formats) if everyone else ((), ())
    if not agents and not everyone:
        raise BadInput("agents: none given: name agents, or use --all for the pool; `arena agents list` shows them")
    if battles is not None and budget is not None:
        raise BadInput(
            f"--battles {battles} --budget {budget}: give only one: --battles is per pairing, --budget the total"
        )
    if battles is None and minutes is None and budget is None:
        budget = defaults.budget
    adaptive = budget is not None or (minutes is not None and battles is None)
    # The pool file's time limit does not apply if a number of battles is given.
    own = battles is not None or budget is not None or no_limit
    settings = EvaluateSettings(
        agents=everybody + agents + challengers,
        formats=formats,
        team_sets=team_sets or defaults.teams,
        schedule="adaptive" if adaptive else "round-robin",
        battles=battles or defaults.battles,
        budget=budget,
        minutes=minutes if minutes is not None or own else defaults.minutes,
        seed=defaults.seed if seed is None else seed,
        rules=Rules(think_limit=think_limit or defaults.think_limit, max_turns=max_turns or defaults.max_turns),
        challengers=challengers,
        anchor=anchor or defaults.anchor,
        fresh=fresh,
        skip_invalid=skip_invalid,
        stock=stock,
        venue=venue or "simulator",  # type: ignore[arg-type]  # the model refuses others
        verify_every=defaults.verify_every if verify_every is None else verify_every,
        isolate=isolate,
    )
    return settings, tuple(f"Note: {line}" for line in left_out)


def match_settings(
    agents: tuple[str, ...],
    test: SprtSettings | None,
    *,
    format_id: str = "gen1ou",
    team_sets: tuple[str, ...] = (),
    battles: int | None = None,
    minutes: float | None = None,
    seed: int = 0,
    think_limit: float = 10.0,
    fresh: bool = False,
    venue: str | None = None,
    verify_every: int | None = None,
    isolate: bool = False,
) -> EvaluateSettings:
    """The settings of `arena match`. agents: exactly two. test: the sequential test;

    None plays all battles. Raises BadInput.
    """
    if len(agents) != 2:
        raise BadInput(f"agents: a match is between two, not {len(agents)}: `arena evaluate` takes more")
    return EvaluateSettings(
        agents=agents,
        formats=(format_id,),
        team_sets=team_sets or ("competitive",),
        schedule="match",
        battles=battles or (MATCH_BATTLES if test is None else MOST_BATTLES),
        minutes=minutes,
        seed=seed,
        rules=Rules(think_limit=think_limit),
        anchor=agents[1],
        sprt=test,
        fresh=fresh,
        venue=venue or "simulator",  # type: ignore[arg-type]  # the model refuses others
        verify_every=VERIFY_EVERY if verify_every is None else verify_every,
        isolate=isolate,
    )
