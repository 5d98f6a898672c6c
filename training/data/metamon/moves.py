"""Who moved between two of metamon's states, told from the PP that are gone, the actions, and who is hurt."""

from __future__ import annotations

from collections.abc import Iterable

from arena.human.asks import Evidence
from arena.human.own_side import BINDING
from training.data.metamon.stage import OTHER, Half, Stage, fainted
from training.data.metamon.words import Told

_RAMPAGE = 2  # turns after which a rampage may be over


def move_own(stage: Stage, chosen: Evidence, before: Told, state: Told) -> str:
    """Writes what ours did, chosen as that; gives its move, "" for none."""
    half, known, now = stage.own, stage.own.standing, state["player_active_pokemon"]
    everyone = {stage.dex.base(mon): mon for mon in (*state["available_switches"], now)}
    told, left = everyone.get(known.base), stage.is_other(half, now)
    move = chosen.name if chosen.kind == "move" else ""
    if chosen.tera and told is not None:
        stage.terastallize(half, told)
    if told is not None and (not left or stage.keeps_pp):
        used = known.spend(told)
    else:
        used = move  # it left after it, and what it spent is not told
        known.spent[used] = known.spent.get(used, 0) + 1
    prepares = stage.dex.has_flag(move, "charge") and not chosen.source
    if used or (prepares and before["player_active_pokemon"]["item"] == "powerherb"):
        _move(stage, half, used or move, stage.foe, state["opponent_active_pokemon"])
    elif prepares:
        stage.say(f"|move|{half.place}|{stage.dex.move_name(move)}||[still]")
        stage.say(f"|-prepare|{half.place}|{stage.dex.move_name(move)}")
    elif stage.gen == 1 and move in BINDING and half.side.stay.binding:
        stage.say(f"|move|{half.place}|{stage.dex.move_name(move)}|{stage.foe.place}|[from]{move}")
    elif move == "struggle":
        stage.say(f"|move|{half.place}|Struggle|{stage.foe.place}")
    elif chosen.kind == "cant" and not left and not before["forced_switch"]:
        _could_not(stage, half, now)
    return used


def move_foe(stage: Stage, before: Told, state: Told) -> str:
    """Writes what the opponent's Pokémon on the field used, as far as its PP tell it; gives it."""
    half, now, ours = stage.foe, state["opponent_active_pokemon"], state["player_active_pokemon"]
    last, used = str(state["opponent_prev_move"]["name"]), half.standing.spend(now)
    if used:
        _move(stage, half, used, stage.own, ours)
    elif stage.gen == 1 and last in BINDING and half.side.stay.binding and _hit(stage, stage.own, ours):
        stage.say(f"|move|{half.place}|{stage.dex.move_name(last)}|{stage.own.place}|[from]{last}")
    elif (
        not stage.is_other(half, before["opponent_active_pokemon"])
        and not state["forced_switch"]
        and not before["forced_switch"]
    ):
        _could_not(stage, half, now)
    return used


def leave_foe(stage: Stage, later: Iterable[Told]) -> None:
    """What the opponent's Pokémon did as it left: a move that is first told when it comes back, and then with all its PP.

    later: the states from now on.
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


def source(stage: Stage, move: str, half: Half) -> str:
    """What makes a Pokémon go on with a move, "" where it is chosen freely."""
    stay = half.side.stay
    locked = stay.preparing == move or (stay.last == move and 0 < stay.rampage <= _RAMPAGE)
    return "lockedmove" if locked else ""


def spent(before: Told, now: Told) -> str:
    """The move of which one Pokémon has fewer PP than it had, "" for none."""
    pp = {move["name"]: move["current_pp"] for move in before["moves"]}
    return next((str(m["name"]) for m in now["moves"] if m["current_pp"] < pp.get(m["name"], m["max_pp"])), "")


def _move(stage: Stage, half: Half, move: str, target: Half, now: Told) -> None:
    """now: who then stands on the other side."""
    known, locked, hit = half.standing, source(stage, move, half), _hit(stage, target, now)
    tag = f"|[from]{locked}" if locked else "|[miss]" if move in BINDING and not hit else ""
    asleep = known.status == "slp" and move in ("sleeptalk", "snore")
    if asleep:
        stage.say(f"|cant|{half.place}|slp")
    elif known.status == "slp":  # it woke up, and may sleep again by now
        stage.say(f"|-curestatus|{half.place}|slp")
        known.status = "nostatus"
    stage.say(f"|move|{half.place}|{stage.dex.move_name(move)}|{target.place}{tag}")
    if asleep and move == "sleeptalk":
        stage.say(f"|cant|{half.place}|slp")  # for the move that was called: poke-env counts it as a turn of sleep
    stands = not stage.is_other(target, now) and not fainted(now)
    if stage.dex.has_flag(move, "recharge") and hit and (stage.gen > 1 or stands):
        stage.say(f"|-mustrecharge|{half.place}")


def _hit(stage: Stage, target: Half, now: Told) -> bool:
    """Whether who stood there was hurt, or stands there no more."""
    return stage.is_other(target, now) or bool(now["hp_pct"] < target.standing.hp)


def _could_not(stage: Stage, half: Half, now: Told) -> None:
    """It did not move, and a line says so where it is asleep, frozen or resting, or where it is ours."""
    if fainted(now):
        return
    if half.side.stay.recharging:
        stage.say(f"|cant|{half.place}|recharge")
    elif now["status"] in ("slp", "frz"):
        stage.become(half, now)
        stage.say(f"|cant|{half.place}|{now['status']}")
    elif half.role != OTHER:
        stage.say(f"|cant|{half.place}|{'par' if now['status'] == 'par' else 'flinch'}")
