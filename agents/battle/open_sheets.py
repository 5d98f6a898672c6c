"""What open team sheets tell of the opponent's Pokémon: all of their sets but the stat points.

Every Pokémon of the opponent begins with what its sheet says: at team preview, and when it first comes in. From then on the
lines of the battle change its item, ability, moves and types, as ever. The sheets stay as they were shown.
"""

from __future__ import annotations

from poke_env.battle.pokemon import Pokemon

from agents.battle.formes import base_species
from agents.battle.moves_used import as_in_champions
from agents.battle.quick_poke_env import read_condition
from agents.battle.team_sheets import TeamSheet, parse_sheets
from agents.battle.tracked_battle import TrackedBattle


def read_showteam(battle: TrackedBattle, message: list[str]) -> None:
    """ "showteam|SIDE|PACKED TEAM": the sheets of a side; the opponent's tell what it has."""
    battle.record(message)
    if message[2] == battle.player_role:
        return
    battle.opponent_sheets = parse_sheets("|".join(message[3:]))
    for mon in battle.teampreview_opponent_team:
        sheet = sheet_of(battle, mon)
        if sheet is not None:
            _learn(battle, mon, sheet)


def meet(battle: TrackedBattle, message: list[str]) -> None:
    """Make the opponent's Pokémon of a line "switch|POKEMON|DETAILS|HP" known by its sheet before it comes in first."""
    if not battle.opponent_sheets or message[2][:2] == battle.player_role:
        return
    ident = message[2][:2] + message[2][3:]
    if ident in battle._opponent_team:
        return
    mon = battle.get_pokemon(ident, details=message[3])
    sheet = sheet_of(battle, mon)
    if sheet is not None:
        _learn(battle, mon, sheet)
    if len(message) > 4:  # it has all of its HP, should another one wear its guise
        mon._current_hp = mon._max_hp = read_condition(message[4])[1]


def keep_tera_type(battle: TrackedBattle, wearer: Pokemon) -> None:
    """Give a Pokémon whose guise has ended the Tera type of its own sheet, unless it has terastallized."""
    sheet = sheet_of(battle, wearer)
    if sheet is not None and not wearer._terastallized:
        wearer._terastallized_type = sheet.tera_type


def sheet_of(battle: TrackedBattle, mon: Pokemon) -> TeamSheet | None:
    """Return the sheet of one of the opponent's Pokémon: that of its species; None if none or several could be its."""
    base = base_species(battle.gen, mon.species)
    found = [sheet for sheet in battle.opponent_sheets if base_species(battle.gen, sheet.species) == base]
    exact = [sheet for sheet in found if sheet.species == mon.species]
    found = exact or found
    return found[0] if len(found) == 1 else None


def _learn(battle: TrackedBattle, mon: Pokemon, sheet: TeamSheet) -> None:
    mon._item = sheet.item or None
    mon._ability = sheet.ability or None
    for move in sheet.moves:
        mon._add_move(move)
    if "champions" in battle.format_id:
        as_in_champions(mon)
    if sheet.tera_type is not None:
        mon._terastallized_type = sheet.tera_type
    if sheet.nature:
        mon._nature = sheet.nature
