"""What one seat's log tells of a generation-1 battle, in the terms of the engine's words (agents/engine/gen1/layout.py).

poke-env's battle lacks much of it: the order of the teams, what counters have counted, which stat changes came in which
order (a boost undoes paralysis, a foe's boost applies it again), PP by slot. Numbers that depend on the opponent's hidden
set are kept as events, and root_position.py computes them for a sampled set.
"""

from __future__ import annotations

import copy
from typing import Any

from poke_env.data import to_id_str

from agents.battle import SeatBattle
from agents.engine.gen1 import layout as W
from agents.engine.gen1.tables import CANNOT_MOVE, MOVE, MOVES_BY_ID, SELF, SKIPS, STATUSES, STRUGGLE, TWO_TURNS
from agents.search.exact.tracked_sides import ActiveState, TrackedPokemon, TrackedSide
from agents.search.log_lines import effect_of, level_of, tagged, who_of

BOOSTED = {"atk": 0, "def": 1, "spa": 2, "spd": 3, "spe": 4, "accuracy": 5, "evasion": 6}
BINDING = frozenset({"wrap", "bind", "firespin", "clamp"})
_RAMPAGES = frozenset({"thrash", "petaldance"})
_HIDDEN_TURNS = frozenset({"dig", "fly"})
_DRAINS = frozenset({"absorb", "megadrain", "leechlife", "dreameater"})
_CONDITIONS = {
    "focusenergy": "focus", "leechseed": "seed", "lightscreen": "screen", "reflect": "reflect", "mist": "mist",
}  # fmt: skip


class BattleLog:
    """One battle's state by its log. `sides` are those of p1 and p2; feed it with `follow` before each decision."""

    def __init__(self) -> None:
        self.sides = (TrackedSide(), TrackedSide())
        self.turn = 0
        self.last_damage: tuple[int, str, float] = (0, "", 0.0)  # side and Pokémon that took it; HP or percent
        self.own: list[dict[str, Any]] = []  # our team's entries in the first request
        self._read = 0
        self._mover = 0
        self._move = ""
        self._boosted = False
        self._undo: tuple[int, int, int] | None = None  # side, stat and direction of the last boost

    def follow(self, battle: SeatBattle) -> None:
        """Reads the lines since the last call."""
        lines = battle._replay_data
        for message in lines[self._read :]:
            self.read(message)
        self._read = len(lines)
        if not self.own and battle.last_request:
            self.own = list(battle.last_request["side"]["pokemon"])

    def read(self, message: list[str]) -> None:
        """Reads one line, split at "|"."""
        kind = message[1] if len(message) > 1 else ""
        if kind == "turn":
            self.turn = int(message[2])
            for side in self.sides:
                side.fainted_now, side.slot_before = False, None
            return
        who = who_of(message[2]) if len(message) > 2 else None
        handler = getattr(self, "_on_" + kind.strip("-").replace("-", "_"), None)
        if who is not None and handler is not None:
            handler(*who, message[3:])

    def chose(self, seat: int, move: str) -> None:
        """Tells of a choice that the log may not show: a move of the request that was free to choose."""
        side = self.sides[seat]
        mon, active = side.mons[side.out], side.active
        if _locked(active):
            return
        if mon.status in (W.SLEEP, W.FREEZE):
            side.of_slot = (side.out, side.slot_of)
            return
        side.of_slot = None
        if move not in MOVES_BY_ID:  # "fight"
            side.selected = CANNOT_MOVE
            return
        side.selected = MOVES_BY_ID[move]["num"]
        if move != "struggle":
            side.slot_before, side.slot_of = side.slot_of, move

    def _of(self, seat: int, name: str) -> TrackedPokemon:
        return self.sides[seat].mons.setdefault(name, TrackedPokemon(name, to_id_str(name), 100))

    def _on_switch(self, seat: int, name: str, rest: list[str]) -> None:
        side, foe = self.sides[seat], self.sides[1 - seat]
        parts = rest[0].split(", ")
        mon = side.mons.setdefault(name, TrackedPokemon(name, to_id_str(parts[0]), 100))
        mon.level = level_of(parts)
        _set_condition(mon, rest[1])
        if mon.status == W.TOX:
            mon.status = W.POISON
        side.entries.append(name)
        if side.active.trapping is not None:
            _hold(foe)
        side.out, side.active = name, ActiveState(entered=mon.status)
        side.slot_of, side.slot_before = "", None
        foe.active.last = 0
        foe.active.trapping = None

    _on_drag = _on_switch

    def _on_move(self, seat: int, name: str, rest: list[str]) -> None:
        side, foe = self.sides[seat], self.sides[1 - seat]
        move = to_id_str(rest[0])
        number = MOVES_BY_ID[move]["num"] if move in MOVES_BY_ID else 0
        active = side.active
        called = any(part.startswith(("[from] Metronome", "[from] Mirror Move", "[from]move: M")) for part in rest)
        charging = bool(MOVE[number, TWO_TURNS]) and not active.two_turn
        self._attempt(active)
        goes_on = f"[from] {rest[0]}" in rest
        if not goes_on and not called:
            active.trapping = None  # a binding move is over, which only now is known
        if not called:
            locked = _locked(active)
            if not locked and number != STRUGGLE:
                side.slot_of = next((slot for slot, copied in active.mimicked.items() if copied == move), move)
                used = active.own_used if active.transformed else side.mons[name].used
                used.setdefault(side.slot_of, 0)
            if not locked:
                side.selected = number
            if number != STRUGGLE and ((not locked and not MOVE[number, TWO_TURNS]) or active.two_turn):
                self._spend(side, side.slot_of or move)
            target = side if MOVE[number, SELF] else foe
            if target.out:
                target.mons[target.out].broken = False
        else:
            side.selected = number
        side.used, side.of_slot = number, None
        if not charging:
            active.last = number
        if active.two_turn and not charging:
            active.two_turn, active.invulnerable = "", False
        if not charging and not MOVE[number, SKIPS] and "[notarget]" not in rest:
            self.last_damage = (1 - seat, "", 0.0)
        self._mover, self._move, self._boosted, self._undo = seat, move, False, None
        active.recharge = False
        if MOVE[number, TWO_TURNS] == 0:
            self._lock(side, foe, move, goes_on)

    def _lock(self, side: TrackedSide, foe: TrackedSide, move: str, goes_on: bool) -> None:
        """The locks that a move begins or goes on with."""
        active = side.active
        if move in BINDING:
            active.trapping = active.trapping + 1 if goes_on and active.trapping else 1
            foe.active.recharge = False
            if goes_on:
                _hold(foe)
        else:
            active.trapping = None
        if move in _RAMPAGES:
            active.thrash = 0 if active.thrash is None else active.thrash + 1
            active.thrash_move = move
        if move == "rage":
            active.rage = True
        if move in ("minimize", "defensecurl"):
            active.flags.add(move)

    def _spend(self, side: TrackedSide, move: str) -> None:
        used = side.active.own_used if side.active.transformed else side.mons[side.out].used
        used[move] = used.get(move, 0) + 1

    def _attempt(self, active: ActiveState) -> None:
        if active.disabled is not None:
            active.disabled += 1

    def _on_cant(self, seat: int, name: str, rest: list[str]) -> None:
        side, foe = self.sides[seat], self.sides[1 - seat]
        active, reason = side.active, to_id_str(rest[0])
        if foe.out:
            foe.mons[foe.out].broken = False
        if reason == "slp":
            self._of(seat, name).slept += 1
        if reason in ("slp", "frz"):
            active.last, side.of_slot = 0, (name, side.slot_of)
        elif reason == "partiallytrapped" and (foe.active.trapping or 0) > 1:
            side.selected, side.of_slot = CANNOT_MOVE, None
        elif reason in ("recharge", "flinch"):
            active.recharge = False
        elif reason == "par":
            self._attempt(active)
            _break_off(active)
        elif reason == "disable":
            self._attempt(active)
            active.two_turn = ""

    def _on_mustrecharge(self, seat: int, name: str, rest: list[str]) -> None:
        self.sides[seat].active.recharge = True

    def _on_prepare(self, seat: int, name: str, rest: list[str]) -> None:
        active = self.sides[seat].active
        active.two_turn = to_id_str(rest[0])
        active.invulnerable = active.invulnerable or active.two_turn in _HIDDEN_TURNS

    def _on_start(self, seat: int, name: str, rest: list[str]) -> None:
        active, effect = self.sides[seat].active, effect_of(rest[0])
        if effect == "confusion":
            active.confused = 0
            if "[silent]" in rest:
                active.thrash = None
        elif effect == "substitute":
            active.substitute = 0
        elif effect == "bide":
            active.bide, active.bide_damage = 0, 0.0
        elif effect == "disable":
            active.disabled, active.disabled_move = 0, to_id_str(rest[1])
        elif effect == "mimic":
            active.mimicked[self.sides[seat].slot_of] = to_id_str(rest[1])
        elif effect == "typechange":
            active.types = tuple(part.lower() for part in rest[1].split("/"))
        elif effect in _CONDITIONS:
            active.flags.add(_CONDITIONS[effect])

    def _on_end(self, seat: int, name: str, rest: list[str]) -> None:
        active, effect = self.sides[seat].active, effect_of(rest[0])
        if effect == "confusion":
            active.confused = None
        elif effect == "substitute":
            active.substitute = None
            self._of(seat, name).broken = True
        elif effect == "bide":
            active.bide = None
        elif effect == "disable":
            active.disabled = None
        elif effect == "toxiccounter":
            active.toxic = None
        elif effect in _CONDITIONS:
            active.flags.discard(_CONDITIONS[effect])

    def _on_activate(self, seat: int, name: str, rest: list[str]) -> None:
        side, effect = self.sides[seat], effect_of(rest[0])
        active = side.active
        if effect == "confusion" and active.confused is not None:
            active.confused += 1
        elif effect == "substitute" and active.substitute is not None:
            active.substitute += 1
        elif effect == "bide" and active.bide is not None:
            active.bide += 1
            active.bide_damage += self.last_damage[2]
        elif effect == "haze":
            self._haze()

    def _haze(self) -> None:
        for seat, side in enumerate(self.sides):
            active, mon = side.active, side.mons[side.out]
            active.events.append(("haze",))
            active.confused = active.disabled = active.toxic = None
            active.flags -= {"focus", "seed", "screen", "reflect", "mist"}
            if seat != self._mover:
                if mon.status in (W.FREEZE, W.SLEEP):
                    side.selected = CANNOT_MOVE
                if mon.hp:
                    mon.status = W.HEALTHY
            elif mon.status == W.TOX:
                mon.status = W.POISON

    def _on_transform(self, seat: int, name: str, rest: list[str]) -> None:
        side, foe = self.sides[seat], self.sides[1 - seat]
        snapshot = foe.out, copy.deepcopy(foe.active)
        side.active.events.append(("transform", *snapshot))
        side.active.transformed = snapshot
        side.active.own_used = {}
        side.active.types = foe.active.types
        side.active.mimicked = {}

    def _on_status(self, seat: int, name: str, rest: list[str]) -> None:
        mon, active = self._of(seat, name), self.sides[seat].active
        mon.status, mon.slept = STATUSES.get(rest[0], W.HEALTHY), 0
        mon.rested = any("Rest" in part for part in rest[1:])
        if mon.status in (W.PARALYSIS, W.BURN):
            active.events.append(("ill", mon.status))
        elif mon.status == W.TOX:
            active.toxic = 0
        elif mon.status == W.SLEEP:
            active.recharge = False

    def _on_curestatus(self, seat: int, name: str, rest: list[str]) -> None:
        mon = self._of(seat, name)
        if mon.status == W.SLEEP and "[silent]" not in rest:
            side = self.sides[seat]
            side.active.last, side.of_slot = 0, (name, side.slot_of)
        mon.status, mon.slept, mon.rested = W.HEALTHY, 0, False

    def _on_boost(self, seat: int, name: str, rest: list[str]) -> None:
        self._change(seat, rest, 1)

    def _on_unboost(self, seat: int, name: str, rest: list[str]) -> None:
        self._change(seat, rest, -1)

    def _change(self, seat: int, rest: list[str], sign: int) -> None:
        """A boost by a move makes the paralysis or burn of its user's foe count once more (AfterBoost)."""
        stat, by = BOOSTED[rest[0]], sign * int(rest[1])
        events = self.sides[seat].active.events
        if self._undo == (seat, stat, -sign) and abs(by) == 1 and events and events[-1][0] == "boost":
            events[-1] = ("stage", stat, events[-1][2] + by)  # the stat was 999 or 1, and stays
            self._undo = None
            return
        self._undo = (seat, stat, sign)
        rages = any("Rage" in part for part in rest[2:]) or (seat != self._mover and sign > 0)
        events.append(("boost", stat, by))
        if not rages and not self._boosted:
            self._boosted = True
            foe = self.sides[1 - self._mover]
            status = foe.mons[foe.out].status if foe.out else W.HEALTHY
            if status in (W.PARALYSIS, W.BURN):
                foe.active.events.append(("ill", status))

    def _on_damage(self, seat: int, name: str, rest: list[str]) -> None:
        mon, side = self._of(seat, name), self.sides[seat]
        before = mon.hp
        _set_condition(mon, rest[0])
        source = tagged(rest[1:], "[from]")
        active = side.active
        if source in ("psn", "brn", "tox") or "Leech Seed" in source or source.startswith("leechseed"):
            if active.toxic is not None and name == side.out:
                active.toxic += 1
        elif source == "confusion":
            self.last_damage = (seat, name, float(before - mon.hp))
            _break_off(active)
            self._attempt(active)
            active.invulnerable = False
        elif not source and not (seat == self._mover and self._move == "substitute"):
            damage = float(before - mon.hp)
            self.last_damage = (seat, name, damage / 2 if self._move in _DRAINS else damage)
            if seat != self._mover and self._move in BINDING:
                trapper = self.sides[self._mover].active
                if trapper.trapping == 1:
                    trapper.trapping_damage = damage

    def _on_heal(self, seat: int, name: str, rest: list[str]) -> None:
        _set_condition(self._of(seat, name), rest[0])

    def _on_faint(self, seat: int, name: str, rest: list[str]) -> None:
        side, mon = self.sides[seat], self._of(seat, name)
        side.active = ActiveState(entered=mon.status, last=0)
        mon.hp, mon.status = 0, W.FAINTED
        side.fainted += 1
        side.fainted_now = True

    def _on_miss(self, seat: int, name: str, rest: list[str]) -> None:
        self.last_damage = (1 - seat, "", 0.0)
        self._fails(seat)

    def _on_immune(self, seat: int, name: str, rest: list[str]) -> None:
        self._fails(1 - seat)

    def _on_fail(self, seat: int, name: str, rest: list[str]) -> None:
        if self._move in BINDING:
            self._fails(self._mover)

    def _fails(self, seat: int) -> None:
        active = self.sides[seat].active
        active.trapping = None
        if self._move == "rage" and active.last and not active.events:
            active.rage = active.rage and self._rage_went_on(seat)

    def _rage_went_on(self, seat: int) -> bool:
        return self.sides[seat].mons[self.sides[seat].out].used.get("rage", 0) > 1


def _locked(active: ActiveState) -> bool:
    """Whether its next move is not its choice."""
    return bool(
        active.recharge
        or active.thrash is not None
        or active.two_turn
        or active.rage
        or active.bide is not None
        or active.trapping is not None
    )


def _hold(side: TrackedSide) -> None:
    """Takes back a choice that did not count, because a binding move held its Pokémon."""
    if side.slot_before is not None:
        side.selected, side.of_slot, side.slot_of = CANNOT_MOVE, None, side.slot_before


def _break_off(active: ActiveState) -> None:
    """What full paralysis and a hit in confusion end."""
    active.bide = active.trapping = active.thrash = None
    active.two_turn = ""


def _set_condition(mon: TrackedPokemon, condition: str) -> None:
    """ "53/100 par", "0 fnt"."""
    health, _, status = condition.partition(" ")
    now, _, most = health.partition("/")
    mon.hp = int(now)
    if most:
        mon.most = int(most)
    if status != "fnt" and (mon.status != W.TOX or status != "psn"):  # the line "faint" says when it is gone
        mon.status = STATUSES.get(status, mon.status)
