"""poke-env's DoubleBattle whose slots are those that lines and requests name.

poke-env finds out from names which Pokémon stands in which slot, and loses track after Ally Switch and a faint, with
Illusion, and where two Pokémon of a side look alike. Here the place in an identifier ("p1b") and the slot in a request say
it.
"""

from __future__ import annotations

from typing import Any

from poke_env.battle.double_battle import DoubleBattle
from poke_env.battle.effect import Effect
from poke_env.battle.field import Field
from poke_env.battle.move import Move
from poke_env.battle.pokemon import Pokemon
from poke_env.data import GenData

from agents.battle.quick_battle import QuickReading
from agents.battle.quick_poke_env import FAINTED, ability_of

SLOT_LETTERS = "ab"
#: Targets that are several Pokémon at once.
_SPREAD = frozenset({"all", "allAdjacent", "allAdjacentFoes"})
_OF_ALLIES = frozenset({"allies", "allySide", "allyTeam"})
_FIRST_WITHOUT_PRESSURE_OF_ALLIES = 5


class QuickDoubleBattle(QuickReading, DoubleBattle):
    """poke-env's DoubleBattle, true to the slots of lines and requests."""

    def places(self, side: str) -> dict[str, Pokemon]:
        """Return the Pokémon of a side ("p1…") by their places ("p1a"), also those that have fainted there."""
        return self._active_pokemon if side[:2] == self._player_role else self._opponent_active_pokemon

    def parse_request(self, request: dict[str, Any], strict_battle_tracking: bool = False) -> None:
        """As poke-env's; a slot that has nothing to decide has no moves and no switches.

        Of a team of which some are brought, the team is these from the first turn on.
        """
        side = request["side"]
        team = side["pokemon"]
        self._wait = bool(request.get("wait"))
        self._can_mega_evolve, self._can_z_move = [False, False], [False, False]
        self._can_dynamax, self._can_tera = [False, False], [False, False]
        self._maybe_trapped, self._trapped = [False, False], [False, False]
        self._available_moves, self._available_switches = [[], []], [[], []]
        self._force_switch = [*request.get("forceSwitch", ()), False, False][:2]
        self._reviving = any(entry.get("reviving") for entry in team)
        self._commanding = any(entry.get("commanding") for entry in team)
        self._last_request = request
        self._teampreview = bool(request.get("teamPreview"))
        if self._teampreview:
            self._max_team_size = request.get("maxTeamSize", len(team))
        if team:
            self._player_role = team[0]["ident"][:2]
        self._update_team_from_request(side, strict_battle_tracking)
        if self._teampreview:
            return
        if len(team) < len(self._team):  # the others have not been brought
            self._team = {entry["ident"]: self._team[entry["ident"]] for entry in team}
        for letter, entry in zip(SLOT_LETTERS, team, strict=False):
            mon = self._team[entry["ident"]]
            self._active_pokemon[f"{self._player_role}{letter}"] = mon
            if entry.get("commanding"):
                mon._effects.setdefault(Effect.COMMANDER, 0)
            else:
                mon._effects.pop(Effect.COMMANDER, None)
        for slot, active in enumerate(request.get("active") or ()):
            if active is not None and not _passes(team[slot]):
                self._read_slot(slot, active, self._team[team[slot]["ident"]])
        for slot, entry in enumerate(team[:2]):
            asked = self._force_switch[slot] if any(self._force_switch) else not _passes(entry)
            if asked and not self._wait and not self._trapped[slot]:
                self._available_switches[slot] = self._incoming(team, bool(entry.get("reviving")))

    def _read_slot(self, slot: int, active: dict[str, Any], mon: Pokemon) -> None:
        self._trapped[slot] = bool(active.get("trapped"))
        self._available_moves[slot] = mon.available_moves_from_request(active)
        self._can_mega_evolve[slot] = bool(active.get("canMegaEvo"))
        self._can_z_move[slot] = bool(active.get("canZMove"))
        self._can_dynamax[slot] = bool(active.get("canDynamax"))
        self._can_tera[slot] = bool(active.get("canTerastallize"))
        self._maybe_trapped[slot] = bool(active.get("maybeTrapped"))

    def _incoming(self, team: list[dict[str, Any]], revives: bool) -> list[Pokemon]:
        """Return who can come in, or, with Revival Blessing, who can be revived."""
        mons = [self._team[entry["ident"]] for entry in team]
        if revives:
            return [mon for mon in mons if mon._status is FAINTED]
        return [mon for mon in mons[2:] if mon._status is not FAINTED]

    def switch(self, pokemon_str: str, details: str, hp_status: str) -> None:
        """As poke-env's, by place."""
        place = pokemon_str[:3]
        leaving = self.places(place).pop(place, None)
        if leaving is not None:
            if leaving._active:
                leaving.switch_out(self._fields)
            if leaving._species == "dondozo":
                self._clear_commander_from_partner(place)
        mon = self.get_pokemon(pokemon_str, details=details)
        mon.switch_in(details=details)
        mon.set_hp_status(hp_status)
        self.places(place)[place] = mon

    def _swap(self, pokemon_str: str, slot: str) -> None:
        """ "swap|p1a: Hypno|1|[from] move: Ally Switch": both change their places."""
        side = pokemon_str[:2]
        places = self.places(side)
        first, second = (places.pop(f"{side}{letter}", None) for letter in SLOT_LETTERS)
        if second is not None:
            places[f"{side}a"] = second
        if first is not None:
            places[f"{side}b"] = first

    def get_pokemon(
        self, identifier: str, force_self_team: bool = False, details: str = "", request: dict[str, Any] | None = None
    ) -> Pokemon:
        """Return the Pokémon of an identifier: who stands at its place ("p1a: Tauros"), else the one of that name."""
        ident = identifier
        if identifier[3] != " ":
            there = None if details else self.places(identifier).get(identifier[:3])
            if there is not None:
                return there
            ident = identifier[:2] + identifier[3:]
        known = self._team.get(ident) or self._opponent_team.get(ident)
        return known or super().get_pokemon(ident, force_self_team, details, request)

    def _pressure_on(self, pokemon: str, move: str, target_str: str | None) -> int:  # type: ignore[override]
        """Return how many Pokémon with Pressure a move is aimed at: each costs one PP more.

        Up to generation 4 Pressure of an ally acts, too.
        """
        entry = GenData.from_gen(self._gen).moves.get(Move.retrieve_id(move))
        if entry is None:
            return 0
        foes = self.places("p1" if pokemon[:2] == "p2" else "p2")
        allies: dict[str, Pokemon] = {}
        if self._gen < _FIRST_WITHOUT_PRESSURE_OF_ALLIES:
            allies = {place: mon for place, mon in self.places(pokemon).items() if place != pokemon[:3]}
        others, kind = foes | allies, entry["target"]
        if kind in _SPREAD or "mustpressure" in entry["flags"]:
            aimed = list(foes) if kind == "allAdjacentFoes" else list(others)
        elif kind in _OF_ALLIES:
            aimed = list(allies)
        else:
            aimed = [target_str[:3]] if target_str and target_str[:3] in others else []
        fallen = self._gen < _FIRST_WITHOUT_PRESSURE_OF_ALLIES and entry["target"] == "all"  # their Pressure acts, too
        return sum(self._presses(place, others[place], fallen) for place in aimed)

    def _presses(self, place: str, mon: Pokemon, fallen: bool) -> bool:
        """Return whether Pressure of a Pokémon at a place acts. fallen: also if it has fainted."""
        if ability_of(mon) != "pressure" or (mon._status is FAINTED and not fallen):
            return False
        return Effect.GASTRO_ACID not in mon._effects and Field.NEUTRALIZING_GAS not in self._fields


def _passes(entry: dict[str, Any]) -> bool:
    """Return whether a slot's Pokémon cannot choose a move."""
    return entry["condition"].endswith(" fnt") or bool(entry.get("commanding"))
