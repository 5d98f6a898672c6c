"""Moves used between two of metamon's states, inferred from PP, actions and damage."""

from __future__ import annotations

from collections.abc import Iterable

from arena.replays.decisions import ChoiceEvidence
from arena.replays.locks import BINDING, RECHARGE
from training.data.metamon.names import State
from training.data.metamon.stage import OTHER, Half, LogStage, fainted

_RAMPAGE = 2  # turns after which a rampage may end


def move_own(stage: LogStage, chosen: ChoiceEvidence, before: State, state: State) -> str:
    """Write our Pokémon's action, given the choice; return its move, "" for none."""
    half, known, now = stage.own, stage.own.standing, state["player_active_pokemon"]
    everyone = {stage.dex.base(mon): mon for mon in (*state["available_switches"], now)}
    entry, switched_out = everyone.get(known.base), stage.is_other(half, now)
    move = chosen.name if chosen.kind == "move" else ""
    if chosen.tera and entry is not None:
        stage.terastallize(half, entry)
    if entry is not None and (not switched_out or stage.keeps_pp):
        used = known.spend(entry)
    else:
        used = move  # it left the field after it, and its PP are unknown
        known.spent[used] = known.spent.get(used, 0) + 1
    prepares = stage.dex.has_flag(move, "charge") and not chosen.source
    if used or (prepares and before["player_active_pokemon"]["item"] == "powerherb"):
        _move(stage, half, used or move, stage.foe, state["opponent_active_pokemon"])
    elif prepares:
        stage.say(f"|move|{half.place}|{stage.dex.move_name(move)}||[still]")
        stage.say(f"|-prepare|{half.place}|{stage.dex.move_name(move)}")
    elif stage.gen == 1 and move in BINDING and half.side.stay.locks.binding:
        stage.say(f"|move|{half.place}|{stage.dex.move_name(move)}|{stage.foe.place}|[from]{move}")
    elif move == "struggle":
        stage.say(f"|move|{half.place}|Struggle|{stage.foe.place}")
    elif chosen.kind == "cant" and not switched_out and not before["forced_switch"]:
        _could_not(stage, half, now)
    return used


def move_foe(stage: LogStage, before: State, state: State) -> str:
    """Write the move of the opponent's active Pokémon, inferred from its PP; return it."""
    half, now, ours = stage.foe, state["opponent_active_pokemon"], state["player_active_pokemon"]
    last, used = str(state["opponent_prev_move"]["name"]), half.standing.spend(now)
    if used:
        _move(stage, half, used, stage.own, ours)
    elif stage.gen == 1 and last in BINDING and half.side.stay.locks.binding and _hit(stage, stage.own, ours):
        stage.say(f"|move|{half.place}|{stage.dex.move_name(last)}|{stage.own.place}|[from]{last}")
    elif (
        not stage.is_other(half, before["opponent_active_pokemon"])
        and not state["forced_switch"]
        and not before["forced_switch"]
    ):
        _could_not(stage, half, now)
    return used


def leave_foe(stage: LogStage, later: Iterable[State]) -> None:
    """Write the move that the opponent's Pokémon used before it left: one that is listed with full PP when it returns.

    later: the following states.
    """
    known = stage.foe.standing
    foes = (state["opponent_active_pokemon"] for state in later)
    back = next((foe for foe in foes if not stage.is_other(stage.foe, foe)), None)
    for move in () if back is None or stage.keeps_pp else back["moves"]:
        name = str(move["name"])
        if name not in known.spent and move["current_pp"] == move["max_pp"]:
            known.spent[name] = 1
            stage.say(f"|move|{stage.foe.place}|{stage.dex.move_name(name)}|{stage.own.place}")
            return


def source(stage: LogStage, move: str, half: Half) -> str:
    """Return what locks a Pokémon into a move, "" if it is chosen freely."""
    stay = half.side.stay
    charged = stay.locks.charging and stay.locks.move == move
    locked = charged or (stay.last == move and 0 < stay.locks.rampage <= _RAMPAGE)
    return "lockedmove" if locked else ""


def spent(before: State, now: State) -> str:
    """Return the move of a Pokémon whose PP have decreased, "" for none."""
    pp = {move["name"]: move["current_pp"] for move in before["moves"]}
    return next((str(m["name"]) for m in now["moves"] if m["current_pp"] < pp.get(m["name"], m["max_pp"])), "")


def _move(stage: LogStage, half: Half, move: str, target: Half, now: State) -> None:
    """Write a move. now: the other side's active Pokémon afterwards."""
    known, locked, hit = half.standing, source(stage, move, half), _hit(stage, target, now)
    tag = f"|[from]{locked}" if locked else "|[miss]" if move in BINDING and not hit else ""
    asleep = known.status == "slp" and move in ("sleeptalk", "snore")
    if asleep:
        stage.say(f"|cant|{half.place}|slp")
    elif known.status == "slp":  # it woke up; it may be asleep again in the state
        stage.say(f"|-curestatus|{half.place}|slp")
        known.status = "nostatus"
    stage.say(f"|move|{half.place}|{stage.dex.move_name(move)}|{target.place}{tag}")
    if asleep and move == "sleeptalk":
        stage.say(f"|cant|{half.place}|slp")  # poke-env counts the called move as a turn of sleep
    stands = not stage.is_other(target, now) and not fainted(now)
    if stage.dex.has_flag(move, "recharge") and hit and (stage.gen > 1 or stands):
        stage.say(f"|-mustrecharge|{half.place}")


def _hit(stage: LogStage, target: Half, now: State) -> bool:
    """Return whether the target was damaged or has left."""
    return stage.is_other(target, now) or bool(now["hp_pct"] < target.standing.hp)


def _could_not(stage: LogStage, half: Half, now: State) -> None:
    """Write that a Pokémon did not move, if it is asleep, frozen or recharging, or if it is ours."""
    if fainted(now):
        return
    if half.side.stay.locks.move == RECHARGE:
        stage.say(f"|cant|{half.place}|recharge")
    elif now["status"] in ("slp", "frz"):
        stage.become(half, now)
        stage.say(f"|cant|{half.place}|{now['status']}")
    elif half.role != OTHER:
        stage.say(f"|cant|{half.place}|{'par' if now['status'] == 'par' else 'flinch'}")
