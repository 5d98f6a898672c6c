"""The request at one of metamon's states, and the choice that metamon's action means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.replays.decisions import Ask, ChoiceEvidence
from arena.replays.locks import BINDING, RECHARGE
from arena.replays.own_side import Slot
from arena.replays.requests import request
from training.data.metamon.moves import source, spent
from training.data.metamon.names import NOTHING, UNKNOWN, State
from training.data.metamon.stage import ROLE, LogStage, fainted, health


def chosen(stage: LogStage, states: Sequence[State], action: int, place: int) -> ChoiceEvidence:
    """Return what metamon's action at a state means: 0-3 a move, 4-8 a switch, 9-12 a move with tera, -1 unknown.

    Moves and switches are in alphabetical order. If the next state contradicts the action, the state takes precedence.
    """
    state, after = states[place], states[place + 1]
    active, then = state["player_active_pokemon"], after["player_active_pokemon"]
    stays = stage.dex.base(active) == stage.dex.base(then)
    used = spent(active, then) if stays else ""
    if action <= 0 and stage.dex.has_flag(used, "recharge"):
        return ChoiceEvidence("move", used)  # metamon records the recharge turn instead: action 0, or none
    if action == 0 and not used and stays:  # action 0 stands for the only possible choice
        if stage.own.side.stay.locks.move == RECHARGE:
            return ChoiceEvidence("cant", reason="recharge")
        if stage.gen == 1 and active["status"] in ("slp", "frz"):
            return ChoiceEvidence("cant")
        if after["player_prev_move"]["name"] == "struggle":
            return ChoiceEvidence("move", "struggle")
    if 4 <= action <= 8:
        bench = sorted(state["available_switches"], key=lambda mon: str(mon["name"]))
        if action - 4 < len(bench):
            return ChoiceEvidence("switch", f"{ROLE}: {stage.dex.nickname(bench[action - 4])}")
    elif action >= 0:
        if stays and then["effect"] == "encore" != active["effect"]:
            return ChoiceEvidence("cant")  # Encore may have replaced the chosen move
        moves = sorted(str(move["name"]) for move in active["moves"])
        if action % 9 < len(moves):
            move = moves[action % 9]
            held = stage.gen == 1 and move in BINDING and not used
            return ChoiceEvidence("move", move, move if held else source(stage, move, stage.own), action >= 9)
    return ChoiceEvidence("cant")


def request_at(stage: LogStage, state: State, evidence: ChoiceEvidence, committed: bool) -> tuple[dict[str, Any], Ask]:
    """Return the request at a state, with the team as the state has it. committed: the battle continued after it."""
    side, active = stage.own.side, state["player_active_pokemon"]
    bench = {stage.dex.nickname(mon): mon for mon in state["available_switches"]}
    revived = bool(bench) and state["forced_switch"] and all(map(fainted, bench.values()))
    known = {each.nickname: each for each in stage.own.known.values()}
    for own in side.team:
        name = own.member.ident.partition(": ")[2]
        entry, seen = active if own is side.active else bench.get(name), known.get(name)
        if entry is None:
            own.hp = own.hp if revived else 0
        else:
            # For a Pokémon that has not entered yet, newer versions of metamon have the HP of its later entry.
            own.hp = own.hp if seen is None else health(entry, own.member.stats[0])
            own.status = "" if entry["status"] == "nostatus" else str(entry["status"])
            own.item = "" if entry["item"] in NOTHING else own.item if entry["item"] in UNKNOWN else str(entry["item"])
        own.status = own.status if own.hp > 0 else ""
        for slot in own.slots:
            slot.pp = max(0, slot.most - (seen.spent.get(_plain(slot.id), 0) if seen else 0))
    own_moves = {_plain(slot.id) for slot in side.active.slots}
    borrowed = any(move["name"] not in own_moves for move in active["moves"])  # by Transform or Mimic
    slots = [Slot(str(move["name"]), int(move["current_pp"]), int(move["max_pp"])) for move in active["moves"]]
    side.stay.slots = slots if borrowed else None
    ask = Ask(ROLE, len(stage.lines), "revive" if revived else "switch" if state["forced_switch"] else "move")
    ask.evidence, ask.committed, ask.moved = evidence, committed, committed
    return request(side, ask, bool(state.get("can_tera", False))), ask


def _plain(move: str) -> str:
    return "hiddenpower" if move.startswith("hiddenpower") else move
