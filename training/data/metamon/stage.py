"""Both sides as metamon's states have told them so far, and the log that is being written of them."""

from __future__ import annotations

import math

from arena.human.completing import Completed
from arena.human.lines import Line
from arena.human.own_side import Own, OwnSide
from training.data.metamon.seen import Conditions, Known
from training.data.metamon.words import Dex, Told

#: The player whose trajectory it is sits here, whatever its seat was: metamon does not tell it.
ROLE, OTHER = "p1", "p2"


class Half:
    """One side. known: base species -> what was last told of it; side: what binds it, and for our own the team."""

    def __init__(self, role: str, side: OwnSide) -> None:
        self.role, self.side = role, side
        self.known: dict[str, Known] = {}
        self.active: Known | None = None
        self.conditions = Conditions()

    @property
    def standing(self) -> Known:
        """The one on the field."""
        assert self.active is not None
        return self.active

    @property
    def place(self) -> str:
        """As lines name the one on the field."""
        return f"{self.role}a: {self.standing.nickname}"


class Stage:
    """lines: the log so far. keeps_pp: the states go on with the PP of who has left the field, and do not tell full ones."""

    def __init__(self, gen: int, members: list[Completed], dex: Dex, keeps_pp: bool) -> None:
        self.gen, self.dex, self.keeps_pp = gen, dex, keeps_pp
        self.own = Half(ROLE, OwnSide.of(ROLE, gen, members))
        self.foe = Half(OTHER, OwnSide(OTHER, gen, []))
        self.lines: list[str] = []

    def say(self, line: str) -> None:
        """Writes a line, and notes what it binds."""
        self.lines.append(line)
        read = Line.read(line)
        self.own.side.take(read, self.foe.side)
        self.foe.side.take(read, self.own.side)

    def is_other(self, half: Half, told: Told) -> bool:
        """Whether another one than this stands there."""
        return half.standing.base != self.dex.base(told)

    def enter(self, half: Half, told: Told) -> None:
        """Who is told comes onto the field, unless it is there."""
        if half.active is not None and not self.is_other(half, told):
            return
        base = self.dex.base(told)
        known = half.active = half.known.setdefault(base, Known(base, self.dex.nickname(told)))
        known.enter(self.keeps_pp)
        known.forme = str(told["name"])
        if half is self.foe and half.side.find(f"{OTHER}: {known.nickname}") is None:
            half.side.team.append(_anybody(known.nickname))
        if known.status not in ("nostatus", "fnt") and told["status"] == "nostatus":
            self.say(f"|-curestatus|{half.role}: {known.nickname}|{known.status}|[silent]")
        known.status = str(told["status"])
        self.say(f"|switch|{half.place}|{self.dex.details(told)}|{self.condition(half, told)}")

    def fall(self, known: Known) -> None:
        """One of the opponent's faints unseen."""
        known.hp = 0.0
        at = self.foe.place if known is self.foe.standing else f"{OTHER}: {known.nickname}"
        self.say(f"|-damage|{at}|0 fnt")
        self.say(f"|faint|{at}")

    def become(self, half: Half, now: Told) -> None:
        """The status of the one on the field."""
        known = half.standing
        if known.status == now["status"]:
            return
        if known.status not in ("nostatus", "fnt"):
            self.say(f"|-curestatus|{half.place}|{known.status}")
        if now["status"] not in ("nostatus", "fnt"):
            self.say(f"|-status|{half.place}|{now['status']}")
        known.status = str(now["status"])

    def terastallize(self, half: Half, told: Told) -> None:
        """Once."""
        if not half.standing.tera:
            half.standing.tera = True
            self.say(f"|-terastallize|{half.place}|{str(told['tera_type']).capitalize()}")

    def condition(self, half: Half, told: Told) -> str:
        """Health as the player reads it: one's own exact, the other's in percent."""
        if fainted(told):
            return "0 fnt"
        status = "" if told["status"] == "nostatus" else f" {told['status']}"
        own = half.side.find(f"{ROLE}: {self.dex.nickname(told)}") if half is self.own else None
        if own is None:
            return f"{math.ceil(100 * told['hp_pct'] - 1e-6) or 1}/100{status}"
        return f"{health(told, own.member.stats[0])}/{own.member.stats[0]}{status}"


def fainted(told: Told) -> bool:
    return bool(told["status"] == "fnt")


def health(told: Told, most: int) -> int:
    """HP of so many at most; what is rounded to none, or to all, is neither."""
    share = float(told["hp_pct"])
    return 0 if fainted(told) else most if share >= 1 else min(max(1, round(share * most)), most - 1)


def _anybody(nickname: str) -> Own:
    """One of the opponent's, to remember what binds it."""
    member = Completed(f"{OTHER}: {nickname}", nickname, "", 100, (), "", "", "serious", (), "", (100, *(1,) * 5), True)
    return Own(member, nickname, 100, "", [], "", "")
