"""Validation of poke-engine: compares the turns of played battles with the outcomes that poke-engine predicts.

A turn is taken from both sides' logs, so nothing in it is hidden: differences are errors of our translation or of
poke-engine. A turn counts as predicted if one of the outcomes has the same HP, status, boosts and volatiles of all Pokémon.
poke-engine predicts the mean damage, so HP may differ by the range of the damage roll.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from side_log import SideLog

from agents.search.poke_engine.engine import EngineOutcome, PokeEngine
from agents.search.poke_engine.field import field_of
from agents.search.poke_engine.history import BINDING, History
from agents.search.poke_engine.layout import BOOSTS, EngineState
from agents.search.poke_engine.state import STATUS, names, own_side

#: The volatiles that are compared: those that are in both the log and poke-engine's state.
_COMPARED = frozenset({"substitute", "confusion", "leechseed", "reflect", "lightscreen", "mustrecharge", "taunt"})
# A roll is between 85% and 100% of the maximum damage, and poke-engine uses 92.5%.
_ROLL = 0.0875
_ROUNDING = 2
_RECOIL = frozenset({"doubleedge", "takedown", "submission"})
_AMOUNT = re.compile(r"Damage Side(One|Two): (\d+)")


@dataclass(frozen=True)
class Seen:
    """A side's state. mons: name -> (hp, status). boosts, volatiles: of the active one, empty if it has fainted."""

    active: str
    mons: dict[str, tuple[int, str]]
    boosts: dict[str, int]
    volatiles: frozenset[str]


@dataclass(frozen=True)
class Turn:
    """A turn of a played battle: the state before it, both choices by poke-engine's names, and both sides after it."""

    number: int
    state: str
    first_choice: str
    second_choice: str
    after: tuple[Seen, Seen]


@dataclass(frozen=True)
class Comparison:
    """Whether a turn was predicted, and if not, how the nearest outcome differs ("one hp", "two status par" …)."""

    predicted: bool
    differs: tuple[str, ...] = ()


class _Side(SideLog):
    """A side's log, with what poke-engine needs of the past."""

    def __init__(self, role: str, log: list[str], choices: list[str], gen: int, format_id: str) -> None:
        super().__init__(role, log, choices, gen, format_id)
        self.history = History()

    def read(self, until: int) -> dict[str, Any] | None:
        request = super().read(until)
        self.history.follow(self.battle)
        return request

    def seen(self) -> Seen:
        mons = {
            mon.species: (
                mon.current_hp,
                STATUS.get(mon.status.name, "none") if mon.status and mon.current_hp else "none",
            )
            for mon in self.battle.team.values()
        }
        active = self.battle.active_pokemon
        if active is None or not active.current_hp:
            return Seen(active.species if active else "", mons, {}, frozenset())
        ident = next(ident for ident, mon in self.battle.team.items() if mon is active)
        boosts = {stat: stage for stat, stage in active.boosts.items() if stage}
        return Seen(active.species, mons, boosts, _COMPARED & self.history.of(ident).volatiles.keys())


def turns(
    logs: tuple[list[str], list[str]], choices: tuple[list[str], list[str]], gen: int, format_id: str
) -> Iterator[Turn]:
    """Yield the turns of a battle in which both sides had a choice of moves.

    logs: of both sides, requests included. choices: of both sides, as labels ("move tackle"), one per request.
    """
    p1, p2 = (
        _Side(role, log, labels, gen, format_id) for role, log, labels in zip(("p1", "p2"), logs, choices, strict=True)
    )
    waiting: tuple[int, str, str, str] | None = None
    for point in sorted(p1.requests.keys() | p2.requests.keys() | {min(len(p1.lines), len(p2.lines))}):
        requests = p1.read(point), p2.read(point)
        if waiting is not None:
            yield Turn(*waiting, after=(p1.seen(), p2.seen()))
            waiting = None
        if all(request is not None and request.get("active") for request in requests):
            waiting = _chosen(p1, p2, point)


def _chosen(p1: _Side, p2: _Side, point: int) -> tuple[int, str, str, str] | None:
    """Return the position and both choices, or None if poke-engine has no name for one of them."""
    sides = own_side(p1.battle, p1.history), own_side(p2.battle, p2.history)
    picked = []
    for seat, side in zip((p1, p2), sides, strict=True):
        if point not in seat.choices:
            return None
        matching = [name for name, choice in names(seat.battle, side).items() if choice.label == seat.choices[point]]
        if len(matching) != 1:
            return None
        picked.append("none" if "mustrecharge" in side.volatiles else matching[0].removeprefix("switch "))
    weather, terrain, room = field_of(p1.battle, p1.history.endless_weather)
    state = EngineState(*sides, weather, terrain, room).text()
    return p1.battle.turn, state, picked[0], picked[1]


def compare(turn: Turn, engine: PokeEngine) -> Comparison:
    """Compare a turn with all outcomes that poke-engine predicts for it. Raises EngineFailed."""
    nearest: tuple[str, ...] | None = None
    gen = engine.gen
    for outcome in engine.outcomes(turn.state, turn.first_choice, turn.second_choice):
        differs = _differences(turn.after, outcome, gen)
        if not differs:
            return Comparison(True)
        if nearest is None or len(differs) < len(nearest):
            nearest = differs
    return Comparison(False, nearest or ("nothing predicted",))


def _differences(after: tuple[Seen, Seen], outcome: EngineOutcome, gen: int) -> tuple[str, ...]:
    damage = {"One": 0, "Two": 0}
    for instruction in outcome.instructions:
        amount = _AMOUNT.search(instruction)
        if amount is not None:
            damage[amount[1]] += int(amount[2])
    differing: list[str] = []
    over = any(not any(hp for hp, _ in side.mons.values()) for side in after)
    for label, real, text in zip(("One", "Two"), after, outcome.state.split("/"), strict=False):
        other = "Two" if label == "One" else "One"
        if over and any(hp for hp, _ in real.mons.values()):
            continue  # the battle ends at the last knock-out, but poke-engine completes the turn
        slack = _ROUNDING + _ROLL * (damage[label] + 0.5 * damage[other])
        differing += [f"{label.lower()} {what}" for what in _side_differences(real, text.split("="), slack, gen)]
    return tuple(differing)


def _side_differences(real: Seen, fields: list[str], slack: float, gen: int) -> Iterator[str]:
    mons = [text.split(",") for text in fields[:6]]
    active = mons[int(fields[6])]
    if active[0].lower() != real.active:
        yield "active"
        return
    for mon in mons:
        if mon[0].lower() not in real.mons:
            continue
        hp, status = real.mons[mon[0].lower()]
        predicted = int(mon[6])
        if (hp == 0) != (predicted == 0) and max(hp, predicted) > slack:
            yield "fainted"
        elif abs(hp - predicted) > slack:
            yield "hp"
        elif hp and predicted and mon[18].lower() != status:
            yield f"status {status} for {mon[18].lower()}"
    if int(active[6]) and real.mons[real.active][0]:
        boosts = {stat: int(stage) for stat, stage in zip(BOOSTS, fields[11:18], strict=True) if int(stage)}
        ignored = {"spd"} if gen == 1 else set()
        if {s: b for s, b in boosts.items() if s not in ignored} != {
            s: b for s, b in real.boosts.items() if s not in ignored
        }:
            yield "boosts"
        volatiles = _COMPARED & {name.lower() for name in fields[8].split(":")}
        for name in sorted(volatiles ^ real.volatiles):
            yield f"{name} {'missing' if name in real.volatiles else 'too many'}"


def known_limitation(turn: Turn, gen: int) -> str:
    """Return poke-engine's known deviation in such a turn (tests/agents/search/test_search_limits.py), or ""."""
    if gen != 1:
        return ""
    sides = [text.split("=") for text in turn.state.split("/")[:2]]
    actives = [fields[int(fields[6])].split(",") for fields in sides]
    lasts = [
        mon[22 + int(fields[27][5:])].partition(";")[0]
        for fields, mon in zip(sides, actives, strict=True)
        if fields[27].startswith("move:") and fields[27] != "move:none"
    ]
    chosen = {turn.first_choice, turn.second_choice}
    if BINDING & {*chosen, *lasts}:
        return "binding moves hold the target"
    if "nightshade" in chosen:
        return "Night Shade does its damage"
    if _RECOIL & chosen:
        return "recoil is a quarter"
    ill = any(mon[18] in ("burn", "poison", "toxic") for mon in actives)
    if ill and any(not seen.mons[mon[0]][0] for seen, mon in zip(turn.after, actives, strict=True)):
        return "no damage by status after a knock-out"
    return ""
