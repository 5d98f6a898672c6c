"""Proves that agents/engine/gen9 plays the same battles as stock Pokémon Showdown, decision by decision.

Node plays gen9ou battles and prints a hash of the state at each decision (PRNG, HP, statuses, items, PP, boosts,
volatiles, conditions, order, speed) and of the protocol's lines since the last (all but |t:|), the legal choices and the
choices; the engine plays the same, and its hashes and legal choices must be equal. The first difference is shown number by
number and with the first line that differs, the random draws and the turn's log. Exit code 1 at a difference.

    python scripts/parity/gen9_parity.py --battles 300 --seed 1 --teams ring1 --policy random

--teams: ten (sets that were the first), random (anything that is played on any species), ring1, ring2, or a team set or
folder; of these what the engine does not play is left out. --policy: random; rare (moves, and of random teams also abilities
and items, that were used least); switcher; rules (a rule player); tera (terastallizes at once); stall (mostly moves
that do no damage); endless (switches, to the tie after 1,000 turns). --coverage, --ledger, --summary, --simulator: as of
engine_parity.py; what is counted is in gen9_coverage.py.
"""

from __future__ import annotations

import itertools
import random
import sys
from collections import Counter
from pathlib import Path

import engine_ranges
import gen9_coverage
import gen9_teams
import numpy as np
from engine_ranges import Battle, Options
from gen9_state import Columns, hashes, shown
from numpy.typing import NDArray

from agents.engine.gen9.engine import TIE, Engine, records
from agents.engine.gen9.library import announce, build, digest
from agents.engine.gen9.teams import NUMBERS, SPECIES, TYPES
from teamsets.showdown import package, version

ORACLE = Path(__file__).parent / "gen9_oracle.mjs"
_STATS = "84,84,84,84,84,84"
#: species, item, ability, moves, nature, tera type
SETS = [
    f"{species}||{item}|{ability}|{moves}|{nature}|{_STATS}||||{level}|,,,,,{tera}"
    for species, item, ability, moves, nature, level, tera in (
        ("Azumarill", "choiceband", "hugepower", "liquidation,playrough,aquajet,knockoff", "Adamant", "", "Water"),
        ("Clefable", "lifeorb", "magicguard", "moonblast,calmmind,softboiled,stealthrock", "Modest", "", "Steel"),
        ("Conkeldurr", "leftovers", "guts", "drainpunch,machpunch,knockoff,protect", "Adamant", "", "Fighting"),
        (
            "Dragonite",
            "heavydutyboots",
            "multiscale",
            "dragonclaw,extremespeed,earthquake,dragondance",
            "Jolly",
            "",
            "Normal",
        ),
        ("Garchomp", "lifeorb", "roughskin", "earthquake,dragonclaw,swordsdance,stealthrock", "Jolly", "", "Fire"),
        ("Incineroar", "heavydutyboots", "intimidate", "flareblitz,knockoff,willowisp,uturn", "Careful", "", "Ghost"),
        (
            "Landorus-Therian",
            "leftovers",
            "intimidate",
            "earthquake,uturn,stealthrock,swordsdance",
            "Jolly",
            "",
            "Water",
        ),
        ("Pelipper", "damprock", "drizzle", "hydropump,uturn,protect,airslash", "Bold", "", "Ground"),
        ("Rotom-Wash", "leftovers", "levitate", "hydropump,thunderbolt,willowisp,protect", "Calm", "", "Electric"),
        ("Toxapex", "", "regenerator", "surf,recover,knockoff,raindance", "Bold", "80", "Dark"),
    )
]

COLUMNS = Columns()


def teams_for(options: Options) -> list[tuple[str, str]]:
    """Both packed teams of each battle: "battles" from "first", by the "seed", the "teams" and the "policy"."""
    kind, pairs, uses = options.get("teams", "ten"), [], Counter[str]()
    first = options.get("first", 0)
    listed = [] if kind in ("ten", "random") else gen9_teams.teams_of(kind.split(","))
    for index in range(first, first + options["battles"]):
        rng = random.Random(f"{options['seed']} {index}")
        if kind == "ten":
            pair = tuple("]".join(rng.sample(SETS, 6)) for _ in range(2))
        elif kind == "random":
            rare = options.get("policy") == "rare"
            pair = tuple(gen9_teams.random_team(rng, uses if rare else None) for _ in range(2))
        else:
            pair = tuple(rng.choice(listed) for _ in range(2))
        pairs.append(pair)
    return pairs


def oracle(options: Options) -> list[Battle]:
    """Battles as scripts/parity/gen9_oracle.mjs prints them, with the "teams" of each.

    options: as `teams_for` has them, or "pairs", both packed teams of each battle, and "scripts" with what is chosen there.
    """
    options = {"first": 0, "policy": "random", **options}
    teams = options.pop("pairs", None) or teams_for(options)
    layout = {"structs": COLUMNS.structs, "numbers": NUMBERS, "species": list(SPECIES), "types": TYPES}
    battles = engine_ranges.ask(ORACLE, {**options, "teams": teams, "layout": layout, "package": str(package())})
    for battle in battles:
        if "index" in battle:
            battle["teams"] = teams[battle["index"] - options["first"]]
    return battles


def started(battles: list[Battle]) -> Engine:
    """An engine with a battle of the list in each row, at its first decision, that keeps what it writes."""
    engine = Engine(len(battles))
    for row in range(len(battles)):
        engine.record(row)
    teams, seeds, orders = ([battle[name] for battle in battles] for name in ("teams", "seed", "orders"))
    engine.reset(teams, seeds, orders=orders)
    return engine


def compare(battles: list[Battle]) -> dict[int, int]:
    """Plays the battles again. Returns battle -> the first decision at which the two differ."""
    engine = started(battles)

    def step(actions: NDArray[np.int32], rows: NDArray[np.int64]) -> None:
        engine.step(np.stack([actions, np.zeros_like(actions)], axis=2), rows)

    def hashed(rows: NDArray[np.int64]) -> NDArray[np.uint32]:
        texts = ["\n".join(engine.lines(row)).encode() for row in rows.tolist()]
        written = [hashes(np.frombuffer(text, np.uint8).astype(np.int32)[None])[0] for text in texts]
        return hashes(COLUMNS.of(engine.words[rows])) + np.array(written, np.uint32)

    replay = engine_ranges.Replay(
        hashes=hashed,
        legal=lambda rows: engine.legal(rows)[:, :, 0],
        step=step,
        winner=lambda row: int(records(engine.words)["winner"][row]),
        ends={"p1": 0, "p2": 1, "tie": TIE},
    )
    return engine_ranges.compare(battles, replay)


def explain(options: Options, battle: Battle, step: int) -> str:
    """The first difference of a battle: words by their names, and Showdown's log and draws around it."""
    reference, *_ = oracle(engine_ranges.again(options, battle))
    engine = started([reference])
    for decision in reference["decisions"][:step]:
        engine.lines(0)
        engine.step(np.array([[[decision[3], 0], [decision[4], 0]]], np.int32))
    written, expected = engine.lines(0), reference["decisions"][step][5]
    ours, theirs = COLUMNS.of(engine.words)[0].tolist(), reference["decisions"][step][0]
    unequal = [
        f"{name}: {shown(name, a, NUMBERS)}, Showdown {shown(name, b, NUMBERS)}"
        for name, a, b in zip(COLUMNS.names, ours, theirs, strict=True)
        if a != b
    ]
    lines = itertools.zip_longest(written, expected, fillvalue="nothing")
    unequal += next(([f"line {n}: {a}, Showdown {b}"] for n, (a, b) in enumerate(lines) if a != b), [])
    turn = theirs[COLUMNS.names.index("turn")]
    return engine_ranges.difference(options, reference, step, engine.legal()[0, :, 0].tolist(), unequal, turn)


GAME = engine_ranges.Game(
    program="gen9_parity",
    teams="ten",
    policies=("random", "rare", "switcher", "rules", "tera", "stall", "endless"),
    versions={"engine": digest(), "showdown": version()},
    oracle=oracle,
    compare=compare,
    explain=explain,
    report=gen9_coverage.report,
    counts=gen9_coverage.counts,
    count=gen9_coverage.compile_counting,
    ready=lambda: build(say=announce),
)

if __name__ == "__main__":
    sys.exit(engine_ranges.main(GAME, __doc__))
