"""What a generation-9 log has shown so far (`LogState`)."""

from __future__ import annotations

from typing import Any

from poke_env.data import to_id_str

from agents.search.exact.gen9.tracked import Effect, TrackedPokemon, TrackedSide
from agents.search.log_lines import Who

#: Turns of effects of which a log shows the start; 0: no end.
_TURNS = {
    "taunt": 3, "encore": 3, "disable": 5, "healblock": 5, "stall": 2, "protect": 1, "endure": 1, "roost": 1,
    "banefulbunker": 1, "burningbulwark": 1, "silktrap": 1, "spikyshield": 1,
    "throatchop": 2, "magnetrise": 5, "perishsong": 4,
    "mustrecharge": 2, "lockedmove": 2, "twoturnmove": 2, "phantomforce": 2,
    "partiallytrapped": 5, "trickroom": 5,
    "wish": 0, "futuremove": 0,
}  # fmt: skip


class LogState:
    """One battle's state by its log. `sides` are those of p1 and p2."""

    def __init__(self) -> None:
        self.sides = (TrackedSide(), TrackedSide())
        self.turn = 0
        self.residuals = 0
        self.order = 0
        self.weather: tuple[str, Effect] | None = None
        self.terrain: tuple[str, Effect] | None = None
        self.rooms: dict[str, Effect] = {}
        self.own: list[dict[str, Any]] = []  # our team's entries in the first request
        self.in_turn = False  # a line of the turn after |turn| has come
        self.residual_done = False  # in this turn
        self._abilities: dict[Who, str] = {}  # shown, or ours
        self._read = 0
        self._mover: Who | None = None
        self._move = ""
        self._energy = False  # Booster Energy is being used

    def _next(self) -> int:
        self.order += 1
        return self.order

    def _effect(self, name: str, source: Who | None, cause: str = "") -> Effect:
        return Effect(self.residuals, self._next(), _TURNS.get(name, 0), source, cause=cause)

    def _held(self, effect: Effect) -> Effect:
        """Notes the item of an effect's source, on which its turns may depend."""
        if effect.source is not None:
            effect.held = self._of(effect.source).item
        return effect

    def _of(self, who: Who) -> TrackedPokemon:
        side = self.sides[who[0]]
        known = side.mons.get(who[1])
        if known is None:  # named before it came in: it is named again then
            known = side.mons[who[1]] = TrackedPokemon(who[1], to_id_str(who[1]), -1)
        return known

    def _gas(self) -> bool:
        """Whether Neutralizing Gas is in the air."""
        return any(
            self.ability_of(seat) == "neutralizinggas" and side.mons[side.out].hp
            for seat, side in enumerate(self.sides)
            if side.out
        )

    def ability_of(self, seat: int) -> str:
        """The ability that a side's Pokémon is known to have now; empty if it is not shown."""
        side = self.sides[seat]
        return side.active.ability or self._abilities.get((seat, side.out), "")

    def still_to_move(self, seat: int) -> bool:
        """Whether a side's Pokémon that is out has yet to do in this turn what was chosen for it."""
        side = self.sides[seat]
        active = side.active
        here = active.entered_turn < self.turn or (self.turn == 1 and side.mons[side.out].entries == 1)
        return here and not active.acted and not self.residual_done and side.mons[side.out].hp > 0 and self.turn > 0

    def _missed(self) -> None:
        if self._mover is not None:
            active = self.sides[self._mover[0]].active
            active.failed = True
            if active.last == self._move:
                active.volatiles.pop("lockedmove", None)
