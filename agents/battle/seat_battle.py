"""An agent's view of a battle of singles: poke-env's `Battle`, updated by a seat, with the current legal choices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from poke_env.battle.pokemon import Pokemon

from agents.battle.choices import Choice, legal_choices, read_answer
from agents.battle.quick_battle import QuickBattle
from agents.battle.seat_view import SeatView
from agents.battle.tracked_battle import FIRST_WITH_ILLUSION


class SeatBattle(SeatView, QuickBattle):
    """poke-env's `Battle` from one seat's point of view; what it has besides is described at SeatView."""

    slots = 1

    def list_choices(self, request: dict[str, Any]) -> None:
        self.legal = legal_choices(request)

    def read_answer(self, answer: Any, request: dict[str, Any]) -> Choice | None:
        return read_answer(answer, self.legal, request)

    def legal_labels(self) -> list[str]:
        return [choice.label for choice in self.legal]

    def get_pokemon(
        self, identifier: str, force_self_team: bool = False, details: str = "", request: dict[str, Any] | None = None
    ) -> Pokemon:
        """Return the Pokémon of an identifier ("p1a: Tauros"), as poke-env does, with a fast path for known ones."""
        ident = identifier if identifier[3] == " " else identifier[:2] + identifier[3:]
        theirs = self._opponent_team.get(ident)
        if theirs is not None:
            return theirs
        ours = self._team.get(ident)
        if ours is not None:
            if ours._active or ident is identifier:
                return ours
            # A line about one of ours as if it were active although it is not: it comes in, or it is another's Illusion,
            # which poke-env resolves.
            active = self.active_pokemon
            if active is None or active._ability != "illusion":
                return ours
            if not details:  # also where the one that it names has Illusion too, which poke-env takes for its end
                return active
        return super().get_pokemon(identifier, force_self_team, details, request)

    # Faster versions: poke-env reads these several times per line, through a property of each Pokémon.

    @property
    def active_pokemon(self) -> Pokemon | None:
        """Our active Pokémon."""
        for pokemon in self._team.values():
            if pokemon._active:
                return pokemon
        return None

    @property
    def opponent_active_pokemon(self) -> Pokemon | None:
        """The opponent's active Pokémon."""
        for pokemon in self._opponent_team.values():
            if pokemon._active:
                return pokemon
        return None

    def own_active(self) -> Sequence[Pokemon | None]:
        return (self.active_pokemon,)

    def fielded(self) -> Sequence[Pokemon]:
        return [mon for mon in (self.active_pokemon, self.opponent_active_pokemon) if mon is not None]

    def active_of(self, ident: str) -> Pokemon | None:
        return self.active_pokemon if ident[:2] == self._player_role else self.opponent_active_pokemon

    def occupy(self, place: str, mon: Pokemon) -> None:
        """Nothing: of a side's Pokémon the one that is active is there."""

    def facing(self, ident: str) -> Pokemon | None:
        return self.opponent_active_pokemon if ident[:2] == self._player_role else self.active_pokemon

    def held_by(self, holder: Pokemon | None, ident: str) -> Sequence[Pokemon]:
        facing = self.facing(ident)
        return () if facing is None else (facing,)

    def _pressure_on(self, pokemon: str, move: str, target_str: str | None) -> bool:
        """As QuickBattle's. One with Pressure announces it, so one that has not is another one (Illusion)."""
        announced = self.gen < FIRST_WITH_ILLUSION or ("p1a" if pokemon[:2] == "p2" else "p2a") in self.pressing
        return announced and super()._pressure_on(pokemon, move, target_str)
