"""How often does a curriculum's gate keep a checkpoint that is worse than its parent? Simulated gates with a known lead.

For the sequential test as it shipped before (H0 0, H1 30 nElo, an undecided match passes), the same with H1 required, and
the test that ships now (H0 -15, H1 15 nElo, H1 required, alpha shared out over the stage's tries): the share of gates that
are passed at each true lead in Elo, by one try and by a stage with one retry and with two (every try is another checkpoint
of that lead), with 95% intervals (Wilson), and how many battles a gate takes. Pairs are of two independent battles, 2% of
them ties; --kind names another kind of scripts/simulate/sprt.py.

    python scripts/simulate/gates.py [--gates 2000] [--seed 0] [--kind independent]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace

import numpy as np
from sprt import KINDS, wilson, with_lead

from arena.ratings.evidence import Floats, Ints
from arena.ratings.sprt import SprtSettings, llr

LEADS = (-20.0, -10.0, 0.0, 10.0, 20.0, 40.0)
#: Pairs that are drawn at once.
_BLOCK = 50


@dataclass(frozen=True)
class Gate:
    """A gate as a curriculum has it. battles: at most. undecided: whether a match that ends undecided passes.

    split: whether alpha is shared out over the tries of a stage.
    """

    name: str
    test: SprtSettings
    battles: int
    undecided: bool
    split: bool

    def of_tries(self, tries: int) -> Gate:
        """The gate of each try in a stage of so many."""
        return (
            replace(self, test=self.test.model_copy(update={"alpha": self.test.alpha / tries})) if self.split else self
        )


GATES = (
    Gate(
        "before: [0, 30], undecided passes, 400 battles",
        SprtSettings(elo0=0, elo1=30),
        400,
        undecided=True,
        split=False,
    ),
    Gate("[0, 30], H1, 400 battles", SprtSettings(elo0=0, elo1=30), 400, undecided=False, split=False),
    Gate("now: [-15, 15], H1, 2,000 battles", SprtSettings(elo0=-15, elo1=15), 2000, undecided=False, split=True),
)


def passed(gate: Gate, shares: Floats, gates: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Simulates so many gates of pairs with these shares [5]: passed [gates], 0 or 1, and battles [gates]."""
    lower, upper = gate.test.bounds
    most = gate.battles // 2
    counts = np.zeros((gates, 5), dtype=np.int64)
    decision, pairs = np.full(gates, -1), np.full(gates, most)
    running, done = np.arange(gates), 0
    while len(running) and done < most:
        block = min(_BLOCK, most - done)
        drawn = rng.choice(5, p=shares, size=(len(running), block))
        course = counts[running, None, :] + np.cumsum(np.eye(5, dtype=np.int64)[drawn], axis=1)  # [running, block, 5]
        value = llr(course, gate.test)
        over = (value >= upper) | (value <= lower)
        ends, at = over.any(axis=1), over.argmax(axis=1)
        decision[running[ends]] = value[ends, at[ends]] >= upper
        pairs[running[ends]] = done + at[ends] + 1
        counts[running] = course[:, -1]
        running, done = running[~ends], done + block
    return (decision == 1) | ((decision == -1) & gate.undecided), 2 * pairs


def line(gate: Gate, lead: float, kind: str, gates: int, seed: int) -> str:
    """A row of the table: gates passed by a stage of one, two and three tries; battles of a gate."""
    shares = with_lead(KINDS[kind], lead, "logistic")
    cells = []
    for tries in (1, 2, 3):
        rng = np.random.default_rng((seed, tries, int(lead) + 1000))
        outcomes, battles = passed(gate.of_tries(tries), shares, gates * tries, rng)
        stages = int(outcomes.reshape(gates, tries).any(axis=1).sum())
        low, high = wilson(stages, gates)
        cells.append(f"{100 * stages / gates:5.1f} [{100 * low:4.1f}, {100 * high:4.1f}]")
        if tries == 1:
            length = f"{battles.mean():6.0f} {np.quantile(battles, 0.95):6.0f}"
    return f"{lead:+5.0f}  {'  '.join(cells)}  {length}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gates", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=list(KINDS), default="independent")
    given = parser.parse_args()
    for gate in GATES:
        print(
            f"\n{gate.name}\n{'Elo':>5}  {'passed, %':18}  {'with one retry':18}  {'with two':18}  battles: mean, 95%"
        )
        for lead in LEADS:
            print(line(gate, lead, given.kind, given.gates, given.seed), flush=True)


if __name__ == "__main__":
    main()
