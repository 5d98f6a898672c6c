"""Does poke-engine foresee what the simulator does? The share of turns whose outcome is among those it predicts.

Battles between two rule players are played, and each turn in which both sides chose freely is given to poke-engine with
nothing hidden. A turn counts as predicted when one of its outcomes has everybody's health (within the roll of the damage),
status, boosts and volatiles as they were in the simulator. Printed for each format: the share with a 95% interval
(resampled by battles: turns of one battle are not independent), what the nearest outcome differed in, and, with --show N,
the first N turns that were not predicted.

    python scripts/simulate/search_outcomes.py [--formats gen1ou gen9ou] [--battles 40] [--seed 0] [--show 0]
        [--agents heuristic:expert heuristic:emerald] [--engine]

--engine: the same for the project's own engine (gen1ou), by 4,096 steps from the state before each turn.
Needs poke-engine: `make search`, or with --engine Numba: `make training`.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
from collections import Counter

import numpy as np
from prediction import Comparison, Turn, compare, known_limitation, turns

from agents.search.poke_engine.builds import missing
from agents.search.poke_engine.engine import EngineFailed, PokeEngine
from arena.record import BattleRecord
from arena.run.entrants import load_pools
from arena.schedules.plan import Plan, round_robin
from arena.venue import Rules
from arena.venues.simulator.simulator import play_all
from teamsets.formats import get_format

RULES = Rules(think_limit=60.0, max_turns=300)


def judged(record: BattleRecord, engine: PokeEngine) -> list[tuple[Turn, Comparison]]:
    """Every turn of a battle with its verdict."""
    choices = ([d[4] for d in record.decisions if d[0] == 0], [d[4] for d in record.decisions if d[0] == 1])
    results = []
    for turn in turns(record.logs, choices, engine.gen, record.fixture.format):
        try:
            results.append((turn, compare(turn, engine)))
        except EngineFailed as error:
            results.append((turn, Comparison(False, (f"failed: {error}",))))
    return results


def foreseen_by_engine(record: BattleRecord, rng: np.random.Generator) -> list[bool]:
    """Whether our engine foresees each turn of a battle in which both sides had a choice of moves."""
    from exact_comparison import foreseen, walk

    from agents.engine.gen1 import layout

    choices = ([d[4] for d in record.decisions if d[0] == 0], [d[4] for d in record.decisions if d[0] == 1])
    teams = record.fixture.teams[0].packed or "", record.fixture.teams[1].packed or ""
    points = list(walk(record.logs, choices, teams, record.fixture.seed, record.fixture.format))
    requests = [layout.SIDES + seat * layout.SIDE_WORDS + layout.REQUEST for seat in range(2)]
    return [
        foreseen(before[0].true, (before[0].choice, before[1].choice), after[0].true, rng)
        for before, after in itertools.pairwise(points)
        if len(before) == 2 and (before[0].true[requests] == layout.CHOOSE_MOVE).all()
    ]


def interval(counts: list[tuple[int, int]]) -> tuple[float, float]:
    """A 95% interval of a share of turns, from (hits, turns) of each battle, resampled by battles."""
    table = np.array(counts)
    drawn = table[np.random.default_rng(0).integers(len(table), size=(2000, len(table)))].sum(axis=1)
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], [0.025, 0.975])
    return float(low), float(high)


def report_engine(records: list[BattleRecord]) -> None:
    rng = np.random.default_rng(0)
    foreseen_turns = [foreseen_by_engine(record, rng) for record in records]
    hits, turns_ = sum(map(sum, foreseen_turns)), sum(map(len, foreseen_turns))
    low, high = interval([(sum(battle), len(battle)) for battle in foreseen_turns])
    print(f"gen1ou, our engine: {hits} of {turns_} turns foreseen, {hits / turns_:.1%} [{low:.1%}, {high:.1%}]")


def report(format_id: str, battles: list[list[tuple[Turn, Comparison]]], show: int) -> None:
    results = [result for battle in battles for result in battle]
    hits = sum(verdict.predicted for _, verdict in results)
    low, high = interval([(sum(verdict.predicted for _, verdict in battle), len(battle)) for battle in battles])
    print(f"{format_id}: {hits} of {len(results)} turns predicted, {hits / len(results):.1%} [{low:.1%}, {high:.1%}]")
    missed = [(turn, verdict) for turn, verdict in results if not verdict.predicted]
    gen = get_format(format_id).gen
    known = Counter(difference for turn, _ in missed if (difference := known_limitation(turn, gen)))
    rest = len(results) - known.total()
    print(
        f"without the {known.total()} missed where poke-engine's rules are known to differ: {hits / rest:.1%} of {rest}"
    )
    for difference, count in known.most_common():
        print(f"  {count:5}  {difference}")
    print("in what the nearest outcome differs, where that is not known:")
    missed = [(turn, verdict) for turn, verdict in missed if not known_limitation(turn, gen)]
    reasons = Counter(" + ".join(sorted({difference.partition(" ")[2] for difference in v.differs})) for _, v in missed)
    for reason, count in reasons.most_common(25):
        print(f"  {count:5}  {reason}")
    for turn, verdict in missed[:show]:
        print(f"\nturn {turn.number}: {turn.first_choice} against {turn.second_choice}: {', '.join(verdict.differs)}")
        print(f"  before: {turn.state}\n  after: {turn.after}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--formats", nargs="+", default=["gen1ou"])
    parser.add_argument("--battles", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--agents", nargs=2, default=["heuristic:expert", "heuristic:emerald"])
    parser.add_argument("--engine", action="store_true")
    options = parser.parse_args()
    if options.engine:
        plan = Plan(tuple(options.agents), load_pools(("gen1ou",))[0], options.battles, options.seed)
        report_engine(asyncio.run(play_all(round_robin(plan), RULES)))
        return
    for format_id in options.formats:
        gen = get_format(format_id).gen
        if missing(gen):
            parser.error(missing(gen))
        plan = Plan(tuple(options.agents), load_pools((format_id,))[0], options.battles, options.seed)
        engine = PokeEngine(gen)
        records = asyncio.run(play_all(round_robin(plan), RULES))
        report(format_id, [judged(record, engine) for record in records], options.show)
        engine.close()


if __name__ == "__main__":
    main()
