"""Prints what a parity range reached: how often each move was used, and each branch that engine_coverage.mjs defines."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from engine_ledger import Counts

from agents.engine.gen1.tables import MOVE_IDS
from teamsets.showdown import node

DEFINITIONS = Path(__file__).parent / "engine_coverage.mjs"
#: Uses that each move should have.
BAR = 1000

Branch = dict[str, Any]


def branches() -> list[Branch]:
    """Every pair of a move's effect and a state of its target, with the reason where it is impossible."""
    done = subprocess.run([node(), str(DEFINITIONS)], stdout=subprocess.PIPE, text=True, check=True)
    defined: list[Branch] = json.loads(done.stdout)
    return defined


def reached(branch: Branch, counts: Counts) -> int:
    """How often a branch was taken: uses, or for a chance how often it happened."""
    return counts.get("branches", {}).get(f"{branch['effect']}|{branch['state']}", [0, 0])[branch["chance"]]


def report(counts: Counts) -> str:
    """The uses of each move, the table of branches, and what was not reached, with the reason where it is impossible."""
    defined = branches()
    return "\n\n".join([_moves(counts.get("moves", {})), _matrix(defined, counts), _unreached(defined, counts)])


def _moves(moves: dict[str, list[int]]) -> str:
    uses = {move: moves.get(move, [0, 0]) for move in MOVE_IDS[1:166]}
    order = sorted(uses, key=lambda move: uses[move][0])
    few = [f"{move} {uses[move][0]}" for move in order if uses[move][0] < BAR]
    listed = ", ".join(f"{move} {uses[move][0]:,} ({uses[move][1]:,})" for move in order)
    head = f"{len(uses)} moves, the least used {uses[order[0]][0]:,} times ({order[0]}); under {BAR:,}: "
    return f"{head}{', '.join(few) or 'none'}\nuses (hits): {listed}"


def _matrix(defined: list[Branch], counts: Counts) -> str:
    """Effects by states; a cell is how often it was reached, a dot where that is impossible."""
    states = {branch["state"]: branch["meaning"] for branch in defined}
    rows: dict[str, list[str]] = {}
    for branch in defined:
        number = reached(branch, counts)
        cell = "." if branch["impossible"] and not number else _short(number)
        rows.setdefault(branch["effect"], []).append(f"{cell:>5}")
    width = max(map(len, rows))
    lines = [" " * width + "".join(f"{state:>5}" for state in states)]
    lines += [f"{effect:<{width}}" + "".join(cells) for effect, cells in rows.items()]
    legend = "; ".join(f"{state}: {meaning}" for state, meaning in states.items())
    return "\n".join([f"Branches: move effect by state of the target ({legend}; '.': impossible).", *lines])


def _short(number: int) -> str:
    return str(number) if number < 1000 else f"{number / 1000:.0f}k" if number < 999_500 else f"{number / 1e6:.0f}M"


def _unreached(defined: list[Branch], counts: Counts) -> str:
    possible = [branch for branch in defined if not branch["impossible"]]
    missing = [branch for branch in possible if not reached(branch, counts)]
    wrong = [branch for branch in defined if branch["impossible"] and reached(branch, counts)]
    why = dict.fromkeys(branch["impossible"] for branch in defined if branch["impossible"])
    lines = [f"{len(possible) - len(missing)} of {len(possible)} branches reached"]
    lines += [f"not reached: {line}" for line in _by_effect(missing)]
    for reason in why:
        lines.append(f"impossible, for {reason}:")
        lines += [f"  {line}" for line in _by_effect([b for b in defined if b["impossible"] == reason])]
    lines += [f"REACHED, though called impossible: {line}" for line in _by_effect(wrong)]
    return "\n".join(lines)


def _by_effect(chosen: list[Branch]) -> list[str]:
    """A line for each effect: its states, by their short names."""
    states: dict[str, list[str]] = {}
    for branch in chosen:
        states.setdefault(branch["effect"], []).append(branch["state"])
    return [f"{effect}: {' '.join(names)}" for effect, names in states.items()]
