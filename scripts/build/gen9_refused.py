"""How many teams the generation-9 engine plays, what makes it refuse the others, and what else of gen9ou it does not play.

    python scripts/build/gen9_refused.py                          # writes the section of docs/engine.md
    python scripts/build/gen9_refused.py --check                  # writes nothing; exit code 1 if the section is out of date
    python scripts/build/gen9_refused.py verdict my-teams         # prints the same of these team sets and folders

Teams that Showdown's own rules refuse are left out. An ability counts where its Pokémon is refused, too: what a team is
refused for is all of it that the engine does not know.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from poke_env.data import GenData

from agents.engine.gen9.played import plays
from agents.engine.gen9.teams import DATA, SPECIES, side_words, to_id
from teamsets.errors import BadInput
from teamsets.loading import load_set

FORMAT = "gen9ou"
SETS = ("competitive", "verdict", "variety:1000")
PAGE = Path(__file__).resolve().parents[2] / "docs/engine.md"
HEADING = "## Generation 9: what is refused"
#: How teams have one that is refused.
KINDS = {"Pokémon": "such Pokémon", "moves": "such a move", "abilities": "such an ability", "items": "such an item"}
_WIDTH = 125

Refused = frozenset[tuple[str, str]]  # kinds, as in KINDS, with names


class Share(NamedTuple):
    """A team set. refused: of each of its teams what the engine does not play; nothing: it plays the team."""

    name: str
    refused: list[Refused]

    @property
    def played(self) -> int:
        return sum(not parts for parts in self.refused)


def refused_parts(packed: str) -> Refused:
    """What the engine does not play of a packed team. Raises AssertionError where it refuses a team for something else."""
    found = set()
    for member in packed.split("]"):
        name, species, item, ability, moves, *_ = member.split("|")
        species = species or name
        if to_id(species) not in SPECIES or DATA["species"][SPECIES[to_id(species)]]["battleOnly"]:
            found.add(("Pokémon", species))
        parts = [("abilities", ability), *(("moves", move) for move in moves.split(","))]
        parts += [("items", item)] if item else []
        found |= {(kind, _shown(kind, text)) for kind, text in parts if not plays(kind, to_id(text))}
    assert bool(found) != _begins(packed), f"the engine refuses, or plays, this team for another reason: {packed}"
    return frozenset(found)


def _begins(packed: str) -> bool:
    try:
        side_words(packed, 0)
    except BadInput:
        return False
    return True


@cache
def _names() -> dict[str, dict[str, str]]:
    """Names of moves and abilities by Showdown's ids."""
    dex = GenData.from_gen(9)
    abilities = {name for species in dex.pokedex.values() for name in species.get("abilities", {}).values()}
    return {
        "moves": {id: move["name"] for id, move in dex.moves.items()},
        "abilities": {to_id(name): name for name in abilities},
        "items": DATA["items"],
    }


def _shown(kind: str, text: str) -> str:
    """A name as one writes it. text: as in a packed team, without its spaces."""
    return _names()[kind].get(to_id(text)) or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)


def share_of(name: str) -> Share:
    """How much of a team set or folder the engine plays. Raises BadInput for one that is not there."""
    return Share(name, [refused_parts(team.packed) for team in load_set(name, FORMAT, skip_invalid=True).teams])


def shares_table(shares: Iterable[Share]) -> list[str]:
    """Lines of a table: a row for each team set."""
    rows = [
        f"| `{share.name}` | {len(share.refused):,} | {share.played:,} | {share.played / len(share.refused):.1%} |"
        for share in shares
    ]
    return ["| teams | number | played | share |", "|---|---|---|---|", *rows]


def reasons(shares: Sequence[Share]) -> list[str]:
    """Paragraphs, one for each kind: what is refused, with the number of teams that have it."""
    teams = [parts for share in shares for parts in share.refused if parts]
    paragraphs = []
    for kind, such in KINDS.items():
        counts = Counter(name for parts in teams for of_kind, name in parts if of_kind == kind)
        having = sum(any(of_kind == kind for of_kind, _ in parts) for parts in teams)
        alone = sum({of_kind for of_kind, _ in parts} == {kind} for parts in teams)
        words = [f"{name} {count}" for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
        paragraphs.append(
            f"**{kind}** ({len(counts)}): {having:,} teams have {such}, {alone:,} nothing else that is refused. "
            f"{', '.join(words) or 'None'}."
        )
    return paragraphs


def not_played() -> list[str]:
    """Paragraphs, one for each kind: what the format allows and the engine does not play."""
    paragraphs = []
    for kind in ("moves", "abilities", "items"):
        known = DATA["pp"] if kind == "moves" else DATA["numbers"][kind]
        names = sorted(_shown(kind, id) for id in known if not plays(kind, id))
        paragraphs.append(f"**{kind}** ({len(names)} of {len(known)}): {', '.join(names)}.")
    return paragraphs


def section(shares: Sequence[Share]) -> str:
    """The section of the page."""
    refused = sum(len(share.refused) - share.played for share in shares)
    text = [
        HEADING,
        "",
        *_folded(
            "Made by `scripts/build/gen9_refused.py`, which prints the same of other team sets and folders. All published "
            "sets of gen9ou are played; `variety` draws sets of lower tiers as well, so that it says what else the format "
            "allows."
        ),
        "",
        *shares_table(shares),
        "",
        *_folded(
            f"What the other {refused:,} have that the engine does not know, each with the number of these teams:"
        ),
    ]
    for paragraph in reasons(shares):
        text += ["", *_folded(paragraph)]
    text += ["", *_folded("Of all that the rules of gen9ou allow, these are not played:")]
    for paragraph in not_played():
        text += ["", *_folded(paragraph)]
    return "\n".join(text) + "\n"


def _folded(paragraph: str) -> list[str]:
    lines = [""]
    for word in paragraph.split(" "):
        if len(lines[-1]) + len(word) >= _WIDTH:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return lines


def written(page: str) -> str:
    """The section as it stands on the page, without the line that ends it."""
    return page[page.index(HEADING) : page.index("\n## ", page.index(HEADING))]


def main() -> int:
    """Parses, writes or prints. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("teams", nargs="*", help="team sets and folders; default: " + ", ".join(SETS))
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if the page is out of date")
    options = parser.parse_args()
    try:
        text = section([share_of(name) for name in options.teams or SETS])
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    if options.teams:
        print(text.partition("\n\n")[2].partition("\n\n")[2], end="")
        return 0
    page = PAGE.read_text("utf-8")
    before = written(page)
    if options.check and before != text:
        print(f"{PAGE.name}: '{HEADING}' is out of date: python scripts/build/gen9_refused.py", file=sys.stderr)
        return 1
    if not options.check:
        PAGE.write_text(page.replace(before, text), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
