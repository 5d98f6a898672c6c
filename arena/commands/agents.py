"""`arena agents`: who can play."""

from __future__ import annotations

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from agents import known_specs, resolve


@click.group()
def agents() -> None:
    """Agents: list them, explain one."""


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
