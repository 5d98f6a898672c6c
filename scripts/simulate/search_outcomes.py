"""Does poke-engine foresee what the simulator does? The share of turns whose outcome is among those it predicts.

Battles between two rule players are played, and each turn in which both sides chose freely is given to poke-engine with
nothing hidden. A turn counts as predicted when one of its outcomes has everybody's health (within the roll of the damage),
status, boosts and volatiles as they were in the simulator. Printed for each format: the share with a 95% interval
(resampled by battles: turns of one battle are not independent), what the nearest outcome differed in, and, with --show N,
the first N turns that were not predicted.

    python scripts/simulate/search_outcomes.py [--formats gen1ou gen9ou] [--battles 40] [--seed 0] [--show 0]
        [--agents heuristic:expert heuristic:emerald]

Needs poke-engine: `make search`.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter

import numpy as np

from agents.search.builds import missing
from agents.search.engine import Engine, EngineFailed
from agents.search.prediction import Comparison, Turn, compare, known_limitation, turns
from arena.entrants import load_pools
from arena.record import BattleRecord
from arena.schedules.plan import Plan, round_robin
from arena.simulator.simulator import play_all
from arena.venue import Rules
from teamsets.formats import get_format

RULES = Rules(think_limit=60.0, max_turns=300)


def judged(record: BattleRecord, engine: Engine) -> list[tuple[Turn, Comparison]]:
    """Every turn of a battle with its verdict."""
    said = ([d[4] for d in record.decisions if d[0] == 0], [d[4] for d in record.decisions if d[0] == 1])
    found = []
    for turn in turns(record.logs, said, engine.gen, record.fixture.format):
        try:
            found.append((turn, compare(turn, engine)))
        except EngineFailed as error:
            found.append((turn, Comparison(False, (f"failed: {error}",))))
    return found


def report(format_id: str, battles: list[list[tuple[Turn, Comparison]]], show: int) -> None:
    found = [one for battle in battles for one in battle]
    hits = sum(verdict.predicted for _, verdict in found)
    counts = np.array([[sum(verdict.predicted for _, verdict in battle), len(battle)] for battle in battles])
    drawn = counts[np.random.default_rng(0).integers(len(counts), size=(2000, len(counts)))].sum(axis=1)
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], [0.025, 0.975])
    print(f"{format_id}: {hits} of {len(found)} turns predicted, {hits / len(found):.1%} [{low:.1%}, {high:.1%}]")
    missed = [(turn, verdict) for turn, verdict in found if not verdict.predicted]
    gen = get_format(format_id).gen
    known = Counter(words for turn, _ in missed if (words := known_limitation(turn, gen)))
    rest = len(found) - known.total()
    print(
        f"without the {known.total()} missed where poke-engine's rules are known to differ: {hits / rest:.1%} of {rest}"
    )
    for words, count in known.most_common():
        print(f"  {count:5}  {words}")
    print("in what the nearest outcome differs, where that is not known:")
    missed = [(turn, verdict) for turn, verdict in missed if not known_limitation(turn, gen)]
    reasons = Counter(" + ".join(sorted({words.partition(" ")[2] for words in v.differs})) for _, v in missed)
    for reason, count in reasons.most_common(25):
        print(f"  {count:5}  {reason}")
    for turn, verdict in missed[:show]:
        print(f"\nturn {turn.number}: {turn.one} against {turn.two}: {', '.join(verdict.differs)}")
        print(f"  before: {turn.state}\n  after: {turn.after}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--formats", nargs="+", default=["gen1ou"])
    parser.add_argument("--battles", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--agents", nargs=2, default=["heuristic:expert", "heuristic:emerald"])
    asked = parser.parse_args()
    for format_id in asked.formats:
        gen = get_format(format_id).gen
        if missing(gen):
            parser.error(missing(gen))
        plan = Plan(tuple(asked.agents), load_pools((format_id,))[0], asked.battles, asked.seed)
        engine = Engine(gen)
        records = asyncio.run(play_all(round_robin(plan), RULES))
        report(format_id, [judged(record, engine) for record in records], asked.show)
        engine.close()


if __name__ == "__main__":
    main()
