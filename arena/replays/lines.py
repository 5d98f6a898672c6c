"""Parses a protocol line: its kind, its arguments, and the tags at its end ([from], [of], …)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from poke_env.data import to_id_str

#: Lines that are about the room, its visitors and its clock, not about the battle; sides' logs do not have them.
NOT_BATTLE = frozenset({
    "", "t:", "c", "c:", "chat", "j", "J", "join", "l", "L", "leave", "n", "N", "name", "raw", "html", "uhtml", "b", "B",
    "uhtmlchange", "inactive", "inactiveoff", "rated", "badge", "debug", "error", "bigerror", "init", "title", "hidelines",
    "unlink", "askreg", "deinit", "expire", "message", "-message", "seed", "popup", "request", "split", "tournament",
    "warning", "userstats", "battle", "gametypes", "sentchoice", "timestamp", "users",
})  # fmt: skip
#: Kinds of lines that contain a Pokémon's HP -> index of the argument.
CONDITION = {"switch": 2, "drag": 2, "replace": 2, "-damage": 1, "-heal": 1, "-sethp": 1}


@dataclass(frozen=True, slots=True)
class Line:
    """text: the line itself. kind: "move". arguments: what follows, tags aside. source, of: what the tags say, "" for none.

    role: "p1" or "p2", whom it is about, "" for nobody. ident: "p1: Tauros", "" for nobody.
    """

    text: str
    kind: str
    arguments: tuple[str, ...]
    source: str
    of: str
    tags: frozenset[str]
    role: str
    ident: str

    @classmethod
    def read(cls, text: str) -> Line:
        """Parse a line. One without a leading | is chat in an old log: it has the kind "chat"."""
        parts = text.split("|")
        if parts[0] or len(parts) < 2:
            return cls(text, "chat" if text else "", (), "", "", frozenset(), "", "")
        arguments, source, of, tags = [], "", "", set()
        for part in parts[2:]:
            if part.startswith("[from]"):
                source = part[6:].strip()
            elif part.startswith("[of]"):
                of = _ident(part[4:].strip())
            elif part.startswith("[") and "]" in part and parts[1] != "tier":
                tags.add(part[1 : part.index("]")])
            else:
                arguments.append(part)
        ident = _ident(arguments[0]) if arguments else ""
        if source == "move: Round" and parts[1] == "move" and arguments[1:2] == ["Round"]:
            source = ""  # chosen, and moved forward by another's Round
        if parts[1] == "cant" and of:
            ident = of  # stopped by the first one's ability (Damp, Armor Tail): its user is the one behind [of]
        return cls(text, parts[1], tuple(arguments), source, of, frozenset(tags), ident[:2], ident)

    def argument(self, place: int) -> str:
        """Return the argument at an index, "" if there is none."""
        return self.arguments[place] if place < len(self.arguments) else ""

    @property
    def move(self) -> str:
        """Return the move's id in a `move` line."""
        return to_id_str(self.argument(1))

    @property
    def source_id(self) -> str:
        """Return the cause in [from] as an id, without "move: ", "item: " or "ability: "."""
        return to_id_str(self.source.rpartition(": ")[2])


def public_lines(lines: Sequence[str]) -> tuple[str, ...]:
    """Return what a spectator is sent of a room's own log.

    `|split|p1` stands before a line for p1 and the same for everybody else, which is empty where only p1 is told. Until
    2019 it was `|split`, before the line for spectators and three others (p1's, p2's, and one with everything). Raises
    ValueError where the lines behind a `|split|` are not of one kind, because then some are missing.
    """
    kept: list[str] = []
    at = 0
    while at < len(lines):
        private = _private_lines(lines, at)
        if private is None:
            kept.append(lines[at])
            at += 1
            continue
        public, end = private
        kept += [public] if public else []
        at = end
    return tuple(kept)


def _private_lines(lines: Sequence[str], at: int) -> tuple[str, int] | None:
    """Return the public line of the |split| at an index, and the index behind its lines; None for any other line."""
    line = lines[at]
    if line != "|split" and not line.startswith("|split|"):
        return None
    follow = lines[at + 1 : at + (5 if line in ("|split", "|split|") else 3)]
    alike = {tuple(each.split("|")[1:3]) for each in follow if each}
    if len(follow) not in (2, 4) or len(alike) != 1:
        raise ValueError("lines missing behind |split|")
    return follow[0 if len(follow) == 4 else 1], at + 1 + len(follow)


def _ident(word: str) -> str:
    """ "p1a: Tauros" -> "p1: Tauros"; "" for what names no Pokémon."""
    seat, colon, name = word.partition(": ")
    if not colon or seat[:2] not in ("p1", "p2") or len(seat) > 3:
        return ""
    return f"{seat[:2]}: {name}"
