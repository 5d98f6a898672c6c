"""The request that a player received at a decision in doubles, and the choice of each slot as far as it is known."""

from __future__ import annotations

import random
from typing import Any

from poke_env.data import GenData, to_id_str

from agents.battle.choices import Choice
from agents.battle.joint_choices import SlotChoices, slot_choices
from arena.replays.doubles.decisions import DoublesAsk, SlotEvidence
from arena.replays.doubles.side import DoubleSide, as_singles
from arena.replays.own_side import Own
from arena.replays.requests import active_part, team_entry

#: What stands in a joint choice for the half that the log does not reveal.
UNKNOWN = "?"


def ask_side(
    side: DoubleSide, ask: DoublesAsk, tera_left: bool, brought: int, rng: random.Random
) -> tuple[dict[str, Any], str | None]:
    """Return Showdown's request JSON at an ask, and the label of the choice: "move fakeout +1, ?", None if nothing is known.

    tera_left: the side has not terastallized yet. brought: how many Pokémon a team brings. rng: draws those of the brought
    that never came in, which their player knew. A team preview puts the side's team in the chosen order.
    """
    if ask.kind == "team":
        return _preview(side, ask, brought, rng)
    team = {"name": side.role, "id": side.role, "pokemon": _entries(side)}
    if ask.kind == "switch":
        request: dict[str, Any] = {"forceSwitch": list(ask.flags), "noCancel": True, "side": team}
    else:
        request = {"active": [_active(side, slot, ask.slots[slot], tera_left) for slot in (0, 1)], "side": team}
    return request, _label(side, ask, request)


def _entries(side: DoubleSide) -> list[dict[str, Any]]:
    """Every member's part of a request; those of the first two places are on the field."""
    views = [side.view(0), side.view(1)]
    entries = []
    for place, own in enumerate(side.team):
        entry = team_entry(views[place if place < 2 else 0], own)
        entries.append({**entry, "active": place < 2})
    return entries


def _preview(side: DoubleSide, ask: DoublesAsk, brought: int, rng: random.Random) -> tuple[dict[str, Any], str | None]:
    size = len(side.team)
    entries = [{**team_entry(side.view(0), own), "active": place < 2} for place, own in enumerate(side.team)]
    request: dict[str, Any] = {"teamPreview": True, "side": {"name": side.role, "id": side.role, "pokemon": entries}}
    if brought < size:
        request["maxChosenTeamSize"] = brought
    seen = [own for ident in ask.leads if (own := side.find(ident)) is not None][:brought]
    rest = [own for own in side.team if own not in seen]
    places = [side.team.index(own) + 1 for own in seen]
    if brought == size:
        places = [*places[:2], *(place for place in range(1, size + 1) if place not in places[:2])]
        chosen = [side.team[place - 1] for place in places]
    else:
        chosen = [*seen, *_drawn(rest, brought - len(seen), rng)]
    side.select(chosen)
    return request, "team " + "".join(map(str, places)) if len(ask.leads) > 1 else None


def _drawn(rest: list[Own], number: int, rng: random.Random) -> list[Own]:
    """Some of those that were never seen, in the team's order."""
    return [rest[place] for place in sorted(rng.sample(range(len(rest)), min(number, len(rest))))]


def _active(side: DoubleSide, slot: int, evidence: SlotEvidence, tera_left: bool) -> dict[str, Any]:
    """A slot's part of a request. One that has nothing to decide lists its moves as well, as Showdown does."""
    view = side.view(slot)
    part = active_part(view, as_singles(evidence), tera_left)
    if side.mega_left and len(part["moves"]) > 1 and _can_mega(view.active, side.gen):
        part["canMegaEvo"] = True
    if evidence.extra == "mega":
        part["canMegaEvo"] = True
    return part


def _can_mega(own: Own, gen: int) -> bool:
    dex = GenData.from_gen(gen).pokedex
    formes = dex.get(own.member.species, {}).get("otherFormes", ())
    stones = {to_id_str(dex.get(to_id_str(forme), {}).get("requiredItem", "")) for forme in formes if "-Mega" in forme}
    return bool(own.item) and own.item in stones


def _label(side: DoubleSide, ask: DoublesAsk, request: dict[str, Any]) -> str | None:
    """The joint choice, with UNKNOWN for a half that the log does not reveal; None if neither is known."""
    slots = slot_choices(request)
    halves = [_half(side, slot, ask.slots[slot], slots) for slot in (0, 1)]
    decided = [
        half
        for half, legal in zip(halves, (slots.first, slots.second), strict=True)
        if any(c.kind != "pass" for c in legal)
    ]
    if not any(decided):
        return None
    if None not in halves and not _admitted(halves, slots):
        return None
    return ", ".join(half or UNKNOWN for half in halves)


def _admitted(halves: list[str | None], slots: SlotChoices) -> bool:
    first, second = (
        [c for c in legal if c.label == half] for half, legal in zip(halves, (slots.first, slots.second), strict=True)
    )
    return any(slots.admit(one, other) for one in first for other in second)


def _half(side: DoubleSide, slot: int, evidence: SlotEvidence, slots: SlotChoices) -> str | None:
    """The label of one slot's choice, None if the log does not reveal it with certainty."""
    legal = (slots.first, slots.second)[slot]
    if evidence.kind == "pass" or all(choice.kind == "pass" for choice in legal):
        return "pass" if any(choice.kind == "pass" for choice in legal) else None
    if evidence.kind == "switch":
        places = [place for place, own in enumerate(side.team, 1) if own.member.ident == evidence.name]
        return next((choice.label for choice in legal if choice.kind == "switch" and choice.slot in places), None)
    if evidence.kind == "cant" and evidence.reason == "recharge":
        return next((choice.label for choice in legal if choice.label == "move recharge"), None)
    if evidence.kind != "move" or evidence.unsure:
        return None
    return _move(evidence, legal)


def _move(evidence: SlotEvidence, legal: list[Choice]) -> str | None:
    named = [choice for choice in legal if choice.kind == "move" and choice.extra == evidence.extra]
    named = [choice for choice in named if choice.label.split(" ")[1] == evidence.name]
    if len(named) == 1:
        return named[0].label
    return next((choice.label for choice in named if choice.target == evidence.target), None)
