"""`arena agents`: the agents that can play, and what they need."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import asdict, dataclass
from typing import Any

import click

from agents import AgentSource, known_specs, resolve
from agents.external.foul_play_setup import USUAL, set_up
from agents.external.metamon import setup as metamon_setup
from arena.terminal.commands import Suggesting, json_option, print_json
from arena.terminal.console import Console
from teamsets.errors import BadInput

#: The heading over the agents that lack something; behind "->" it says what.
NOT_READY = "not ready to play here"


@dataclass(frozen=True)
class _Entry:
    """One agent of the list. missing: the requirement that is not met; empty if the agent can play."""

    agent: str
    about: str
    missing: str

    @property
    def family(self) -> str:
        """The part before the colon; empty for an agent without a family."""
        family, colon, _ = self.agent.partition(":")
        return family if colon else ""


@click.group(cls=Suggesting)
def agents() -> None:
    """List and describe agents, check what they need, install it."""


@agents.command("list")
@json_option
def list_agents(as_json: bool) -> None:
    """List the agents that can be named.

    Each is shown with the first sentence of its documentation.

    Any other class plays as `module:Class`: an agents.Agent or a poke_env.Player.

    \b
    Examples:
      arena agents list
      arena agents list --json
    """
    entries = [_Entry(spec, about, resolve(spec).missing(None)) for spec, about in known_specs().items()]
    if as_json:
        print_json([{**asdict(entry), "available": not entry.missing} for entry in entries])
        return
    ready = [entry for entry in entries if not entry.missing]
    for family, members in _by_family(ready).items():
        print(f"{family or 'single agents'}")
        _print_entries(members)
    reasons = _by_reason([entry for entry in entries if entry.missing])
    if reasons:
        print(NOT_READY)
    for missing, members in reasons.items():
        for entry in members:
            _print_wrapped(entry.agent, 2)
            _print_wrapped(entry.about, 6)
        _print_wrapped(f"-> {missing}", 4)
    print("\n`arena agents show AGENT` shows its options. Your own classes play as module:Class.")


def _by_family(entries: list[_Entry]) -> dict[str, list[_Entry]]:
    grouped: dict[str, list[_Entry]] = {}
    for entry in entries:
        grouped.setdefault(entry.family, []).append(entry)
    return grouped


def _by_reason(entries: list[_Entry]) -> dict[str, list[_Entry]]:
    """Missing requirement -> the agents that need it."""
    grouped: dict[str, list[_Entry]] = {}
    for entry in entries:
        grouped.setdefault(entry.missing, []).append(entry)
    return grouped


def _print_entries(entries: list[_Entry]) -> None:
    for entry in entries:
        print(f"  {entry.agent}")
        _print_wrapped(entry.about, 6)


def _print_wrapped(text: str, indent: int) -> None:
    """Wraps text to the terminal's width. A word longer than a line is not broken, so that it can be copied."""
    print(
        textwrap.fill(
            text,
            Console().width,
            initial_indent=" " * indent,
            subsequent_indent=" " * indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
    )


@agents.command()
@click.argument("spec")
@json_option
def show(spec: str, as_json: bool) -> None:
    """Show an agent's documentation, options and fingerprint.

    \b
    Example:
      arena agents show random
    """
    source = resolve(spec)
    if as_json:
        print_json(_described(source))
        return
    for label, text in (
        ("agent", source.spec),
        ("repeatable", "yes" if source.repeatable else "no: the same seed may give a different battle"),
        ("available", f"no: {lacks}" if (lacks := source.missing(None)) else "yes"),
        ("options", ", ".join(_option(source, name) for name in source.options) or "none"),
        ("fingerprint", source.fingerprint),
    ):
        print(f"{label:12}{text}")
    print(f"\n{source.documentation}")


def _described(source: AgentSource) -> dict[str, Any]:
    return {
        "agent": source.spec,
        "repeatable": source.repeatable,
        "missing": source.missing(None),
        "options": source.options | source.given,
        "defaults": source.options,
        "fingerprint": source.fingerprint,
        "documentation": source.documentation,
    }


def _option(source: AgentSource, name: str) -> str:
    """An option with the value that it has, and the default where the spec gives another."""
    default = source.options[name]
    value = source.given.get(name, default)
    return f"{name}={value}" + (f" (default {default})" if value != default else "")


@agents.command()
@click.argument("name", required=False, metavar="[NAME]")
@json_option
def doctor(name: str | None, as_json: bool) -> None:
    """Check what agents need that is not part of the arena.

    NAME: a spec or a family; by default all agents that need external software.

    Exits with 1 when NAME cannot play at all.

    \b
    Examples:
      arena agents doctor
      arena agents doctor foul-play
    """
    if name is None:
        chosen = [spec for spec in known_specs() if resolve(spec).is_external or resolve(spec).missing(None)]
    else:
        chosen = [spec for spec in known_specs() if spec.partition(":")[0] == name] or [resolve(name).spec]
    sources = [resolve(spec) for spec in chosen]
    lacking = {source.spec: source.missing(None) for source in sources}
    gens = {source.spec: [gen for gen in range(1, 10) if not source.missing(f"gen{gen}ou")] for source in sources}
    if as_json:
        print_json([{"agent": spec, "missing": lacking[spec], "generations": gens[spec]} for spec in lacking])
    else:
        for source in sources:
            ready = ", ".join(map(str, gens[source.spec]))
            able = f"ready for generations {ready}" if ready else source.missing("gen1ou")
            print(f"{source.spec}: {lacking[source.spec] or able}")
    sys.exit(1 if any(lacking.values()) and name is not None else 0)


@agents.command()
@click.argument("name", metavar="NAME")
@click.option(
    "--gen", "gens", type=int, multiple=True, metavar="N", help="foul-play: only this generation. Repeatable."
)
@click.option("--from", "source", default="", metavar="PLACE", help="metamon: a folder or the URL of its repository.")
@click.option(
    "--with",
    "replaced",
    multiple=True,
    metavar="PACKAGE=PLACE",
    help="metamon: amago or poke-env from there. Repeatable.",
)
@click.option("--share-torch", is_flag=True, help="metamon: use this environment's torch where the versions allow.")
@click.option(
    "--model", default="", metavar="NAME", help="metamon: download this model's weights, by metamon's own code."
)
def setup(
    name: str, gens: tuple[int, ...], source: str, replaced: tuple[str, ...], share_torch: bool, model: str
) -> None:
    """Install what an agent needs, where the arena can.

    NAME: foul-play, whose environment is created and whose engine is built for each generation; or metamon, whose
    environment is created from its public source.

    Nothing is written into a checkout. What is already installed is left as it is.

    \b
    Examples:
      arena agents setup foul-play --gen 1 --gen 9
      arena agents setup metamon --model Abra
      arena agents setup metamon --from ../metamon --with amago=../amago --share-torch
    """
    for_metamon = {"--from": source, "--with": replaced, "--share-torch": share_torch, "--model": model}
    given = [option for option, value in {"--gen": gens, **for_metamon}.items() if value]
    wrong = [option for option in given if (option == "--gen") != (name == "foul-play")]
    if name not in ("foul-play", "metamon"):
        raise BadInput(f"agent '{name}': it needs no setup by the arena: `arena agents doctor` lists what agents need")
    if wrong:
        raise BadInput(f"{wrong[0]}: {name} has no such option: see `arena agents setup --help`")
    if name == "foul-play":
        set_up(gens or USUAL, say=print)
        return
    pairs = [text.partition("=") for text in replaced]
    if bad := [text for text, (package, _, place) in zip(replaced, pairs, strict=True) if not (package and place)]:
        raise BadInput(f"--with {bad[0]}: must be PACKAGE=PLACE, e.g. amago=../amago")
    metamon_setup.set_up(source, {package: place for package, _, place in pairs}, share_torch, model, say=print)
