"""What a used move costs and shows.

poke-env takes the later turns of some moves for new uses, called moves for the Pokémon's own, and does not know what a Max
Move or a Z-Move costs.
"""

from __future__ import annotations

from typing import Any

from poke_env.battle.effect import Effect
from poke_env.battle.move import Move
from poke_env.battle.pokemon import Pokemon
from poke_env.battle.status import Status
from poke_env.data import GenData, to_id_str

from agents.battle.abilities import show_ability
from agents.battle.choices import plain_move
from agents.battle.continued_moves import marked_continued
from agents.battle.quick_poke_env import ability_of
from agents.battle.statuses import note_sleep
from agents.battle.tracked_battle import TrackedBattle, is_among, origin

#: Whose later turns name them, or nothing.
_LOCKED = frozenset({"lockedmove"})
#: "[from] X" of a move that is chosen and paid for all the same.
_CHOSEN = frozenset({"", "pursuit", "round", "grasspledge", "waterpledge", "firepledge"})
#: "[from] X" of a move that Pressure makes cost more; "[from] Pursuit", of generations 3 and 4, is one in the former.
_PAID_IN_FULL = frozenset({"", "move: Pursuit"})
#: Moves whose effect on their user no line tells.
_SILENT = {"Defense Curl": Effect.DEFENSE_CURL, "Minimize": Effect.MINIMIZE}
#: Moves whose cost poke-env leaves to what they call.
_CALLING = frozenset({"Copycat", "Metronome", "Nature Power", "Sleep Talk"})
#: Moves that succeed less often in a row.
_PROTECTING = frozenset(
    {
        "Baneful Bunker", "Burning Bulwark", "Detect", "Endure", "King's Shield", "Max Guard", "Obstruct", "Protect",
        "Quick Guard", "Silk Trap", "Spiky Shield", "Wide Guard",
    }
)  # fmt: skip
#: Those that protect a side.
_SIDE_GUARDS = {"Quick Guard": Effect.QUICK_GUARD, "Wide Guard": Effect.WIDE_GUARD}
_NOT_TRIED = frozenset({"[still]", "[notarget]"})
_FAILED = _NOT_TRIED | {"[miss]"}
#: Moves and abilities that change a move's type before its Max Move is determined (Showdown's `onModifyType`).
_OF_ANY_TYPE = frozenset(
    {
        "aurawheel", "hiddenpower", "judgment", "multiattack", "naturalgift", "revelationdance", "technoblast",
        "terrainpulse", "weatherball",
    }
)  # fmt: skip
_TYPE_CHANGERS = frozenset({"aerilate", "galvanize", "liquidvoice", "normalize", "pixilate", "refrigerate"})
_MOVES_OF_A_SET = 4
#: Z-Moves that come from one move only; those of a type can come from any move of that type.
_Z_MOVES_OF_ONE_MOVE = {
    "10,000,000 Volt Thunderbolt": "Thunderbolt", "Catastropika": "Volt Tackle",
    "Clangorous Soulblaze": "Clanging Scales", "Extreme Evoboost": "Last Resort", "Genesis Supernova": "Psychic",
    "Guardian of Alola": "Nature's Madness", "Let's Snuggle Forever": "Play Rough",
    "Light That Burns the Sky": "Photon Geyser", "Malicious Moonsault": "Darkest Lariat",
    "Menacing Moonraze Maelstrom": "Moongeist Beam", "Oceanic Operetta": "Sparkling Aria",
    "Pulverizing Pancake": "Giga Impact", "Searing Sunraze Smash": "Sunsteel Strike",
    "Sinister Arrow Raid": "Spirit Shackle", "Soul-Stealing 7-Star Strike": "Spectral Thief",
    "Splintered Stormshards": "Stone Edge", "Stoked Sparksurfer": "Thunderbolt",
}  # fmt: skip


def _max_pp(move: Move) -> int:
    """A move's most PP. poke-env raises those of moves that PP Ups do not (Trump Card)."""
    return move.entry["pp"] if move._id == "trumpcard" or move.entry.get("noPPBoosts") else _stock_max_pp(move)


_stock_max_pp = vars(Move)["max_pp"].fget
Move.max_pp = property(_max_pp, doc=_max_pp.__doc__)  # type: ignore[method-assign, assignment]


#: PP of moves in Pokémon Champions before they are raised, where they are not those of generation 9 or 20.
_PP_OF_CHAMPIONS = {
    "banefulbunker": 5, "beakblast": 5, "kingsshield": 5, "nightslash": 20, "nihillight": 5, "obstruct": 5, "protect": 5,
    "purify": 5, "sandstorm": 5, "shelltrap": 10, "snowscape": 5, "spikyshield": 5, "spinout": 10,
}  # fmt: skip


class ChampionsMove(Move):
    """A move in a format of Pokémon Champions, whose PP are others (Showdown's data/mods/champions)."""

    __slots__ = ()

    @property
    def max_pp(self) -> int:
        pp = int(_PP_OF_CHAMPIONS.get(self._id, min(self.entry["pp"], 20)))
        return pp if self.entry.get("noPPBoosts") else (pp // 5 + 1) * 4


def read_as_champions(battle: TrackedBattle) -> None:
    """Give the moves of both teams that have come up the PP that they have in Pokémon Champions, less those used."""
    for team in (battle._team, battle._opponent_team):
        for mon in team.values():
            as_in_champions(mon)


def as_in_champions(mon: Pokemon) -> None:
    """Give the moves of a Pokémon the PP that they have in Pokémon Champions, less those used."""
    moves = mon._moves._base_moves
    for name, move in moves.items():
        if type(move) is Move:
            moves[name] = champion = ChampionsMove(move._id, mon.gen)
            champion._current_pp = max(0, champion.max_pp - (move.max_pp - move._current_pp))
            champion._is_last_used = move._is_last_used


#: What makes a Pokémon use a move besides its own: Rage and Destiny Bond last on, and one that must rest still must.
_OUT_OF_TURN = frozenset({"magicbounce", "magiccoat", "snatch"})


def read_move(battle: TrackedBattle, message: list[str]) -> None:
    """ "move|POKEMON|MOVE|TARGET|[from] …": a move is used; who pays for it, and whether it is its own."""
    mon = battle.get_pokemon(message[2])
    counter, boosted_fire = mon._status_counter, Effect.FLASH_FIRE in mon._effects
    protections = mon._protect_counter
    out_of_turn = len(message) > 5 and to_id_str(origin(message, 4).split(":")[-1]) in _OUT_OF_TURN
    recharges = out_of_turn and mon._must_recharge
    if not out_of_turn:
        battle.end_single_move(mon)
    shown = message
    if message[3].startswith("Z-"):  # a status move as a Z-Move: "Z-Quiver Dance"
        message = [*message[:3], message[3][2:], *message[4:]]
    silent = _SILENT.get(message[3])
    battle.silent_effect = None if silent is None or silent in mon._effects else (mon, silent)
    marked = marked_continued(battle, mon, message) if battle.gen == 2 else message
    if len(marked) == 5 and message[3] not in _CALLING and message[3] not in _Z_MOVES_OF_ONE_MOVE:
        battle.read(marked)
    else:
        _read_special(battle, mon, marked)
    battle._replay_data[-1] = shown
    mon._status_counter = counter
    mon._must_recharge = mon._must_recharge or recharges
    if battle.gen == 3 and message[3] in ("Sleep Talk", "Snore") and mon._status is Status.SLP and len(message) == 5:
        note_sleep(battle, mon, talks=True)
    if boosted_fire:
        mon._effects[Effect.FLASH_FIRE] = 0
    if "[zeffect]" in message or (battle.gen == 8 and Effect.DYNAMAX in mon._effects):
        _pay_renamed(battle, mon, message)
    if message[3] == "Natural Gift" and _NOT_TRIED.isdisjoint(message[4:]):
        mon._item = None  # the berry is used up, also by a miss
    if silent is not None and _NOT_TRIED.isdisjoint(message[4:]):  # a "[miss]" is that of the other's Future Sight
        mon._effects[silent] = 0
    if message[3] in _PROTECTING:  # it counts if it succeeds, which "-singleturn" says
        battle.protecting = mon, protections
        guard = _SIDE_GUARDS.get(message[3])
        if guard is not None and any(guard in ally._effects for ally in battle.allies_of(message[2])):
            battle.protecting = (
                None  # its side has it already: it succeeds without a line, or "-fail" says that it does not
            )
            battle.protected.append(mon)
            mon._protect_counter = protections + 1
            return
        instructed = is_among(mon, battle.protected)  # fails at the end of the turn, without a draw
        mon._protect_counter = protections if instructed else 0
    else:
        mon._protect_counter = protections


def _read_special(battle: TrackedBattle, mon: Pokemon, message: list[str]) -> None:
    battle.record(message)
    name, extras = message[3], message[4:]
    source = origin(message, 4)
    cause = to_id_str(source.split(":")[-1])
    failed = not _FAILED.isdisjoint(extras)
    dancing, mon._dancing = mon._dancing, False
    if source.startswith("ability:"):
        show_ability(mon, cause)
    own = (cause in _CHOSEN or source.startswith("item:")) and not dancing  # Quick Claw, Custap Berry
    pressure = battle._pressure_on(message[2], name, message[4] if message[4][:1] == "p" else None)
    if own:
        base = _Z_MOVES_OF_ONE_MOVE.get(name)
        pressure = pressure if source in _PAID_IN_FULL or (battle.gen == 3 and source == "Pursuit") else False
        mon.moved(base or name, failed=failed, use=True, reveal=True, pressure=pressure)
        used = mon.moves.get(to_id_str(base)) if base else None
        if used is not None:
            used._is_last_used = False  # the last move is the Z-Move
    else:
        mon.moved(name, failed=failed, use=False, reveal=cause == "sleeptalk")
        if cause in _LOCKED and battle.gen > 1:  # in generation 1 also the mark of called moves
            for move in mon.moves.values():
                move._is_last_used = move.id == to_id_str(name)
        caller = mon.moves.get(cause)
        paid = pressure and source.startswith("move:")  # Magic Coat and Snatch ("[from] Snatch") pay for nothing
        if caller is not None and battle.gen >= 4 and paid and cause != to_id_str(name):
            caller.use(pressure, overridden=True)


def _pay_renamed(battle: TrackedBattle, mon: Pokemon, message: list[str]) -> None:
    """Take the PP of a Z-Move or Max Move from the move that it comes from, if only one of the Pokémon's can be that."""
    entry = GenData.from_gen(battle.gen).moves.get(to_id_str(message[3]), {})
    ours = message[2][:2] == battle._player_role
    if not (entry.get("isMax") or entry.get("isZ")) or message[3] in _Z_MOVES_OF_ONE_MOVE or origin(message, 4):
        return
    if not (ours or len(mon.moves) >= _MOVES_OF_A_SET) or (entry.get("isMax") and ability_of(mon) in _TYPE_CHANGERS):
        return
    status = entry["category"] == "Status"
    sources = [
        move
        for move in mon.moves.values()
        if (move.entry["category"] == "Status") == status
        and (status or move.entry["type"] == entry["type"] or plain_move(move._id) in _OF_ANY_TYPE)
    ]
    if len(sources) == 1:
        target = message[4] if message[4][:1] == "p" else None
        sources[0].use(battle._pressure_on(message[2], message[3], target))


def read_own_moves(mon: Pokemon, listed: list[dict[str, Any]]) -> None:
    """Take PP, and whether it must recharge, of our active Pokémon from the moves that a request lists.

    In generation 1 PP stay as the lines count them, for both players alike, as the engine does
    (agents/observation/engine_observation.py).
    """
    mon._must_recharge = any(shown["id"] == "recharge" for shown in listed)
    if mon.gen == 1:
        return
    known = mon.moves
    for shown in listed:
        move = known.get(shown["id"]) if "pp" in shown else None
        if move is not None:
            move._current_pp = shown["pp"]
