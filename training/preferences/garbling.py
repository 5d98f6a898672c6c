"""Deliberately bad answers, for decisions at which everything worked: a wrong action, a wrong format, or a damaged text."""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Sequence
from typing import Literal, get_args

#: legal: another legal choice, at random. illegal: a choice that nobody can make. corrupted: the same text, damaged.
#: temperature: what the same language model says at a high temperature (answers.py asks it). worse: the worst of the
#: answers that worked, which is not garbled.
Garble = Literal["legal", "illegal", "corrupted", "temperature", "worse", "none"]
GARBLES: tuple[Garble, ...] = get_args(Garble)
#: Share of a text's characters that are damaged.
_DAMAGE = 0.25


def garbler(kind: Garble, legal: Sequence[str], seed: int) -> Callable[[str], str | None]:
    """Return a function that garbles a text; it returns None where there is nothing worse.

    legal: the labels of the legal choices; a plan is not one of them and is corrupted with `legal` and `illegal`. With
    `temperature`, `worse` and `none` no text is made: None.
    """

    def garbled(text: str) -> str | None:
        rng = random.Random(f"{seed} {text}")
        if kind in ("temperature", "worse", "none"):
            return None
        if kind == "corrupted" or text not in legal:
            return corrupted(text, rng)
        if kind == "illegal":
            return _illegal(text, legal, rng)
        others = [label for label in legal if label != text]
        return rng.choice(others) if others else None

    return garbled


def corrupted(text: str, rng: random.Random) -> str | None:
    """Damage a text: letters exchanged, words out of order. Never returns the text itself; None if it is too short."""
    if len(text) < 2:
        return None
    words = text.split(" ")
    rng.shuffle(words)
    letters = list(" ".join(words))
    places = [place for place, letter in enumerate(letters) if not letter.isspace()]
    for place in rng.sample(places, max(1, round(_DAMAGE * len(places)))):
        letters[place] = rng.choice([letter for letter in string.ascii_lowercase if letter != letters[place]])
    damaged = "".join(letters)
    return damaged if damaged != text else None


def _illegal(text: str, legal: Sequence[str], rng: random.Random) -> str:
    """A choice in a form that the arena does not read, or that is not among the legal ones; of two slots in one of them."""
    parts = text.split(", ")
    place = rng.choice([n for n, part in enumerate(parts) if part != "pass"]) if len(parts) > 1 else 0
    kind, _, rest = parts[place].partition(" ")
    other = "switch" if kind == "move" else "move"
    forms = [f"{other} {rest}", f"{kind} {rng.randrange(7, 100)}", rest, f"{kind}"]
    if kind == "team":  # numbers alone are read, and what is missing is filled in
        forms = [f"{other} {rest}", f"{kind} {rest[:-1]}9", f"{kind} {rest[:-1]}{rest[0]}"]
    joined = [", ".join([*parts[:place], form, *parts[place + 1 :]]) for form in forms if form]
    return rng.choice([form for form in joined if form not in legal])
