"""One side of a battle, tracked through its protocol lines: the team with its HP, and current conditions."""

from __future__ import annotations

from dataclasses import dataclass, field

from arena.report.narration import STATS, status_name
from arena.report.story_types import RequestPokemon, StorySide, StorySlot


@dataclass
class TeamMember:
    """One Pokémon of a team.

    details: as it was first seen. hp, most: exact, or shares of 100 where only the other side's log is there.
    usual: the most HP that it had at first; Dynamax and a few forms change it.
    """

    ident: str
    details: str
    hp: int = 100
    most: int = 100
    usual: int = 0
    status: str = ""
    type: str = ""

    @property
    def name(self) -> str:
        """The species; its nickname before it, if it has one."""
        species = self.details.split(",", 1)[0]
        nickname = self.ident.partition(": ")[2]
        return species if species.startswith(nickname) else f"{nickname} ({species})"

    def set_condition(self, condition: str) -> None:
        """Process a condition: "204/353 par" or "0 fnt"."""
        share, _, status = condition.partition(" ")
        hp, _, most = share.partition("/")
        self.hp = int(hp)
        self.most = int(most) if most else self.most
        self.usual = self.usual or self.most
        self.status = "" if status == "fnt" else status


@dataclass
class FieldSlot:
    """A place of a side on the field. active: the index in the team of who stands there; what holds for it."""

    active: int | None = None
    boosts: dict[str, int] = field(default_factory=dict)
    effects: list[str] = field(default_factory=list)

    def state(self) -> StorySlot:
        """The state as it is now, without what is empty."""
        state: StorySlot = {}
        boosts = {STATS.get(stat, stat): amount for stat, amount in self.boosts.items() if amount}
        if self.active is not None:
            state["active"] = self.active
        if boosts:
            state["boosts"] = boosts
        if self.effects:
            state["effects"] = list(self.effects)
        return state


@dataclass
class BattleSide:
    """One side: its team in its first order, and what holds for its active Pokémon and its half of the field.

    slots: "a", and in doubles "b".
    """

    team: list[TeamMember] = field(default_factory=list)
    slots: dict[str, FieldSlot] = field(default_factory=lambda: {"a": FieldSlot(), "b": FieldSlot()})
    layers: dict[str, int] = field(default_factory=dict)

    def find(self, ident: str, details: str | None = None) -> int:
        """Return the index of a Pokémon; an unknown one is added to the team."""
        for number, member in enumerate(self.team):
            if member.ident == ident and (details is None or _species(details) == _species(member.details)):
                return number
        for number, member in enumerate(self.team):  # one that has changed its form
            if member.ident == ident:
                return number
        self.team.append(TeamMember(ident, details or ident.partition(": ")[2]))
        return len(self.team) - 1

    def set_team(self, team: list[RequestPokemon]) -> None:
        """Process the team before the battle, from a side's first request (its slot order is the team's)."""
        for entry in team:
            member = TeamMember(entry["ident"], entry["details"])
            member.set_condition(entry["condition"])
            member.hp, member.status = member.most, ""
            self.team.append(member)

    def update_team(self, team: list[RequestPokemon]) -> None:
        """Update the team from a request, which is authoritative (Illusion and silent healing included)."""
        free = list(range(len(self.team)))
        active: list[int] = []
        for entry in team:
            ident, details = entry["ident"], entry["details"]
            same = [n for n in free if self.team[n].ident == ident]
            exact = [n for n in same if _species(self.team[n].details) == _species(details)]
            number = (exact or same or [-1])[0]
            if number < 0:
                self.team.append(TeamMember(ident, details))
                number = len(self.team) - 1
            else:
                free.remove(number)
            member = self.team[number]
            member.set_condition(entry["condition"])
            member.type = entry.get("terastallized") or ""
            if entry["active"]:
                active.append(number)
        for slot, shown in zip(self.slots.values(), active, strict=False):
            if slot.active is not None:  # at team preview the first are called active, though nobody is out
                slot.active = shown

    def state(self) -> StorySide:
        """The state as it is now, without what is empty."""
        state: StorySide = {"hp": [member.hp for member in self.team]}
        status = {str(n): status_name(member.status) for n, member in enumerate(self.team) if member.status}
        most = {str(n): member.most for n, member in enumerate(self.team) if member.most != (member.usual or 100)}
        types = {str(n): member.type for n, member in enumerate(self.team) if member.type}
        layers = [name if count == 1 else f"{name} ×{count}" for name, count in self.layers.items()]
        first, second = (slot.state() for slot in self.slots.values())
        state = {**state, **first}
        if second:
            state["beside"] = second
        if most:
            state["most"] = most
        if status:
            state["status"] = status
        if types:
            state["tera"] = types
        if layers:
            state["layers"] = layers
        return state


def _species(details: str) -> str:
    return details.split(",", 1)[0]
