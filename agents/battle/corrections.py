"""Which kinds of lines are corrected, and where: everything else poke-env reads alone (docs/state.md lists its faults)."""

from __future__ import annotations

from collections.abc import Callable

from agents.battle.abilities import read_ability, read_endability
from agents.battle.boosts import read_clearallboost, read_clearboost, read_copyboost, read_setboost
from agents.battle.conditions import read_fieldend, read_fieldstart, read_sideend, read_swapsideconditions, read_weather
from agents.battle.effect_sources import read_caused, read_heal
from agents.battle.formes import read_detailschange, read_formechange, read_mega
from agents.battle.illusion import read_replace
from agents.battle.items import read_anim, read_enditem, read_item
from agents.battle.moves_used import read_move
from agents.battle.open_sheets import read_showteam
from agents.battle.statuses import read_cant, read_curestatus, read_cureteam, read_damage, read_status
from agents.battle.switches import read_faint, read_switch
from agents.battle.tracked_battle import TrackedBattle
from agents.battle.turn_end import read_turn, read_upkeep
from agents.battle.types import read_terastallize
from agents.battle.volatiles import (
    read_activate,
    read_end,
    read_single_move,
    read_single_turn,
    read_start,
    read_transform,
)

READERS: dict[str, Callable[[TrackedBattle, list[str]], None]] = {
    "-ability": read_ability,
    "-activate": read_activate,
    "-anim": read_anim,
    "-block": read_caused,
    "-burst": read_mega,
    "-clearallboost": read_clearallboost,
    "-clearboost": read_clearboost,
    "-copyboost": read_copyboost,
    "-cureteam": read_cureteam,
    "-curestatus": read_curestatus,
    "-damage": read_damage,
    "-end": read_end,
    "-endability": read_endability,
    "-enditem": read_enditem,
    "-fail": read_caused,
    "-fieldend": read_fieldend,
    "-fieldstart": read_fieldstart,
    "-formechange": read_formechange,
    "-heal": read_heal,
    "-immune": read_caused,
    "-item": read_item,
    "-mega": read_mega,
    "-primal": read_mega,
    "-setboost": read_setboost,
    "-sideend": read_sideend,
    "-singlemove": read_single_move,
    "-singleturn": read_single_turn,
    "-start": read_start,
    "-status": read_status,
    "-swapsideconditions": read_swapsideconditions,
    "-terastallize": read_terastallize,
    "-transform": read_transform,
    "-weather": read_weather,
    "cant": read_cant,
    "detailschange": read_detailschange,
    "drag": read_switch,
    "faint": read_faint,
    "move": read_move,
    "replace": read_replace,
    "showteam": read_showteam,
    "switch": read_switch,
    "turn": read_turn,
    "upkeep": read_upkeep,
}
