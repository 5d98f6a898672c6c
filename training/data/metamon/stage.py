"""Both sides as known from metamon's states so far, and the log that is written."""

from __future__ import annotations

import math

from arena.replays.completing import Completed
from arena.replays.lines import Line
from arena.replays.own_side import Own, OwnSide
from training.data.metamon.names import Dex, State
from training.data.metamon.seen import SeenConditions, SeenPokemon

#: The seat of the trajectory's player; metamon does not record the original one.
ROLE, OTHER = "p1", "p2"


class Half:
    """One side. known: base species -> its last known state; side: locks and traps, and for our own side the team."""

    def __init__(self, role: str, side: OwnSide) -> None:
        self.role, self.side = role, side
        self.known: dict[str, SeenPokemon] = {}
        self.active: SeenPokemon | None = None
        self.conditions = SeenConditions()

    @property
    def standing(self) -> SeenPokemon:
        """The active Pokémon."""
        assert self.active is not None
        return self.active

    @property
    def place(self) -> str:
        """Identifier of the active Pokémon in protocol lines."""
        return f"{self.role}a: {self.standing.nickname}"


class LogStage:
    """The state of the conversion. lines: the log so far. keeps_pp: the states keep the PP of benched Pokémon."""

    def __init__(self, gen: int, members: list[Completed], dex: Dex, keeps_pp: bool) -> None:
        self.gen, self.dex, self.keeps_pp = gen, dex, keeps_pp
        self.own = Half(ROLE, OwnSide.of(ROLE, gen, members))
        self.foe = Half(OTHER, OwnSide.of(OTHER, gen, []))
        self.lines: list[str] = []

    def say(self, line: str) -> None:
        """Append a line and update both sides."""
        self.lines.append(line)
        read = Line.read(line)
        self.own.side.take(read, self.foe.side)
        self.foe.side.take(read, self.own.side)

    def is_other(self, half: Half, mon: State) -> bool:
        """Return whether the active Pokémon is another one than this."""
        return half.standing.base != self.dex.base(mon)

    def enter(self, half: Half, mon: State) -> None:
        """Write that a Pokémon enters the field, unless it is active already."""
        if half.active is not None and not self.is_other(half, mon):
            return
        base = self.dex.base(mon)
        known = half.active = half.known.setdefault(base, SeenPokemon(base, self.dex.nickname(mon)))
        known.enter(self.keeps_pp)
        known.forme = str(mon["name"])
        if half is self.foe and half.side.find(f"{OTHER}: {known.nickname}") is None:
            half.side.team.append(_placeholder(known.nickname))
        if known.status not in ("nostatus", "fnt") and mon["status"] == "nostatus":
            self.say(f"|-curestatus|{half.role}: {known.nickname}|{known.status}|[silent]")
        known.status = str(mon["status"])
        self.say(f"|switch|{half.place}|{self.dex.details(mon)}|{self.condition(half, mon)}")

    def fall(self, known: SeenPokemon) -> None:
        """Write that one of the opponent's Pokémon faints."""
        known.hp = 0.0
        at = self.foe.place if known is self.foe.standing else f"{OTHER}: {known.nickname}"
        self.say(f"|-damage|{at}|0 fnt")
        self.say(f"|faint|{at}")

    def become(self, half: Half, now: State) -> None:
        """Write a change of the active Pokémon's status."""
        known = half.standing
        if known.status == now["status"]:
            return
        if known.status not in ("nostatus", "fnt"):
            self.say(f"|-curestatus|{half.place}|{known.status}")
        if now["status"] not in ("nostatus", "fnt"):
            self.say(f"|-status|{half.place}|{now['status']}")
        known.status = str(now["status"])

    def terastallize(self, half: Half, mon: State) -> None:
        """Write that the active Pokémon terastallizes, once."""
        if not half.standing.tera:
            half.standing.tera = True
            self.say(f"|-terastallize|{half.place}|{str(mon['tera_type']).capitalize()}")

    def condition(self, half: Half, mon: State) -> str:
        """Return HP and status as the player sees them: exact for its own side, in percent for the other."""
        if fainted(mon):
            return "0 fnt"
        status = "" if mon["status"] == "nostatus" else f" {mon['status']}"
        own = half.side.find(f"{ROLE}: {self.dex.nickname(mon)}") if half is self.own else None
        if own is None:
            return f"{math.ceil(100 * mon['hp_pct'] - 1e-6) or 1}/100{status}"
        return f"{health(mon, own.member.stats[0])}/{own.member.stats[0]}{status}"


def fainted(mon: State) -> bool:
    return bool(mon["status"] == "fnt")


def health(mon: State, max_hp: int) -> int:
    """Return HP, rounded; a damaged Pokémon that has not fainted has at least 1 and less than the maximum."""
    fraction = float(mon["hp_pct"])
    return 0 if fainted(mon) else max_hp if fraction >= 1 else min(max(1, round(fraction * max_hp)), max_hp - 1)


def _placeholder(nickname: str) -> Own:
    """Return a Pokémon of the opponent, for tracking locks and traps."""
    member = Completed(
        moves=(),
        item="",
        ability="",
        nature="serious",
        evs=(),
        tera="",
        species="",
        level=100,
        ident=f"{OTHER}: {nickname}",
        details=nickname,
        stats=(100, *(1,) * 5),
        shown=True,
    )
    return Own(member, nickname, 100, "", [], "", "")
