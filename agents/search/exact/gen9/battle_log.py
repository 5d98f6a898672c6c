"""What one seat's log tells of a generation-9 battle, in the terms of the engine's words (agents/engine/gen9/src/layout.h).

poke-env's battle lacks much of it: when each effect began and by whom, what a turn has already done, PP by their number,
what a change of forme leaves. Numbers that depend on the opponent's hidden set (durations by its item, HP) are left to
position.py, which computes them for a sampled set.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from poke_env.data import to_id_str

from agents.engine.gen9.teams import DATA
from agents.search.exact.gen9.condition_lines import CHARGING, PROTECTIONS, ConditionLines
from agents.search.exact.gen9.tracked import STATS, ActiveState, Effect, TrackedPokemon, TrackedSide
from agents.search.log_lines import Who, effect_of, gender_of, tagged, who_of

_RAMPAGES = frozenset({"outrage", "petaldance", "ragingfury", "thrash"})
_WEATHER = frozenset({"raindance", "sunnyday", "sandstorm", "snowscape"})
#: What ends with a turn without a line.
_SILENT = frozenset(
    {"stall", "endure", "roost", "mirrorcoat", "mustrecharge", "lockedmove", "twoturnmove", *PROTECTIONS}
)
_SIDE_TURNS = {"reflect": 5, "lightscreen": 5, "auroraveil": 5, "tailwind": 4, "safeguard": 5}
#: Targets of moves that Pressure does not see, and moves that it sees nevertheless.
_NOT_AT_FOES = frozenset({"self", "foeSide", "allySide", "allyTeam", "allies", "adjacentAlly", "adjacentAllyOrSelf"})
_PRESSED = frozenset({"spikes", "stealthrock", "toxicspikes"})
_FORME_ABILITY = {
    "ogerpontealtera": "embodyaspectteal", "ogerponwellspringtera": "embodyaspectwellspring",
    "ogerponcornerstonetera": "embodyaspectcornerstone",
}  # fmt: skip


def _same(previewed: str, species: str) -> bool:
    """Whether the preview's name of a species is that of one that comes in."""
    return previewed == species or (species.startswith(previewed) and previewed in ("greninja", "zamazenta"))


class BattleLog(ConditionLines):
    """One battle's state by its log; feed it with `follow` before each decision."""

    def follow(self, lines: list[list[str]], request: dict[str, Any] | None) -> None:
        """Reads the lines since the last call, split at "|"; the first request shows our team."""
        if not self.own and request:
            self.own = [dict(entry) for entry in request["side"]["pokemon"]]
            for entry in self.own:
                who = who_of(entry["ident"])
                assert who is not None
                self._abilities[who] = entry["baseAbility"]
        self.read_all(lines[self._read :])
        self._read = len(lines)

    def read_all(self, messages: Iterable[list[str]]) -> None:
        """Reads lines, split at "|"."""
        for message in messages:
            self._read_line(message)

    def _read_line(self, message: list[str]) -> None:
        kind = message[1] if len(message) > 1 else ""
        if kind == "turn":
            self.turn, self.in_turn = int(message[2]), False
            for side in self.sides:
                if side.out and side.mons[side.out].hp:
                    side.active.turns += 1
            return
        if not self.in_turn:
            self._begin_turn()
        handler = getattr(self, "_line_" + kind.strip("-"), None)
        if handler is not None:
            handler(message[2:])
            return
        who = who_of(message[2]) if len(message) > 2 else None
        handler = getattr(self, "_on_" + kind.strip("-"), None)
        if who is not None and handler is not None:
            handler(self.sides[who[0]], who, message[3:])

    def _begin_turn(self) -> None:
        self.in_turn, self.residual_done = True, False
        for side in self.sides:
            side.fainted_before, side.fainted_now = side.fainted_now, ""
            active = side.active
            active.acted = active.slept_now = False
            active.failed_before, active.failed = active.failed, None
            active.attacks = {}
            if self.turn != 1:
                active.raised = active.lowered = active.used_item = False

    # Of the battle

    def _line_poke(self, rest: list[str]) -> None:
        side, details = self.sides[int(rest[0][1]) - 1], rest[1].split(", ")
        side.preview.append((to_id_str(details[0].removesuffix("-*")), gender_of(details)))

    def _line_upkeep(self, rest: list[str]) -> None:
        self.residuals += 1
        self.residual_done = True
        for side in self.sides:
            mon = side.mons.get(side.out)
            if mon is not None and mon.status == "tox":
                mon.toxic = min(15, mon.toxic + (not mon.orb))
                mon.orb = False
            if "futuremove" in side.slot and self.turn > side.slot["futuremove"].counter:
                del side.slot["futuremove"]
            if "wish" in side.slot and self.residuals - side.slot["wish"].residuals > 1:
                del side.slot["wish"]
            for effects in (side.active.volatiles, side.conditions):
                for name, effect in list(effects.items()):
                    if name in _SILENT and self.residuals - effect.residuals >= effect.duration:
                        del effects[name]

    def _line_weather(self, rest: list[str]) -> None:
        name = to_id_str(rest[0])
        if "[upkeep]" in rest:
            self._mover = None  # what follows is of no move
            return
        if name == "none":
            self.weather = None
        elif name in _WEATHER:
            self.weather = name, self._held(Effect(self.residuals, 0, 5, who_of(tagged(rest, "[of]")) or self._mover))

    def _line_fieldstart(self, rest: list[str]) -> None:
        name = effect_of(rest[0])
        effect = self._held(Effect(self.residuals, 0, 5, who_of(tagged(rest, "[of]")) or self._mover))
        if name.endswith("terrain"):
            self.terrain = name, effect
        else:
            self.rooms[name] = effect

    def _line_fieldend(self, rest: list[str]) -> None:
        name = effect_of(rest[0])
        if name.endswith("terrain"):
            self.terrain = None
        else:
            self.rooms.pop(name, None)

    def _line_sidestart(self, rest: list[str]) -> None:
        conditions, name = self.sides[int(rest[0][1]) - 1].conditions, effect_of(rest[1])
        known = conditions.get(name)
        if known is None:
            source = who_of(tagged(rest, "[of]")) or self._mover
            known = conditions[name] = self._held(self._effect(name, source))
            known.duration = _SIDE_TURNS.get(name, 0)
        known.counter += name in ("spikes", "toxicspikes")

    def _line_sideend(self, rest: list[str]) -> None:
        self.sides[int(rest[0][1]) - 1].conditions.pop(effect_of(rest[1]), None)

    def _line_swapsideconditions(self, rest: list[str]) -> None:
        one, two = self.sides
        one.conditions, two.conditions = two.conditions, one.conditions

    def _line_clearallboost(self, rest: list[str]) -> None:
        for side in self.sides:
            side.active.boosts = dict.fromkeys(STATS, 0)

    # Of one Pokémon

    def _on_switch(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        name = who[1]
        if side.out:
            self._leave(side)
        details = rest[0].split(", ")
        species = to_id_str(details[0])
        mon = side.mons.get(name)
        if mon is None or not mon.entries:
            place = self._place(side, species)
            mon = side.mons[name] = TrackedPokemon(name, species, place)
            mon.gender = gender_of(details)
        self._take_condition(mon, rest[1])
        mon.entries += 1
        mon.toxic, mon.regenerating = 0, False
        side.out = name
        side.entries.append(name)
        side.active = ActiveState(order=self._next(), item_order=self._next(), entered_turn=self.turn)

    def _on_drag(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        self._on_switch(side, who, rest)

    def _place(self, side: TrackedSide, species: str) -> int:
        """Which of the previewed Pokémon it is that comes in for the first time."""
        taken = {mon.place for mon in side.mons.values()}
        free = [place for place in range(max(len(side.preview), 6)) if place not in taken]
        return next(
            (place for place in free if place < len(side.preview) and _same(side.preview[place][0], species)), free[0]
        )

    def _leave(self, side: TrackedSide) -> None:
        mon = side.mons[side.out]
        mon.toxic = 0
        mon.regenerating = mon.hp > 0 and side.active.ability in ("", "regenerator") and not self._gas()
        foe = self.sides[1 - self.sides.index(side)]
        trap = foe.active.volatiles.get("trapped")  # linked to whom it came from
        if trap is not None and trap.source == (self.sides.index(side), side.out):
            del foe.active.volatiles["trapped"]

    def _on_detailschange(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        mon = self._of(who)
        mon.species = to_id_str(rest[0].split(", ")[0])
        if not mon.hp:
            return
        side.active.species = ""
        side.active.adapted |= mon.species == "mimikyubusted"
        if mon.species.startswith("ogerpon") and mon.species.endswith("tera"):
            mon.regresses = True
            mon.ability = _FORME_ABILITY[mon.species]
            side.active.ability = ""
            side.active.order = self._next()

    def _on_formechange(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        side.active.species = to_id_str(rest[0])

    def _on_terastallize(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        self._of(who).tera = rest[0]
        side.tera_used = True
        side.active.added_type = ""

    def _on_faint(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        mon = self._of(who)
        mon.hp, mon.status, mon.tera = 0, "", ""
        side.fainted += 1
        side.fainted_now = who[1]
        if mon.regresses:
            mon.regresses, mon.ability = False, None
        if who == self._mover and self._move in ("healingwish", "lunardance") and not side.active.failed:
            side.slot.setdefault(self._move, self._effect(self._move, who))
        fresh = ActiveState(order=side.active.order, item_order=side.active.item_order, turns=0)
        side.active = fresh

    def _take_condition(self, mon: TrackedPokemon, text: str) -> None:
        health, _, status = text.partition(" ")
        if status == "fnt":
            mon.hp = 0
            return
        now, _, most = health.partition("/")
        mon.hp, mon.max_hp, mon.regenerating = int(now), int(most or 100), False
        if status != mon.status:
            self._set_status(mon, status, None)

    def _set_status(self, mon: TrackedPokemon, status: str, source: Who | None, rested: bool = False) -> None:
        mon.status, mon.slept, mon.toxic, mon.rested = status, 0, 0, rested
        mon.status_order, mon.status_source = self._next(), source

    def _on_move(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        active, mon, move = side.active, self._of(who), to_id_str(rest[0])
        source = tagged(rest, "[from]")
        locked = to_id_str(source) == "lockedmove"
        external = bool(source) and not locked
        self._mover, self._move = who, move
        active.last_used = move
        target = who_of(rest[1]) if len(rest) > 1 else None
        if target is not None and target[0] != who[0]:
            self.sides[target[0]].active.was_attacked = True
        active.volatiles.pop("destinybond", None)
        if not external:
            if not active.slept_now:
                active.actions += 1
            active.acted, active.last = True, move
            if not locked:
                self._spend(active, mon, move, 1)
        if source == "ability: Dancer":
            active.actions += 1
        if not active.choice and (not external or source == "ability: Dancer"):
            active.choice, active.choice_order = move, self._next()
        active.failed = "[notarget]" in rest or "[miss]" in rest
        at_all = DATA["moves"].get(move, ("", ""))[1] == "all"
        if move != "struggle" and not locked and (target != who or at_all):
            self._pressed(side, mon, active, to_id_str(source.partition(": ")[2]) if external else move, move)
        if move in CHARGING:
            active.volatiles.pop(move, None)  # what locks it into the move lasts to the end of the turn
        if move in _RAMPAGES and not active.failed and not external:
            known = active.volatiles.get("lockedmove")
            if known is None:
                known = active.volatiles["lockedmove"] = self._effect("lockedmove", who)
                known.move = move
            else:
                known.residuals = self.residuals  # as long as it continues
        if move == "wish" and not active.failed and "wish" not in side.slot:
            effect = side.slot["wish"] = self._effect("wish", who)
            effect.extra = (self.turn - 1) & 255
        if "Magic Bounce" in source:
            self.sides[1 - who[0]].active.failed = True

    def _spend(self, active: ActiveState, mon: TrackedPokemon, move: str, amount: int) -> None:
        used = active.own_used if active.transformed else mon.used
        used[move] = used.get(move, 0) + amount

    def _pressed(self, side: TrackedSide, mon: TrackedPokemon, active: ActiveState, spent: str, move: str) -> None:
        """Pressure of the Pokémon at which a move aims takes one PP more."""
        foe = self.sides[1 - self.sides.index(side)]
        shape = DATA["moves"].get(move)
        if self._gas():
            return
        aims = shape is not None and (shape[1] not in _NOT_AT_FOES or move in _PRESSED)
        if aims and foe.out and foe.mons[foe.out].hp and self.ability_of(1 - self.sides.index(side)) == "pressure":
            self._spend(active, mon, spent, 1)

    def _on_cant(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        if rest[0].startswith("ability: ") and tagged(rest, "[of]"):  # the first is who has the ability
            prevented = who_of(tagged(rest, "[of]"))
            if prevented is not None:
                self.sides[prevented[0]].active.failed = True
            return
        active, reason = side.active, effect_of(rest[0])
        active.actions += 1
        active.acted, active.failed = True, reason != "recharge"
        if reason == "slp":
            self._of(who).slept += 1
            active.slept_now = True
        active.volatiles.pop("mustrecharge", None)
        active.volatiles.pop("destinybond", None)
        if reason in ("slp", "frz", "par", "flinch"):
            for name in ("twoturnmove", *CHARGING):
                active.volatiles.pop(name, None)

    def _on_damage(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        mon, source = self._of(who), tagged(rest, "[from]")
        self._take_condition(mon, rest[0])
        if source == "item: Sticky Barb" and mon.item != "stickybarb":  # it changes hands without a line
            mon.item = "stickybarb"
            foe = self.sides[1 - who[0]]
            foe.mons[foe.out].item = ""
        if source == "confusion":
            side.active.actions += 1
            side.active.acted, side.active.failed = True, True
        if not source and self._mover is not None and self._mover[0] != who[0]:
            side.active.attacks[self._mover] = self._move
            side.active.was_attacked = True

    def _on_heal(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        self._take_condition(self._of(who), rest[0])
        source = effect_of(tagged(rest, "[from]"))
        if source in ("waterabsorb", "voltabsorb", "dryskin", "eartheater"):
            self._missed()
        if source in ("wish", "healingwish", "lunardance"):
            side.slot.pop(source, None)
        if source == "lunardance":
            self._of(who).used.clear()

    def _on_sethp(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        self._take_condition(self._of(who), rest[0])

    def _on_status(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        source = who_of(tagged(rest, "[of]")) or self._mover
        cause = tagged(rest, "[from]")
        self._set_status(self._of(who), rest[0], source, "Rest" in cause)
        self._of(who).orb = "Orb" in cause

    def _on_curestatus(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        self._set_status(self._of(who), "", None)

    def _on_boost(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        self._change(side, who, rest[0], int(rest[1]))

    def _on_unboost(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        self._change(side, who, rest[0], -int(rest[1]))

    def _change(self, side: TrackedSide, who: Who, stat: str, by: int) -> None:
        boosts = side.active.boosts
        if who == self._mover and self._move in DATA["moves"] and DATA["moves"][self._move][1] == "self":
            side.active.failed = not by and side.active.failed is not None and not side.active.raised
        boosts[stat] = max(-6, min(6, boosts[stat] + by))
        side.active.raised |= by > 0
        side.active.lowered |= by < 0

    def _on_setboost(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        """Belly Drum: up, or down for who has Contrary."""
        side.active.raised |= int(rest[1]) > side.active.boosts[rest[0]]
        side.active.lowered |= int(rest[1]) < side.active.boosts[rest[0]]
        side.active.boosts[rest[0]] = int(rest[1])

    def _on_clearboost(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        side.active.boosts = dict.fromkeys(STATS, 0)

    def _on_clearnegativeboost(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        side.active.boosts = {stat: max(0, by) for stat, by in side.active.boosts.items()}

    def _on_clearpositiveboost(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        side.active.boosts = {stat: min(0, by) for stat, by in side.active.boosts.items()}
