"""How the lines of Showdown's log name Pokémon, effects and causes."""

from __future__ import annotations

from collections.abc import Sequence

from poke_env.data import to_id_str

#: A Pokémon of the battle: its side (0, 1) and its name.
Who = tuple[int, str]


def who_of(text: str) -> Who | None:
    """The Pokémon of an ident such as "p1a: Toxapex" or "p1: Toxapex"."""
    role, separator, name = text.partition(": ")
    return (int(role[1]) - 1, name) if separator and role[:2] in ("p1", "p2") else None


def effect_of(text: str) -> str:
    """The id of what a line names as "move: Taunt" or "Substitute"."""
    return to_id_str(text.partition(": ")[2] or text)


def tagged(rest: Sequence[str], tag: str) -> str:
    """What stands after a tag such as "[from] " in a line; empty if it has none. rest: parts of the line, split at "|"."""
    return next((part[len(tag) :].strip() for part in rest if part.startswith(tag)), "")


def level_of(details: Sequence[str]) -> int:
    """The level in a Pokémon's details ("Zapdos, L74, M"), split at ", "."""
    return next((int(part[1:]) for part in details[1:] if part[:1] == "L" and part[1:].isdigit()), 100)


def gender_of(details: Sequence[str]) -> str:
    """The gender in a Pokémon's details, split at ", ": "M", "F", or empty."""
    return next((part for part in details[1:] if part in ("M", "F")), "")
