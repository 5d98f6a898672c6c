"""Translates a server's battle room to the simulator's protocol: exactly the lines that the simulator produced."""

from __future__ import annotations

from typing import Any

from poke_env.data import to_id_str

# Lines that a server adds: room, spectators, chat, timer. `t:` is the time.
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
    "tempnotify",
    "tempnotifyoff",
}
_VISITORS = {"j", "J", "l", "L", "n", "N", "join", "leave", "name", "c", "c:", "chat", "hidelines", "unlink"}
_SERVER_ONLY = frozenset(_ROOM | _VISITORS | {"inactive", "inactiveoff", "sentchoice"})
_GAVE_UP = (" forfeited.", " lost due to inactivity.")


class Translator:
    """Translates a battle room from its start. Users are renamed to p1 and p2, as in the simulator."""

    def __init__(self) -> None:
        self._roles: dict[str, str] = {}  # user id -> "p1" or "p2"
        self._begun = False

    def line(self, line: str) -> str | None:
        """Return the simulator's line, or None for a line that the server added."""
        if not line.startswith("|"):
            return None
        fields = line.split("|")
        kind = fields[1]
        if kind == "gametype":
            self._begun = True
        elif kind == "player":
            return self._player(fields)
        elif kind == "win":
            return f"|win|{self.role(fields[2])}"
        elif kind in ("-sidestart", "-sideend"):  # "p2: NAME"; no other lines contain user names
            fields[2] = f"{fields[2][:2]}: {fields[2][:2]}"
            return "|".join(fields)
        elif kind in _SERVER_ONLY or line.startswith("||") or (kind == "-message" and line.endswith(_GAVE_UP)):
            return None
        return line

    def role(self, name: str) -> str:
        """Return "p1" or "p2" for a user's name."""
        return self._roles.get(to_id_str(name), name)

    def request(self, request: dict[str, Any]) -> int:
        """Convert a server's request to the simulator's in place. Returns the server's number of it."""
        request["side"]["name"] = request["side"]["id"]
        return int(request.pop("rqid"))

    def _player(self, fields: list[str]) -> str | None:
        """Return a player line once per side; the server repeats it whenever the user joins or leaves."""
        role, name = fields[2], fields[3]
        if not self._begun or not name or role in self._roles.values():
            return None
        self._roles[to_id_str(name)] = role
        return f"|player|{role}|{role}||"
