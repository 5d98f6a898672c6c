"""What does expert iteration teach? How far its targets are from the policy that played, and what they gain, by sharpness.

A network plays itself on the engine. At a share of its decisions a large search of other samples of the opponent's hidden
team (`--judge-iterations`, `--judge-samples`) says what the actions are worth. For each number of determinizations of the
teacher and each β it prints the mean total variation between the targets and the policy, and by how much likelier the target
wins than the policy by the large search's values, with a 95% interval over battles (in percentage points a decision). The
games are the same for every teacher.

    python scripts/bench/search_targets.py [--policy gen1ou] [--battles 16] [--share 0.3] [--seed 0] [--iterations 300]
    python scripts/bench/search_targets.py --format gen9ou --policy gen9ou --teams FOLDER --judge-iterations 8000

In gen9ou teacher and judge search the true position (no determinizations).
"""

from __future__ import annotations

import argparse
import itertools
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.policy.distributions import log_probs
from agents.search.exact.teacher import Searched, Teacher, positions_of
from teamsets.formats import get_format
from training.online.config import OnlineConfig
from training.online.role import Role
from training.online.rollout import Rollout
from training.online.rules.expert_iteration import ExpertIteration, improved, regret
from training.online.trainer import Metrics
from training.runs.config_reader import read_yaml, validated
from training.runs.settings import Change, changed
from training.runs.shipped import resolve_path

BETAS = (10, 30, 60, 100, 200, 300, 1000)


class JudgedTeacher(Teacher):
    """A teacher whose `second_values` are those of a large search, at a share of the decisions."""

    def __init__(self, teacher: Teacher, judge: Teacher, share: float, seed: int) -> None:
        self._teacher, self._judge, self._share = teacher, judge, share
        self._draws = np.random.default_rng(seed)

    def begin(self, number: int) -> None:
        self._teacher.begin(number)
        self._judge.begin(number)

    def judge(
        self,
        engine: Any,
        rows: NDArray[np.int64],
        seats: NDArray[np.int64],
        policies: NDArray[np.float32] | None = None,
    ) -> Searched:
        found = self._teacher.judge(engine, rows, seats, policies)
        chosen = np.flatnonzero(self._draws.random(len(rows)) < self._share)
        if len(chosen):
            of = None if policies is None else policies[chosen]
            found.second_values[chosen] = self._judge.judge(engine, rows[chosen], seats[chosen], of).second_values
        return found


class Measured(ExpertIteration):
    """Plays, and prints instead of learning."""

    arguments: argparse.Namespace

    def make_teacher(self) -> Teacher:
        options, rule = self.arguments, self.rule
        gen = get_format(options.format).gen
        judge_positions = positions_of(gen, rule.weights, options.judge_samples if gen == 1 else 0)
        teacher = Teacher(self._positions(), rule.iterations, rule.trust, options.seed, prior=rule.prior)
        judge = Teacher(
            judge_positions, options.judge_iterations, 1.0, options.seed + 1, second_share=1.0, prior=rule.prior
        )
        return JudgedTeacher(teacher, judge, options.share, options.seed)

    def learn(self, role: Role, rollout: Rollout, reference: Tensor | None) -> Metrics:
        judged = ~rollout.searched_value.isnan() & ~rollout.searched_second_values.isnan().all(-1)
        battle = rollout.battle.repeat_interleave(rollout.lengths)[judged]
        legal, logits, values = rollout.legal[judged], rollout.logits[judged], rollout.searched_values[judged]
        truth = rollout.searched_second_values[judged].nan_to_num(0.0)
        policy = log_probs(logits, legal).exp() * legal
        by_itself, by_judge = (float(regret(values, by, policy).mean()) for by in (values, truth))
        print(
            f"{self.rule.determinizations} determinizations, {self.rule.iterations} iterations: {len(legal)} decisions of "
            f"{len(battle.unique())} battles; regret by the search that chose {100 * by_itself:.2f}, by the other "
            f"{100 * by_judge:.2f}"
        )
        greedy = torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1])
        print(
            f"  the policy's most probable action: gain {interval(100 * ((greedy - policy) * truth).sum(-1), battle)}"
        )
        for beta in BETAS:
            target = log_probs(improved(logits, values, beta), legal).exp() * legal
            distance = (target - policy).abs().sum(-1).mean() / 2
            gain = 100 * ((target - policy) * truth).sum(-1)
            print(f"  β {beta:5}: distance {float(distance):.3f}, gain {interval(gain, battle)}", flush=True)
        return {}


def interval(gain: Tensor, battle: Tensor) -> str:
    """The mean over decisions and its 95% interval, decisions of one battle taken together."""
    mean = float(gain.mean())
    errors = torch.zeros(int(battle.max()) + 1).index_add(0, battle, gain - mean)
    half = 1.96 * float(errors.square().sum().sqrt()) / len(gain)
    return f"{mean:.2f} [{mean - half:.2f}, {mean + half:.2f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", default="gen1ou")
    parser.add_argument("--preset", default="tiny", help="of the policy's network")
    parser.add_argument("--battles", type=int, default=16)
    parser.add_argument("--share", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--format", default="gen1ou")
    parser.add_argument("--teams", default="variety:2000")
    parser.add_argument("--iterations", type=int, nargs="*", default=[300])
    parser.add_argument("--prior", type=float, default=0.5, help="share of the policy in the priors at the root")
    parser.add_argument("--judge-iterations", type=int, default=4000)
    parser.add_argument("--judge-samples", type=int, default=8)
    parser.add_argument("--determinizations", type=int, nargs="*", default=[0, 1, 2, 4])
    options = parser.parse_args()
    changes = {
        "learner.network.preset": options.preset,
        "learner.network.start_from": options.policy,
        "rollout.battles": options.battles,
        "seed": options.seed,
        "format": options.format,
        "algorithm.prior": options.prior,
        "rollout.teams": [{"set": options.teams, "weight": 1.0}],
        "compute.threads": 1,
        "compute.device": "cpu",
        "league.members": [{"who": "opponent", "weight": 1.0}],
        "tracking.wandb": "disabled",
    }
    shipped = read_yaml(resolve_path("expert_iteration", "online"))
    Measured.arguments = options
    samples = [0] if options.format == "gen9ou" else options.determinizations
    for determinizations, iterations in itertools.product(samples, options.iterations):
        searches = {"algorithm.determinizations": determinizations, "algorithm.iterations": iterations}
        changed_to = changed(shipped, [Change(*each) for each in (changes | searches).items()], "shipped")
        Measured(validated(OnlineConfig, changed_to, "shipped")).iterate()


if __name__ == "__main__":
    main()
