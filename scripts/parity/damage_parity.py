"""Compares agents/mechanics/damage.py with Pokémon Showdown and with @smogon/calc on random cases of one generation.

    python scripts/parity/damage_parity.py --gen 9 --cases 20000 --seed 1

A case is a move of one Pokémon against another: species and formes, levels, EVs, abilities (of any species), items, status,
boosts, HP, volatile effects, terastallization, weather, terrain, rooms, screens, all at random. Node works out the damage of
every random factor, with and without a critical hit, in two ways: @smogon/calc's, and that of a Showdown battle in this
state in which the move is used. Ours must equal Showdown's, or be flagged as an estimate. A case in which @smogon/calc says
something else than Showdown needs a reason in damage_reasons.py. Exit code 1 if anything is left over.

--show N prints the first N unexplained cases; --by lists what the unexplained cases have in common; --freeze FILE keeps the
cases and Showdown's values, which tests read.
"""

from __future__ import annotations

import argparse
import collections
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import damage_reasons
from damage_cases import Case, Drawn, draw

from agents.mechanics.damage import damage, rolls
from agents.mechanics.fighters import Conditions, Fighter
from agents.mechanics.moves import move_facts
from teamsets.showdown import node, package

ORACLE = Path(__file__).parent / "damage_oracle.mjs"
CALC = Path(__file__).parent.parent.parent / "node_modules" / "@smogon" / "calc"


def oracle(gen: int, cases: Iterable[Case] | None, trace: bool = False) -> Iterator[dict[str, Any]]:
    """What damage_oracle.mjs prints: names to draw from if `cases` is None, else an answer for each case."""
    options = {
        "package": str(package()),
        "calc": str(CALC) if CALC.is_dir() else None,
        "gen": gen,
        "pools": cases is None,
        "trace": trace,
    }
    text = "" if cases is None else "".join(json.dumps(case) + "\n" for case in cases)
    process = subprocess.run(
        [node(), str(ORACLE), json.dumps(options)], input=text, stdout=subprocess.PIPE, text=True, check=True
    )
    for line in process.stdout.splitlines():
        yield json.loads(line)


def fighter(gen: int, side: dict[str, Any], facts: dict[str, Any]) -> Fighter:
    """One Pokémon of a case. side: as drawn; facts: as Node has it."""
    tera = side["tera"].upper()
    return Fighter(
        species=facts["species"],
        gen=gen,
        level=side["level"],
        types=_types(facts["types"]),
        base_types=_types(facts["baseTypes"]),
        tera=tera,
        terastallized=bool(tera),
        stats=tuple(facts["stats"]),
        boosts=tuple(sorted(side["boosts"].items())),
        hp=facts["hp"] / facts["stats"][0],
        status=side["status"],
        item=side["item"],
        ability=side["ability"],
        weight=facts["weight"],
        moves=(),
        effects=frozenset(side["effects"]),
        first_turn=True,
        must_recharge=False,
        slept=0,
    )


def _types(names: list[str]) -> tuple[str, ...]:
    return tuple("THREE_QUESTION_MARKS" if name == "???" else name.upper() for name in names)


def ours(gen: int, case: Case, answer: dict[str, Any]) -> tuple[dict[str, list[int]], bool]:
    """Our rolls, without and with a critical hit, and whether they are flagged as an estimate."""
    field = Conditions(gen, case["weather"], case["terrain"], False, ({}, {}), frozenset(case["rooms"]))
    attacker = fighter(gen, case["attacker"], answer["attacker"])
    defender = fighter(gen, case["defender"], answer["defender"])
    move = move_facts(case["move"], gen)
    screens, own_side = dict.fromkeys(case["screens"], 1), dict.fromkeys(case["ownSide"], 1)
    count = 39 if gen <= 2 else 16
    found = {
        name: rolls(attacker, defender, move, field, screens, own_side, name == "crit") or [0] * count
        for name in ("normal", "crit")
    }
    hit = damage(attacker, defender, move, field, screens, own_side)
    plain, hp = found["normal"], defender.stats[0]
    assert (round(hit.low * hp), round(hit.high * hp)) == (plain[0], plain[-1]), (case, hit, plain)
    return found, hit.estimate


def compared(gen: int, cases: list[Case], trace: bool) -> Iterator[tuple[Case, dict[str, Any], str]]:
    """Each case with Node's answer and ours, and how they compare."""
    for case, answer in zip(cases, oracle(gen, cases, trace), strict=True):
        answer["ours"], answer["estimate"] = ours(gen, case, answer)
        yield case, answer, _verdict(gen, case, answer)


def _verdict(gen: int, case: Case, answer: dict[str, Any]) -> str:
    mine, showdown, calc = answer["ours"], answer["showdown"], answer["calc"]
    if showdown["normal"] is None:
        return "no answer of Showdown"
    if mine != showdown:
        return "estimate" if answer["estimate"] else "different"
    if calc["normal"] is None:
        return "equal (not in @smogon/calc)"
    if mine == calc:
        return "equal"
    reason = damage_reasons.of(gen, case, answer)
    return f"@smogon/calc differs: {reason}" if reason else "@smogon/calc differs without a reason"


def tags(case: Case) -> list[str]:
    """What a case has that may matter, to count what unexplained cases have in common."""
    found = [f"move {case['move']}", *(f"room {room}" for room in case["rooms"])]
    for name in ("weather", "terrain"):
        if case[name]:
            found.append(f"{name} {case[name]}")
    found += [f"screen {name}" for name in case["screens"]] + [f"own side {name}" for name in case["ownSide"]]
    for who in ("attacker", "defender"):
        side = case[who]
        found += [f"{who} {key} {side[key]}" for key in ("species", "ability", "item", "status", "tera") if side[key]]
        found += [f"{who} effect {effect}" for effect in side["effects"]]
    return found


def shown(case: Case, answer: dict[str, Any], verdict: str) -> str:
    """A case with all values, for reading."""
    lines = [f"{verdict}: case {case['id']}, {case['move']}, {', '.join(tags(case)[1:])}"]
    for who in ("attacker", "defender"):
        side, facts = case[who], answer[who]
        lines.append(
            f"  {who}: level {side['level']} {facts['types']} {facts['stats']} hp {facts['hp']} {side['boosts']}"
        )
    for who in ("ours", "showdown", "calc"):
        ends = [values and (values[0], values[-1]) for values in (answer[who]["normal"], answer[who]["crit"])]
        lines.append(f"  {who:10} {ends[0]} critical {ends[1]}")
    return "\n".join(lines)


def common(found: list[Case], everything: list[Case]) -> list[tuple[str, int, int]]:
    """Tags of the unexplained cases with their count and the count in all cases, the most telling first."""
    here = collections.Counter(tag for case in found for tag in tags(case))
    all_of_them = collections.Counter(tag for case in everything for tag in tags(case))
    scored = [(tag, count, all_of_them[tag]) for tag, count in here.items()]
    return sorted(scored, key=lambda row: -row[1] * row[1] / row[2])


def main(arguments: list[str] | None = None) -> int:
    """Runs the comparison. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--gen", type=int, required=True, choices=range(1, 10))
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=3)
    parser.add_argument("--by", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--freeze", type=Path)
    parser.add_argument("--trace", action="store_true")
    options = parser.parse_args(arguments)
    gen = options.gen
    drawn = Drawn(**next(oracle(gen, None)))
    cases = [case for case in draw(gen, drawn, options.cases, options.seed) if options.only in " ".join(tags(case))]
    size = max(1, min(1000, -(-len(cases) // options.jobs)))
    chunks = [cases[start : start + size] for start in range(0, len(cases), size)]
    counts: collections.Counter[str] = collections.Counter()
    left: list[Case] = []
    frozen: list[Any] = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for chunk in pool.map(lambda part: list(compared(gen, part, options.trace)), chunks):
            for case, answer, verdict in chunk:
                counts[verdict] += 1
                if verdict in ("different", "no answer of Showdown", "@smogon/calc differs without a reason"):
                    left.append(case)
                    if len(left) <= options.show:
                        print(shown(case, answer, verdict))
                if verdict.startswith("equal"):
                    frozen.append((case, answer))
    if options.freeze:
        options.freeze.write_text(json.dumps(frozen))
    print(f"gen {gen}, {len(cases)} cases, seed {options.seed}")
    for verdict, count in sorted(counts.items(), key=lambda pair: -pair[1]):
        print(f"{count:8}  {verdict}")
    for tag, count, total in common(left, cases)[: options.by]:
        print(f"    {tag}: {count} of {total}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
