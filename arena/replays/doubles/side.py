"""A player's own side in doubles as its requests describe it: two slots, each seen as a side of singles."""

from __future__ import annotations

from dataclasses import dataclass, field

from poke_env.data import GenData, to_id_str

from agents.battle.moves_used import ChampionsMove
from arena.replays.completing import Completed
from arena.replays.decisions import ChoiceEvidence
from arena.replays.doubles.decisions import SlotEvidence, slot_of, to_ident
from arena.replays.lines import Line
from arena.replays.locks import Locks
from arena.replays.own_side import Own, OwnSide, Stay


@dataclass
class DoubleSide:
    """team: in the order of the requests, those on the field first. stays: of each slot. mega_left: it may still evolve."""

    role: str
    gen: int
    team: list[Own]
    stays: list[Stay] = field(default_factory=list)
    out: bool = False
    mega_left: bool = True

    @classmethod
    def of(cls, role: str, gen: int, members: list[Completed], *, champions: bool = False) -> DoubleSide:
        """A side before the battle. champions: in Pokémon Champions, where moves have other PP."""
        team = OwnSide.of(role, gen, members).team
        for slot in (slot for own in team if champions for slot in own.slots):
            slot.pp = slot.most = ChampionsMove(slot.id, gen).max_pp
        return cls(role, gen, team, [Stay(Locks(gen)), Stay(Locks(gen))])

    def view(self, slot: int) -> OwnSide:
        """The side as one of singles whose active Pokémon is that of a slot; Pokémon and stay are this side's own."""
        others = [own for place, own in enumerate(self.team) if place != slot]
        return OwnSide(self.role, self.gen, [self.team[slot], *others], self.stays[slot], self.out)

    def select(self, order: list[Own]) -> None:
        """Bring these, in this order, at team preview."""
        self.team = order

    def find(self, ident: str) -> Own | None:
        """Return the team member of an ident such as "p1: Incineroar"."""
        return next((own for own in self.team if own.member.ident == ident), None)

    def health(self, line: Line) -> str:
        """Return the line with this side's exact HP, which is recorded."""
        return self.view(0).health(line)

    def take(self, line: Line, other: DoubleSide) -> None:
        """Process a line."""
        if line.kind == "turn":
            for stay in self.stays:
                stay.locks.turn()
            return
        if line.role != self.role:
            return
        slot = slot_of(line.argument(0))
        if line.kind in ("switch", "drag"):
            self._enter(line, slot)
        elif line.kind == "swap":
            self.team[0], self.team[1] = self.team[1], self.team[0]
            self.stays.reverse()
        else:
            self._about(line, slot, other)

    def _about(self, line: Line, slot: int, other: DoubleSide) -> None:
        own = self.find(line.ident)
        if own in self.team[:2] and own is not None:
            slot = self.team.index(own)  # lines of a Pokémon that is not on the field name no slot
        seen = next((place for place in (0, 1) if other.team[place].member.ident == to_ident(line.argument(1))), 0)
        self.view(slot).take(line, other.view(seen))
        if line.kind == "-mega":
            self.mega_left = False
        elif line.kind == "detailschange" and own is not None:
            forme = GenData.from_gen(self.gen).pokedex.get(to_id_str(own.details.split(",")[0]), {})
            own.ability = to_id_str(forme.get("abilities", {}).get("0", "")) or own.ability

    def _enter(self, line: Line, slot: int) -> None:
        own = self.find(line.ident)
        if own is None:
            return
        leaving = self.team[slot]
        if self.out and leaving is not own:
            if leaving.ability == "regenerator" and leaving.hp > 0:
                leaving.hp = min(leaving.member.stats[0], leaving.hp + leaving.member.stats[0] // 3)
            forme = to_id_str(leaving.details.split(",")[0])
            if forme == to_id_str(leaving.member.details.split(",")[0]):
                leaving.ability = leaving.member.ability
        place = self.team.index(own)
        self.team[slot], self.team[place] = self.team[place], self.team[slot]
        self.stays[slot] = Stay(Locks(self.gen))
        self.out = True


def as_singles(evidence: SlotEvidence) -> ChoiceEvidence:
    """A slot's evidence as the requests of singles read it."""
    kind = "" if evidence.kind == "pass" else evidence.kind
    return ChoiceEvidence(kind, evidence.name, evidence.source, False, evidence.unsure, evidence.reason)
