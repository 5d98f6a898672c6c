"""Proves that agents/engine plays the same battles as stock Pokémon Showdown, decision by decision.

Node plays battles on Showdown and prints a hash of the whole state at each decision (PRNG, HP, statuses, counters, PP,
stats, boosts, volatiles, last moves), the legal actions and the choices; the engine plays the same teams, seed and choices,
and its hashes and legal actions must be equal. The first difference is shown number by number, with the random draws and
the turn's log. Exit code 1 at a difference.

    python scripts/parity/engine_parity.py --battles 1000 --seed 1 --teams any --policy random

--teams any: random species, levels and moves (all 164 and Struggle); random: Showdown's own random battles; otherwise the
name of a gen1ou team set. --policy: random; rules (a rule player); switcher (half of the choices are switches); rare (moves
used least so far). --coverage prints how often each move was used and each branch of the rules was reached
(scripts/parity/engine_coverage.mjs). --ledger FILE keeps what was compared: a range that was stopped resumes with the same
command, and --summary FILE prints the totals.
"""

from __future__ import annotations

import sys
from pathlib import Path

import engine_coverage
import engine_ranges
import numpy as np
from engine_ranges import Battle, Options
from engine_states import hashes, state

from agents.engine.compiled import DIGEST
from agents.engine.gen1.engine import Engine
from agents.engine.gen1.layout import STUCK, TIE, WINNER
from agents.engine.gen1.tables import DATA
from teamsets.loading import load_set
from teamsets.showdown import package

ORACLE = Path(__file__).parent / "engine_oracle.mjs"


def oracle(options: Options) -> list[Battle]:
    """Battles as scripts/parity/engine_oracle.mjs prints them. Raises BadInput for teams that there are not."""
    teams = teams_option(options["teams"])
    return engine_ranges.ask(ORACLE, {**options, "teams": teams, "package": str(package())})


def compare(battles: list[Battle]) -> dict[int, int]:
    """Plays the battles again. Returns battle -> the first decision at which the two differ."""
    engine = Engine(len(battles))
    engine.reset([tuple(battle["teams"]) for battle in battles], [battle["seed"] for battle in battles])
    replay = engine_ranges.Replay(
        hashes=lambda rows: hashes(engine.words, rows),
        legal=engine.legal,
        step=engine.step,
        winner=lambda row: int(engine.words[row, WINNER]),
        ends={"p1": 0, "p2": 1, "tie": TIE, "stuck": STUCK},
    )
    return engine_ranges.compare(battles, replay)


def explain(options: Options, battle: Battle, step: int) -> str:
    """The first difference of a battle: numbers by their place, and Showdown's log around it."""
    (reference,) = oracle(engine_ranges.again(options, battle))
    engine = Engine(1)
    engine.reset([tuple(reference["teams"])], [reference["seed"]])
    for decision in reference["decisions"][:step]:
        engine.step(np.array([decision[3:5]], np.int32))
    ours, theirs = state(engine.words[0]).tolist(), reference["decisions"][step][0]
    unequal = [f"{place}: {a}, not {b}" for place, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b]
    return engine_ranges.difference(options, reference, step, engine.legal()[0].tolist(), unequal, turn=theirs[4])


def teams_option(name: str) -> str | list[str]:
    """The oracle's option for a set of teams. Raises BadInput."""
    if name in ("any", "random"):
        return name
    return [team.packed for team in load_set(name, "gen1ou").teams]


GAME = engine_ranges.Game(
    program="engine_parity",
    teams="any",
    policies=("random", "rules", "switcher", "rare"),
    versions={"engine": DIGEST, "showdown": DATA["version"]},
    oracle=oracle,
    compare=compare,
    explain=explain,
    report=engine_coverage.report,
)

if __name__ == "__main__":
    sys.exit(engine_ranges.main(GAME, __doc__))
