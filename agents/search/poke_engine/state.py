"""Conversion of a battle, with samples of hidden information, to poke-engine's State. docs/search.md has the table."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from poke_env.battle.pokemon import Pokemon
from poke_env.battle.status import Status
from poke_env.data import GenData, to_id_str

from agents.battle import SeatBattle
from agents.battle.choices import Choice, listed_move, plain_move
from agents.battle.previewed import only_previewed
from agents.mechanics.fighters import stats_of
from agents.mechanics.set_sampling import SampledPokemon, draw, draw_previewed, draw_unseen
from agents.search.poke_engine.field import field_of, side_conditions
from agents.search.poke_engine.history import BINDING, History, PokemonHistory
from agents.search.poke_engine.layout import EngineMove, EnginePokemon, EngineSide, EngineState, move_name

#: poke-env's status -> poke-engine's.
STATUS = {"BRN": "burn", "SLP": "sleep", "FRZ": "freeze", "PAR": "paralyze", "PSN": "poison", "TOX": "toxic"}
#: The volatiles that are passed to poke-engine, by their id in both programs.
_VOLATILES = frozenset({
    "aquaring", "attract", "bide", "charge", "confusion", "curse", "defensecurl", "destinybond", "dig", "dive",
    "embargo", "encore", "flashfire", "fly", "focusenergy", "foresight", "gastroacid", "glaiverush", "healblock",
    "imprison", "ingrain", "laserfocus", "leechseed", "lightscreen", "lockedmove", "magnetrise", "meteorbeam",
    "minimize", "mustrecharge", "nightmare", "noretreat", "perish1", "perish2", "perish3", "perish4",
    "phantomforce", "powertrick", "protosynthesisatk", "protosynthesisdef", "protosynthesisspa",
    "protosynthesisspd", "protosynthesisspe", "quarkdriveatk", "quarkdrivedef", "quarkdrivespa", "quarkdrivespd",
    "quarkdrivespe", "rage", "razorwind", "reflect", "saltcure", "shadowforce", "skullbash", "skyattack",
    "slowstart", "smackdown", "solarbeam", "solarblade", "stockpile", "substitute", "syrupbomb", "tarshot", "taunt",
    "telekinesis", "throatchop", "torment", "unburden", "uproar", "yawn", "partiallytrapped",
})  # fmt: skip
_TRAPS = frozenset({
    "bind", "clamp", "firespin", "infestation", "magmastorm", "sandtomb", "snaptrap", "thundercage", "whirlpool",
    "wrap",
})  # fmt: skip
_SLOW_START = 5
_GEN1_RECOVERED = {"brn": "gen1burnnullify", "par": "gen1paralysisnullify"}


@dataclass(frozen=True)
class GuessedPosition:
    """A possible position. choices: poke-engine's name of each of our choices -> legal choice."""

    state: EngineState
    choices: dict[str, Choice]


def position(battle: SeatBattle, history: History, rng: random.Random) -> GuessedPosition:
    """Return the position with sampled hidden information. `history` must have processed the battle's log."""
    weather, terrain, trick_room = field_of(battle, history.endless_weather)
    one = own_side(battle, history)
    two = _their_side(battle, history, rng)
    return GuessedPosition(EngineState(one, two, weather, terrain, trick_room), names(battle, one))


def names(battle: SeatBattle, side: EngineSide) -> dict[str, Choice]:
    """Return poke-engine's names of our legal choices. "Fight", a single choice for all moves, has all their names."""
    choices: dict[str, Choice] = {}
    own_moves = [move.name for move in side.pokemon[side.active].moves]
    requested = [entry["id"] for entry in battle.last_request.get("active", [{}])[0].get("moves", [])]
    for choice in battle.legal:
        if choice.kind == "switch":
            choices[f"switch {side.pokemon[choice.slot - 1].name}"] = choice
        elif requested[choice.slot - 1] == "fight":
            choices.update(dict.fromkeys(own_moves, choice))
        elif choice.extra in ("", "terastallize"):
            choices[own_moves[choice.slot - 1] + ("-tera" if choice.extra else "")] = choice
    return choices


def own_side(battle: SeatBattle, history: History) -> EngineSide:
    """Return the seat's own side, from its request."""
    request = battle.last_request
    entries = request["side"]["pokemon"]
    active = next(index for index, entry in enumerate(entries) if entry["active"])
    mons = []
    for index, entry in enumerate(entries):
        moves = _own_moves(battle, entry, history) if index == active else None
        mons.append(_own_pokemon(battle, entry, history.of(entry["ident"]), moves))
    forced = bool(request.get("forceSwitch")) and mons[active].hp > 0
    may_switch = any(choice.kind == "switch" for choice in battle.legal)
    return _side(
        battle,
        tuple(mons),
        active,
        battle.active_pokemon,
        history.of(entries[active]["ident"]),
        own=True,
        must_switch=forced,
        trapped=not request.get("forceSwitch") and not may_switch,
    )


def _own_pokemon(
    battle: SeatBattle, entry: dict[str, Any], past: PokemonHistory, moves: tuple[EngineMove, ...] | None
) -> EnginePokemon:
    mon = battle.team[entry["ident"]]
    health = entry["condition"].split()[0].split("/")
    gen = battle.gen
    if moves is None:
        known = {plain_move(move.id): move.current_pp for move in mon.moves.values()}
        moves = tuple(EngineMove(move_name(m, gen), pp=known.get(plain_move(m), 16)) for m in entry["moves"])
    stats = tuple(entry["stats"][stat] for stat in ("atk", "def", "spa", "spd", "spe"))
    return _pokemon(
        battle,
        mon,
        past,
        hp=int(health[0]),
        maxhp=int(health[1]) if len(health) > 1 else 1,
        stats=stats,
        moves=moves,
        item=entry.get("item", ""),
        ability=entry.get("ability") or entry.get("baseAbility", ""),
        base_ability=entry.get("baseAbility", ""),
        tera=entry.get("teraType", ""),
    )


def _own_moves(battle: SeatBattle, entry: dict[str, Any], history: History) -> tuple[EngineMove, ...] | None:
    """Return the moves of our active Pokémon as the request lists them (disabled, after Transform); None if it does not."""
    active = battle.last_request.get("active")
    if not active:
        return None
    listed = active[0]["moves"]
    gen = battle.gen
    if [move["id"] for move in listed] == ["fight"]:
        last = history.of(entry["ident"]).last
        holding = last in BINDING
        return tuple(EngineMove(move_name(m, gen), disabled=holding and m != last) for m in entry["moves"])
    if "pp" not in listed[0]:  # it has no choice: a locked move, "recharge" or "struggle"
        return tuple(EngineMove(_engine_name(move, gen)) for move in listed)
    return tuple(EngineMove(_engine_name(m, gen), bool(m.get("disabled")), m["pp"]) for m in listed)


def _engine_name(listed: dict[str, Any], gen: int) -> str:
    return move_name(listed_move(listed) if listed["id"] == "hiddenpower" else listed["id"], gen)


def _their_side(battle: SeatBattle, history: History, rng: random.Random) -> EngineSide:
    role = battle.opponent_role or "p2"
    mons: list[EnginePokemon] = []
    active = 0
    for ident, mon in battle.opponent_team.items():
        if mon is battle.opponent_active_pokemon:
            active = len(mons)
        mons.append(_shown(battle, mon, history.of(ident), draw(mon, battle, rng)))
    waiting = only_previewed(battle)
    mons += [_unshown(battle, draw_previewed(mon.species, mon.level, battle, rng)) for mon in waiting]
    if not battle.teampreview_opponent_team:
        size = battle._team_size.get(role, 6)
        seen = {mon.base_species for mon in battle.opponent_team.values()}
        unseen = draw_unseen(battle.format_id, battle.gen, seen, size - len(mons), rng)
        mons += [_unshown(battle, sampled) for sampled in unseen]
    past = history.of(next((i for i, m in battle.opponent_team.items() if m is battle.opponent_active_pokemon), ""))
    return _side(battle, tuple(mons[:6]), active, battle.opponent_active_pokemon, past, own=False)


def _shown(battle: SeatBattle, mon: Pokemon, past: PokemonHistory, sampled: SampledPokemon) -> EnginePokemon:
    gen = battle.gen
    stats = stats_of(gen, sampled.species, sampled.level, sampled.nature, sampled.evs)
    share = 0.0 if mon.fainted else mon.current_hp_fraction
    used = {plain_move(move.id): move for move in mon.moves.values()}
    moves = []
    for name in sampled.moves:
        move = used.get(plain_move(name))
        pp = move.current_pp if move is not None else GenData.from_gen(gen).moves.get(name, {}).get("pp", 10) * 8 // 5
        moves.append(EngineMove(move_name(name, gen), disabled=plain_move(name) == past.disabled, pp=pp))
    return _pokemon(
        battle,
        mon,
        past,
        hp=max(1, round(share * stats["hp"])) if share else 0,
        maxhp=stats["hp"],
        stats=tuple(stats[stat] for stat in ("atk", "def", "spa", "spd", "spe")),
        moves=tuple(moves),
        item=sampled.item,
        ability=mon.temporary_ability or sampled.ability,
        base_ability=sampled.ability,
        tera=sampled.tera,
        evs=sampled.evs,
        nature=sampled.nature,
    )


def _unshown(battle: SeatBattle, sampled: SampledPokemon) -> EnginePokemon:
    mon = Pokemon(battle.gen, species=sampled.species)
    mon._level = sampled.level
    mon.set_hp_status("100/100")
    return _shown(battle, mon, PokemonHistory(), sampled)


def _pokemon(
    battle: SeatBattle,
    mon: Pokemon,
    past: PokemonHistory,
    *,
    hp: int,
    maxhp: int,
    stats: tuple[int, ...],
    moves: tuple[EngineMove, ...],
    item: str,
    ability: str,
    base_ability: str,
    tera: str,
    evs: tuple[int, ...] = (85,) * 6,
    nature: str = "serious",
) -> EnginePokemon:
    gen = battle.gen
    asleep = mon.status == Status.SLP
    base_types = tuple(t.name.lower() for t in mon.base_types)
    changed = tuple(t.name.lower() for t in mon._temporary_types if t is not None)
    return EnginePokemon(
        name=mon.species,
        level=mon.level,
        types=changed or base_types,
        base_types=base_types,
        hp=hp,
        maxhp=maxhp,
        ability=to_id_str(ability) or "none",
        base_ability=to_id_str(base_ability or ability) or "none",
        item=to_id_str(item) or "none",
        nature=nature,
        evs=tuple(min(ev, 252) for ev in evs),
        stats=stats,
        status=STATUS.get(mon.status.name, "none") if mon.status is not None and hp else "none",
        rest=_rest(past, gen) if asleep and past.rested else 0,
        # In poke-engine no Pokémon wakes up at the first attempt; in generation 1 one in seven does, hence one more turn.
        slept=past.slept + (gen == 1) if asleep and not past.rested else 0,
        weight=mon.weight,
        moves=moves,
        terastallized=mon.is_terastallized,
        tera=tera.lower() or "typeless",
    )


def _rest(past: PokemonHistory, gen: int) -> int:
    return max(1, (2 if gen == 1 else 3) - past.slept)


def _side(
    battle: SeatBattle,
    mons: tuple[EnginePokemon, ...],
    active: int,
    mon: Pokemon | None,
    past: PokemonHistory,
    *,
    own: bool,
    must_switch: bool = False,
    trapped: bool = False,
) -> EngineSide:
    fighter = mons[active]
    volatiles = {("partiallytrapped" if name in _TRAPS else name): turns for name, turns in past.volatiles.items()}
    if battle.gen == 1:  # there it prevents the target from acting, which poke-engine does not model
        volatiles.pop("partiallytrapped", None)
    known = {name: turns for name, turns in volatiles.items() if name in _VOLATILES}
    if "slowstart" in known:
        known["slowstart"] = max(1, _SLOW_START - known["slowstart"])
    marks = {_GEN1_RECOVERED[status] for status in past.recovered} if battle.gen == 1 else set()
    quarter = fighter.maxhp // 4
    conditions = side_conditions(battle, own)
    if mon is not None:
        conditions["protect"] = mon.protect_counter
        conditions["toxiccount"] = mon.status_counter if mon.status == Status.TOX else 0
    moves = [plain_move(move.name) for move in fighter.moves]
    last = plain_move(past.last)
    return EngineSide(
        pokemon=mons,
        active=active,
        conditions=conditions,
        volatiles=frozenset(known) | marks if fighter.hp else frozenset(),
        durations=known,
        # The HP of a Substitute is hidden: assume that each hit halved it.
        substitute=max(1, quarter >> past.hits) if "substitute" in known else 0,
        boosts=dict(mon.boosts) if mon is not None and fighter.hp else {},
        must_switch=must_switch,
        trapped=trapped,
        last=f"move:{moves.index(last)}" if last in moves else f"switch:{active}",
    )
