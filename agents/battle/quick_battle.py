"""poke-env's Battle that reads the usual lines and requests faster, to the same state (see quick_poke_env.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from poke_env.battle.abstract_battle import AbstractBattle
from poke_env.battle.battle import Battle
from poke_env.battle.effect import Effect
from poke_env.battle.field import Field
from poke_env.battle.move import Move
from poke_env.data import GenData
from poke_env.player.battle_order import DefaultBattleOrder, SingleBattleOrder

from agents.battle.choices import is_reviving
from agents.battle.quick_poke_env import FAINTED, ability_of

#: Lines of moves that are more than "someone used it on someone".
_SPECIAL_MOVES = frozenset({"Sleep Talk", "Copycat", "Metronome", "Nature Power"})
_SEEN_BY_PRESSURE = frozenset(
    {"adjacentFoe", "all", "allAdjacent", "allAdjacentFoes", "any", "normal", "randomNormal", "scripted"}
)
#: Moves that cost more though they are not aimed at who has Pressure (Showdown's flag mustpressure, which poke-env lacks),
#: with the generation from which they do.
_ALWAYS_SEEN_BY_PRESSURE = {
    "imprison": 5, "snatch": 5, "spikes": 3, "stealthrock": 4, "terablast": 9, "toxicspikes": 4,
}  # fmt: skip
_PLACES = ("p1a: ", "p1b: ", "p2a: ", "p2b: ")


class QuickReading(AbstractBattle):
    """poke-env's battle of one or two slots; the usual lines are read faster, to the same state."""

    def parse_message(self, split_message: list[str]) -> None:
        """As poke-env's."""
        reader = _READERS.get(split_message[1])
        if reader is None or not reader(self, split_message):
            super().parse_message(split_message)

    def _has_terminal_replay_result(self) -> bool:
        for message in self._replay_data:  # noqa: SIM110 - half the time of any(...), over a thousand lines
            if len(message) > 1 and message[1] in ("win", "tie"):
                return True
        return False


class QuickBattle(QuickReading, Battle):
    """poke-env's Battle; the usual lines and requests are read faster, to the same state."""

    def parse_request(self, request: dict[str, Any], strict_battle_tracking: bool = False) -> None:
        """As poke-env's."""
        side = request.get("side", {})
        team = side.get("pokemon")
        if strict_battle_tracking or not team:
            super().parse_request(request, strict_battle_tracking)
            return
        self._wait = bool(request.get("wait"))
        self._available_moves = []
        self._available_switches = switches = []
        self._can_mega_evolve = self._can_z_move = self._can_dynamax = self._can_tera = False
        self._maybe_trapped = self._trapped = False
        self._reviving = reviving = is_reviving(team)
        self._force_switch = request.get("forceSwitch", [False])[0]
        self._last_request = request
        if request.get("teamPreview", False):
            self._teampreview = True
            self._max_team_size = request.get("maxTeamSize", len(team))
        else:
            self._teampreview = False
        self._player_role = team[0]["ident"][:2]
        self._update_team_from_request(side, strict_battle_tracking)
        if "active" in request:
            active_request = request["active"][0]
            if active_request.get("trapped"):
                self._trapped = True
            mon = self.active_pokemon
            if mon is not None:
                self._available_moves.extend(mon.available_moves_from_request(active_request))
            if len(active_request) > 1:  # more than moves
                self._can_mega_evolve = bool(active_request.get("canMegaEvo", False))
                self._can_z_move = bool(active_request.get("canZMove", False))
                self._can_dynamax = bool(active_request.get("canDynamax", False))
                self._can_tera = bool(active_request.get("canTerastallize", False))
                self._maybe_trapped = bool(active_request.get("maybeTrapped", False))
        if not self._trapped:
            known = self._team
            for entry in team:
                mon = known[entry["ident"]]
                fainted = mon._status is FAINTED
                if fainted if reviving else not mon._active and not fainted:
                    switches.append(mon)

    def switch(self, pokemon_str: str, details: str, hp_status: str) -> None:
        """As poke-env's."""
        ours = pokemon_str[:2] == self._player_role
        leaving = self.active_pokemon if ours else self.opponent_active_pokemon
        if leaving:
            leaving.switch_out(self._fields)
        pokemon = self.get_pokemon(pokemon_str, details=details)
        pokemon.switch_in(details=details)
        pokemon.set_hp_status(hp_status)

    def _pressure_on(self, pokemon: str, move: str, target_str: str | None) -> bool:
        entry = GenData.from_gen(self._gen).moves.get(Move.retrieve_id(move))
        if entry is None:
            return False
        kind = entry["target"]
        target = self._get_target_mon(pokemon, kind, target_str)
        if self._gen >= _ALWAYS_SEEN_BY_PRESSURE.get(Move.retrieve_id(move), 10):
            target = self.opponent_active_pokemon if pokemon[:2] == self._player_role else self.active_pokemon
        elif kind not in _SEEN_BY_PRESSURE or (kind != "all" and target_str and target_str[:2] == pokemon[:2]):
            return False  # Curse, for one, is aimed at its user by those that are no Ghosts
        if target is None or ability_of(target) != "pressure" or target._status is FAINTED:
            return False
        return Effect.GASTRO_ACID not in target._effects and Field.NEUTRALIZING_GAS not in self._fields

    @property
    def valid_orders(self) -> list[SingleBattleOrder]:
        """As poke-env's."""
        if self._wait:
            return [DefaultBattleOrder()]
        orders = [] if self._trapped else [SingleBattleOrder(mon) for mon in self._available_switches]
        if self._force_switch or self.active_pokemon is None:
            return orders
        moves = self._available_moves
        orders += [SingleBattleOrder(move) for move in moves]
        if self._can_mega_evolve:
            orders += [SingleBattleOrder(move, mega=True) for move in moves]
        if self._can_z_move:
            z_moves = self.active_pokemon.available_z_moves
            orders += [SingleBattleOrder(move, z_move=True) for move in moves if move in z_moves]
        if self._can_dynamax:
            orders += [SingleBattleOrder(move, dynamax=True) for move in moves]
        if self._can_tera:
            orders += [SingleBattleOrder(move, terastallize=True) for move in moves]
        return orders


# Readers of lines: each returns False, before it changes anything, for a line that is not the usual one of its kind.


def _read_switch(battle: QuickReading, message: list[str]) -> bool:
    if len(message) < 5:
        return False
    battle._replay_data.append(message)
    battle.switch(message[2], message[3], message[4])
    return True


def _read_hp(battle: QuickReading, message: list[str]) -> bool:
    if len(message) != 4:
        return False
    battle._replay_data.append(message)
    battle.get_pokemon(message[2]).set_hp_status(message[3])
    return True


def _read_move(battle: QuickReading, message: list[str]) -> bool:
    """ "|move|p1a: Tauros|Body Slam|p2a: Chansey", with nothing behind it."""
    if len(message) != 5 or not message[4].startswith(_PLACES):
        return False
    _, _, who, move, target = message
    if move.upper().strip() == "MINIMIZE":
        return False
    battle._replay_data.append(message)
    mon = battle.get_pokemon(who)
    seen = not mon._dancing
    mon._dancing = False
    pressure = battle._pressure_on(who, move, target)
    mon = battle.get_pokemon(who)
    if move in _SPECIAL_MOVES:
        mon.moved(move, failed=False, use=seen, reveal=seen)
    else:
        mon.moved(move, failed=False, use=seen, reveal=seen, pressure=pressure)
    return True


def _read_turn(battle: QuickReading, message: list[str]) -> bool:
    battle._replay_data.append(message)
    battle.end_turn(int(message[2]))
    return True


def _read_boost(battle: QuickReading, message: list[str]) -> bool:
    if len(message) < 5:
        return False
    battle._replay_data.append(message)
    mon, amount = battle.get_pokemon(message[2]), int(message[4])
    mon.boost(message[3], amount if message[1] == "-boost" else -amount)
    return True


def _read_status(battle: QuickReading, message: list[str]) -> bool:
    if len(message) < 4:
        return False
    battle._replay_data.append(message)
    battle.get_pokemon(message[2]).status = message[3]
    return True


_READERS: dict[str, Callable[[QuickReading, list[str]], bool]] = {
    "switch": _read_switch,
    "drag": _read_switch,
    "-damage": _read_hp,
    "-heal": _read_hp,
    "move": _read_move,
    "turn": _read_turn,
    "-boost": _read_boost,
    "-unboost": _read_boost,
    "-status": _read_status,
}
