"""An agent's view of a battle of doubles: poke-env's `DoubleBattle`, updated by a seat, with the current legal choices."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from poke_env.battle.pokemon import Pokemon
from poke_env.battle.status import Status
from poke_env.player.battle_order import PassBattleOrder, SingleBattleOrder

from agents.battle.choices import Choice
from agents.battle.illusion import state_of, unmask
from agents.battle.joint_answers import explain_refusal, read_joint_answer
from agents.battle.joint_choices import SlotChoices, joint_choices, selections, slot_choices, slot_labels
from agents.battle.quick_double_battle import SLOT_LETTERS, QuickDoubleBattle
from agents.battle.seat_view import SeatView
from agents.battle.tracked_battle import FIRST_WITH_ILLUSION

#: An extra of a choice -> the argument of poke-env's order. It has none for the other two forms of Mega Evolution.
_EXTRAS = {"": "", "mega": "mega", "zmove": "z_move", "dynamax": "dynamax", "terastallize": "terastallize"}


class SeatDoubleBattle(SeatView, QuickDoubleBattle):
    """poke-env's `DoubleBattle` from one seat's point of view; what it has besides is described at SeatView.

    legal: joint choices, listed when they are first read. legal_slots: the choices of each slot, all of which occur in joint
    choices, and which of them exclude each other; None where it is not asked slot by slot (team preview, or no request).
    """

    slots = 2
    _legal: list[Choice] | None

    def __init__(self, tag: str, username: str, role: str, gen: int, format_id: str, rng: random.Random) -> None:
        super().__init__(tag, username, role, gen, format_id, rng)
        self.legal_slots: SlotChoices | None = None
        self._masked: tuple[Pokemon, tuple[str, dict[str, Any]]] | None = None

    @property
    def legal(self) -> list[Choice]:
        if self._legal is None:
            assert self.legal_slots is not None
            self._legal = joint_choices(self.legal_slots)
        return self._legal

    @legal.setter
    def legal(self, choices: list[Choice]) -> None:
        self._legal = choices

    def list_choices(self, request: dict[str, Any]) -> None:
        self.legal_slots = None
        if request.get("wait"):
            self.legal = []
        elif request.get("teamPreview"):
            self.legal = selections(request)
        else:
            self.legal_slots, self._legal = slot_choices(request), None

    def read_answer(self, answer: Any, request: dict[str, Any]) -> Choice | None:
        legal = self.legal if self.legal_slots is None else []
        return read_joint_answer(answer, legal, self.legal_slots, request)

    def explain_refusal(self, answer: Any, request: dict[str, Any]) -> str:
        return explain_refusal(answer, self.legal_slots, request)

    def legal_labels(self) -> list[str]:
        return slot_labels(self.legal if self.legal_slots is None else [], self.legal_slots)

    @property
    def valid_orders(self) -> list[list[SingleBattleOrder]]:
        """As poke-env's: the legal choices of each slot as orders."""
        slots = self.legal_slots
        if slots is None:
            return super().valid_orders
        orders: list[list[SingleBattleOrder]] = []
        for slot, choices in enumerate((slots.first, slots.second)):
            orders.append([order for choice in choices if (order := self._order(slot, choice)) is not None])
        return orders

    def _order(self, slot: int, choice: Choice) -> SingleBattleOrder | None:
        """Return the order of a slot's choice; None if poke-env has none for it."""
        if choice.kind == "pass":
            return PassBattleOrder()
        if choice.kind == "switch":
            return SingleBattleOrder(self._team[self._last_request["side"]["pokemon"][choice.slot - 1]["ident"]])
        extra = _EXTRAS.get(choice.extra)
        mon = self.own_active()[slot]
        if extra is None or mon is None:
            return None
        listed = self._last_request["active"][slot]["moves"][choice.slot - 1]
        if listed.get("disabled"):  # as a Max Move or Z-Move it can be used
            listed = {**listed, "disabled": False}
        move = mon.available_moves_from_request({"moves": [listed]})[0]
        return SingleBattleOrder(move, move_target=choice.target, **({extra: True} if extra else {}))

    def own_active(self) -> Sequence[Pokemon | None]:
        return [self._active_pokemon.get(f"{self._player_role}{letter}") for letter in SLOT_LETTERS]

    def fielded(self) -> Sequence[Pokemon]:
        return [*self._active_pokemon.values(), *self._opponent_active_pokemon.values()]

    def active_of(self, ident: str) -> Pokemon | None:
        return self.places(ident).get(ident[:3])

    def occupy(self, place: str, mon: Pokemon) -> None:
        self.places(place)[place] = mon

    def allies_of(self, ident: str) -> Sequence[Pokemon]:
        return [mon for place, mon in self.places(ident).items() if place != ident[:3]]

    def part_guises(self, ident: str) -> None:
        """Of two that look alike one is another Pokémon, which stays one of its own until it is known which.

        The guise is that of the last one that can fight: of the one that comes in if it is in the first slot and these two
        are all that are left; else of the one that has stood there.
        """
        name = ident[:2] + ident[3:]
        known = self._team.get(name) or self._opponent_team.get(name)
        for place, there in list(self.places(ident).items()):
            if there is not known or place == ident[:3] or there._status is Status.FNT:
                continue
            other = Pokemon(self.gen, details=there._last_details, name=there.name)
            fresh = name, state_of(other)
            if ident[2] == SLOT_LETTERS[0] and self._left(ident[:2]) <= len(SLOT_LETTERS):
                self._masked = other, fresh
            else:
                unmask(self, place, other, there)
                other.switch_in()
                self.on_bench[place] = fresh

    def recognise(self, ident: str) -> None:
        guise, _ = self.on_bench.get(ident[:3], ("", None))
        team = self._team if ident[:2] == self._player_role else self._opponent_team
        for place, there in list(self.places(ident).items()):
            thought, _ = self.on_bench.get(place, ("", None))
            if place != ident[:3] and thought == guise in team and all(there is not mon for mon in team.values()):
                unmask(self, place, team[guise], there)
                team[guise].switch_in()
                self.on_bench.pop(place)

    def _left(self, side: str) -> int:
        """Return how many Pokémon of a side have not fainted, as far as it is known."""
        team = self._team if side == self._player_role else self._opponent_team
        return self._team_size.get(side, len(team)) - sum(mon._status is Status.FNT for mon in team.values())

    def switch(self, pokemon_str: str, details: str, hp_status: str) -> None:
        """As QuickDoubleBattle's; one that is known to come in in a guise is another Pokémon."""
        if self._masked is None:
            super().switch(pokemon_str, details, hp_status)
            return
        (mon, fresh), self._masked = self._masked, None
        place = pokemon_str[:3]
        mon.switch_in(details=details)
        mon.set_hp_status(hp_status)
        self.places(place)[place] = mon
        self.on_bench[place] = fresh

    def facing(self, ident: str) -> Pokemon | None:
        return None

    def held_by(self, holder: Pokemon | None, ident: str) -> Sequence[Pokemon]:
        held = [mon for mon, other in self.trappers if other is holder]
        self.trappers = [pair for pair in self.trappers if pair[1] is not holder]
        return held

    def _swap(self, pokemon_str: str, slot: str) -> None:
        super()._swap(pokemon_str, slot)
        first, second = f"{pokemon_str[:2]}a", f"{pokemon_str[:2]}b"
        memories: tuple[dict[str, Any], ...] = (self.on_bench, self.types_before, self.entered_asleep)
        for kept in memories:
            swapped = {second: kept.pop(first, None), first: kept.pop(second, None)}
            kept.update({place: value for place, value in swapped.items() if value is not None})
        self.pressing = {{first: second, second: first}.get(place, place) for place in self.pressing}

    def _presses(self, place: str, mon: Pokemon, fallen: bool) -> bool:
        """As QuickDoubleBattle's. One with Pressure announces it, so one that has not is another one (Illusion)."""
        return (self.gen < FIRST_WITH_ILLUSION or place in self.pressing) and super()._presses(place, mon, fallen)
