"""The lines of a generation-9 log about items, abilities, and conditions of the Pokémon that are out."""

from __future__ import annotations

import copy

from poke_env.data import to_id_str

from agents.engine.gen9.teams import DATA
from agents.search.exact.gen9.log_state import LogState
from agents.search.exact.gen9.tracked import STATS, Effect, TrackedPokemon, TrackedSide
from agents.search.log_lines import Who, effect_of, tagged, who_of

#: What Protect and its like leave for a turn, by the move; Detect leaves what Protect does.
PROTECTIONS = frozenset({"protect", "banefulbunker", "burningbulwark", "silktrap", "spikyshield"})
_STALLING = PROTECTIONS | {"endure", "detect"}
#: Abilities that feed on a move in place of being hit.
_FEEDING = frozenset({"lightningrod", "motordrive", "sapsipper", "stormdrain", "wellbakedbody", "windrider"})
#: Moves that end as if they had not failed where there is nothing to heal.
_NO_FAILURE = frozenset({"moonlight", "morningsun", "synthesis", "shoreup"})
#: Moves that stop without having failed, as lines name them.
_SILENT_FAILURES = frozenset({"move: Double Shock", "move: Hyperspace Fury"})
CHARGING = frozenset({"phantomforce", "solarbeam", "solarblade", "meteorbeam"})
_PARADOX = ("protosynthesis", "quarkdrive")
_BINDING = frozenset({"bind", "firespin", "infestation", "magmastorm", "sandtomb", "thundercage", "whirlpool", "wrap"})


class ConditionLines(LogState):
    """Reads these lines: `_on_KIND` for each, with the side, the Pokémon and the rest of the line."""

    def _on_item(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        mon, item = self._of(who), to_id_str(rest[0])
        if "[from] ability: Frisk" in rest or (item == "airballoon" and not tagged(rest, "[from]")):
            return
        source, giver = tagged(rest, "[from]"), who_of(tagged(rest, "[of]"))
        if giver is not None and source in ("ability: Magician", "ability: Pickpocket"):
            self._lost(self.sides[giver[0]], self._of(giver))
            self._of(giver).item = ""
        self._lost(side, mon)
        mon.item = item
        side.active.item_order, side.active.item_dropped = self._next(), False
        side.active.choice = ""

    def _on_enditem(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        mon = self._of(who)
        taken = effect_of(tagged(rest, "[from]"))
        if not taken and to_id_str(rest[0]) != "airballoon":
            mon.last_item = to_id_str(rest[0])
            side.active.used_item = True
        mon.ate_berry |= "[eat]" in rest
        self._lost(side, mon)
        mon.item = ""
        if not taken and to_id_str(rest[0]) in ("ejectbutton", "ejectpack"):
            side.active.switch_by = to_id_str(rest[0])

    def _lost(self, side: TrackedSide, mon: TrackedPokemon) -> None:
        """An item is gone or another: what Unburden waits for, where its holder has that ability."""
        if mon.item != "" and side.out == mon.name and mon.hp:
            side.active.volatiles.setdefault("unburden", self._effect("unburden", (self.sides.index(side), mon.name)))

    def _on_ability(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        ability = to_id_str(rest[0])
        if tagged(rest, "[from]"):
            side.active.ability, side.active.order = ability, self._next()
        elif not side.active.ability:
            self._abilities[who] = ability
        side.active.announced = ability
        if ability in _FEEDING and "boost" in rest and self._mover is not None and self._mover[0] != who[0]:
            self._missed()
        if ability == "dauntlessshield":
            self._of(who).shield = True

    def _on_start(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        active, name = side.active, effect_of(rest[0])
        source = who_of(tagged(rest, "[of]")) or self._mover
        if name == "typechange":
            if self._of(who).tera:  # Double Shock: it says what its types are, and changes none
                return
            if "[silent]" not in rest or active.types is None:
                active.types = tuple(rest[1].split("/"))
                active.adapted |= "ability: " in tagged(rest, "[from]")
            return
        if name == "typeadd":
            active.added_type = rest[1]
            return
        if name == "futuresight":
            effect = self.sides[1 - who[0]].slot["futuremove"] = self._effect("futuremove", who)
            effect.move, effect.counter = name, self.turn + 1
            return
        for paradox in _PARADOX:
            if name.startswith(paradox):
                effect = self._effect(paradox, who)
                effect.counter, effect.extra = STATS.index(name[len(paradox) :]), self._energy
                active.volatiles[paradox] = effect
                return
        if name.startswith("perish"):
            if "[silent]" in rest:
                active.volatiles["perishsong"] = self._effect("perishsong", self._mover, "perishsong")
            return
        if name == "charge" and name in active.volatiles:
            return
        if name.startswith("fallen"):
            active.fallen = int(name[6:]) if name[6:].isdigit() else 0
            return
        if rest[0] == "ability: Flash Fire":
            self._missed()
        effect = active.volatiles[name] = self._effect(name, source, self._move)
        if name == "confusion" and active.volatiles.pop("lockedmove", None) is not None:
            effect.source = who
        if name == "substitute":
            active.volatiles.pop("partiallytrapped", None)
            effect.source = who
        elif name in ("taunt", "encore", "disable"):
            self._limit(side, who, name, effect, rest)
        elif name == "healblock":
            effect.duration = 2 if self._move == "psychicnoise" else 5

    def _limit(self, side: TrackedSide, who: Who, name: str, effect: Effect, rest: list[str]) -> None:
        """How long Taunt, Encore and Disable last depends on whether their target is still to move."""
        active = side.active
        will_move = who != self._mover and self.still_to_move(who[0])
        if name == "disable":
            effect.move = to_id_str(rest[1])
            effect.duration -= will_move or who == self._mover
        elif name == "encore":
            effect.move = active.last
            effect.duration += not will_move
        else:
            effect.duration += bool(active.turns) and not will_move

    def _on_end(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        name = effect_of(rest[0])
        if "[partiallytrapped]" in rest:
            name = "partiallytrapped"
        elif name == "futuresight":
            side.slot.pop("futuremove", None)
            self._mover = None  # what follows is of no move of this turn
        side.active.volatiles.pop(name, None)

    def _on_activate(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        active, name = side.active, effect_of(rest[0])
        source = who_of(tagged(rest, "[of]"))
        self._energy = "[fromitem]" in rest
        if name in ("confusion", "substitute") and name in active.volatiles:
            active.volatiles[name].counter += 1
        elif name == "trapped":
            active.volatiles[name] = self._effect(name, self._mover, self._move)
        elif name in _BINDING:
            active.volatiles["partiallytrapped"] = self._effect("partiallytrapped", source, name)
        elif name == "skillswap" and source is not None:
            active.ability, self.sides[source[0]].active.ability = to_id_str(rest[1]), to_id_str(rest[2])
            active.order, self.sides[source[0]].active.order = self._next(), self._next()
        elif name == "psychicterrain":
            self._missed()
        elif name == "leppaberry":
            used = active.own_used if active.transformed else self._of(who).used
            move = to_id_str(rest[1])
            used[move] = max(0, used.get(move, 0) - 10)
        elif name == "battlebond":
            self._of(who).bond = True
        elif "[broken]" in rest or rest[0] == "move: Feint":
            for broken in (*PROTECTIONS, "stall"):
                active.volatiles.pop(broken, None)
        elif name == "protect" and self._mover is not None:
            mover = self.sides[self._mover[0]].active
            mover.failed = None
            mover.volatiles.pop("lockedmove", None)

    def _on_singleturn(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        active, name = side.active, effect_of(rest[0])
        if name == "protect" and self._move in PROTECTIONS:
            name = self._move
        active.volatiles[name] = self._effect(name, who, name)
        if name in _STALLING:
            known = active.volatiles.get("stall")
            counter = 3 if known is None else min(729, 3 * known.counter)
            stall = active.volatiles["stall"] = self._effect("stall", who, name)
            stall.counter = counter
            if known is not None:
                stall.order = known.order

    def _on_singlemove(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        name = effect_of(rest[0])
        side.active.volatiles[name] = self._effect(name, who, name)

    def _on_mustrecharge(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        side.active.volatiles["mustrecharge"] = self._effect("mustrecharge", who, self._move)

    def _on_prepare(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        move = to_id_str(rest[0])
        if move not in CHARGING:
            return
        effect = side.active.volatiles["twoturnmove"] = self._effect("twoturnmove", who, move)
        effect.move = move
        side.active.volatiles[move] = charging = self._effect(move, who, move)
        charging.counter = 1  # at whom: the other side's Pokémon

    def _on_anim(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        """A charging move that strikes at once."""
        for name in ("twoturnmove", *CHARGING):
            side.active.volatiles.pop(name, None)

    def _on_transform(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        target = who_of(rest[0])
        if target is None:
            return
        other, mon = self.sides[target[0]], self._of(target)
        active = side.active
        active.transformed, active.copied = target, copy.deepcopy(other.active)
        active.copied_species = other.active.species or mon.species
        active.boosts = dict(other.active.boosts)
        active.order = self._next()
        active.own_used = {}

    def _on_fail(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        if rest and rest[0] in _SILENT_FAILURES:
            return
        foe = self.sides[1 - (self._mover or who)[0]].active
        at_substitute = "substitute" in foe.volatiles and DATA["moves"].get(self._move, ("", ""))[1] == "normal"
        if self._move not in _NO_FAILURE and not at_substitute:
            self._missed()
        if who == self._mover and self._move in _STALLING:
            side.active.volatiles.pop("stall", None)
        if who == self._mover and self._move == "trick":
            side.active.item_dropped = True

    def _on_block(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        if rest[0].startswith("ability: "):
            self._missed()

    def _on_immune(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        self._missed()

    def _on_miss(self, side: TrackedSide, who: Who, rest: list[str]) -> None:
        self._missed()
