"""Plays an environment at random for long: no illegal action, no growing memory, no difference from Showdown.

Actions are drawn evenly from the masks, and an illegal one is an error. Each tenth of the run prints steps/s and the
resident memory (MB) of this process, without the recorded battles, and of its Node process. Battles of the first rows are
recorded and then played again on stock Showdown: at each decision the masks (with --observations the whole observations)
must be equal, and at the end the winner and the turn. Exit code 1 at a difference, and where the memory at the end is above
1.15 times that after the second tenth, of 2,000 steps or more.

    python scripts/bench/soak_envs.py --env vector --steps 1000000 --num-envs 1024 --check 200
    python scripts/bench/soak_envs.py --env two-seats --venue showdown --format gen9ou --steps 20000 --check 20
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

import training.envs
from agents.observation.observation import Observations
from arena.fixture import Fixture
from teamsets.errors import ArenaError
from training.envs.seeding import draw_actions, next_random
from training.envs.showdown_battles import ShowdownBattles
from training.envs.venue import UNDECIDED, Battles, Ints

TENTHS = 10
#: And the steps from which it is judged: in a short run Node is still warming up after the second tenth.
LARGEST_GROWTH, JUDGED_FROM = 1.15, 2_000
#: Rows of a vector environment whose battles are recorded.
RECORDED_ROWS = 32
IDS = {"engine": "PokemonGen1-v0", "showdown": "PokemonShowdown-v0"}


@dataclass
class Record:
    """A battle as it was played. decisions: the actions [2] (-1: not asked), and what both seats saw."""

    fixture: Fixture
    decisions: list[tuple[list[int], Observations]] = field(default_factory=list)
    winner: int = UNDECIDED
    turn: int = 0


class Recorder:
    """Battles that note what is played in the first rows. full: with observations, else with masks alone."""

    def __init__(self, battles: Battles, most: int, full: bool) -> None:
        self.battles, self.most, self.full = battles, most, full
        self.open: dict[int, Record] = {}
        self.done: list[Record] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.battles, name)

    @property
    def megabytes(self) -> float:
        """What the notes themselves take."""
        records = [*self.open.values(), *self.done]
        return sum(array.nbytes for record in records for _, seen in record.decisions for array in seen) / 2**20

    def begin(self, rows: Ints, fixtures: Sequence[Fixture], agents: Any, leads: Any = None) -> None:
        self.battles.begin(rows, fixtures, agents, leads)
        for row, fixture in zip(rows.tolist(), fixtures, strict=True):
            if row < RECORDED_ROWS and len(self.done) + len(self.open) < self.most:
                self.open[row] = Record(fixture)

    def play(self, rows: Ints, actions: Ints) -> None:
        noted = [(k, row) for k, row in enumerate(rows.tolist()) if row in self.open]
        for k, row in noted:
            seen = seen_by_both(self.battles, row, self.full)
            self.open[row].decisions.append((actions[k].tolist(), seen))
        self.battles.play(rows, actions)
        for _, row in noted:
            if self.battles.winners[row] != UNDECIDED:
                record = self.open.pop(row)
                record.winner, record.turn = int(self.battles.winners[row]), int(self.battles.turns[row])
                self.done.append(record)


def seen_by_both(battles: Battles, row: int, full: bool) -> Observations:
    """What both seats of a battle see; only the masks unless `full`."""
    rows, seats = np.full(2, row), np.arange(2)
    if full:
        return battles.observe(rows, seats)
    return Observations(np.zeros(0, np.int16), np.zeros(0, np.float32), battles.masks(rows, seats))


def differences(records: list[Record], format_id: str, full: bool) -> Iterator[str]:
    """Plays recorded battles on stock Showdown; a line for each that differs, at its first difference."""
    if not records:
        return
    battles = ShowdownBattles(len(records), format_id, stock=True)
    try:
        rows = np.arange(len(records))
        battles.begin(rows, [record.fixture for record in records], [(None, None)] * len(records))
        going, step = set(rows.tolist()), 0
        while going:
            for row in sorted(going):
                mismatch = difference(records[row], battles, row, step, full)
                if mismatch:
                    yield f"{records[row].fixture.seed}: {mismatch}"
                if mismatch or step == len(records[row].decisions):
                    going.discard(row)
            still = np.array(sorted(going), np.int64)
            battles.play(still, np.array([records[row].decisions[step][0] for row in still.tolist()], np.int64))
            step += 1
    finally:
        battles.close()


def difference(record: Record, battles: Battles, row: int, step: int, full: bool) -> str:
    """What differs at a decision, or at the end after the last one; empty if nothing does."""
    if step == len(record.decisions):
        ours, theirs = (record.winner, record.turn), (int(battles.winners[row]), int(battles.turns[row]))
        return "" if ours == theirs else f"ends with (winner, turn) {ours}, on Showdown {theirs}"
    seen, expected = record.decisions[step][1], seen_by_both(battles, row, full)
    if not np.array_equal(seen.legal, expected.legal):
        return f"decision {step}: masks {seen.legal.astype(int).tolist()}, on Showdown {expected.legal.astype(int).tolist()}"
    deciding = seen.legal.any(axis=1)
    if full and not np.array_equal(seen.token_ids[deciding], expected.token_ids[deciding]):
        return f"decision {step}: token_ids differ at {np.argwhere(seen.token_ids != expected.token_ids)[:4].tolist()}"
    if full and not np.allclose(seen.features[deciding], expected.features[deciding], rtol=0, atol=1e-6):
        far = np.abs(seen.features - expected.features) > 1e-6
        return f"decision {step}: features differ at {np.argwhere(far)[:4].tolist()}"
    return ""


class Random:
    """Draws actions from masks."""

    def __init__(self, seed: int, size: int) -> None:
        self.states = np.arange(size, dtype=np.uint64) + np.uint64(seed)

    def __call__(self, masks: NDArray[np.int8]) -> Ints:
        return draw_actions(masks.astype(np.bool_), next_random(self.states))


def vector(options: argparse.Namespace, settings: dict[str, Any]) -> tuple[Recorder, Iterator[tuple[int, int]]]:
    """A vector environment, and its steps: (environment steps, battles that ended) each time."""
    made = gymnasium.make_vec(
        IDS[options.venue], num_envs=options.num_envs, opponent=options.opponent, copy=False, **settings
    )
    learner = made.unwrapped.learner  # type: ignore[attr-defined]
    learner.battles = recorder = Recorder(learner.battles, options.check, options.observations)

    def steps() -> Iterator[tuple[int, int]]:
        choose = Random(options.seed, options.num_envs)
        observations, _ = made.reset(seed=options.seed)
        while True:
            observations, _, terminated, truncated, _ = made.step(choose(observations["action_mask"]))
            yield options.num_envs, int((terminated | truncated).sum())

    return recorder, steps()


def single(options: argparse.Namespace, settings: dict[str, Any]) -> tuple[Recorder, Iterator[tuple[int, int]]]:
    """The same for the plain environment."""
    made = training.envs.PokemonEnv(venue=options.venue, opponent=options.opponent, **settings)
    made.learner.battles = recorder = Recorder(made.learner.battles, options.check, options.observations)

    def steps() -> Iterator[tuple[int, int]]:
        choose = Random(options.seed, 1)
        observation, _ = made.reset(seed=options.seed)
        while True:
            action = choose(observation["action_mask"][None])[0]
            observation, _, terminated, truncated, _ = made.step(action)
            if terminated or truncated:
                observation, _ = made.reset()
            yield 1, terminated or truncated

    return recorder, steps()


def two_seats(options: argparse.Namespace, settings: dict[str, Any]) -> tuple[Recorder, Iterator[tuple[int, int]]]:
    """The same for PettingZoo's environment; a step is one of both seats."""
    made = training.envs.TwoSeatEnv(venue=options.venue, **settings)
    made.battles = recorder = Recorder(made.battles, options.check, options.observations)  # type: ignore[assignment]

    def steps() -> Iterator[tuple[int, int]]:
        choose = Random(options.seed, 2)
        observations, _ = made.reset(seed=options.seed)
        while True:
            actions = choose(np.stack([observations[agent]["action_mask"] for agent in made.agents]))
            observations, _, _, _, _ = made.step(dict(zip(made.agents, actions.tolist(), strict=True)))
            ended = not made.agents
            if ended:
                observations, _ = made.reset()
            yield 1, ended

    return recorder, steps()


ENVIRONMENTS = {"vector": vector, "single": single, "two-seats": two_seats}


def resident_megabytes(pid: int) -> float:
    """The resident memory of a process, from /proc."""
    fields = Path(f"/proc/{pid}/status").read_text().split("VmRSS:")
    return int(fields[1].split()[0]) / 1024 if len(fields) > 1 else 0.0


def memory() -> tuple[float, float]:
    """Resident MB of this process and of its children (Node)."""
    children = Path(f"/proc/self/task/{Path('/proc/self').readlink()}/children").read_text().split()
    threads = [Path(task, "children").read_text().split() for task in Path("/proc/self/task").iterdir()]
    pids = {int(pid) for listed in [children, *threads] for pid in listed}
    return resident_megabytes(int(Path("/proc/self").readlink().name)), sum(map(resident_megabytes, pids))


def soak(options: argparse.Namespace) -> int:
    settings = {"format": options.format, "teams": options.teams, "illegal_action": "error", "max_turns": 1000}
    recorder, steps = ENVIRONMENTS[options.env](options, settings)
    samples: list[float] = []
    done = ended = 0
    for tenth in range(1, TENTHS + 1):
        before, began = done, time.monotonic()
        while done < options.steps * tenth / TENTHS:
            stepped, over = next(steps)
            done, ended = done + stepped, ended + over
        here, node = memory()
        here -= recorder.megabytes
        samples.append(here + node)
        speed = (done - before) / max(time.monotonic() - began, 1e-9)
        print(
            f"{done:>10,} steps {ended:>8,} battles {speed:>10,.0f} steps/s  memory {here:,.0f} + {node:,.0f} MB",
            flush=True,
        )
    recorder.battles.close()
    mismatches = list(differences(recorder.done, options.format, options.observations))
    decisions = sum(len(record.decisions) for record in recorder.done)
    compared = "observations and masks" if options.observations else "masks"
    print(
        f"{len(recorder.done):,} battles with {decisions:,} decisions compared ({compared}): {len(mismatches)} differ"
    )
    print(*mismatches[:5], sep="\n", end="\n" if mismatches else "")
    growth = samples[-1] / samples[1]
    print(f"no illegal action in {done:,} steps; memory at the end / after the second tenth: {growth:.2f}")
    return 1 if mismatches or (growth > LARGEST_GROWTH and done >= JUDGED_FROM) else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", choices=tuple(ENVIRONMENTS), default="vector")
    parser.add_argument("--venue", choices=tuple(IDS), default="engine")
    parser.add_argument("--format", default="gen1ou")
    parser.add_argument("--teams", help="a team set; default: the environment's own")
    parser.add_argument("--opponent", default="random", help="an agent's spec (not for two-seats)")
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--num-envs", type=int, default=1024, help="of a vector environment")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--check", type=int, default=200, help="battles that are compared with stock Showdown")
    parser.add_argument("--observations", action="store_true", help="compare whole observations, not only masks")
    try:
        return soak(parser.parse_args())
    except ArenaError as error:
        print(f"soak_envs: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
