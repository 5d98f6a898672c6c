"""Teams for formats of doubles without published sets (VGC): from Showdown's own sets for random doubles, validated.

A set names moves, abilities and Terastal types. What it leaves open is filled by its role: an item that no partner has, a
nature, and the points of the stats. Stronger species, which random doubles play at a lower level, come more often.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from teamsets.builder.published import Member, as_text
from teamsets.errors import ArenaError, BadInput
from teamsets.formats import Format
from teamsets.showdown import node, package
from teamsets.teams import Team
from teamsets.validator import TeamValidator

_SCRIPT = Path(__file__).with_suffix(".mjs")
_LEVEL, _LEVELS = 84, 3.0  # a species of this level has weight 1, one of so many levels less twice as much
_FAST = 90
_TRIES = 400
_SHARED = 4  # two teams have at most so many species in common
_SETS_OF_GENERATION = 9
#: Of a team one holds a Mega Stone.
_ANY_STONE = "any Mega Stone"

_ATTACKING = (
    "Life Orb", "Focus Sash", "Choice Scarf", "Expert Belt", "Clear Amulet", "Sitrus Berry", "Lum Berry", "White Herb",
    "Scope Lens", "Shell Bell", "King's Rock", "Quick Claw", "Bright Powder", "Chople Berry", "Shuca Berry", "Yache Berry",
)  # fmt: skip
_SUPPORTING = (
    "Sitrus Berry", "Leftovers", "Safety Goggles", "Covert Cloak", "Rocky Helmet", "Mental Herb", "Lum Berry", "Focus Sash",
    "Light Clay", "White Herb", "Chople Berry", "Occa Berry", "Shuca Berry",
)  # fmt: skip
_ALL_ATTACKS = {"Physical": ("Choice Band", "Assault Vest"), "Special": ("Choice Specs", "Assault Vest")}
_STAT = {"Physical": "atk", "Special": "spa"}


@dataclass(frozen=True)
class DoublesSets:
    """The sets, items and rules of points of a format."""

    sets: tuple[dict[str, Any], ...]
    items: frozenset[str]
    stat_points: bool

    @classmethod
    def of(cls, format_id: str) -> DoublesSets:
        """Return those of a format that Showdown knows."""
        environment = os.environ | {"ARENA_SHOWDOWN": str(package().resolve())}
        command = [node(), str(_SCRIPT), format_id]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        return cls(tuple(found["sets"]), frozenset(found["items"]), found["statPoints"])

    def member(self, chosen: dict[str, Any], taken: set[str], rng: random.Random) -> Member:
        """Return a member with a set, and an item that is not taken; `taken` has it then."""
        moves = rng.sample(chosen["moves"], 4)
        if "Protect" in chosen["moves"] and "Protect" not in moves and rng.random() < 0.5:
            moves[-1] = "Protect"
        kinds = [chosen["attacks"][move] for move in moves]
        main = max(_STAT, key=kinds.count)
        attacks = len(kinds) - kinds.count("Status")
        if chosen["stones"] and _ANY_STONE not in taken and rng.random() < 0.5:
            item = rng.choice(chosen["stones"])
            taken.add(_ANY_STONE)
        else:
            item = self._item(main, attacks, taken, rng)
        taken.add(item)
        nature, points = self._points(main, attacks, chosen["speed"])
        tera = "" if self.stat_points else rng.choice(chosen["teraTypes"] or [""])
        ability = rng.choice(chosen["abilities"])
        return Member(chosen["species"], tuple(moves), item, ability, nature, points, tera_type=tera)

    def _item(self, main: str, attacks: int, taken: set[str], rng: random.Random) -> str:
        wanted = [*(_ALL_ATTACKS[main] if attacks == 4 else ()), *(_ATTACKING if attacks >= 3 else _SUPPORTING)]
        free = [item for item in wanted if item in self.items and item not in taken]
        return rng.choice(free[:5]) if free else ""

    def _points(self, main: str, attacks: int, speed: int) -> tuple[str, dict[str, int]]:
        """Return a nature and the points of the stats: an attacker's, or those of one that is to last."""
        most, rest = (32, 2) if self.stat_points else (252, 4)
        if attacks < 2:
            return ("Calm" if main == "Special" else "Careful"), {"hp": most, "def": rest, "spd": most}
        if speed >= _FAST:
            return ("Jolly" if main == "Physical" else "Timid"), {_STAT[main]: most, "spe": most, "hp": rest}
        return ("Adamant" if main == "Physical" else "Modest"), {"hp": most, _STAT[main]: most, "spd": rest}


def is_made_for(chosen: Format) -> bool:
    """Return whether there are sets for a format."""
    return chosen.doubles and chosen.gen == _SETS_OF_GENERATION


def make(chosen: Format, count: int, seed: int, *, any_species: bool = False) -> list[Team]:
    """Generate `count` different teams that Showdown accepts in a format of doubles, from a seed.

    any_species: each set is as likely as any other, and teams may be much alike. Raises BadInput for other generations than
    that of the sets, ArenaError if no such teams are found.
    """
    if not is_made_for(chosen):
        raise BadInput(f"format '{chosen.id}': no recipe for competitive teams: bring a folder of teams")
    source = DoublesSets.of(chosen.id)
    teams: list[Team] = []
    with TeamValidator() as validator:
        weights = [1.0 if any_species else 2.0 ** ((_LEVEL - each["level"]) / _LEVELS) for each in source.sets]
        shared = 6 if any_species else _SHARED
        for number in range(count):
            rng = random.Random(f"{chosen.id}:{seed}:{number}")
            teams.append(_first_valid(source, weights, shared, chosen.id, validator, teams, rng))
    return teams


def _first_valid(
    source: DoublesSets,
    weights: list[float],
    shared: int,
    format_id: str,
    validator: TeamValidator,
    teams: list[Team],
    rng: random.Random,
) -> Team:
    problems: tuple[str, ...] = ()
    for _ in range(_TRIES):
        picked: dict[str, dict[str, Any]] = {}
        while len(picked) < 6:
            one = rng.choices(source.sets, weights)[0]
            picked.setdefault(one["base"], one)
        taken: set[str] = set()
        members = [source.member(one, taken, rng) for one in picked.values()]
        species = {member.species for member in members}
        if any(len(species.intersection(team.species)) > shared for team in teams):
            continue
        check = validator.validate(format_id, as_text(members))
        if check.packed:
            name = f"{len(teams) + 1:02}-" + "-".join(sorted(species)[:2]).lower().replace(" ", "-").replace(".", "")
            return Team.of(format_id, check.packed, name=name, source=f"random doubles' sets for {format_id}")
        problems = check.problems
    raise ArenaError(
        f"format '{format_id}': no team of random doubles' sets is accepted, the last: {'; '.join(problems)}"
    )
