"""From what a server says in a battle's room to what the simulator says of the battle: the same lines, no others."""

from __future__ import annotations

from typing import Any

from poke_env.data import to_id_str

# What a server adds of its own: about the room, its visitors, chat, its timer. `t:` is the time of day.
_ROOM = {
    "init",
    "title",
    "rated",
    "deinit",
    "noinit",
    "expire",
    "t:",
    ":",
    "uhtml",
    "uhtmlchange",
    "raw",
    "html",
    "askreg",
}
_VISITORS = {"j", "J", "l", "L", "n", "N", "join", "leave", "name", "c", "c:", "chat", "hidelines", "unlink"}
_SERVER_ONLY = frozenset(_ROOM | _VISITORS | {"inactive", "inactiveoff", "sentchoice"})
_GAVE_UP = (" forfeited.", " lost due to inactivity.")


class Translator:
    """Reads a battle room from its beginning. Users are called p1 and p2, as they are in the simulator."""

    def __init__(self) -> None:
        self._roles: dict[str, str] = {}  # user id -> "p1" or "p2"
        self._begun = False

    def line(self, line: str) -> str | None:
        """What the simulator has said for this to be said, or None for what only the server says."""
        if not line.startswith("|"):
            return None
        words = line.split("|")
        kind = words[1]
        if kind == "gametype":
            self._begun = True
        elif kind == "player":
            return self._player(words)
        elif kind == "win":
            return f"|win|{self.role(words[2])}"
        elif kind in ("-sidestart", "-sideend"):  # "p2: NAME", the only lines besides that name a user
            words[2] = f"{words[2][:2]}: {words[2][:2]}"
            return "|".join(words)
        elif kind in _SERVER_ONLY or (kind == "-message" and line.endswith(_GAVE_UP)):
            return None
        return line

    def role(self, name: str) -> str:
        """ "p1" or "p2" for a user's name."""
        return self._roles.get(to_id_str(name), name)

    def request(self, request: dict[str, Any]) -> int:
        """Makes a server's request the simulator's, in place, and returns the server's number for it."""
        request["side"]["name"] = request["side"]["id"]
        return int(request.pop("rqid"))

    def _player(self, words: list[str]) -> str | None:
        """The simulator names each side once; the server names it whenever its user comes or goes."""
        role, name = words[2], words[3]
        if not self._begun or not name or role in self._roles.values():
            return None
        self._roles[to_id_str(name)] = role
        return f"|player|{role}|{role}||"
