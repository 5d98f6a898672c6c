"""Short public logs, written by hand, for one case each."""

from __future__ import annotations

from pathlib import Path

from arena.replays.reading import PublicBattle, public_battle
from arena.replays.reconstruction import SideLog, reconstruct

_HEAD = """|j|☆Ann
|player|p1|Ann|1|1500
|player|p2|Bob|2|1600
|teamsize|p1|{size}
|teamsize|p2|{size}
|gametype|singles
|gen|{gen}
|tier|[Gen {gen}] OU
|rated|
|
|t:|1700000000
|start
"""


def made(body: str, gen: int = 4, size: int = 3, end: str = "|win|Ann") -> PublicBattle:
    """A battle whose log begins as a replay does and goes on with `body`."""
    text = _HEAD.format(gen=gen, size=size) + body.strip() + "\n" + end
    return public_battle(text, f"gen{gen}ou-7")


def choices(body: str, gen: int = 4, **more: object) -> tuple[list[str | None], list[str | None]]:
    """What p1 and p2 are found to have chosen."""
    p1, p2 = sides(body, gen, **more)
    return p1.choices, p2.choices


def sides(body: str, gen: int = 4, **more: object) -> tuple[SideLog, SideLog]:
    """Both points of view."""
    return reconstruct(made(body, gen, **more))  # type: ignore[arg-type]


def four_shown() -> str:
    """The log of a battle of generation 1 in which both sides show four Pokémon."""
    names = ("Tauros", "Snorlax", "Chansey", "Exeggutor")
    come = [f"|switch|{side}a: {name}|{name}|100/100" for name in names for side in ("p1", "p2")]
    turns = [f"|turn|{number}\n|\n" + "\n".join(come[2 * number : 2 * number + 2]) for number in range(1, 4)]
    return "\n".join(made("\n".join([*come[:2], *turns]), gen=1, size=6).lines)


BATTLE_BODY = """
|switch|p1a: Al|Tauros|100/100
|switch|p2a: Star|Starmie|100/100
|turn|1
|
|move|p2a: Star|Surf|p1a: Al
|move|p1a: Al|Body Slam|p2a: Star
|turn|2
|
|switch|p1a: Snore|Snorlax|100/100
|switch|p2a: Egg|Chansey|100/100
|turn|3
"""


def replays(folder: Path) -> Path:
    """Writes three replays of that battle to a new folder, the last of them truncated, and returns the folder."""
    folder.mkdir()
    log = "\n".join(made(BATTLE_BODY, gen=1, size=6).lines)
    (folder / "gen1ou-1.log").write_text(log)
    (folder / "gen1ou-2.log").write_text(log)
    (folder / "gen1ou-3.log").write_text(log.replace("|win|Ann", ""))
    return folder
