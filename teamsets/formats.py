"""The supported formats. An id is checked by its form only; Showdown checks it when a team is validated."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from teamsets.errors import UnknownFormat

#: Formats with a shipped `competitive` set.
LADDER_FORMATS = tuple(f"gen{gen}ou" for gen in range(1, 10))
#: Formats whose teams the simulator generates.
RANDOM_FORMATS = tuple(f"gen{gen}randombattle" for gen in range(1, 10))

#: Formats of doubles that are played in tests; others that Showdown knows are played, too.
DOUBLES_FORMATS = (
    "gen9randomdoublesbattle",
    *(f"gen{gen}doublesou" for gen in range(9, 3, -1)),
    "gen9championsvgc2026regma",
    "gen9championsvgc2026regmb",
    "gen9vgc2025regi",
)

_DOUBLES = re.compile(r"doubles|vgc|partnersincrime|metronomebattle|challengecup2v2|orrecolosseum")
_MORE_THAN_TWO = re.compile(r"triples|multi|freeforall|ffa|rotation")
_BEST_OF = re.compile(r"bo([3579])$")
#: Formats with the rule Open Team Sheets or Force Open Team Sheets.
_OPEN_SHEETS = re.compile(r"gen9(champions)?vgc\d{4}reg|gen9champions4v4doublesuu|gen3(orrecolosseum|hoennstadium)")
_OWN_TEAMS = re.compile(r"random|factory|challengecup|hackmonscup")
_SHAPE = re.compile(r"gen([1-9])([a-z][a-z0-9]*|1v1)")


@dataclass(frozen=True)
class Format:
    """A format of Showdown. random: whether the simulator generates the teams. doubles: two slots a side.

    open_sheets: whether the sides may see each other's team sheets: all of a set but its stat points.
    """

    id: str
    gen: int
    random: bool
    doubles: bool = False
    open_sheets: bool = False

    @property
    def team_preview(self) -> bool:
        """Whether both teams are shown before the battle: from generation 5 on, if the players bring them."""
        return self.gen >= 5 and not self.random

    @property
    def slots(self) -> int:
        """The number of a side's Pokémon on the field."""
        return 2 if self.doubles else 1


def is_doubles(format_id: str) -> bool:
    """Return whether an id is that of a format with two slots a side, one of several battles included."""
    return bool(_DOUBLES.search(format_id))


def get_format(format_id: str) -> Format:
    """Return the format of an id such as "gen1ou" (or a name such as "[Gen 1] OU"), without Showdown.

    Raises UnknownFormat for battles of more than two slots a side or more than two sides, for matches of several battles,
    and for a text that does not have the form of a format id.
    """
    name = re.sub(r"[^a-z0-9]", "", format_id.lower())
    if _MORE_THAN_TWO.search(name):
        raise UnknownFormat(
            f"format '{format_id}': only singles and doubles of two sides are supported: choose e.g. gen9doublesou"
        )
    best_of = _BEST_OF.search(name)
    if best_of:
        raise UnknownFormat(
            f"format '{format_id}': series of battles of {name[: best_of.start()]}: choose that one; `arena evaluate` and "
            f"`match` play series with --best-of {best_of[1]}"
        )
    shape = _SHAPE.fullmatch(name)
    if shape is None:
        raise UnknownFormat(f"format '{format_id}': not a format id: {suggestion(name)}")
    return Format(
        name,
        gen=int(shape[1]),
        random=bool(_OWN_TEAMS.search(shape[2])),
        doubles=is_doubles(name),
        open_sheets=bool(_OPEN_SHEETS.match(name)),
    )


def split_series(format_id: str) -> tuple[str, int]:
    """Return the format of the battles of a series, and how many battles it has at most, of an id such as "gen9…bo3".

    The number is 1 for the format of single battles, whose id is returned as it is.
    """
    name = re.sub(r"[^a-z0-9]", "", format_id.lower())
    best_of = _BEST_OF.search(name)
    return (name[: best_of.start()], int(best_of[1])) if best_of else (format_id, 1)


def series_format(format_id: str, best_of: int) -> str:
    """Return Showdown's id of series of a format, as `split_series` reads it; the format itself for single battles."""
    return format_id if best_of == 1 else f"{format_id}bo{best_of}"


def get_singles_format(format_id: str, what: str) -> Format:
    """Return the format of an id for something that plays singles only. what: names it, e.g. "`train preferences`".

    Raises UnknownFormat like `get_format`, and for doubles.
    """
    found = get_format(format_id)
    if found.doubles:
        raise UnknownFormat(f"format '{format_id}': {what} plays singles only: choose a singles format, e.g. gen9ou")
    return found


def suggestion(format_id: str, known: tuple[str, ...] = LADDER_FORMATS + RANDOM_FORMATS + DOUBLES_FORMATS) -> str:
    """Return the suggestion for a mistyped format: similar ids, or common formats."""
    found = lookalikes(format_id, known)
    if found:
        return f"did you mean {found}?"
    return f"choose one of {', '.join(LADDER_FORMATS)} or gen1randombattle … gen9randombattle"


def lookalikes(format_id: str, known: tuple[str, ...] = LADDER_FORMATS + RANDOM_FORMATS + DOUBLES_FORMATS) -> str:
    """Return ids similar to a mistyped one ("gen1ou or gen1uu"), preferably of its generation; "" if there are none."""
    swapped = [each for each in known if each != format_id and sorted(each) == sorted(format_id)]
    close = swapped or difflib.get_close_matches(format_id, known, n=3)
    same_generation = [each for each in close if each[:4] == format_id[:4]]
    return " or ".join(same_generation or close)
