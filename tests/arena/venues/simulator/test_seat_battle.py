"""The seat's battle leaves out work of poke-env's that changes nothing: at every request both hold the same state.

test_quick_poke_env.py compares the methods of poke-env's that quick_poke_env.py replaces; here both sides use them.

What first_generation.py corrects on purpose is not compared: in generation 1, what is left on a Pokémon that has
fainted (tests/agents/battle/test_first_generation.py says what it should be).
"""

from __future__ import annotations

import logging
import random
from typing import Any

import orjson
import pytest
from poke_env.battle.battle import Battle
from poke_env.battle.pokemon import Pokemon
from support.real_battles import FORMATS
from support.uncorrected import UncorrectedBattle

from agents.battle import SeatBattle
from arena.fixture import SEATS
from arena.record import BattleRecord
from teamsets.formats import get_format

SILENT = logging.getLogger("test-seat-battle")
SILENT.setLevel(logging.CRITICAL)


class Plain:
    """poke-env's own Battle, fed as its Player feeds it."""

    def __init__(self, role: str, gen: int) -> None:
        self.battle = Battle("battle-x-1", role, SILENT, gen=gen)
        self.battle._player_role = role

    def feed(self, lines: list[str]) -> None:
        for line in lines:
            message = line.split("|")
            if len(message) < 2 or message[1] in ("t:", "expire", "uhtmlchange", "request", "error", "bigerror"):
                continue
            if message[1] == "win":
                self.battle.won_by(message[2])
            elif message[1] == "tie":
                self.battle.tied()
            else:
                self.battle.parse_message(message)


def state_of(mon: Pokemon | None) -> Any:
    """Everything that an agent may ask a Pokémon."""
    if mon is None:
        return None
    return {
        "species": mon.species,
        "name": mon.name,
        "level": mon.level,
        "gender": mon.gender,
        "hp": (mon.current_hp, mon.max_hp, mon.fainted),
        "status": (mon.status, mon.status_counter),
        "moves": {name: (move.id, move.current_pp) for name, move in mon.moves.items()},
        "item": mon.item,
        "ability": (mon.ability, mon.base_ability if hasattr(mon, "base_ability") else None, mon.possible_abilities),
        "stats": mon.stats,
        "base": mon.base_stats,
        "boosts": mon.boosts,
        "effects": mon.effects,
        "types": mon.types,
        "tera": (mon.tera_type, mon.is_terastallized),
        "active": mon.active,
        "flags": (mon.first_turn, mon.must_recharge, mon.preparing, mon.protect_counter, mon.revealed),
    }


def state(battle: Battle) -> dict[str, Any]:
    """Everything that an agent may ask a battle."""
    return {
        "turn": battle.turn,
        "team": {name: state_of(mon) for name, mon in battle.team.items()},
        "opponent_team": {name: state_of(mon) for name, mon in battle.opponent_team.items()},
        "active": state_of(battle.active_pokemon),
        "opponent_active": state_of(battle.opponent_active_pokemon),
        "moves": [(move.id, move.current_pp) for move in battle.available_moves],
        "switches": [mon.name for mon in battle.available_switches],
        "weather": battle.weather,
        "fields": battle.fields,
        "sides": (battle.side_conditions, battle.opponent_side_conditions),
        "forced": (battle.force_switch, battle.trapped, battle.maybe_trapped, battle.reviving, battle.teampreview),
        "extras": (battle.can_mega_evolve, battle.can_z_move, battle.can_dynamax, battle.can_tera),
        "dynamax": (battle.dynamax_turns_left, battle.opponent_dynamax_turns_left),
        "end": (battle.finished, battle.won, battle.lost),
        "wait": battle._wait,
    }


#: What poke-env keeps of a fainted Pokémon, and generation 1 does not.
LEFT_ON_THE_FAINTED = ("status", "boosts", "effects", "types", "flags")


def comparable(state: dict[str, Any], gen: int) -> dict[str, Any]:
    """The state without what is corrected on purpose."""
    if gen > 1:
        return state
    mons = [*state["team"].values(), *state["opponent_team"].values(), state["active"], state["opponent_active"]]
    for mon in mons:
        if mon is not None and mon["hp"][2]:
            for name in LEFT_ON_THE_FAINTED:
                mon.pop(name, None)
    return state


def difference(plain: Any, seat: Any, where: str = "") -> str:
    """The first place in which two states differ, or nothing."""
    if isinstance(plain, dict) and isinstance(seat, dict):
        for key in [*plain, *(key for key in seat if key not in plain)]:
            found = difference(plain.get(key), seat.get(key), f"{where}.{key}")
            if found:
                return found
        return "" if list(plain) == list(seat) else f"{where}: another order"
    return "" if plain == seat else f"{where}: poke-env has {plain}, the seat {seat}"


@pytest.mark.slow
@pytest.mark.parametrize("format_id", FORMATS)
def test_the_seats_battle_is_in_the_same_state_as_poke_envs_at_every_request(
    real_battles: dict[str, list[BattleRecord]], format_id: str
) -> None:
    compared = 0
    seats = [seat for record in real_battles[format_id] for seat in zip(SEATS, record.logs, strict=True)]
    for role, log in seats:
        gen = get_format(format_id).gen
        plain, seat = Plain(role, gen), UncorrectedBattle("battle-x-1", role, role, gen, format_id, random.Random(0))
        lines: list[str] = []
        for line in log:
            if not line.startswith("|request|"):
                lines.append(line)
                continue
            request = line.removeprefix("|request|")
            plain.feed(lines)
            seat.feed(lines)
            lines = []
            plain.battle.parse_request(orjson.loads(request))
            seat.ask(orjson.loads(request))
            found = difference(comparable(state(plain.battle), gen), comparable(state(seat), gen))
            assert found == "", f"{role}, turn {seat.turn}"
            compared += 1
        plain.feed(lines)
        seat.feed(lines)
        assert difference(comparable(state(plain.battle), gen), comparable(state(seat), gen)) == ""
    assert compared > 50


@pytest.mark.parametrize("active", ["Zoroark", "Tauros", "Chansey", None])
@pytest.mark.parametrize("said", ["p1a: Zoroark", "p1a: Tauros", "p1a: Chansey", "p1: Tauros"])
def test_a_line_under_illusion_means_the_pokemon_that_poke_env_says(active: str | None, said: str) -> None:
    """Whoever is active and whoever a line names: Illusion, its end, and one that has just come in."""
    battle = SeatBattle("battle-x-1", "p1", "p1", 5, "gen5ou", random.Random(0))
    for name, ability in (("Zoroark", "illusion"), ("Tauros", "intimidate"), ("Chansey", "naturalcure")):
        mon = battle.get_pokemon(f"p1: {name}", force_self_team=True, details=f"{name}, L80")
        mon._ability, mon._active = ability, name == active
    assert battle.get_pokemon(said) is Battle.get_pokemon(battle, said)
