"""Compares agents/mechanics/damage.py with Pokémon Showdown and with @smogon/calc on random cases of one generation.

    python scripts/parity/damage_parity.py --gen 9 --cases 20000 --seed 1

A case is a move of one Pokémon against another: species and formes, levels, EVs, abilities (of any species), items, status,
boosts, HP, volatile effects, terastallization, weather, terrain, rooms, screens, all at random. Node works out the damage of
every random factor, with and without a critical hit, in two ways: @smogon/calc's, and that of a Showdown battle in this
state in which the move is used. Ours must equal Showdown's, or be flagged as an estimate. A case in which @smogon/calc says
something else than Showdown needs a reason in damage_reasons.py. Exit code 1 if anything is left over.

--doubles: two others stand by, whose abilities may act, the target is an opponent or the user's ally, and Showdown alone is
asked.

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

from agents.mechanics.bystanders import Beside
from agents.mechanics.damage import damage, rolls
from agents.mechanics.fighters import Conditions, Fighter
from agents.mechanics.moves import move_facts
from agents.mechanics.targets import beside as beside_target
from teamsets.showdown import node, package

ORACLE = Path(__file__).parent / "damage_oracle.mjs"
FIRST_DOUBLES = 3
CALC = Path(__file__).parent.parent.parent / "node_modules" / "@smogon" / "calc"


def oracle(
    gen: int, cases: Iterable[Case] | None, trace: bool = False, doubles: bool = False
) -> Iterator[dict[str, Any]]:
    """What damage_oracle.mjs prints: names to draw from if `cases` is None, else an answer for each case."""
    options = {
        "package": str(package()),
        "calc": str(CALC) if CALC.is_dir() else None,
        "gen": gen,
        "pools": cases is None,
        "trace": trace,
        "doubles": doubles,
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
        gender=facts["gender"],
    )


def _types(names: list[str]) -> tuple[str, ...]:
    return tuple("THREE_QUESTION_MARKS" if name == "???" else name.upper() for name in names)


def ours(gen: int, case: Case, answer: dict[str, Any]) -> tuple[dict[str, list[int]], float, bool]:
    """Our rolls, without and with a critical hit, the mean in HP, and whether they are flagged as an estimate."""
    field = Conditions(gen, case["weather"], case["terrain"], False, ({}, {}), frozenset(case["rooms"]))
    attacker = fighter(gen, case["attacker"], answer["attacker"])
    defender = fighter(gen, case["defender"], answer["defender"])
    move = move_facts(case["move"], gen)
    screens, own_side = dict.fromkeys(case["screens"], 1), dict.fromkeys(case["ownSide"], 1)
    beside = standing_by(gen, case, answer, attacker, defender, field) if "others" in case else None
    both_rolls = {
        name: tried(gen, rolls(attacker, defender, move, field, screens, own_side, name == "crit", beside))
        for name in ("normal", "crit")
    }
    hit = damage(attacker, defender, move, field, screens, own_side, beside)
    plain, hp = both_rolls["normal"], defender.stats[0]
    assert (round(hit.low * hp), round(hit.high * hp)) == (plain[0], plain[-1]), (case, hit, plain)
    return both_rolls, hit.mean * hp, hit.estimate


def standing_by(
    gen: int, case: Case, answer: dict[str, Any], attacker: Fighter, defender: Fighter, field: Conditions
) -> Beside:
    """Who else is there in a case of doubles, as Beside has it."""
    pairs = zip(case["others"], answer["others"], strict=True)
    one, other = (None if side["fainted"] else fighter(gen, side, facts) for side, facts in pairs)
    move = move_facts(case["move"], gen)
    if case["hitsAlly"]:
        return beside_target(
            move, attacker, defender, defender, [foe for foe in (one, other) if foe is not None], field
        )
    return beside_target(move, attacker, defender, one, [defender, *([other] if other is not None else [])], field)


def tried(gen: int, values: list[int]) -> list[int]:
    """The rolls that damage_oracle.mjs tries: the ends and two between; zeros for none."""
    return [values[index] for index in ((0, 12, 25, 38) if gen <= 2 else (0, 5, 10, 15))] if values else [0] * 4


def compared(
    gen: int, cases: list[Case], answers: Iterable[dict[str, Any]]
) -> Iterator[tuple[Case, dict[str, Any], str]]:
    """Each case with Node's answer and ours, and how they compare."""
    for case, answer in zip(cases, answers, strict=True):
        answer["ours"], answer["mean"], answer["estimate"] = ours(gen, case, answer)
        yield case, answer, _verdict(gen, case, answer)


def _verdict(gen: int, case: Case, answer: dict[str, Any]) -> str:
    mine, showdown, calc = answer["ours"], answer["showdown"], answer["calc"]
    if showdown["normal"] is None:
        return "no answer of Showdown"
    if mine != showdown or not _same_mean(gen, case, answer):
        return "estimate" if answer["estimate"] else "different"
    if calc["normal"] is None:
        return "equal (not in @smogon/calc)"
    if mine == calc:
        return "equal"
    reason = damage_reasons.of(gen, case, answer)
    return f"@smogon/calc differs: {reason}" if reason else "@smogon/calc differs without a reason"


def _same_mean(gen: int, case: Case, answer: dict[str, Any]) -> bool:
    """Whether our mean is Showdown's, with its probability of a critical hit; of moves with one hit."""
    if move_facts(case["move"], gen).most_hits > 1:
        return True
    plain, critical = ((values[0] + values[-1]) / 2 for values in answer["showdown"].values())
    return abs(plain + answer["chance"] * (critical - plain) - answer["mean"]) < 1e-6 * max(1, critical)


def tags(case: Case) -> list[str]:
    """What a case has that may matter, to count what unexplained cases have in common."""
    case_tags = [f"move {case['move']}", *(f"room {room}" for room in case["rooms"])]
    for name in ("weather", "terrain"):
        if case[name]:
            case_tags.append(f"{name} {case[name]}")
    case_tags += [f"screen {name}" for name in case["screens"]] + [f"own side {name}" for name in case["ownSide"]]
    for who in ("attacker", "defender"):
        side = case[who]
        case_tags += [
            f"{who} {key} {side[key]}" for key in ("species", "ability", "item", "status", "tera") if side[key]
        ]
        case_tags += [f"{who} effect {effect}" for effect in side["effects"]]
    for side in case.get("others", ()):
        case_tags.append(f"other ability {'fainted' if side['fainted'] else side['ability']}")
    return [*case_tags, *(["at its ally"] if case.get("hitsAlly") else [])]


_WEIGHED = frozenset({"lowkick", "grassknot", "heavyslam", "heatcrash", "skydrop"})


def frozen_case(case: Case, answer: dict[str, Any]) -> dict[str, Any]:
    """A case as tests keep it: what our side needs, and the least and greatest damage, without and with a critical hit."""
    sides = []
    for who in ("attacker", "defender"):
        side, facts = case[who], answer[who]
        kept = {key: side[key] for key in ("ability", "item", "status", "boosts", "tera", "effects") if side[key]}
        kept.update(species=facts["species"], stats=facts["stats"], types="/".join(facts["types"]))
        if "rivalry" in (case["attacker"]["ability"], side["ability"]) and facts["gender"]:
            kept["gender"] = facts["gender"]
        if side["level"] != 100:
            kept["level"] = side["level"]
        if facts["hp"] != facts["stats"][0]:
            kept["hp"] = facts["hp"]
        if facts["baseTypes"] != facts["types"]:
            kept["baseTypes"] = "/".join(facts["baseTypes"])
        if case["move"] in _WEIGHED:
            kept["weight"] = facts["weight"]
        sides.append(kept)
    field = {key: case[key] for key in ("weather", "terrain", "rooms", "screens", "ownSide") if case[key]}
    if "others" in case:
        field["others"] = [
            None
            if side["fainted"]
            else {key: side[key] for key in ("species", "ability", "item", "effects") if side[key]}
            for side in case["others"]
        ]
        field["hitsAlly"] = case["hitsAlly"]
    ends = [values[end] for values in answer["showdown"].values() for end in (0, -1)]
    return {"move": case["move"], "sides": sides, **field, "damage": ends}


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
    lines.append(f"  mean {answer['mean']:.3f}, critical on Showdown {answer['chance']}")
    return "\n".join(lines)


def common(unexplained: list[Case], cases: list[Case]) -> list[tuple[str, int, int]]:
    """Tags of the unexplained cases with their count and the count in all cases, the most telling first."""
    here = collections.Counter(tag for case in unexplained for tag in tags(case))
    all_of_them = collections.Counter(tag for case in cases for tag in tags(case))
    scored = [(tag, count, all_of_them[tag]) for tag, count in here.items()]
    return sorted(scored, key=lambda row: -row[1] * row[1] / row[2])


def _answers(
    gen: int, chunks: list[list[Case]], options: argparse.Namespace, pool: ThreadPoolExecutor
) -> Iterator[list[dict[str, Any]]]:
    """Node's answers to each chunk of cases: those that a file keeps first, then new ones, which are added to it."""
    kept: list[dict[str, Any]] = []
    if options.answers and options.answers.exists():
        kept = [json.loads(line) for line in options.answers.read_text().splitlines()]
    known = len(kept) // max(1, len(chunks[0]))
    for number, chunk in enumerate(chunks[:known]):
        yield kept[number * len(chunk) : (number + 1) * len(chunk)]
    for answers in pool.map(lambda part: list(oracle(gen, part, options.trace, options.doubles)), chunks[known:]):
        if options.answers:
            with options.answers.open("a") as file:
                file.writelines(json.dumps(answer) + "\n" for answer in answers)
        yield answers


def main(arguments: list[str] | None = None) -> int:
    """Runs the comparison. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--gen", type=int, required=True, choices=range(1, 10))
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--doubles", action="store_true", help="with two who stand by, against Showdown alone")
    parser.add_argument("--show", type=int, default=3, help="print the first unexplained cases")
    parser.add_argument("--by", type=int, default=0, help="list what the unexplained cases have in common")
    parser.add_argument("--jobs", type=int, default=1, help="Node processes")
    parser.add_argument(
        "--only", default="", help="only cases with this text, as 'move surf', 'defender ability fluffy'"
    )
    parser.add_argument("--freeze", type=Path, help="keep the cases that deal damage, for tests")
    parser.add_argument(
        "--answers", type=Path, help="keep Node's answers in a file, and take them from it the next time"
    )
    parser.add_argument("--trace", action="store_true", help="print Node's errors")
    options = parser.parse_args(arguments)
    gen = options.gen
    if options.doubles and gen < FIRST_DOUBLES:
        parser.error(f"--doubles: there are none before generation {FIRST_DOUBLES}")
    drawn = Drawn(**next(oracle(gen, None)))
    all_cases = draw(gen, drawn, options.cases, options.seed, options.doubles)
    cases = [case for case in all_cases if options.only in " ".join(tags(case))]
    size = max(1, min(4000, -(-len(cases) // options.jobs)))
    chunks = [cases[start : start + size] for start in range(0, len(cases), size)]
    counts: collections.Counter[str] = collections.Counter()
    unexplained: list[Case] = []
    flagged = 0
    frozen: list[Any] = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for chunk, answers in zip(chunks, _answers(gen, chunks, options, pool), strict=True):
            for case, answer, verdict in compared(gen, chunk, answers):
                counts[verdict] += 1
                flagged += answer["estimate"]
                if verdict in ("different", "no answer of Showdown", "@smogon/calc differs without a reason"):
                    unexplained.append(case)
                    if len(unexplained) <= options.show:
                        print(shown(case, answer, verdict), flush=True)
                if not verdict.startswith(("different", "estimate", "no answer")) and any(answer["showdown"]["normal"]):
                    frozen.append((case, answer))
    if options.freeze:
        lines = [json.dumps(frozen_case(case, answer), separators=(",", ":")) for case, answer in frozen]
        options.freeze.write_text("\n".join(lines) + "\n")
    print(f"gen {gen}, {len(cases)} cases, seed {options.seed}")
    for verdict, count in sorted(counts.items(), key=lambda pair: -pair[1]):
        print(f"{count:8}  {verdict}")
    print(f"{flagged:8}  flagged as an estimate, equal or not")
    for tag, count, total in common(unexplained, cases)[: options.by]:
        print(f"    {tag}: {count} of {total}")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
