"""Resolves agent specs: `random`, `heuristic:max-damage?risk=0.2`, `poke-env:RandomPlayer`, `my.module:MyAgent`.

A spec is FAMILY[:NAME][?option=value[&option=value]]. Families are the built-in ones, those that installed packages
register in the entry-point group `arena.agents`, and any importable `module:Class`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points, version
from typing import Any
from urllib.parse import parse_qsl, quote

from poke_env.player import baselines

from agents.battle import SeatDoubleBattle
from agents.contract import Agent
from agents.fingerprint import fingerprint
from agents.importing import NoSuchModule, did_you_mean, imported, modules_here
from agents.poke_env_adapter import PokeEnvAgent, is_player
from teamsets.errors import BadInput
from teamsets.formats import get_format


class UnknownAgent(BadInput):
    """A spec that names no agent, or has an option that the agent does not have."""


#: Family -> the class of agents that are made of other agents, whatever these are.
_COMPOSITE: dict[str, type[Agent]] = {}


@dataclass(frozen=True)
class AgentSource:
    """The factory of a spec's agents.

    spec: in canonical form (options sorted). make: creates an agent for one seat of one battle. fingerprint: hash of code
    and options, 16 hex digits; agents with equal fingerprints play the same. repeatable: whether the same seed gives the
    same battle. options: all options with their defaults. documentation: of its class. missing: as `Agent.missing`.
    is_external: it is an external program, which plays over a websocket. batched: it can play on the engine
    (docs/engine.md), because it acts on arrays, or on its legal choices alone. acts_on_rows: it acts on the engine's rows,
    in training only (batched.EngineAgent). plays_doubles: as `Agent.plays_doubles`. given: the options that the spec gives.
    """

    spec: str
    make: Callable[[], Agent]
    repeatable: bool
    options: dict[str, Any]
    documentation: str
    missing: Callable[[str | None], str]
    fingerprint_of: Callable[[], str]
    is_external: bool = False
    batched: bool = False
    acts_on_rows: bool = False
    plays_doubles: bool = True
    given: dict[str, Any] = field(default_factory=dict)

    @functools.cached_property
    def fingerprint(self) -> str:
        """Computed on first use."""
        return self.fingerprint_of()

    @property
    def about(self) -> str:
        """The first line of the documentation."""
        return self.documentation.split("\n", 1)[0]


def resolve(spec: str) -> AgentSource:
    """Return the source of agents for `spec`. Raises UnknownAgent that names the problem and the known agents."""
    head, _, query = spec.strip().partition("?")
    family, _, argument = head.partition(":")
    agent_class = _find(family, argument, spec)
    options = _typed_options(agent_class, dict(parse_qsl(query, keep_blank_values=True)), spec)
    given = "&".join(f"{key}={_quoted(value)}" for key, value in sorted(dict(parse_qsl(query)).items()))
    canonical = head + (f"?{given}" if given else "")

    def make() -> Agent:
        agent = PokeEnvAgent(agent_class, options) if is_player(agent_class) else agent_class(**options)
        agent.name = canonical
        return agent

    return AgentSource(
        spec=canonical,
        make=make,
        fingerprint_of=functools.partial(_fingerprint, agent_class, options, _version(agent_class, options)),
        repeatable=is_player(agent_class) or agent_class.repeats(**options),
        options=_options_of(agent_class),
        documentation=_documentation(agent_class),
        missing=Agent.missing if is_player(agent_class) else functools.partial(_missing, agent_class, options),
        is_external=not is_player(agent_class) and agent_class.is_external,
        batched=not is_player(agent_class) and not agent_class.is_external and _batched(agent_class),
        acts_on_rows=not is_player(agent_class) and _acts_on_rows(agent_class),
        plays_doubles=is_player(agent_class) or agent_class.plays_doubles,
        given=options,
    )


def known_specs() -> dict[str, str]:
    """Return all specs that need no further arguments, each with the first line of its documentation."""
    specs: dict[str, str] = {}
    for family, members in _built_in().items():
        for name, agent_class in members.items():
            if name == "*":
                continue
            spec = f"{family}:{name}" if name else family
            specs[spec] = _documentation(agent_class).split("\n", 1)[0]
    for name in _announced():
        specs[name] = "from an installed package"
    return specs


def is_built_in(spec: str) -> bool:
    """Return whether a spec runs only the arena's own code and poke-env's."""
    family = spec.strip().partition("?")[0].partition(":")[0]
    return family in _built_in() and family not in _COMPOSITE


def register_composite(family: str, agent_class: type[Agent]) -> None:
    """Add a family whose agents are made of other agents. Its module imports this one: agents/__init__.py adds it."""
    _COMPOSITE[family] = agent_class


def _batched(agent_class: type[Agent]) -> bool:
    from agents.batched import BatchedAgent

    return issubclass(agent_class, BatchedAgent) or not agent_class.reads_battle


def _acts_on_rows(agent_class: type[Agent]) -> bool:
    from agents.batched import EngineAgent

    return issubclass(agent_class, EngineAgent)


def _missing(agent_class: type[Agent], options: dict[str, Any], format_id: str | None) -> str:
    if format_id is not None and not agent_class.plays_doubles and get_format(format_id).doubles:
        return (
            "it plays singles only; doubles are played by random, heuristic:max-power, max-damage and expert, poke-env's "
            "players, networks of doubles, language models and agents of your own"
        )
    return agent_class.wrong_option(**options) or agent_class.missing(format_id, **options)


def _quoted(value: str) -> str:
    """Percent-encode an option's value for a spec."""
    return quote(value, safe=" !\"$'()*,-./:;<=>?@[\\]^_`{|}~")


@cache
def _built_in() -> dict[str, dict[str, Any]]:
    """Return family -> name -> class. The name is empty for a family's only member, "*" for a factory by name."""
    from agents.external import PROGRAMS
    from agents.llm import MODELS as LANGUAGE_MODELS
    from agents.policy.ensemble import ENSEMBLES
    from agents.policy.player import MODELS, policy
    from agents.rules import PLAYERS
    from agents.rules.batched import PLAYERS as ARRAY_PLAYERS
    from agents.rules.uniform import UniformRandom
    from agents.search import PLAYERS as SEARCHERS
    from agents.search.exact.agent import ExactSearch

    ExactSearch.networks = staticmethod(policy)  # families do not import each other
    poke_env_players = {name: agent_class for name, agent_class in vars(baselines).items() if is_player(agent_class)}
    return {
        "random": {"": UniformRandom},
        **{family: {"": agent_class} for family, agent_class in _COMPOSITE.items()},
        "heuristic": dict(PLAYERS),
        "array": dict(ARRAY_PLAYERS),
        "search": dict(SEARCHERS),
        "policy": dict(MODELS),
        "ensemble": dict(ENSEMBLES),
        "llm": dict(LANGUAGE_MODELS),
        "poke-env": poke_env_players,
        **PROGRAMS,
    }


@cache
def _announced() -> dict[str, Any]:
    return {point.name: point for point in entry_points(group="arena.agents")}


def _find(family: str, argument: str, spec: str) -> Any:
    built_in = _built_in().get(family)
    if built_in is not None:
        if argument in built_in:
            return built_in[argument]
        if argument and "*" in built_in:
            return built_in["*"](argument)
        if not argument:
            names = sorted(set(built_in) - {"*"})
            ways = [f"{family}:NAME"] if "*" in built_in else []
            ways += [f"one of {', '.join(names)}"] if names else []
            raise UnknownAgent(f"agent '{spec}': the name of a {family} is missing: use {', or '.join(ways)}")
        raise UnknownAgent(f"agent '{spec}': no {family} named '{argument}'{_hint(argument, built_in)}")
    if family == "user":
        raise UnknownAgent(
            f"agent '{spec}': user:NAME labels a remote player in stored battles and cannot be started as an agent; "
            "`arena agents list` shows all agents"
        )
    if family in _announced():
        return _checked(_announced()[family].load(), spec)
    if argument:
        return _checked(_imported(family, argument, spec), spec)
    raise UnknownAgent(f"agent '{spec}': unknown{_hint(spec, known_specs())}; `arena agents list` shows all")


def _imported(module: str, name: str, spec: str) -> Any:
    try:
        return imported(module, name)
    except NoSuchModule:
        meant = did_you_mean(spec, [*known_specs(), *(f"{here}:{name}" for here in modules_here())], 0.5)
        raise UnknownAgent(
            f"agent '{spec}': there is no family or module '{module}'{meant}; `arena agents list` shows all agents, and "
            "MODULE:CLASS of your own is imported from the current folder"
        ) from None
    except BadInput as error:
        raise UnknownAgent(f"agent '{spec}': {error}") from error.__cause__


def _checked(agent_class: Any, spec: str) -> Any:
    if is_player(agent_class):
        return agent_class
    if inspect.isclass(agent_class) and issubclass(agent_class, Agent):
        if agent_class.act is Agent.act and not agent_class.is_external:
            raise UnknownAgent(
                f"agent '{spec}': {agent_class!r} has no method act: write `def act(self, battle)` in it"
            )
        return agent_class
    raise UnknownAgent(f"agent '{spec}': {agent_class!r} is neither an agents.Agent nor a poke_env.Player class")


def _hint(word: str, known: Any) -> str:
    return did_you_mean(word, known, 0.5) or f": known are {', '.join(sorted(known))}"


def _typed_options(agent_class: Any, given: dict[str, str], spec: str) -> dict[str, Any]:
    """Convert the spec's options to the types of the constructor's defaults."""
    allowed = _options_of(agent_class)
    options: dict[str, Any] = {}
    for key, text in given.items():
        if key not in allowed:
            has = f"it has {', '.join(sorted(allowed))}" if allowed else "it has none"
            raise UnknownAgent(f"agent '{spec}': unknown option '{key}': {has}")
        try:
            options[key] = _like(allowed[key], text)
        except ValueError:
            kind = type(allowed[key]).__name__
            raise UnknownAgent(f"agent '{spec}': option '{key}' must be of type {kind}, not '{text}'") from None
    return options


def _options_of(agent_class: Any) -> dict[str, Any]:
    """Return the constructor's arguments with their defaults; empty for a Player, whose arguments are poke-env's own."""
    if is_player(agent_class):
        return {}
    parameters = inspect.signature(agent_class).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}


def _documentation(agent_class: Any) -> str:
    """Return the class's own documentation: an inherited one would describe another class."""
    own = inspect.cleandoc(agent_class.__doc__ or "")
    return own or f"{agent_class.__qualname__} of {agent_class.__module__}."


def _like(default: Any, text: str) -> Any:
    if isinstance(default, bool):
        if text.lower() not in ("true", "false", "1", "0"):
            raise ValueError(text)
        return text.lower() in ("true", "1")
    if isinstance(default, int | float):
        return type(default)(text)
    return text


def _version(agent_class: Any, options: dict[str, Any]) -> str:
    """Return what else determines its play besides first-party code and options."""
    if not is_player(agent_class):
        return str(agent_class.version(**options))
    return version("poke-env") if agent_class.__module__.startswith("poke_env.") else ""


def _fingerprint(agent_class: Any, options: dict[str, Any], extra: str) -> str:
    """Return the fingerprint (agents/fingerprint.py); it includes our adapter for a Player, and the battle of doubles."""
    also = [PokeEnvAgent.__module__] if is_player(agent_class) else [*agent_class.uses(**options)]
    if is_player(agent_class) or agent_class.plays_doubles:
        also.append(SeatDoubleBattle.__module__)
    return fingerprint(agent_class, options, also, extra)
