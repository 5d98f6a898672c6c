"""`arena agents`: who can play."""

from __future__ import annotations

import sys

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from agents import known_specs, resolve
from agents.external.foul_play_setup import USUAL, set_up
from teamsets.errors import BadInput


@click.group()
def agents() -> None:
    """Agents: list them, explain one, say what one needs, set one up."""


@agents.command("list")
def list_agents() -> None:
    """List the agents that can be named, each with its rule.

    Besides these any class can play: `module:Class`, an agents.Agent or a poke_env.Player.

    \b
    Example:
      arena agents list
    """
    table = Table("agent", "what it does")
    for spec, about in known_specs().items():
        lacks = resolve(spec).missing(None)
        table.add_row(Text(spec), Text(f"{about} (not available: {lacks})" if lacks else about))
    Console().print(table)


@agents.command()
@click.argument("spec")
def show(spec: str) -> None:
    """Show one agent: its documentation, its options, its fingerprint.

    \b
    Example:
      arena agents show random
    """
    source = resolve(spec)
    for label, words in (
        ("agent", source.spec),
        ("repeatable", "yes" if source.repeatable else "no: the same seed may give another battle"),
        ("available", f"no: {lacks}" if (lacks := source.missing(None)) else "yes"),
        ("options", ", ".join(f"{name}={value}" for name, value in source.options.items()) or "none"),
        ("fingerprint", source.fingerprint),
    ):
        print(f"{label:12}{words}")
    print(f"\n{source.documentation}")


@agents.command()
@click.argument("name", required=False, metavar="[NAME]")
def doctor(name: str | None) -> None:
    """Say what agents lack that need more than this project: all of them, or NAME (a spec or a family).

    Exits with 1 when NAME cannot play at all.

    \b
    Examples:
      arena agents doctor
      arena agents doctor foul-play
    """
    if name is None:
        chosen = [spec for spec in known_specs() if resolve(spec).outside or resolve(spec).missing(None)]
    else:
        chosen = [spec for spec in known_specs() if spec.partition(":")[0] == name] or [resolve(name).spec]
    fine = True
    for spec in chosen:
        source = resolve(spec)
        lacks = source.missing(None)
        fine = fine and not lacks
        gens = ", ".join(str(gen) for gen in range(1, 10) if not source.missing(f"gen{gen}ou"))
        print(f"{spec}: {lacks or f'ready for generations {gens}'}")
    sys.exit(0 if fine or name is None else 1)


@agents.command()
@click.argument("name", metavar="NAME")
@click.option("--gen", "gens", type=int, multiple=True, metavar="N", help="Only this generation; several times.")
def setup(name: str, gens: tuple[int, ...]) -> None:
    """Make what NAME needs and can be made here: foul-play's environment, and its engine for each generation.

    Nothing is written into its checkout, and what is there already is left alone.

    \b
    Example:
      arena agents setup foul-play --gen 1 --gen 9
    """
    if name != "foul-play":
        raise BadInput(
            f"agent '{name}': nothing can be set up for it here: `arena agents doctor` says what agents need"
        )
    set_up(gens or USUAL, say=print)
