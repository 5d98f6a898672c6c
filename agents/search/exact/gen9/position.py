"""A generation-9 battle as one seat knows it, with a team for the opponent, as a row of the engine's words.

Own HP, PP, stats and order come from the request, everything else from the log (battle_log.py). What only the simulator
knows is drawn: docs/search.md lists it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.engine.gen9.engine import Engine, records
from agents.engine.gen9.layout import WORDS
from agents.engine.gen9.requests import SWITCH
from agents.engine.gen9.teams import DATA, NUMBERS, SPECIES, side_words
from agents.search.exact.gen9.battle_log import BattleLog
from agents.search.exact.gen9.set_words import base_pp, hp_of, points_of, species_types, two_types, type_number
from agents.search.exact.gen9.tracked import STATS, ActiveState, Effect, TrackedPokemon
from agents.search.log_lines import Who

Words = NDArray[np.int32]
_CONDITIONS, _MOVES, _ITEMS, _ABILITIES = (NUMBERS[kind] for kind in ("conditions", "moves", "items", "abilities"))
_EFFECTS = {**_MOVES, **_ITEMS, **_ABILITIES}
UNDEFINED, TRUE, FALSE = -(2**31), -(2**31) + 4, -(2**31) + 2
#: Columns of Root.hidden: turns that each Pokémon (0 to 5) has slept, turns of confusion, of a rampage and bound, or -1; 1
#: where the Pokémon that is out has yet to do what was chosen for it.
CONFUSED, LOCKED, BOUND, PENDING, HIDDEN = 6, 7, 8, 9, 10
_RESIDUAL = 10  # CHOICE_RESIDUAL
_GENDERS = {"": 0, "M": 1, "F": 2}
_CHOICE = frozenset({"choiceband", "choicescarf", "choicespecs"})
_ROCKS = {"raindance": "damprock", "sunnyday": "heatrock", "sandstorm": "smoothrock", "snowscape": "icyrock"}
_SCREENS = frozenset({"reflect", "lightscreen", "auroraveil"})
_TERA_FORMES = {number for name, number in SPECIES.items() if name.startswith("ogerpon") and name.endswith("tera")}
#: Abilities that note in their state that they have begun.
_BEGUN = frozenset({"embodyaspectteal", "embodyaspectwellspring", "embodyaspectcornerstone"})


@dataclass(frozen=True)
class Known:
    """Both sides' teams, packed, in the order of their places; names: the battle's names of the Pokémon at these places."""

    teams: tuple[str, str]
    names: tuple[list[str], list[str]]


class Root(NamedTuple):
    """A row [WORDS] and what each iteration draws of it: hidden [2, HIDDEN], columns as in src/search/tree.cpp."""

    row: Words
    hidden: NDArray[np.int32]


def position(log: BattleLog, seat: int, request: dict[str, Any], known: Known) -> Root:
    """The position of the current request. Raises BadInput for a team that the engine does not play."""
    words = np.zeros((1, WORDS), np.int32)
    row = records(words)[0]
    row["activePerSide"] = 1
    row["winner"] = -1
    for number, packed in enumerate(known.teams):
        row["sides"][number] = side_words(packed, number)
    writer = _Writer(log, seat, row, known)
    writer.own_stats()
    writer.write(request)
    if not request.get("forceSwitch"):
        settle(words)
    return Root(words[0], writer.hidden)


def engine_of(words: Words) -> Engine:
    """An engine of the battles whose words [N, WORDS] these are."""
    engine = Engine(0)
    engine.words = words
    return engine


def settle(words: Words) -> None:
    """Plays the end of a turn whose actions are done: what is disabled, who is trapped, and the requests of the next."""
    engine_of(words).step(np.zeros((len(words), *Engine.shape), np.int32))


def _spent(used: dict[str, int], number: int) -> int:
    """The PP spent of a move by its number."""
    return next((pp for move, pp in used.items() if _MOVES.get(move) == number), 0)


class _Writer:
    def __init__(self, log: BattleLog, seat: int, row: Any, known: Known) -> None:
        self.log, self.seat, self.row, self.known = log, seat, row, known
        self.hidden = np.full((2, HIDDEN), -1, np.int32)

    def number(self, who: Who | None) -> int:
        """1 + the number of a Pokémon; 0 for none."""
        if who is None or who[1] not in self.known.names[who[0]]:
            return 0
        return 1 + 6 * who[0] + self.known.names[who[0]].index(who[1])

    def mon(self, who: Who) -> Any:
        return self.row["sides"][who[0]]["pokemon"][self.known.names[who[0]].index(who[1])]

    def write(self, request: dict[str, Any]) -> None:
        log, row = self.log, self.row
        switching = bool(request.get("forceSwitch"))
        row["turn"] = log.turn if switching else log.turn - 1
        row["midTurn"] = 1
        row["requestState"] = SWITCH if switching else 0
        row["effectOrder"] = log.order + 1
        for seat in range(2):
            self._team(seat, request)
        for seat in range(2):
            self._out(seat)
        self._field()
        if switching:
            self._switches()

    # The teams

    def own_stats(self) -> None:
        side = self.row["sides"][self.seat]
        for mon, entry in zip(side["pokemon"], self.log.own, strict=False):
            stats = [int(entry["condition"].split()[0].split("/")[1]), *entry["stats"].values()]
            points, plus, minus = points_of(DATA["species"][mon["species"]]["stats"], int(mon["level"]), stats)
            mon["points"], mon["plus"], mon["minus"] = points, plus, minus
            mon["maxhp"] = mon["hp"] = stats[0]
            mon["baseStoredStats"] = stats[1:]

    def _team(self, seat: int, request: dict[str, Any]) -> None:
        log, side, tracked = self.log, self.row["sides"][seat], self.log.sides[seat]
        names = self.known.names[seat]
        side["order"][: side["size"]] = self._order(seat, request)
        for position, number in enumerate(side["order"].tolist()[: side["size"]]):
            side["pokemon"][(number - 1) % 6]["position"] = position
        side["pokemonLeft"] = side["size"] - tracked.fainted
        side["totalFainted"] = tracked.fainted
        side["faintedThisTurn"] = self.number((seat, tracked.fainted_now)) if tracked.fainted_now else 0
        side["faintedLastTurn"] = self.number((seat, tracked.fainted_before)) if tracked.fainted_before else 0
        for place, name in enumerate(names):
            mon = side["pokemon"][place]
            mon["canTerastallize"] = not tracked.tera_used
            known = tracked.mons.get(name)
            if place < len(tracked.preview):
                mon["gender"] = _GENDERS[tracked.preview[place][1]]
            if known is not None and known.entries:
                self._member(mon, known, seat)
        if seat == self.seat:
            self._own_hp(request, log)

    def _order(self, seat: int, request: dict[str, Any]) -> list[int]:
        names, tracked = self.known.names[seat], self.log.sides[seat]
        if seat == self.seat:
            idents = [entry["ident"].partition(": ")[2] for entry in request["side"]["pokemon"]]
            return [1 + 6 * seat + names.index(name) for name in idents]
        places = list(range(len(names)))
        for n, name in enumerate(tracked.entries):
            place = names.index(name)
            if n == 0:  # the lead changes places with none: the team was ordered behind it
                places.remove(place)
                places.insert(0, place)
                continue
            at = places.index(place)
            places[0], places[at] = places[at], places[0]
        return [1 + 6 * seat + place for place in places]

    def _member(self, mon: Any, known: TrackedPokemon, seat: int) -> None:
        mon["gender"] = _GENDERS[known.gender]
        if known.species in SPECIES and known.species not in ("greninja",):
            mon["species"] = mon["baseSpecies"] = SPECIES[known.species]
        if known.ability:
            mon["ability"] = mon["baseAbility"] = _ABILITIES[known.ability]
        if known.item is not None:
            mon["item"] = _ITEMS.get(known.item, 0)
        mon["lastItem"] = _ITEMS.get(known.last_item, 0)
        if known.tera:
            mon["teraType"] = type_number(known.tera)
            mon["terastallized"] = 1 + type_number(known.tera)
        if seat != self.seat:
            mon["hp"] = hp_of(known, mon)
        mon["fainted"] = mon["faintQueued"] = known.hp == 0
        if known.hp == 0:
            mon["hp"] = 0
        mon["previouslySwitchedIn"] = known.entries
        mon["ateBerry"] = known.ate_berry
        mon["bondTriggered"], mon["shieldBoost"] = known.bond, known.shield
        mon["formeRegression"] = known.regresses
        self._status(mon, known, seat)
        for slot in mon["moveSlots"][: mon["moveCount"]]:
            slot["pp"] = max(0, slot["pp"] - _spent(known.used, slot["id"]))

    def _status(self, mon: Any, known: TrackedPokemon, seat: int) -> None:
        if not known.status or not known.hp:
            return
        mon["status"] = _CONDITIONS[known.status]
        state = mon["statusState"]
        state["id"], state["effectOrder"], state["source"] = (
            mon["status"],
            known.status_order,
            self.number(known.status_source),
        )
        if known.status == "tox":
            state["counter"] = known.toxic
        elif known.status == "slp":  # drawn by each iteration where it is not Rest's
            state["counter"], state["extra"] = max(1, 3 - known.slept), 3
            if not known.rested:
                self.hidden[seat, mon["number"] % 6] = known.slept

    def _own_hp(self, request: dict[str, Any], log: BattleLog) -> None:
        for entry in request["side"]["pokemon"]:
            mon = self.mon((self.seat, entry["ident"].partition(": ")[2]))
            now, _, most = entry["condition"].split()[0].partition("/")
            mon["hp"] = int(now)
            if most:
                mon["maxhp"] = int(most)
            if mon["moveCount"] == len(entry["moves"]):
                mon["item"] = _ITEMS.get(entry["item"], 0)

    # Those that are out

    def _out(self, seat: int) -> None:
        side, tracked = self.row["sides"][seat], self.log.sides[seat]
        if not tracked.out:
            return
        mon, active, state = self.mon((seat, tracked.out)), side["active"][0], tracked.active
        known = tracked.mons[tracked.out]
        active["pokemon"] = self.number((seat, tracked.out))
        alive = known.hp > 0
        mon["isActive"] = mon["isStarted"] = alive
        if state.species and state.species in SPECIES:
            mon["species"] = SPECIES[state.species]
        if state.ability:
            mon["ability"] = _ABILITIES.get(state.ability, mon["ability"])
        self._stats_and_types(active, mon, state)
        active["moveThisTurnResult"] = active["moveLastTurnResult"] = UNDEFINED
        if not alive:
            active["newlySwitched"] = 1
            return
        if state.transformed is not None:
            self._transform(active, mon, state)
        active["boosts"] = [state.boosts[stat] for stat in STATS]
        active["lastMove"], active["lastMoveUsed"] = _MOVES.get(state.last, 0), _MOVES.get(state.last_used, 0)
        active["activeTurns"] = state.turns - (not self.log.in_turn)
        active["activeMoveActions"] = state.actions
        active["newlySwitched"] = state.entered_turn == self.log.turn
        for field, failed in (("moveThisTurnResult", state.failed), ("moveLastTurnResult", state.failed_before)):
            if failed is not None:
                active[field] = FALSE if failed else TRUE
        if "twoturnmove" in state.volatiles:
            mon["lastMoveTargetLoc"] = 1
        if self.log.in_turn:
            self._attacks(active, state)
        active["unknownType"] = state.transformed is not None and not mon["terastallized"] and not state.was_attacked
        mon["usedItemThisTurn"], mon["statsRaisedThisTurn"] = state.used_item, state.raised
        mon["statsLoweredThisTurn"] = state.lowered
        for name, at in (("ability", state.order), ("item", state.item_order)):
            effect = mon[f"{name}State"]
            effect["id"] = mon[name]
            effect["effectOrder"] = at if mon[name] else 0
        if state.item_dropped:
            mon["itemState"] = 0
        mon["abilityState"]["counter"] = self._ability_counter(mon, state)
        if mon["item"] == _ITEMS["boosterenergy"]:
            mon["itemState"]["counter"] = 1
        self._volatiles(active, mon, state, (seat, tracked.out))

    def _attacks(self, active: Any, state: ActiveState) -> None:
        """The attacks that it took in this turn."""
        for n, (who, move) in enumerate(state.attacks.items()):
            attack = active["attackedBy"][n]
            attack["source"], attack["slot"] = self.number(who), 1 + who[0]
            attack["damage"] = attack["damageValue"] = attack["thisTurn"] = 1
            attack["move"] = _MOVES.get(move, 0)
        active["attackedByCount"] = len(state.attacks)

    def _ability_counter(self, mon: Any, state: ActiveState) -> int:
        ability = int(mon["ability"])
        if ability == _ABILITIES["supremeoverlord"]:
            return state.fallen
        if ability in (_ABILITIES["protean"], _ABILITIES["libero"], _ABILITIES["disguise"]):
            return int(state.adapted)
        if ability == _ABILITIES["trace"]:
            return int(mon["item"] != _ITEMS["abilityshield"])
        if ability == _ABILITIES["unnerve"]:
            return int(state.announced == "unnerve")
        embodies = any(ability == _ABILITIES[name] for name in _BEGUN)
        return int(embodies and bool(mon["terastallized"]) and int(mon["baseSpecies"]) in _TERA_FORMES)

    def _stats_and_types(self, active: Any, mon: Any, state: ActiveState) -> None:
        active["storedStats"] = mon["baseStoredStats"]
        active["types"] = species_types(int(mon["species"]))
        if state.types is not None:
            active["types"] = two_types(state.types)
        active["addedType"] = type_number(state.added_type) if state.added_type else -1
        active["apparentTypes"] = active["types"] + 1
        if mon["terastallized"]:
            active["apparentTypes"] = [mon["terastallized"], 0]

    def _transform(self, active: Any, mon: Any, state: ActiveState) -> None:
        assert state.transformed is not None and state.copied is not None
        other = self.mon(state.transformed)
        active["transformed"] = 1
        mon["species"] = SPECIES.get(state.copied_species, int(other["species"]))
        active["storedStats"] = other["baseStoredStats"]
        active["types"] = species_types(int(mon["species"]))
        if state.copied.types is not None:
            active["types"] = two_types(state.copied.types)
        if state.types is not None:
            active["types"] = two_types(state.types)
        if not mon["terastallized"]:
            active["apparentTypes"] = active["types"] + 1
        mon["baseMoveSlots"], mon["baseMoveCount"] = mon["moveSlots"], mon["moveCount"]
        mon["moveCount"] = other["moveCount"]
        mon["moveSlots"] = 0
        for slot, theirs in zip(mon["moveSlots"], other["moveSlots"][: other["moveCount"]], strict=False):
            most = min(5, base_pp(int(theirs["maxpp"])))
            left = max(0, most - _spent(state.own_used, theirs["id"]))
            slot["id"], slot["maxpp"], slot["pp"] = theirs["id"], most, left
        if not state.ability:
            mon["ability"] = _ABILITIES.get(state.copied.ability, int(other["baseAbility"]))

    def _volatiles(self, active: Any, mon: Any, state: ActiveState, who: Who) -> None:
        effects = dict(state.volatiles)
        if mon["ability"] != _ABILITIES["unburden"] or mon["item"]:
            effects.pop("unburden", None)
        item = next((name for name in _CHOICE if _ITEMS[name] == mon["item"]), "")
        if item and state.choice:
            effects["choicelock"] = Effect(
                self.log.residuals, state.choice_order, 0, who, move=state.choice, cause=state.choice
            )
        count = 0
        for name, effect in sorted(effects.items(), key=lambda pair: pair[1].order):
            if name not in _CONDITIONS:
                continue
            words = active["volatiles"][count]
            self._effect(words, name, effect)
            if name == "substitute":
                words["counter"] = max(1, int(mon["maxhp"]) // 4 >> effect.counter)
            elif name == "partiallytrapped":
                words["counter"] = 8
                self.hidden[who[0], BOUND] = self.log.residuals - effect.residuals
            elif name == "confusion":
                words["counter"], self.hidden[who[0], CONFUSED] = 2, effect.counter
            elif name == "lockedmove":
                words["counter"] = 1
                self.hidden[who[0], LOCKED] = effect.counter + self.log.residuals - effect.residuals
            count += 1
        active["volatileCount"] = count

    def _effect(self, words: Any, name: str, effect: Effect) -> None:
        words["id"], words["effectOrder"] = _CONDITIONS[name], effect.order
        if effect.duration:
            words["duration"] = max(1, effect.duration - (self.log.residuals - effect.residuals))
        words["counter"], words["extra"] = effect.counter, effect.extra
        words["move"] = _MOVES.get(effect.move, 0)
        words["source"] = self.number(effect.source)
        words["sourceSlot"] = 1 + effect.source[0] if effect.source else 0
        words["sourceEffect"] = _EFFECTS.get(effect.cause, 0)

    # The field

    def _field(self) -> None:
        for place, found in (("weatherState", self.log.weather), ("terrainState", self.log.terrain)):
            if found is not None and found[0] in _CONDITIONS:
                name, effect = found
                self._effect(self.row[place], name, effect)
                longer = _ROCKS.get(name, "terrainextender" if place == "terrainState" else "")
                self._extend(self.row[place], effect, longer)
        for n, (name, effect) in enumerate(self.log.rooms.items()):
            if name in _CONDITIONS:
                self._effect(self.row["pseudoWeather"][n], name, effect)
                self.row["pseudoWeatherCount"] = n + 1
        for seat, tracked in enumerate(self.log.sides):
            side = self.row["sides"][seat]
            side["conditionCount"] = self._list(side["conditions"], tracked.conditions)
            slot = side["slotConditions"][0]
            slot["count"] = self._list(slot["list"], tracked.slot)
            for words in slot["list"][: slot["count"]]:
                if words["id"] == _CONDITIONS["wish"] and words["source"]:
                    source = tracked.slot["wish"].source
                    assert source is not None
                    words["counter"] = self.mon(source)["maxhp"] // 2
                elif words["id"] == _CONDITIONS["futuremove"]:
                    words["extra"] = 1 + seat

    def _list(self, words: Any, effects: dict[str, Effect]) -> int:
        count = 0
        for name, effect in effects.items():
            if name in _CONDITIONS:
                self._effect(words[count], name, effect)
                if name in _SCREENS:
                    self._extend(words[count], effect, "lightclay")
                count += 1
        return count

    def _extend(self, words: Any, effect: Effect, item: str) -> None:
        """Eight turns instead of five, where its source held the item for it."""
        passed = self.log.residuals - effect.residuals
        if effect.source is None:
            holds = False
        elif effect.held is None:
            holds = self.set_item(effect.source) == _ITEMS.get(item)
        else:
            holds = _ITEMS.get(effect.held, 0) == _ITEMS.get(item)
        words["duration"] = max(1, (8 if holds or passed >= 5 else 5) - passed)

    def set_item(self, who: Who) -> int:
        """The item in a Pokémon's set."""
        return int(
            side_words(self.known.teams[who[0]], who[0])["pokemon"][self.known.names[who[0]].index(who[1])]["item"]
        )

    # What is asked in the middle of a turn

    def _switches(self) -> None:
        over = self.log.residual_done or not self.log.turn
        if not over:
            residual = self.row["queue"][0]
            residual["choice"], residual["order"], residual["speed"] = _RESIDUAL, 300, 1
            self.row["queueLength"] = 1
            self.hidden[1 - self.seat, PENDING] = self.log.still_to_move(1 - self.seat) or -1
        for seat in range(2):
            side, tracked = self.row["sides"][seat], self.log.sides[seat]
            mon = self.mon((seat, tracked.out))
            fainted = not mon["hp"]
            if seat == self.seat or (fainted and over):
                mon["switchFlag"] = (
                    1 if fainted or tracked.active.switch_by else _MOVES.get(tracked.active.last_used, 1)
                )
                mon["skipBeforeSwitchOutEventFlag"] = not fainted
                side["request"] = SWITCH if side["pokemonLeft"] else 0
