"""What an agent sees: poke-env's `Battle`, fed by a seat, with the legal choices of the moment beside it."""

from __future__ import annotations

import logging
import random
from typing import Any

from poke_env.battle.battle import Battle

from agents.choices import Choice, legal_choices

# poke-env logs every oddity of a log; a tournament counts them instead (`oddities`).
_SILENT = logging.getLogger("arena.seat")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False
_SILENT.setLevel(logging.CRITICAL)

# Lines that carry nothing about the battle, and those that the seat itself handles (as poke-env's Player does).
_NOT_FOR_BATTLE = frozenset({"t:", "expire", "uhtmlchange", "request", "error", "bigerror"})


class SeatBattle(Battle):
    """poke-env's `Battle` as one seat sees it.

    legal: the legal choices of the current request, moves first.
    rng: the seat's own generator; the only source of chance that an agent may use if its battles are to be repeated.
    format_id: the format played, e.g. "gen1ou".
    oddities: protocol lines that poke-env could not take in (its state may then be a little behind the truth).
    """

    def __init__(self, tag: str, username: str, role: str, gen: int, format_id: str, rng: random.Random) -> None:
        super().__init__(tag, username, _SILENT, gen=gen)
        self._player_role = role
        self.format_id = format_id
        self.rng = rng
        self.legal: list[Choice] = []
        self.oddities = 0
        self._entries: dict[str, dict[str, Any]] = {}

    def feed(self, lines: list[str]) -> None:
        """Takes in protocol lines, as this seat's websocket would have brought them."""
        for line in lines:
            message = line.split("|")
            if len(message) < 2 or message[1] in _NOT_FOR_BATTLE:
                continue
            try:
                if message[1] == "win":
                    self.won_by(message[2])
                elif message[1] == "tie":
                    self.tied()
                else:
                    self.parse_message(message)
            except Exception:  # a gap in poke-env must not end a battle: it is counted, and the next request mends it
                self.oddities += 1

    def ask(self, request: dict[str, Any]) -> None:
        """Takes in a request (Showdown's JSON, decoded) and sets `legal`."""
        try:
            self.parse_request(request)
        except Exception:  # as above; what is legal comes from the request itself, not from poke-env
            self.oddities += 1
        self.legal = legal_choices(request)

    def _update_team_from_request(self, side: dict[str, Any], strict_battle_tracking: bool = False) -> None:
        """As poke-env does it, but a benched Pokémon whose entry has not changed since the last request is left alone.

        Most of a request repeats the last one; taking it all in again was the larger part of the cost of a turn.
        """
        known = self._entries
        changed = [mon for mon in side["pokemon"] if mon["active"] or known.get(mon["ident"]) != mon]
        for mon in changed:
            known[mon["ident"]] = mon
        falsely_active = any(
            mon.active and not entry["active"]
            for entry in side["pokemon"]
            if (mon := self._team.get(entry["ident"])) is not None
        )
        super()._update_team_from_request(side if falsely_active else {**side, "pokemon": changed})
