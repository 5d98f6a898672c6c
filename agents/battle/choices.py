"""The legal choices of a Showdown request, and the parsing of an agent's answer.

A choice has two forms: its `label`, for people, SQL and agents ("move thunderbolt terastallize", "switch snorlax",
"team 312456"), and its `wire` form, which is sent to the simulator ("move 2 terastallize", "switch 3").
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from poke_env.battle.move import Move
from poke_env.battle.pokemon import Pokemon
from poke_env.data import to_id_str
from poke_env.player.battle_order import BattleOrder

# Request flag of each once-per-battle extra -> its name in Showdown's choices.
_EXTRAS = {
    "canMegaEvo": "mega",
    "canMegaEvoX": "megax",
    "canMegaEvoY": "megay",
    "canUltraBurst": "ultra",
    "canDynamax": "dynamax",
    "canTerastallize": "terastallize",
}
#: Moves whose name in a request contains more than their id: Hidden Power's type and power, the power of the other two.
_WITH_DETAILS = ("hiddenpower", "return", "frustration")


class Choice(NamedTuple):
    """One legal choice. `kind` is "move", "switch", "pass" or "team"; `slot` counts from 1 in the request's own order.

    target: of a move in doubles: 1 and 2 are the foes' slots, -1 and -2 one's own; 0: none is named. parts: where two slots
    choose at once, the choice of each; `kind` is "joint" then.
    """

    label: str
    wire: str
    kind: str
    slot: int
    extra: str = ""
    target: int = 0
    parts: tuple[Choice, ...] = ()


def legal_choices(request: dict[str, Any]) -> list[Choice]:
    """Return all choices that Showdown's request JSON allows, moves first, in the request's order. Singles only.

    At team preview these are the leads ("team 3": the third leads, the others follow in order); `read_answer` also accepts
    any complete order. Empty if the request asks to wait.
    """
    if request.get("wait"):
        return []
    team = request["side"]["pokemon"]
    if request.get("teamPreview"):
        return [_lead(slot, len(team)) for slot in range(1, len(team) + 1)]
    if request.get("forceSwitch"):
        return _bench(team)
    active = request["active"][0]
    choices = [move_choice(*usable[:3]) for usable in usable_moves(active)]
    if not active.get("trapped"):
        choices += _bench(team)
    return choices


def listed_move(listed: dict[str, Any]) -> str:
    """Return the id of a move that a request lists for the active Pokémon, with its details.

    For Hidden Power "hiddenpowerfire70" (without the power from generation 6 on, where it is 60), for Return "return102",
    else the plain id.
    """
    move: str = listed["id"]
    return to_id_str(listed["move"]) if move in _WITH_DETAILS else move


def split_power(move: str) -> tuple[str, int]:
    """Split a move's id and the power at its end: ("hiddenpowerfire", 70); 0 if there is none."""
    if not move.startswith(_WITH_DETAILS):
        return move, 0
    name = move.rstrip("0123456789")
    return name, int(move[len(name) :] or 0)


def plain_move(move: str) -> str:
    """Return a move's id without Hidden Power's type and without a power."""
    return "hiddenpower" if move.startswith("hiddenpower") else split_power(move)[0]


def _lead(slot: int, size: int) -> Choice:
    return team_choice([slot, *(s for s in range(1, size + 1) if s != slot)])


def team_choice(order: Sequence[int]) -> Choice:
    """Return the choice of an order of the team, from 1, at team preview."""
    label = "team " + "".join(map(str, order))
    return Choice(label, label, "team", order[0])


class UsableMove(NamedTuple):
    """A move that can be chosen, with an extra or "". slot: from 1. target: Showdown's target type, "" if none is listed."""

    move: str
    slot: int
    extra: str
    target: str


def usable_moves(active: dict[str, Any]) -> list[UsableMove]:
    """Return what an active Pokémon's part of a request allows: plain moves first, then those with each extra."""
    listed = [(slot, m["id"], m.get("target", "")) for slot, m in enumerate(active["moves"], 1)]
    usable = [
        UsableMove(move, slot, "", target) for slot, move, target in listed if not _disabled(active["moves"], slot)
    ]
    if len(active) == 1:  # nothing but moves
        return usable
    # What disables a move (a choice item, Disable, Torment) does not disable its Max Move or Z-Move.
    shown = active["maxMoves"]["maxMoves"] if active.get("maxMoves") else active["moves"]
    as_max_moves = [
        UsableMove(move, slot, "", shown[slot - 1].get("target", ""))
        for slot, move, _ in listed
        if not _disabled(shown, slot)
    ]
    dynamaxed = bool(active.get("maxMoves")) and not active.get("canDynamax")
    found = list(as_max_moves if dynamaxed else usable)
    for flag, word in _EXTRAS.items():
        if active.get(flag):
            found += [one._replace(extra=word) for one in (as_max_moves if word == "dynamax" else usable)]
    z_moves = active.get("canZMove")
    if z_moves:
        as_z_moves = [(move, slot, z_moves[slot - 1]) for slot, move, _ in listed if z_moves[slot - 1]]
        found += [UsableMove(move, slot, "zmove", z_move["target"]) for move, slot, z_move in as_z_moves]
    return found


def _disabled(moves: list[dict[str, Any]], slot: int) -> bool:
    return bool(moves[slot - 1].get("disabled"))


@lru_cache(maxsize=1 << 14)
def move_choice(move: str, slot: int, extra: str = "", target: int = 0) -> Choice:
    """Return the choice of a move. target: in doubles; 0: none is named."""
    end = (f" {target:+d}" if target else "") + (f" {extra}" if extra else "")
    return Choice(f"move {move}{end}", f"move {slot}{end}", "move", slot, extra, target)


def _bench(team: list[dict[str, Any]]) -> list[Choice]:
    # With Revival Blessing the choice is among fainted Pokémon, otherwise among able ones.
    slots = [slot for slot, mon in enumerate(team, 1) if not mon["active"]]
    return switch_choices(team, slots, fainted=is_reviving(team))


def switch_choices(team: list[dict[str, Any]], slots: Iterable[int], *, fainted: bool) -> list[Choice]:
    """Return the switches to those in these slots of a request's team, from 1, that have fainted, or have not."""
    choices: list[Choice] = []
    labels: set[str] = set()
    for slot in slots:
        mon = team[slot - 1]
        if mon["condition"].endswith(" fnt") != fainted:
            continue
        choice = _switch(mon["details"], slot)
        if choice.label in labels:
            choice = choice._replace(label=f"{choice.label} #{slot}")
        labels.add(choice.label)
        choices.append(choice)
    return choices


def is_reviving(team: list[dict[str, Any]]) -> bool:
    """Return whether a request asks who is to be revived: the entry of the active Pokémon, which is the first, says so."""
    return bool(team[0].get("reviving"))


@lru_cache(maxsize=1 << 14)
def _switch(details: str, slot: int) -> Choice:
    return Choice(f"switch {_species(details)}", f"switch {slot}", "switch", slot)


@lru_cache(maxsize=4096)
def _species(details: str) -> str:
    """ "Ogerpon-Wellspring, F" -> "ogerponwellspring"."""
    return to_id_str(details.split(",", 1)[0])


def read_answer(answer: Any, legal: list[Choice], request: dict[str, Any]) -> Choice | None:
    """Return the legal choice that an agent's answer means, or None if it means none.

    answer: a `Choice`, its label or wire, poke-env's `BattleOrder`, `Move` or `Pokemon`, or text as Showdown's client sends
    it ("/choose move thunderbolt", "/team 312456", "default").
    """
    if isinstance(answer, Choice):
        return legal[legal.index(answer)] if answer in legal else None  # our instance: the agent's may be of a subclass
    if isinstance(answer, Move):
        answer = f"move {answer.id}"
    elif isinstance(answer, Pokemon):
        answer = f"switch {answer.name}"
    elif isinstance(answer, BattleOrder):
        answer = answer.message
    if not isinstance(answer, str) or not legal:
        return None
    text = answer.strip().removeprefix("/choose ").removeprefix("/").strip()
    for choice in legal:
        if text == choice.label or text == choice.wire:
            return choice
    if text in ("default", "auto"):
        return legal[0]
    kind, _, rest = text.partition(" ")
    if kind == "team":
        return _team_order(rest, legal)
    if kind == "switch":
        return named_switch(rest, legal, request)
    if kind == "move":
        return _named_move(rest, legal, request)
    return None


def _team_order(rest: str, legal: list[Choice]) -> Choice | None:
    digits = rest.replace(",", "").replace(" ", "")
    if legal[0].kind != "team" or not digits.isdigit():
        return None
    size = len(legal)
    order = [int(d) for d in digits]
    if len(set(order)) != len(order) or not all(1 <= d <= size for d in order):
        return None
    full = order + [s for s in range(1, size + 1) if s not in order]
    return team_choice(full)


def named_switch(rest: str, legal: list[Choice], request: dict[str, Any]) -> Choice | None:
    """Find a switch by nickname, as in poke-env's orders, or by species."""
    team = request["side"]["pokemon"]
    switches = {choice.slot: choice for choice in legal if choice.kind == "switch"}
    by_name = [s for s in switches if team[s - 1]["ident"].partition(": ")[2] == rest]
    by_species = [s for s in switches if _species(team[s - 1]["details"]) == to_id_str(rest)]
    found = by_name or by_species
    return switches[found[0]] if found else None


def _named_move(rest: str, legal: list[Choice], request: dict[str, Any]) -> Choice | None:
    """Find a move by id or name, with or without Hidden Power's type and Return's power, as poke-env writes them."""
    name, _, last = rest.rpartition(" ")
    extra = last if last in (*_EXTRAS.values(), "zmove") else ""
    wanted = to_id_str(name if extra else rest)
    moves = request.get("active", [{}])[0].get("moves", [])
    for choice in legal:
        if choice.kind == "move" and choice.extra == extra and is_move_named(moves[choice.slot - 1], wanted):
            return choice
    return None


def is_move_named(listed: dict[str, Any], wanted: str) -> bool:
    """Return whether an id is that of a move that a request lists, with or without Hidden Power's type and a power."""
    if wanted == listed["id"] or wanted == to_id_str(listed["move"]):
        return True
    return listed["id"] in _WITH_DETAILS and wanted.startswith(listed["id"])
