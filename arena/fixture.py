"""A fixture: one battle to be played, and its key, a hash of its content."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, replace
from typing import Any

import orjson

SEATS = ("p1", "p2")
#: The line of an input log at which both sides are shown each other's team sheets.
SHOW_SHEETS = ">show-openteamsheets"


@dataclass(frozen=True)
class FixtureTeam:
    """The team of one seat. packed: Showdown's packed text, or None if the format generates the team from `seed`.

    id: hash of format and team, 16 hex digits; name: for display.
    """

    id: str
    name: str
    packed: str | None = None
    seed: str | None = None


@dataclass(frozen=True)
class Fixture:
    """One battle to be played: format, two agents in their seats, two teams, a seed.

    agents, teams: of p1 and p2. seed: Showdown's PRNG seed ("gen5,…"). pair: the key shared by the two fixtures that
    differ only in the agents' seats. team_set: the set that the teams were drawn from. external_seats: for each seat,
    whether an external program plays it. on_engine: whether it is to be played on the engine. in_batches: whether it is
    played there beside many others, since one of its agents answers them together. These three say where it is played, which
    changes no battle, so they are not part of the key. best_of: of the series that it belongs to; 1: a single battle.
    game: its number in the series, from 1. open_sheets: whether both sides see each other's team sheet before they choose.
    """

    format: str
    agents: tuple[str, str]
    teams: tuple[FixtureTeam, FixtureTeam]
    seed: str
    pair: str
    team_set: str
    external_seats: tuple[bool, bool] = (False, False)
    on_engine: bool = False
    in_batches: bool = False
    best_of: int = 1
    game: int = 1
    open_sheets: bool = False

    @property
    def has_program(self) -> bool:
        """Whether an external program plays in it; then it is played on a server, whatever the run's venue."""
        return any(self.external_seats)

    @property
    def key(self) -> str:
        """Hash of everything that determines the battle, 32 hex digits. Equal keys: the same battle."""
        content = [self.format, self.agents, [team.id for team in self.teams], self.seed]
        return digest([*content, "open sheets"] if self.open_sheets else content, 32)

    @property
    def series(self) -> str | None:
        """The key that the battles of its series share, 16 hex digits; None for a single battle."""
        return None if self.best_of == 1 else digest(["series", self.pair, self.agents])

    def next_game(self) -> Fixture:
        """The battle of its series that follows it: the same but for its seed."""
        number = self.game + 1
        return replace(self, seed=showdown_seed("game", number, self.seed), game=number)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Fixture:
        first, second = (FixtureTeam(**team) for team in data["teams"])
        pairs = {name: tuple(data[name]) for name in ("agents", "external_seats")}
        return Fixture(**{**data, **pairs, "teams": (first, second)})


def digest(content: Any, size: int = 16) -> str:
    """Return the first `size` hex digits of the SHA-256 of `content` as JSON with sorted keys."""
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()[:size]


def showdown_seed(*parts: Any) -> str:
    """Return a Showdown PRNG seed ("gen5," and 16 hex digits) derived from `parts`."""
    return f"gen5,{digest(list(parts), 16)}"


def seat_seed(fixture_seed: str, seat: str) -> int:
    """Return the seed of a seat's generator. It depends on the seat, not on its agent."""
    return int(digest([fixture_seed, seat], 16), 16)
