"""Builds the request that a player received at a decision, in Showdown's format, and the choice as far as it is known."""

from __future__ import annotations

from typing import Any

from poke_env.data import GenData, to_id_str

from agents.battle.choices import legal_choices
from arena.replays.decisions import Ask, ChoiceEvidence
from arena.replays.locks import BINDING, RAMPAGES
from arena.replays.own_side import CHOICE_ITEMS, Own, OwnSide, Slot

_RETURNS = frozenset({"return", "frustration"})


def request(side: OwnSide, ask: Ask, tera_left: bool) -> dict[str, Any]:
    """Showdown's request JSON at an ask. tera_left: the side has not terastallized yet.

    Where the answer is known, the request allows it: what it proves is taken into account.
    """
    entries = [team_entry(side, own) for own in side.team]
    team = {"name": side.role, "id": side.role, "pokemon": entries}
    if ask.kind == "team":
        return {"teamPreview": True, "side": team}
    if ask.kind in ("switch", "revive"):
        if ask.kind == "revive":
            entries[0]["reviving"] = True
        return {"forceSwitch": [True], "noCancel": True, "side": team}
    return {"active": [active_part(side, ask.evidence, tera_left)], "side": team}


def answer(request: dict[str, Any], side: OwnSide, ask: Ask) -> str | None:
    """Return the label of the choice, None if the log does not reveal it with certainty."""
    evidence, legal = ask.evidence, legal_choices(request)
    label = None
    if evidence.kind == "switch":
        places = [place for place, own in enumerate(side.team, 1) if own.member.ident == evidence.name]
        kinds = ("team", "switch")
        label = next((c.label for c in legal if c.kind in kinds and c.slot in places), None)
    elif "active" in request:
        label = _move(request["active"][0], side, ask)
    return label if any(choice.label == label for choice in legal) else None


def _move(active: dict[str, Any], side: OwnSide, ask: Ask) -> str | None:
    evidence, moves = ask.evidence, active["moves"]
    if len(moves) == 1 and "pp" not in moves[0]:
        # Only one thing to do but to leave: who stayed has done it, whatever became of it. In generation 1 a turn is over
        # when one faints as it comes in, and a switch that was chosen does not happen.
        stayed = active.get("trapped") or ask.moved
        return f"move {moves[0]['id']}" if ask.committed and stayed else None
    if evidence.kind != "move" or evidence.unsure or _held_by_encore(side, evidence):
        return None
    if active.get("maybeLocked") and evidence.name == side.stay.locks.binder:
        return None  # it went on with its binding move, whatever was chosen, also against one that has just come in
    return f"move {evidence.name}" + (" terastallize" if evidence.tera else "")


def team_entry(side: OwnSide, own: Own) -> dict[str, Any]:
    """Return a member's part of a request."""
    gen, member = side.gen, own.member
    active = own is side.active
    slots = side.slots if active and side.out else own.slots
    entry: dict[str, Any] = {
        "ident": member.ident,
        "details": own.details,
        "condition": own.condition,
        "active": active,
        "stats": dict(zip(("atk", "def", "spa", "spd", "spe"), member.stats[1:], strict=True)),
        "moves": [_listed(slot.id, gen) for slot in slots],
        "baseAbility": member.ability if gen >= 3 else "noability",
        "item": own.item,
        "pokeball": "pokeball",
    }
    if gen > 6:
        entry["ability"] = own.ability
    if gen >= 9:
        entry |= {"commanding": False, "reviving": False, "teraType": member.tera, "terastallized": own.terastallized}
    return entry


def _listed(move: str, gen: int) -> str:
    """A move as a Pokémon's entry lists it: Hidden Power with its type, Return with its power."""
    if move.startswith("hiddenpower"):
        return move + ("" if gen < 6 else "60")
    return f"{move}102" if move in _RETURNS else move


def active_part(side: OwnSide, evidence: ChoiceEvidence, tera_left: bool) -> dict[str, Any]:
    """Return the active Pokémon's part of a request for a move. tera_left: the side has not terastallized yet."""
    locked, hard = _locked(side, evidence)
    if locked:
        listed: dict[str, Any] = {"move": _name(locked, side.gen), "id": locked}
        if locked == "struggle":
            listed |= {"target": "randomNormal", "disabled": False}
        return {"moves": [listed], "trapped": True} if hard else {"moves": [listed]}
    active: dict[str, Any] = {"moves": [_slot(slot, side, evidence) for slot in side.slots]}
    if all(move["disabled"] for move in active["moves"]):  # it used none, so whether it could is not known
        active["moves"] = [{**move, "disabled": False} for move in active["moves"]]
    if side.gen == 1 and (side.stay.locks.binding > 1 or side.stay.bound > 1):
        active["maybeLocked"] = True
    if side.stay.trapped and evidence.kind != "switch" and not (side.gen >= 6 and "Ghost" in side.types):
        active["trapped"] = True
    if side.gen == 9 and tera_left and side.active.member.tera:
        active["canTerastallize"] = side.active.member.tera
    return active


def _locked(side: OwnSide, evidence: ChoiceEvidence) -> tuple[str, bool]:
    """Return the only available move ("" if there is a choice), and whether the Pokémon cannot switch."""
    locks = side.stay.locks
    moved = evidence.kind == "move"
    if evidence.reason == "recharge":
        return "recharge", True
    free = ("pursuit", *(BINDING if side.gen == 1 else ()))
    if moved and evidence.source and evidence.name not in free and not _held_by_encore(side, evidence):
        return evidence.name, True
    # Old logs have the second turn of Dig without the tag.
    if locks.move and not (
        evidence.kind == "switch" or (moved and not (locks.charging and evidence.name == locks.move))
    ):
        asleep = side.gen >= 2 and side.active.status == "slp"  # which ends Outrage
        if not asleep or locks.move not in RAMPAGES:
            return locks.move, True
    if side.gen == 1 and (only := _locked_in_generation_1(side, evidence)):
        return only, False
    return ("struggle" if moved and evidence.name == "struggle" else ""), False


def _held_by_encore(side: OwnSide, evidence: ChoiceEvidence) -> bool:
    """Return whether a move may be marked as one that goes on because Encore put it in the place of one that does."""
    return bool(side.stay.encored) and evidence.source == "lockedmove"


def _locked_in_generation_1(side: OwnSide, evidence: ChoiceEvidence) -> str:
    """Return the move that it is locked into although it can switch."""
    freely = evidence.kind == "move" and not evidence.source
    if side.stay.locks.binding == 1 and not (freely and evidence.name != side.stay.locks.binder):
        return side.stay.locks.binder
    if freely or not side.stay.locks.none_possible:
        return ""
    return "fight" if side.active.status in ("slp", "frz") or side.stay.bound == 1 else ""


def _slot(slot: Slot, side: OwnSide, evidence: ChoiceEvidence) -> dict[str, Any]:
    chosen = evidence.kind == "move" and _plain(slot.id) == evidence.name
    facts = GenData.from_gen(side.gen).moves.get(slot.id, {})
    target = facts.get("target", "normal")
    if slot.id == "curse" and "Ghost" not in GenData.from_gen(side.gen).pokedex[side.active.member.species]["types"]:
        target = facts.get("nonGhostTarget", target)
    return {
        "move": _name(slot.id, side.gen),
        "id": _plain(slot.id),
        "pp": max(slot.pp, 1) if chosen else slot.pp,
        "maxpp": slot.most,
        "target": target,
        "disabled": not chosen and _disabled(slot, side),
    }


def _disabled(slot: Slot, side: OwnSide) -> bool:
    stay, move = side.stay, _plain(slot.id)
    held = (stay.chosen if side.active.item in CHOICE_ITEMS else "", stay.encored)
    facts = GenData.from_gen(side.gen).moves.get(slot.id, {})
    status = facts.get("category") == "Status"
    return (
        slot.pp <= 0
        or any(name and name != move for name in held)
        or move == stay.disabled
        or (stay.tormented and move == stay.last)
        or (stay.unhealing and "heal" in facts.get("flags", {}))
        or (status and (stay.taunted or side.active.item == "assaultvest"))
    )


def _plain(move: str) -> str:
    return "hiddenpower" if move.startswith("hiddenpower") else move


def _name(move: str, gen: int) -> str:
    """A move's name in a request: "Hidden Power Fire 70", "Return 102", "Recharge"."""
    name = str(GenData.from_gen(gen).moves.get(move, {}).get("name", move.capitalize()))
    if to_id_str(name).startswith("hiddenpower"):
        return f"{name} 70" if gen < 6 else name
    return f"{name} 102" if move in _RETURNS else name
