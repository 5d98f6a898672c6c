"""Compares what one seat's battle holds with the simulator's state, as far as it is public or the seat's own."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import state_effects
from poke_env.battle.pokemon import Pokemon
from poke_env.battle.side_condition import STACKABLE_CONDITIONS

from agents.battle import SeatBattle, SeatDoubleBattle

#: Stats of boosts, as poke-env names them.
BOOSTS = ("atk", "def", "spa", "spd", "spe", "accuracy", "evasion")
_UNKNOWN_ITEM = "unknown_item"
#: Conditions of a side that end with the turn.
_TURN_CONDITIONS = frozenset({"craftyshield", "matblock", "quickguard", "wideguard"})
_ROOMS = {
    "gravity": "GRAVITY", "magicroom": "MAGIC_ROOM", "mudsport": "MUD_SPORT", "trickroom": "TRICK_ROOM",
    "watersport": "WATER_SPORT", "wonderroom": "WONDER_ROOM",
}  # fmt: skip
#: Effects whose turns poke-env counts -> the simulator's volatile; the others bind (partiallytrapped).
_COUNTED = {name.upper().replace(" ", "_"): name.replace(" ", "") for name in (
    "bide", "disable", "dynamax", "embargo", "encore", "heal block", "magnet rise", "taunt", "telekinesis", "throat chop",
    "uproar",
)} | dict.fromkeys(("DOOM_DESIRE", "FUTURE_SIGHT", "GRAVITY", "SKY_DROP", "SLOW_START"), "")  # fmt: skip
#: Species whose types are those of their item.
_TYPED_BY_ITEM = frozenset({"arceus", "silvally"})
_USED = (("mega", "mega_evolve"), ("zmove", "z_move"), ("dynamax", "dynamax"), ("tera", "tera"))


_SLOT_FLAGS = {
    "trapped": "trapped", "maybe_trapped": "maybeTrapped", "can_dynamax": "canDynamax", "can_z_move": "canZMove",
    "can_tera": "canTerastallize", "can_mega_evolve": "canMegaEvo",
}  # fmt: skip


class Difference(NamedTuple):
    """kind: what differs, and by which effect, for counting. who: whose, "" for the field. seen, true: the values."""

    kind: str
    who: str
    seen: Any
    true: Any


def _condition(shown: str) -> tuple[int, int, str]:
    """Return HP, maximum HP and status of a condition ("24/48y par"); the maximum is 0 for "0 fnt"."""
    if shown == "0 fnt":
        return 0, 0, "fnt"
    hp, _, status = shown.partition(" ")
    now, most = "".join(c for c in hp if c in "0123456789/").split("/")
    return int(now), int(most), status


def _move_id(name: str) -> str:
    return "hiddenpower" if name.startswith("hiddenpower") else name


def _type_name(name: str) -> str:
    return "THREE_QUESTION_MARKS" if name == "???" else name.upper()


class SeatComparison:
    """Compares one seat's battle, decision by decision. It remembers who has been seen in another's guise (Illusion)."""

    def __init__(self, battle: SeatBattle, role: str) -> None:
        self.battle = battle
        self.role = role
        self.foe_role = "p2" if role == "p1" else "p1"
        self._base_shown: set[str] = (
            set()
        )  # our Pokémon whose moves a request has listed while they had not transformed
        self._guises: dict[str, str] = {}  # Pokémon with Illusion -> the guise in which it is or has left
        # Pokémon of which the seat knows wrong things by an Illusion that it did not see end
        self._polluted: set[str] = set()
        self._lists_moves: list[bool] = []  # of each slot, whether the request lists the PP of our Pokémon there

    def differences(self, decision: dict[str, Any]) -> list[Difference]:
        """Return what differs after the seat has received the lines and the request of a decision."""
        truth = decision["truth"]
        differing = list(self._field(truth))
        request = decision[self.role]["ask"] or {}
        active = request.get("active")
        self._lists_moves = [bool(slot) and slot["moves"][0]["id"] != "struggle" for slot in active or ()]
        if isinstance(self.battle, SeatDoubleBattle):
            differing += self._places(self.battle, truth)
        differing += self._side(truth, self.role, self.battle._team, own=True)
        self._follow_guises(truth["sides"][self.foe_role])
        differing += self._side(truth, self.foe_role, self.battle._opponent_team, own=False)
        if decision[self.role]["ask"]:
            differing += self._request(decision[self.role], truth["sides"][self.role])
        return differing

    def _follow_guises(self, side: dict[str, Any]) -> None:
        self._guises = {mon["name"]: mon["guise"] for mon in side["pokemon"] if mon["guise"]}
        self._polluted = set(side["mixed"])

    # The field and the battle.

    def _field(self, truth: dict[str, Any]) -> Iterator[Difference]:
        battle = self.battle
        if battle.turn != truth["turn"]:
            yield Difference("turn", "", battle.turn, truth["turn"])
        if battle.teampreview != truth["preview"]:
            yield Difference("team preview", "", battle.teampreview, truth["preview"])
        weather = truth["weather"]
        seen = {key.name.lower(): turn for key, turn in battle.weather.items()}
        true = {weather["id"]: weather["since"]} if weather else {}
        if set(seen) != set(true):
            yield Difference(f"weather:{weather['id'] if weather else 'none'}", "", seen, true)
        elif seen != true:
            yield Difference("weather:start", "", seen, true)
        fields = {_ROOMS[room]: state["since"] for room, state in truth["rooms"].items() if room in _ROOMS}
        if truth["terrain"]:
            name = truth["terrain"]["id"].removesuffix("terrain").upper() + "_TERRAIN"
            fields[name] = truth["terrain"]["since"]
        held = {key.name: turn for key, turn in battle.fields.items()}
        gas = held.pop("NEUTRALIZING_GAS", None) is not None
        if gas != truth["gas"]:
            yield Difference("field:NEUTRALIZING_GAS", "", gas, truth["gas"])
        for name in sorted(set(fields) ^ set(held)):
            yield Difference(f"field:{'+' if name in fields else '-'}{name}", "", held, fields)
        for name in sorted(set(fields) & set(held)):
            if fields[name] != held[name]:
                yield Difference(f"field:start:{name}", "", held[name], fields[name])
        for role, conditions in ((self.role, battle.side_conditions), (self.foe_role, battle.opponent_side_conditions)):
            yield from self._conditions(role, conditions, truth["sides"][role]["conditions"])
            used = truth["sides"][role]["used"]
            for extra, name in _USED:
                said = getattr(battle, f"{'' if role == self.role else 'opponent_'}used_{name}")
                if said != bool(used.get(extra)):
                    yield Difference(f"used {extra}", role, said, bool(used.get(extra)))

    def _conditions(self, role: str, seen: dict[Any, int], truth: dict[str, Any]) -> Iterator[Difference]:
        held = {key.name.replace("_", "").lower(): (key, value) for key, value in seen.items()}
        held = {name: entry for name, entry in held.items() if name not in _TURN_CONDITIONS}
        true = {name: state for name, state in truth.items() if name not in _TURN_CONDITIONS}
        for name in sorted(set(held) ^ set(true)):
            yield Difference(f"side:{'+' if name in true else '-'}{name}", role, sorted(held), sorted(true))
        for name in sorted(set(held) & set(true)):
            key, value = held[name]
            right = true[name]["layers"] if key in STACKABLE_CONDITIONS else true[name]["since"]
            if value != right:
                yield Difference(f"side:value:{name}", role, value, right)

    def _places(self, battle: SeatDoubleBattle, truth: dict[str, Any]) -> Iterator[Difference]:
        """Who stands where."""
        for role in (self.role, self.foe_role):
            for mon in truth["sides"][role]["pokemon"]:
                if not mon["active"]:
                    continue
                seen = battle.active_of(f"{role}{'ab'[mon['place']]}")
                name = mon["guise"] if role == self.foe_role and mon["guise"] else mon["name"]
                if seen is None or seen.name != name:
                    yield Difference("place", f"{role}: {mon['name']}", seen and seen.name, name)

    # The teams.

    def _side(self, truth: dict[str, Any], role: str, team: dict[str, Pokemon], own: bool) -> Iterator[Difference]:
        side = truth["sides"][role]
        if self.battle._team_size.get(role, side["size"]) != side["size"]:
            yield Difference("team size", role, self.battle._team_size.get(role), side["size"])
        names = {mon["name"] for mon in side["pokemon"]} if own else set(side["shown"])
        known = {ident.partition(": ")[2]: mon for ident, mon in team.items()}
        if names != set(known):
            yield Difference("team members", role, sorted(known), sorted(names))
        guises = {mon["guise"]: mon for mon in side["pokemon"] if mon["active"] and mon["guise"]}
        for mon in side["pokemon"]:
            seen = known.get(mon["name"])
            if seen is None or (not own and self._guises.get(mon["name"])):
                continue  # not seen yet, or what it does is seen as its guise's
            wearer = None if own else guises.get(mon["name"])
            disguised = wearer is not None and self.battle.active_of(f"{role}{'ab'[wearer['place']]}") is seen
            yield from self._pokemon(seen, guises[mon["name"]] if disguised else mon, truth, role, own, disguised)

    def _pokemon(
        self, seen: Pokemon, true: dict[str, Any], truth: dict[str, Any], role: str, own: bool, disguised: bool
    ) -> Iterator[Difference]:
        who = f"{role}: {true['name']}"
        stale = not own and not disguised and not true["active"] and true["name"] in truth["sides"][role]["stale"]
        if bool(seen.active) != true["active"] and not truth["preview"]:  # then the request calls the first one active
            yield Difference("active", who, seen.active, true["active"])
        if stale:
            return  # what the seat saw last of it was another one
        for found in _condition_differences(seen, true, who, own, disguised):
            if found.kind != "level" or own or true["name"] not in self._polluted:
                yield found
        if not disguised:
            yield from _sheet_differences(seen, true, who)
        fainted = true["fainted"]
        if bool(seen.is_terastallized) != bool(true["terastallized"]):
            yield Difference("terastallized", who, seen.is_terastallized, true["terastallized"])
        if (
            not own
            and true["terastallized"]
            and seen.tera_type
            and seen.tera_type.name != true["terastallized"].upper()
        ):
            yield Difference("tera type", who, seen.tera_type.name, true["terastallized"])
        types = sorted(t.name for t in seen.types)
        right = sorted(_type_name(t) for t in true["types"])
        by_item = true["base"] in _TYPED_BY_ITEM and not true["terastallized"]
        # UNKNOWABLE: the simulator tells them as the turn ends, or never
        if by_item and (truth["midTurn"] or seen.gen < 7):
            right = sorted(_type_name(t) for t in [*true["apparentTypes"], *filter(None, [true["addedType"]])])
        if types != right and not disguised:  # the guise's types are what a seat sees
            yield Difference("types", who, types, right)
        if not fainted:
            yield from _temporary_differences(seen, true, truth, who, own)
        polluted = disguised or (not own and true["name"] in self._polluted)
        if own and not true["transformed"]:
            self._base_shown.add(true["name"])
        if not polluted:
            listed = true["active"] and any(self._lists_moves[true["place"] : true["place"] + 1])
            yield from _move_differences(seen, true, who, own, listed, true["name"] in self._base_shown)
        if self.battle.gen > 1 and not polluted:
            yield from _item_differences(seen, true, who, own)
        if self.battle.gen > 2 and not polluted and not fainted:
            yield from _ability_differences(seen, true, who, own)
        if self.battle.opponent_sheets and not own and not polluted:
            yield from _unread_sheet(seen, true, who)

    def _request(self, view: dict[str, Any], side: dict[str, Any]) -> Iterator[Difference]:
        battle, request = self.battle, view["ask"]
        if isinstance(battle, SeatDoubleBattle):
            yield from self._slots(battle, request)
            return
        if view["accepted"] is not None:
            legal = {choice.wire for choice in battle.legal}
            if legal != set(view["accepted"]):
                yield Difference("legal", self.role, sorted(legal), sorted(view["accepted"]))
        active = (request.get("active") or [{}])[0]
        for name, key in (
            ("trapped", "trapped"),
            ("maybe_trapped", "maybeTrapped"),
            ("can_dynamax", "canDynamax"),
            ("can_z_move", "canZMove"),
            ("can_tera", "canTerastallize"),
        ):
            if bool(getattr(battle, name)) != bool(active.get(key)):
                yield Difference(name, self.role, getattr(battle, name), bool(active.get(key)))
        switches = (
            {mon["name"] for mon in side["pokemon"] if _can_come_in(mon, request)}
            if not active.get("trapped")
            else set()
        )
        if {mon.name for mon in battle.available_switches} != switches:
            yield Difference(
                "available switches", self.role, [mon.name for mon in battle.available_switches], sorted(switches)
            )
        if bool(battle.force_switch) != bool(request.get("forceSwitch")):
            yield Difference("force switch", self.role, battle.force_switch, request.get("forceSwitch"))
        if active and not request.get("forceSwitch"):
            listed = [_move_id(move["id"]) for move in active["moves"] if not move.get("disabled")]
            seen = [_move_id(move.id) for move in battle.available_moves]
            if seen != listed:
                yield Difference("available moves", self.role, seen, listed)

    def _slots(self, battle: SeatDoubleBattle, request: dict[str, Any]) -> Iterator[Difference]:
        """What a request of doubles says of each slot."""
        team = request["side"]["pokemon"]
        for slot, active in enumerate(request.get("active") or ()):
            entry = team[slot] if slot < len(team) else {"condition": "0 fnt"}
            passes = active is None or entry["condition"].endswith(" fnt") or entry.get("commanding")
            for name, key in _SLOT_FLAGS.items():
                right = not passes and bool(active.get(key))
                if bool(getattr(battle, name)[slot]) != right:
                    yield Difference(f"{name}:{slot}", self.role, getattr(battle, name)[slot], right)
            listed = [] if passes else [_move_id(move["id"]) for move in active["moves"] if not move.get("disabled")]
            seen = [_move_id(move.id) for move in battle.available_moves[slot]]
            if seen != listed:
                yield Difference(f"available moves:{slot}", self.role, seen, listed)
        if list(battle.force_switch) != list(request.get("forceSwitch") or [False, False]):
            yield Difference("force switch", self.role, battle.force_switch, request.get("forceSwitch"))


def _can_come_in(mon: dict[str, Any], request: dict[str, Any]) -> bool:
    reviving = bool(request["side"]["pokemon"][0].get("reviving"))
    return mon["fainted"] if reviving else not mon["fainted"] and mon["place"] > 0


def _turns_asleep(state: dict[str, Any]) -> int:
    """Turns slept through, less those that count again (generation 3 after Sleep Talk, 5 after a switch)."""
    again = max(0, state.get("time", 0) - state.get("after", state.get("time", 0)))
    return max(0, int(state.get("slept", 0)) - int(again))


def _toxic_stage(true: dict[str, Any]) -> int:
    counter = true["volatiles"].get("residualdmg", true["statusState"])
    return int(counter.get("counter", counter.get("stage", 0)))


#: After so many protections in a row the chance of the next one falls no further, and the simulator counts no more.
_MOST_PROTECTIONS = {2: 100, 3: 3, 4: 3, 5: 8}


def _protections(stall: dict[str, Any] | None, gen: int) -> int:
    """Protections in a row, from what the simulator keeps: the inverse of the next one's chance."""
    if stall is None:
        return 0
    return (
        round(math.log2(127 / stall["counter"])) + 1
        if gen == 2
        else round(math.log(stall["counter"], 2 if gen < 6 else 3))
    )


def _condition_differences(
    seen: Pokemon, true: dict[str, Any], who: str, own: bool, disguised: bool
) -> Iterator[Difference]:
    """HP, status and its counter, level, gender."""
    hp, most, status = _condition(true["secret" if own else "shared"])
    held = (seen.current_hp, seen.max_hp if most else 0)
    # UNKNOWABLE: an ability that acts without a line, and was not shown; a third added to rounded HP
    healed = not own and not true["active"] and bool(true["said"].get("regenerated"))
    healed = healed and (seen.ability is None or (held[1] == most and abs(held[0] - hp) == 1))
    if held != (hp, most) and not healed:
        yield Difference("hp" if true["active"] else "hp:bench", who, held, (hp, most))
    seen_status = seen.status.name.lower() if seen.status else ""
    if seen_status != status:
        yield Difference(f"status:{seen_status or 'none'}->{status or 'none'}", who, seen_status, status)
    elif status == "slp" or (status == "tox" and true["active"]):
        turns = _turns_asleep(true["statusState"]) if status == "slp" else _toxic_stage(true)
        if seen.status_counter != turns:
            yield Difference(f"status counter:{status}", who, seen.status_counter, turns)
    if disguised:
        return
    if seen.level != true["level"] and (own or seen.revealed):  # not one of which only a guise was seen
        yield Difference("level", who, seen.level, true["level"])
    gender = {"M": "MALE", "F": "FEMALE"}.get(true["gender"], "NEUTRAL")
    if seen.gender is not None and seen.gender.name != gender:
        yield Difference("gender", who, seen.gender.name, gender)


def _sheet_differences(seen: Pokemon, true: dict[str, Any], who: str) -> Iterator[Difference]:
    """Species, base stats and weight of the forme."""
    if not true["transformed"] and seen.base_species != true["base"]:
        yield Difference("species", who, seen.species, true["species"])
    stats = {stat: seen.base_stats[stat] for stat in ("hp", "atk", "def", "spa", "spd", "spe")}
    if stats != true["baseStats"]:
        yield Difference(f"base stats:{true['species']}", who, stats, true["baseStats"])


def _temporary_differences(
    seen: Pokemon, true: dict[str, Any], truth: dict[str, Any], who: str, own: bool
) -> Iterator[Difference]:
    """Boosts, effects, recharge, prepared move, protections in a row, turns on the field."""
    for stat in BOOSTS:
        if seen.boosts[stat] != true["boosts"][stat]:
            yield Difference(f"boost:{stat}", who, seen.boosts[stat], true["boosts"][stat])
    volatiles = true["volatiles"]
    effects = {effect.name for effect in seen.effects}
    for change in state_effects.effect_differences(effects, true, seen.gen, not truth["midTurn"]):
        yield Difference(f"effect:{change}", who, sorted(effects), sorted(volatiles))
    if "gastroacid" in volatiles and "GASTRO_ACID" not in effects and seen.ability:
        yield Difference("effect:+GASTRO_ACID", who, sorted(effects), sorted(volatiles))
    if "gastroacid" not in volatiles and "GASTRO_ACID" in effects:
        yield Difference("effect:-GASTRO_ACID", who, sorted(effects), sorted(volatiles))
    flinched = not own and true["said"].get("flinched")  # UNKNOWABLE: after its move
    if bool(seen.must_recharge) != ("mustrecharge" in volatiles) and not flinched:
        yield Difference("must recharge", who, seen.must_recharge, "mustrecharge" in volatiles)
    prepared = seen.preparing_move.id if seen.preparing_move else ""
    right = volatiles.get("twoturnmove", {}).get("move", "")
    if seen.gen > 1 and right not in volatiles:  # used already: the simulator keeps the mark until the turn ends
        right = ""
    if prepared != right:
        yield Difference(f"preparing:{prepared or right}", who, prepared, right)
    protections = _protections(volatiles.get("stall"), seen.gen)
    in_a_row = min(seen.protect_counter, _MOST_PROTECTIONS.get(seen.gen, 6))
    if in_a_row != protections and not truth["midTurn"]:  # the simulator counts at the end of the turn
        yield Difference("protect counter", who, seen.protect_counter, protections)
    for effect, turns in seen.effects.items():
        state = volatiles.get(_COUNTED.get(effect.name, "partiallytrapped")) if effect.is_turn_countable else None
        if state is not None and turns != truth["turn"] - state["since"]:
            yield Difference(f"effect turns:{effect.name}", who, turns, truth["turn"] - state["since"])
    if seen._active_turns != true["activeTurns"] and true["active"]:
        yield Difference("active turns", who, seen._active_turns, true["activeTurns"])


def _move_differences(
    seen: Pokemon, true: dict[str, Any], who: str, own: bool, listed: bool, base_shown: bool
) -> Iterator[Difference]:
    """The moves that are known and their PP: those now, and those to which it returns after Transform or Mimic.

    listed: it is our active Pokémon, and the request lists its PP. base_shown: a request has listed the latter moves
    (UNKNOWABLE: Imposter before the first request).
    """
    for name, held, slots in (
        ("moves", seen.moves, true["moves"]),
        ("base moves", seen._moves._base_moves, true["baseMoves"]),
    ):
        if name == "base moves" and not true["transformed"]:
            continue
        right = {_move_id(slot["id"]): slot for slot in slots}
        known = {_move_id(move): move_state for move, move_state in held.items()}
        for move in sorted(set(known) - set(right)):
            yield Difference(f"{name}:-{move}", who, sorted(known), sorted(right))
        for move, slot in right.items():
            if move not in known:
                if (own and (name == "moves" or base_shown)) or slot["named"]:
                    yield Difference(f"{name}:+{move}", who, sorted(known), sorted(right))
            elif known[move].current_pp != slot["pp"] and not _is_untold(known[move].current_pp, slot, own, listed):
                yield Difference(f"pp:{move}", who, known[move].current_pp, slot["pp"])
    if seen.gen > 1 and true["active"] and not true["fainted"]:
        last = seen.last_move.id if seen.last_move else ""
        right = _move_id(true["said"].get("lastMove", ""))
        if _move_id(last) != (right if right in {_move_id(move) for move in seen.moves} else ""):
            yield Difference("last move", who, last, right)


def _is_untold(pp: int, slot: dict[str, Any], own: bool, listed: bool) -> bool:
    """Return whether a difference of PP is one that no line tells: UNKNOWABLE, Max Moves, Pressure, a move in two slots.

    listed: it is our active Pokémon, and the request lists its PP.
    """
    untold = slot["silent"] if own else slot["secret"]
    if not own or (slot["twin"] and not listed):
        untold += slot["hidden"]
    return slot["untold"] or bool(slot["pp"] < pp <= slot["pp"] + untold)


def _item_differences(seen: Pokemon, true: dict[str, Any], who: str, own: bool) -> Iterator[Difference]:
    held, right = seen.item, true["item"]
    unknown = held == _UNKNOWN_ITEM
    announced = true["said"].get("item")
    if (held or "") == right:
        return
    if not unknown:
        yield Difference(f"item:{held or 'none'}->{right or 'none'}", who, held, right)
    elif own or announced == right:
        yield Difference(f"item:unknown->{right or 'none'}", who, held, right)


def _unread_sheet(seen: Pokemon, true: dict[str, Any], who: str) -> Iterator[Difference]:
    """What an open team sheet has shown and the seat does not hold."""
    if seen.item == _UNKNOWN_ITEM:
        yield Difference("sheet: item", who, seen.item, true["item"])
    if seen.ability is None and not true["fainted"]:
        yield Difference("sheet: ability", who, seen.ability, true["ability"])
    tera = seen.tera_type.name if seen.tera_type else ""
    if tera != true["teraType"].upper():
        yield Difference("sheet: Tera type", who, tera, true["teraType"])
    held = {_move_id(move) for move in seen._moves._base_moves}
    right = {_move_id(slot["id"]) for slot in true["baseMoves"]}
    if not true["transformed"] and not right <= held:
        yield Difference("sheet: moves", who, sorted(held), sorted(right))


def _ability_differences(seen: Pokemon, true: dict[str, Any], who: str, own: bool) -> Iterator[Difference]:
    held, right, announced = seen.ability, true["ability"], true["said"]
    if held == right:
        return
    if held:
        if not ("gastroacid" in true["volatiles"] and held in ("", "noability")):
            yield Difference(f"ability:{held}->{right}", who, held, right)
        return
    known = {announced.get("ability")}
    if not announced.get("given") and not true["transformed"]:
        known.add(true["baseAbility"] if own else announced.get("baseAbility"))
    if right in known or (own and seen.gen >= 7):  # before generation 7 a request does not tell what ability it has now
        yield Difference(f"ability:unknown->{right}", who, held, right)
