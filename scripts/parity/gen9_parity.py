"""Proves that agents/engine/gen9 plays the same battles as stock Pokémon Showdown, decision by decision.

Node plays gen9ou battles and prints a hash of the state at each decision (PRNG, HP, statuses, items, PP, boosts,
volatiles, conditions, order, speed), the legal choices and the choices; the engine plays the same, and its hashes and legal
choices must be equal. The first difference is shown number by number, with the random draws and the turn's log. Exit code 1
at a difference.

    python scripts/parity/gen9_parity.py --battles 300 --seed 1 --teams ring1 --policy random

--teams: ten (sets that were the first), random (anything that is played on any species), ring1, ring2, or a team set or
folder; of these what the engine does not play is left out. --policy: random; rare (moves, and of random teams also abilities
and items, that were used least); switcher; rules (a rule player); tera (terastallizes at once).
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import gen9_teams
import numpy as np
from numpy.typing import NDArray

from agents.engine.gen9.engine import TIE, Engine, records
from agents.engine.gen9.teams import NUMBERS
from teamsets.showdown import node, package

ORACLE = Path(__file__).parent / "gen9_oracle.mjs"
#: Battles that one Node process plays.
CHUNK = 250
_END = {"p1": 0, "p2": 1, "tie": TIE}
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

Battle = dict[str, Any]


def teams_for(options: dict[str, Any]) -> list[tuple[str, str]]:
    """Both packed teams of each battle: "battles" from "first", by the "seed", the "teams" and the "policy"."""
    kind, pairs, uses = options.get("teams", "ten"), [], Counter[str]()
    listed = [] if kind in ("ten", "random") else gen9_teams.teams_of(kind.split(","))
    for index in range(options["first"], options["first"] + options["battles"]):
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


def oracle(options: dict[str, Any]) -> list[Battle]:
    """Battles as scripts/parity/gen9_oracle.mjs prints them, and the "teams" of each."""
    options = {"first": 0, "policy": "random", **options}
    teams = teams_for(options)
    given = {**options, "teams": teams, "numbers": NUMBERS, "package": str(package())}
    done = subprocess.run([node(), str(ORACLE)], input=json.dumps(given), stdout=subprocess.PIPE, text=True, check=True)
    battles = [json.loads(line) for line in done.stdout.splitlines()]
    return [{**battle, "teams": teams[battle["index"] - options["first"]]} for battle in battles]


def canonical(words: NDArray[np.int32]) -> NDArray[np.int32]:
    """The numbers [N, K] of battles [N, WORDS], in the order of `stateOf` in gen9_oracle.mjs."""
    b = records(words)
    head = [b["seed"], b["turn"], b["effectOrder"], b["weatherState"]["id"], b["weatherState"]["duration"]]
    for seat in range(2):
        side = b["sides"][:, seat]
        out, team = side["active"][:, 0], side["pokemon"]
        head += [
            side["pokemonLeft"],
            np.where(side["order"] > 0, (side["order"] - 1) % 6 + 1, 0),
            side["conditions"]["id"],
        ]
        head += [out["boosts"], *(out["volatiles"][name] for name in ("id", "duration", "counter"))]
        columns = [team["hp"], team["maxhp"], np.where(team["fainted"] == 1, 0, team["status"]), team["item"]]
        columns += [team["terastallized"], team["fainted"], team["speed"] * team["isActive"]]
        columns += [team["abilityState"]["effectOrder"], team["itemState"]["effectOrder"]]
        mons = np.concatenate([np.stack(columns, axis=2), team["moveSlots"]["pp"]], axis=2)
        head.append(mons)
    return np.concatenate([part.reshape(len(b), -1) for part in head], axis=1).astype(np.int32)


def hashes(numbers: NDArray[np.int32]) -> NDArray[np.uint32]:
    """The hash (32-bit FNV over numbers) of each row."""
    h = np.full(len(numbers), 2166136261, np.uint32)
    for column in numbers.T.astype(np.uint32):
        h = (h ^ column) * np.uint32(16777619)
    return h


def compare(battles: list[Battle]) -> dict[int, int]:
    """Plays the battles again. Returns battle -> the first decision at which the two differ."""
    engine = Engine(len(battles))
    engine.reset([tuple(battle["teams"]) for battle in battles], [battle["seed"] for battle in battles])
    different: dict[int, int] = {}
    going = list(range(len(battles)))
    step = 0
    while going:
        hashed, legal = hashes(canonical(engine.words)), engine.legal()[:, :, 0]
        choices = np.zeros((len(battles), 2, 2), np.int32)
        left = []
        for n in going:
            expected, first, second, *chosen = battles[n]["decisions"][step]
            if int(hashed[n]) != expected or legal[n].tolist() != [first, second]:
                different[n] = step
            elif step + 1 == len(battles[n]["decisions"]):
                end = battles[n]["end"]
                if end != "limit" and records(engine.words)["winner"][n] != _END[end]:
                    different[n] = step
            else:
                choices[n, :, 0] = chosen
                left.append(n)
                continue
            records(engine.words)["winner"][n] = TIE  # is not played on
        going = left
        engine.step(choices)
        step += 1
    return different


def explain(options: dict[str, Any], battle: Battle, step: int) -> str:
    """The first difference of a battle: numbers by their place, and Showdown's log and draws around it."""
    first = options.get("first", 0)
    until = {"first": first, "battles": battle["index"] - first + 1, "only": battle["index"]}
    (reference,) = oracle({**options, **until, "state": True, "log": True})
    engine = Engine(1)
    engine.reset([tuple(reference["teams"])], [reference["seed"]])
    for decision in reference["decisions"][:step]:
        engine.step(np.array([[[decision[3], 0], [decision[4], 0]]], np.int32))
    ours, theirs = canonical(engine.words)[0].tolist(), reference["decisions"][step][0]
    unequal = [f"{place}: {a}, not {b}" for place, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b]
    turn = theirs[4]
    log = "\n".join(reference["log"])
    around = log.split(f"|turn|{turn - 1}\n")[-1].split(f"|turn|{turn + 1}\n")[0]
    draws = "\n".join(draw for draw in reference["draws"] if draw.startswith(f"{step} "))
    masks = f"legal {engine.legal()[0, :, 0].tolist()}, not {reference['decisions'][step][1:3]}"
    return f"battle {battle['index']} decision {step}: {'; '.join(unequal)}; {masks}\n{draws}\n{around}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--battles", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--teams", default="ten", help="ten, random, or rings, team sets, folders with commas between them"
    )
    parser.add_argument("--policy", default="random", choices=("random", "rare", "switcher", "rules", "tera"))
    arguments = parser.parse_args()
    decisions = differences = 0
    for first in range(0, arguments.battles, CHUNK):
        options = {"first": first, "battles": min(CHUNK, arguments.battles - first), "seed": arguments.seed}
        options.update(teams=arguments.teams, policy=arguments.policy)
        battles = oracle(options)
        different = compare(battles)
        decisions += sum(len(battle["decisions"]) for battle in battles)
        if different and not differences:
            n = min(different)
            print(explain(options, battles[n], different[n]))
        differences += len(different)
    print(f"{arguments.battles} battles, {decisions:,} decision points, {differences} different")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
