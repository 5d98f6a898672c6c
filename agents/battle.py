"""An agent's view of a battle: poke-env's `Battle`, updated by a seat, with the current legal choices."""

from __future__ import annotations

import logging
import random
from typing import Any

from poke_env.battle.battle import Battle
from poke_env.battle.pokemon import Pokemon

from agents.choices import Choice, legal_choices, listed_move, split_power

# poke-env logs every oddity of a log; a tournament counts them instead (`oddities`).
_SILENT = logging.getLogger("arena.seat")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False
_SILENT.setLevel(logging.CRITICAL)
logging.getLogger("poke-env").setLevel(logging.ERROR)  # it warns of every effect that it does not know, in every battle

# Lines that carry nothing about the battle, and those that the seat itself handles (as poke-env's Player does).
_NOT_FOR_BATTLE = frozenset({"t:", "expire", "uhtmlchange", "request", "error", "bigerror"})
# The parts of a Pokémon's entry in a request that say what it is, not how it fares.
_SHEET = ("details", "moves", "stats", "baseAbility")


class SeatBattle(Battle):
    """poke-env's `Battle` from one seat's point of view.

    legal: the legal choices of the current request, moves first.
    rng: the seat's own generator; the only source of chance that an agent may use if its battles are to be repeated.
    format_id: the format played, e.g. "gen1ou".
    oddities: number of protocol lines that poke-env could not parse (its state may then be slightly out of date).
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
        """Ingests protocol lines, as this seat's websocket would deliver them."""
        for line in lines:
            message = line.split("|")
            kind = message[1] if len(message) > 1 else "t:"
            if kind in _NOT_FOR_BATTLE:
                continue
            if kind in self.MESSAGES_TO_IGNORE:  # poke-env notes these and does no more; two copies are spared here
                self._replay_data.append(message)
                continue
            try:
                if kind == "win":
                    self.won_by(message[2])
                elif kind == "tie":
                    self.tied()
                else:
                    self.parse_message(message)
            except Exception:  # a gap in poke-env must not end a battle: it is counted, and the next request mends it
                self.oddities += 1

    def ask(self, request: dict[str, Any]) -> None:
        """Ingests a request (Showdown's JSON, decoded) and sets `legal`."""
        try:
            self.parse_request(request)
        except Exception:  # as above; what is legal comes from the request itself, not from poke-env
            self.oddities += 1
        self._type_hidden_power(request)
        self.legal = legal_choices(request)

    def _type_hidden_power(self, request: dict[str, Any]) -> None:
        """Gives Hidden Power of our Pokémon on the field the type and the power that the request's list of moves names.

        poke-env reads the type from the Pokémon's entry, which before generation 6 has no power.
        """
        for listed in request["active"][0]["moves"] if request.get("active") else ():
            mon = self.active_pokemon if listed["id"] == "hiddenpower" else None
            move = None if mon is None else mon.moves.get("hiddenpower")
            if move is not None:
                name, power = split_power(listed_move(listed))
                move._id, move._base_power_override = name, power or move._base_power_override

    def get_pokemon(
        self, identifier: str, force_self_team: bool = False, details: str = "", request: dict[str, Any] | None = None
    ) -> Pokemon:
        """The Pokémon that a line speaks of ("p1a: Tauros"), as poke-env finds it; known ones are found at once."""
        ident = identifier if identifier[3] == " " else identifier[:2] + identifier[3:]
        theirs = self._opponent_team.get(ident)
        if theirs is not None:
            return theirs
        ours = self._team.get(ident)
        # One of ours that is spoken of as if it were on the field, and is not: Illusion, which poke-env sorts out.
        if ours is not None and (ours._active or ident is identifier):
            return ours
        return super().get_pokemon(identifier, force_self_team, details, request)

    # poke-env asks for the Pokémon on the field several times a line; its own way goes through a property for each.

    @property
    def active_pokemon(self) -> Pokemon | None:
        """Our Pokémon on the field."""
        for pokemon in self._team.values():
            if pokemon._active:
                return pokemon
        return None

    @property
    def opponent_active_pokemon(self) -> Pokemon | None:
        """The opponent's Pokémon on the field."""
        for pokemon in self._opponent_team.values():
            if pokemon._active:
                return pokemon
        return None

    def _update_team_from_request(self, side: dict[str, Any], strict_battle_tracking: bool = False) -> None:
        """As poke-env does it, but taking in only what has changed since the last request.

        Most of a request repeats the last one; taking it all in again was the larger part of the cost of a turn.
        """
        changed: list[dict[str, Any]] = []
        for entry in side["pokemon"]:
            before, pokemon = self._entries.get(entry["ident"]), self._team.get(entry["ident"])
            if before is None or pokemon is None or pokemon._active != entry["active"]:
                changed = side["pokemon"]  # the first request, or Illusion has fooled us: all of it, poke-env's way
                break
            if (before is entry or before == entry) and not entry["active"]:
                continue
            if all(before[key] == entry[key] for key in _SHEET):
                _take_in_state(pokemon, entry)
            else:
                changed.append(entry)
        if changed:
            super()._update_team_from_request({**side, "pokemon": changed})
        for entry in side["pokemon"]:
            self._entries[entry["ident"]] = entry


def _take_in_state(pokemon: Pokemon, entry: dict[str, Any]) -> None:
    """What poke-env's `update_from_request` does for an entry that differs in health and abilities at most."""
    if pokemon.ability is None:
        pokemon.ability = entry["baseAbility"]
    if entry.get("ability", entry["baseAbility"]) != entry["baseAbility"]:
        pokemon.temporary_ability = entry["ability"]
    pokemon._last_request = entry
    pokemon._item = entry["item"]
    pokemon.set_hp_status(entry["condition"], store=True)
