"""Damage estimates for batches of the generation-9 engine, equal to those of agents/observation/estimates.py.

What an estimate depends on is a key of words (src/shown/estimates.h). The library asks for keys, moves and pairs that were
not met before; they are worked out here by `Estimates` itself and kept as tables, from which the library reckons.
"""

from __future__ import annotations

import ctypes
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from poke_env.battle.effect import Effect
from poke_env.battle.move import MoveSet
from poke_env.battle.pokemon import Pokemon
from poke_env.data import GenData

from agents.engine.gen9.library import address, library
from agents.engine.gen9.teams import NUMBERS
from agents.mechanics.fighters import Fighter
from agents.mechanics.sets import guess
from agents.mechanics.type_chart import effectiveness
from agents.observation.estimates import Attack, Combatant, Estimates
from agents.observation.gen9_facts import EFFECTS, GEN, SPECIES, TYPES
from agents.observation.unrounded_damage import UNUSUAL_ABILITIES, WITHOUT_POWER
from agents.observation.unrounded_modifiers import POWER_BY_TARGET, immune, power_of, target_factor
from teamsets.builder.published import STATS

_KEY_WORDS, _GUESS_WORDS, _MOST_MOVES, _CLASSES, _KINDS, _MOST_MISSING = 22, 10, 24, 6, 21, 24
_UNKNOWN = -1
_DEFENSE, _SPECIAL_DEFENSE = STATS.index("def"), STATS.index("spd")
GUESS, COMBATANT, ATTACK, PAIR = range(4)
#: How a move's damage comes about: see Strike of src/shown/estimates.h.
_NONE, _USUAL, _FIXED, _PAIR = range(4)
_BY_NOTHING, _BY_ITEM, _BY_WEIGHT, _BY_RATIO, _BY_ATTACK = range(5)
_TYPE_NAMES = [kind.name for kind in TYPES[:-1]]
#: Moves that never damage a healthy Pokémon by the estimates: it would have to sleep, or the user to have just come in.
_NEVER = frozenset({"dreameater", "fakeout", "firstimpression"})
#: Moves that the formula of the library does not cover.
_OF_PAIRS = frozenset({"flyingpress", "gyroball", "struggle", "thousandarrows"})
#: A column of effectiveness beside those of the types.
_FREEZE_DRY = 19
_IGNORING = frozenset({"moldbreaker", "teravolt", "turboblaze"})
_WEIGHTS = (1.0, 10.0, 25.0, 50.0, 100.0, 200.0)  # one of each class
_RATIOS = (1.5, 2.5, 3.5, 4.5, 10.0)

_MISSING = np.dtype([
    ("count", np.int32),
    ("entries", np.int32, (_MOST_MISSING, 3 + _KEY_WORDS)),  # what, first, second, key
])  # fmt: skip
_COMBATANT = np.dtype([
    *((name, "f8") for name in ("speed", "low", "high", "defense", "special_defense", "hp", "attack", "kg")),
    *((name, "i4") for name in ("types", "guard", "has_item", "weight")),
])  # fmt: skip
_STRIKE = np.dtype([
    *((name, "f8") for name in ("accuracy", "hits", "final", "critical", "sharp", "chance", "kg")), ("push", "f8", _CLASSES),
    *((name, "i4") for name in ("how", "by", "special", "wall", "type", "kind", "guard", "same_type")),
])  # fmt: skip
_GUESS = np.dtype([("set", "i4"), ("count", "i4"), ("moves", "i4", _MOST_MOVES), ("chances", "f8", _MOST_MOVES)])


class _Index(ctypes.Structure):
    _fields_ = (("slots", ctypes.c_void_p), ("mask", ctypes.c_uint64))


class Table:
    """Rows that are appended. array: with room for more.

    key: words of a key, 0 for keys of 64 bits; None: the rows are no keys, and are not found by `index`.
    """

    def __init__(self, kind: Any, key: int | None = None) -> None:
        self.array: NDArray[Any] = np.zeros((1024, key) if key else 1024, kind)
        self.count, self._key, self._indexed = 0, key, 0
        self._slots = np.zeros(4096, np.int32)

    def append(self, row: Any) -> int:
        """Add a row; returns its place."""
        if self.count == len(self.array):
            self.array = np.concatenate([self.array, np.zeros_like(self.array)])
            self._slots, self._indexed = np.zeros(4 * len(self.array), np.int32), 0
        self.array[self.count] = row
        self.count += 1
        return self.count - 1

    def index(self) -> _Index:
        """The index of all keys, with open addressing."""
        if self._indexed < self.count:
            library().gen9_index(
                address(self._slots), ctypes.c_int64(len(self._slots)), address(self.array), ctypes.c_int64(self._indexed),
                ctypes.c_int64(self.count), self._key,
            )  # fmt: skip
            self._indexed = self.count
        return _Index(self._slots.ctypes.data, len(self._slots) - 1)


class Knowledge(ctypes.Structure):
    """Knowledge of src/shown/estimates.h."""

    _fields_: ClassVar = (
        *((name, _Index) for name in ("guess_index", "combatant_index", "attack_index", "pair_index")),
        *((name, ctypes.c_void_p) for name in (
            "guess_keys", "guesses", "combatant_keys", "combatants", "attack_keys", "attack_ids", "attacks", "pair_keys",
            "pairs", "effectiveness", "guards",
        )),
        ("guard_columns", ctypes.c_int64),
    )  # fmt: skip


class LearnedEstimates:
    """What estimates of a format need, as far as it was asked for."""

    #: So many moves of Pokémon are kept before it begins anew.
    MOST = 1 << 18

    def __init__(self, format_id: str) -> None:
        self.format_id = format_id
        self._clear()

    def _clear(self) -> None:
        self._estimates = Estimates()
        self._guess_keys, self._guesses = Table(np.int32, key=_GUESS_WORDS), Table(_GUESS)
        self._sets: dict[tuple[Any, ...], int] = {}
        self._shown: list[tuple[str, ...]] = []  # of each set the known moves for which it was guessed first
        self._combatant_keys, self._combatant_rows = Table(np.int32, key=_KEY_WORDS), Table(_COMBATANT)
        self._combatants: list[Combatant] = []
        self._strikes = Table(_STRIKE)
        self._attacks: list[Attack] = []
        self._attack_keys, self._attack_ids = Table(np.uint64, key=0), Table(np.int32)
        self._pair_keys, self._pairs = Table(np.uint64, key=0), Table(np.dtype(("f8", 3)))
        # Also of moves of guesses that no team here has.
        self._names, self._numbers = list(EFFECTS), dict(NUMBERS["moves"])
        self._types: dict[tuple[str, ...], int] = {}
        self._effectiveness = np.ones((64, _KINDS))
        self._guards = _Guards()
        self.counts = [0, 0, 0, 0]  # how often each kind of thing was asked for

    def begin(self) -> None:
        """Forget all if it has become too much. Called before a batch, which then learns until it lacks nothing."""
        if self._strikes.count + self._pairs.count > self.MOST:
            self._clear()

    def knowledge(self) -> Knowledge:
        """The tables for the library, as they are now. They must not be changed while it uses them."""
        return Knowledge(
            *(keys.index() for keys in (self._guess_keys, self._combatant_keys, self._attack_keys, self._pair_keys)),
            *(table.array.ctypes.data for table in (
                self._guess_keys, self._guesses, self._combatant_keys, self._combatant_rows, self._attack_keys,
                self._attack_ids, self._strikes, self._pair_keys, self._pairs,
            )),
            self._effectiveness.ctypes.data,
            self._guards.factors.ctypes.data,
            self._guards.factors.shape[1],
        )  # fmt: skip

    def learn(self, missing: NDArray[Any]) -> None:
        """Work out what the library has missed: rows of `new_missing`."""
        entries = missing["entries"][np.arange(_MOST_MISSING) < missing["count"][:, None]]
        for what, first, second, *key in set(map(tuple, entries.tolist())):
            self.counts[what] += 1
            if what == GUESS:
                self._learn_guess(key[:_GUESS_WORDS])
            elif what == COMBATANT:
                self._learn_combatant(key)
            elif what == ATTACK:
                self._learn_attack(first, self._names[second])
            else:
                self._pair_keys.append(first << 32 | second)
                self._pairs.append(self._attacks[first].on(self._combatants[second]))

    def _learn_guess(self, key: list[int]) -> None:
        shown = tuple(EFFECTS[move] for move in key[1:] if move)
        guessed = guess(self.format_id, GEN, SPECIES[key[0]], shown)
        loadout = key[0], guessed.item, guessed.ability, guessed.nature, guessed.evs, guessed.tera
        number = self._sets.setdefault(loadout, len(self._sets))
        if number == len(self._shown):
            self._shown.append(shown)
        count = len(guessed.moves)
        rest = (0,) * (_MOST_MOVES - count)
        moves = (*(self._number(move) for move, _ in guessed.moves), *rest)
        self._guess_keys.append(key)
        self._guesses.append((number, count, moves, (*(chance for _, chance in guessed.moves), *rest)))

    def _number(self, move: str) -> int:
        number = self._numbers.setdefault(move, len(self._names))
        if number == len(self._names):
            self._names.append(move)
        return number

    def _learn_combatant(self, key: list[int]) -> None:
        own = key[0] > 0
        mon, battle = _pokemon(key, () if own else self._shown[key[14]], self.format_id)
        known = self._estimates.known(mon, [] if own else None, battle)
        combatant = known.combatant
        number = self._combatant_keys.append(key)
        self._combatant_rows.append(self._combatant_row(combatant))
        self._combatants.append(combatant)
        for attack, *_ in known.attacks:
            self._learn_attack(number, attack.move.id)

    def _combatant_row(self, combatant: Combatant) -> tuple[Any, ...]:
        fighter, target = combatant.fighter, combatant.target
        weight = POWER_BY_TARGET["lowkick"](fighter, fighter, 0.0) // 20 - 1
        return (
            combatant.speed, target.low, target.high, target.walls[_DEFENSE], target.walls[_SPECIAL_DEFENSE],
            fighter.stats[0], fighter.stat("atk"), fighter.weight, self._type_row(target.types),
            self._guards.column(combatant), bool(fighter.item), weight,
        )  # fmt: skip

    def _learn_attack(self, number: int, move: str) -> None:
        combatant = self._combatants[number]
        attack = combatant.attack(move)
        self._attack_keys.append(number << 32 | self._number(move))
        self._attack_ids.append(self._strikes.append(self._strike(attack, combatant.fighter)))
        self._attacks.append(attack)

    def _type_row(self, types: tuple[str, ...]) -> int:
        row = self._types.get(types)
        if row is None:
            row = self._types[types] = len(self._types)
            if row == len(self._effectiveness):
                self._effectiveness = np.concatenate([self._effectiveness, np.ones_like(self._effectiveness)])
            self._effectiveness[row, : len(_TYPE_NAMES)] = [effectiveness(GEN, kind, types) for kind in _TYPE_NAMES]
            self._effectiveness[row, _FREEZE_DRY] = effectiveness(GEN, "ICE", types) * (4 if "WATER" in types else 1)
        return row

    def _strike(self, attack: Attack, user: Fighter) -> tuple[Any, ...]:
        move, strike = attack.move, attack.strike
        how, by, push, kind, guard = _NONE, _BY_NOTHING, [0.0], 0, 0
        if strike is not None and not _is_harmless(attack):
            how, by, push = _formula(attack, user)
        if how in (_USUAL, _FIXED):
            kind, guard = _column(attack), self._guards.row(user, attack)
        numbers = (
            (0.0,) * 5 if strike is None else (strike.hits, strike.final, strike.critical, strike.sharp, strike.chance)
        )
        return (
            move.accuracy, *numbers, user.weight, (*push, *(0.0,) * (_CLASSES - len(push))), how, by, attack.kind,
            strike is not None and strike.wall == _SPECIAL_DEFENSE, -1 if strike is None else _kind(move.type), kind, guard,
            attack.same_type,
        )  # fmt: skip


def _kind(name: str) -> int:
    return _TYPE_NAMES.index(name) if name in _TYPE_NAMES else _KINDS - 1


def _column(attack: Attack) -> int:
    """A damaging move's column of effectiveness."""
    assert attack.strike is not None
    return _FREEZE_DRY if attack.move.id == "freezedry" else _kind(attack.strike.kind)


def _is_harmless(attack: Attack) -> bool:
    assert attack.strike is not None
    without = attack.move.fixed in WITHOUT_POWER and not attack.strike.push and attack.move.id not in POWER_BY_TARGET
    return attack.move.id in _NEVER or without


def _formula(attack: Attack, user: Fighter) -> tuple[int, int, list[float]]:
    """How a move's damage comes about, what its power depends on, and the attack terms of the formula for each of it."""
    move, strike = attack.move, attack.strike
    assert strike is not None
    special_dry = move.id == "freezedry" and strike.kind != "ICE"
    if user.ability in UNUSUAL_ABILITIES or move.id in _OF_PAIRS or special_dry or move.fixed == "ohko":
        return _PAIR, _BY_NOTHING, [0.0]
    if move.fixed and move.fixed not in WITHOUT_POWER:
        level = move.fixed in ("level", "random")
        half = move.fixed == "half"
        return _FIXED, _BY_NOTHING, [0.0, 0.5] if half else [user.level if level else float(move.fixed)]
    if move.id == "foulplay":
        return (
            _USUAL,
            _BY_ATTACK,
            [(2 * user.level // 5 + 2) * power_of(user, None, move, strike.kind), strike.attack_factor],
        )
    if move.id not in POWER_BY_TARGET:
        return _USUAL, _BY_NOTHING, [strike.push]
    by, targets = _targets(user, move.id)
    return _USUAL, by, [strike.push_of(power_of(user, target, move, strike.kind)) for target in targets]


def _targets(fighter: Fighter, move: str) -> tuple[int, list[Fighter]]:
    """What a move's power depends on of its target, and a target of each class."""
    if move == "knockoff":
        return _BY_ITEM, [replace(fighter, item=item) for item in ("", "leftovers")]
    if move in ("grassknot", "lowkick"):
        return _BY_WEIGHT, [replace(fighter, weight=weight) for weight in _WEIGHTS]
    if move in ("heatcrash", "heavyslam"):
        return _BY_RATIO, [replace(fighter, weight=fighter.weight / ratio) for ratio in _RATIOS]
    return _BY_NOTHING, [fighter]


class _Guards:
    """Factors [attack's class, target's class] by which abilities and items of healthy targets change damage; 0: blocked."""

    def __init__(self) -> None:
        self.factors = np.ones((1024, 32))
        self._rows: dict[Any, int] = {}
        self._columns: dict[Any, int] = {}
        self._attacks: list[tuple[Fighter, Attack]] = []
        self._targets: list[Combatant] = []

    def row(self, user: Fighter, attack: Attack) -> int:
        assert attack.strike is not None
        key = attack.move.id, attack.strike.kind, user.ability in _IGNORING
        found = self._rows.get(key)
        if found is None:
            found = self._rows[key] = len(self._attacks)
            if found == len(self.factors):
                self.factors = np.concatenate([self.factors, np.ones_like(self.factors)])
            self._attacks.append((user, attack))
            for column, target in enumerate(self._targets):
                self.factors[found, column] = _guard(user, attack, target)
        return found

    def column(self, target: Combatant) -> int:
        key = (target.fighter.ability, target.fighter.item == "airballoon") if target.target.guarded else None
        found = self._columns.get(key)
        if found is None:
            found = self._columns[key] = len(self._targets)
            if found == self.factors.shape[1]:
                self.factors = np.concatenate([self.factors, np.ones_like(self.factors)], axis=1)
            self._targets.append(target)
            for row, (user, attack) in enumerate(self._attacks):
                self.factors[row, found] = _guard(user, attack, target)
        return found


def _guard(user: Fighter, attack: Attack, target: Combatant) -> float:
    assert attack.strike is not None
    kind = attack.strike.kind
    if kind not in target.target.guarded:
        return 1.0
    if immune(user, target.fighter, attack.move, kind):
        return 0.0
    return target_factor(user, target.fighter, attack.move, kind)


@cache
def _blank(species: str) -> Pokemon:
    return Pokemon(GEN, species=species)


def _pokemon(key: list[int], moves: tuple[str, ...], format_id: str) -> tuple[Pokemon, Any]:
    """poke-env's Pokémon of a key, with moves that it is known to have, and what is read of its battle."""
    (
        own, species, level, weight, item, ability, terastallized, tera, roosting, transformed, type_count, *types
    ) = key[:14]  # fmt: skip
    mon = _blank(SPECIES[species])
    mon._level, mon._weightkg = level, GenData.from_gen(GEN).pokedex[SPECIES[weight]]["weightkg"]
    mon._item = GenData.UNKNOWN_ITEM if item == _UNKNOWN else EFFECTS[item]
    mon._ability, mon._temporary_ability, mon._forme_change_ability = EFFECTS[ability] or None, None, None
    mon._terastallized, mon._terastallized_type = bool(terastallized), TYPES[tera - 1] if tera else None
    mon._temporary_types = [TYPES[kind - 1] for kind in types[:type_count]]
    mon._effects = {Effect.ROOST: 0} if roosting else {}
    known = MoveSet({})
    known._base_moves = dict.fromkeys(moves)  # type: ignore[assignment]  # only their names are read
    mon._moves = MoveSet({})
    mon._moves._base_moves, mon._moves._transform_moves = known._base_moves, known if transformed else None
    mon._max_hp = key[14] if own else 0
    mon._stats = dict(zip(STATS, key[14:20], strict=True)) if own else dict.fromkeys(STATS)
    asked = {"side": {"pokemon": [{"ident": "", "teraType": _TYPE_NAMES[own - 1]}] if own else []}}
    return mon, SimpleNamespace(gen=GEN, format_id=format_id, last_request=asked, team={"": mon})


def new_missing(count: int) -> NDArray[Any]:
    """Room for what `count` observations miss."""
    return np.empty(count, _MISSING)
