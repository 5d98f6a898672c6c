"""The trainer that learns by playing: rollouts, roles, league, reference, metrics, and all of its state.

A learning rule is a subclass with the method `learn` (training/online/rules/ppo.py and its neighbours). An iteration is:
play whole battles, compute what the reference says, learn role by role, advance the schedules. Everything that changes is
in `state`, so that a run that is stopped and restored between two iterations continues with the same numbers.
"""

from __future__ import annotations

import math
import resource
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor

from agents import Agent
from agents.observation.layout import layout_of
from agents.policy import checkpoint
from agents.policy.distributions import entropy, kl, log_probs
from agents.policy.network import Network
from teamsets.formats import get_format
from training.envs.learner import open_battles
from training.envs.opponents import Opponents
from training.envs.venue import Battles
from training.online import config
from training.online.battle_sampler import BattleSampler
from training.online.collecting import BattleSource, Collector, RolloutPlan, SeatAssignment
from training.online.config import OnlineConfig
from training.online.league import OPPONENT, League
from training.online.metrics import IterationClock
from training.online.reference import Reference
from training.online.role import Role
from training.online.rollout import Rollout
from training.runs.config_reader import BadConfig
from training.runs.threads import use_threads

if TYPE_CHECKING:
    from agents.search.exact.teacher import Teacher

LEARNER = "learner"
#: Decisions that the reference processes at a time.
_REFERENCE_DECISIONS = 2048

Metrics = dict[str, float]


class Trainer:
    """Online training by a configuration. A subclass is a learning rule, with a class `Settings` of its settings.

    rule: those of this run, an instance of the subclass's `Settings`.
    group: battles of one group (from one start). branch_at: see MAGRPO. both_seats: whether rollouts keep what the seat
    opposite saw. battles: another venue than the configuration's, with `rollout.battles` rows, for tests.

    Raises BadConfig and BadInput.
    """

    both_seats: ClassVar[bool] = False

    def __init__(
        self, settings: OnlineConfig, battles: Battles | None = None, games: BattleSource | None = None
    ) -> None:
        self.config, self.iteration, self.decisions = settings, 0, 0
        self.seconds = 0.0  # of playing and learning, so far
        self.rule: Any = settings.algorithm
        cores = use_threads(settings.compute.threads)
        self.device = _device(settings.compute.device)
        torch.set_float32_matmul_precision("high" if settings.compute.precision == "tf32" else "highest")
        played = get_format(settings.format)
        #: Of what the seats see and may do.
        self.layout = layout_of(played.slots)
        self.generator = torch.Generator(self.device).manual_seed(settings.seed)  # draws actions
        self.shuffle = torch.Generator().manual_seed(settings.seed + 1)  # draws minibatches
        self.roles = {
            name: Role(name, role, settings.seed + number, played, self.device)
            for number, (name, role) in enumerate(config.roles(settings).items())
        }
        start_from = settings.learner.network.start_from
        coefficient = settings.reference.coefficient
        off = coefficient.kind == "constant" and coefficient.value == 0
        decides = self.roles[LEARNER].network.shape.team_preview
        self.reference = None if off else Reference(settings.reference, start_from, played, self.device, decides)
        self.clock = IterationClock()
        engine = settings.venue == "engine"
        count = settings.rollout.battles
        self.battles = battles or open_battles(settings.venue, count, settings.format, cores)
        given: dict[str | type[Agent], float] = {
            each.agent: each.weight for each in settings.league.members if isinstance(each, config.AgentMember)
        }
        agents = Opponents(given, count, settings.format, on_engine=engine) if given else None
        names = dict(zip(map(str, given), agents.weights, strict=True)) if agents is not None else {}
        self.league = League(settings.league, settings.seed, played, self.device, names)
        games = games or BattleSampler(settings.rollout, settings.format, settings.seed, packed=engine)
        self._collector = Collector(
            self.battles,
            games,
            agents,
            settings.rollout.max_turns,
            self.generator,
            self.clock,
            self.make_teacher(),
            settings.compute.cuda_graphs,
            self.layout,
        )

    @property
    def group(self) -> int:
        return 1

    @property
    def branch_at(self) -> int:
        return 0

    @property
    def opponent_choices(self) -> bool:
        """Whether rollouts keep what the opponents choose."""
        return False

    def make_teacher(self) -> Teacher | None:
        """Return what judges the decisions of rollouts by search, on the engine; None: nothing does."""
        return None

    def learn(self, role: Role, rollout: Rollout, reference: Tensor | None) -> Metrics:
        """Train a role on its rollout. Returns metrics.

        reference: the reference's logits [D, 13], if there is one. `self.shaped` gives the rewards that it makes.
        """
        raise NotImplementedError(f"{type(self).__name__}.learn")

    @property
    def over(self) -> bool:
        """Whether the run has reached its configured length."""
        limits = ((self.config.max_decisions, self.decisions), (60 * self.config.max_minutes, self.seconds))
        return self.iteration >= self.config.iterations or any(limit and done >= limit for limit, done in limits)

    def iterate(self) -> Metrics:
        """Play and learn once. Returns the metrics of the iteration."""
        self._replace_weights()
        learner = self.roles[LEARNER]
        self.league.snapshot_if_due(self.iteration, learner.network)
        rollouts = self._collect()
        metrics: Metrics = {}
        measured = 0.0
        for name, rollout in rollouts.items():
            role = self.roles[name]
            reference = None
            if self.reference is not None:
                with self.clock("reference"):
                    reference = self.reference.logits(rollout, _REFERENCE_DECISIONS)
            rollout_metrics = self._rollout_metrics(rollout, reference)
            if name == LEARNER:
                self.league.note(rollout)
                measured = rollout_metrics.get("kl", 0.0)
                self.decisions += int(rollout_metrics["decisions"])
            if role.learns(self.iteration):
                with self.clock("learn"):
                    rollout_metrics |= self.learn(role, rollout, reference)
                noise_scale = role.noise_scale.close()
                if noise_scale is not None:
                    rollout_metrics["gradient_noise_scale"] = noise_scale
            rollout_metrics |= {"learning_rate": role.learning_rate.value, "temperature": role.temperature.value}
            rollout_metrics["updates"] = float(role.updates)
            metrics |= {key if name == LEARNER else f"{name}/{key}": value for key, value in rollout_metrics.items()}
        norms_every = self.config.tracking.norms_every
        if norms_every and self.iteration % norms_every == 0:
            for role in self.roles.values():
                metrics |= role.norms()
        metrics["total_decisions"] = float(self.decisions)
        metrics |= {f"score/past {i}": score for i, score in self.league.scores.items()}
        self._advance(measured)
        return metrics | self._times(sum(rollout.decisions for rollout in rollouts.values()))

    def shaped(self, rollout: Rollout, reference: Tensor | None) -> Tensor:
        """The rewards [D] to learn from: raw, or with the KL to the reference taken off where the configuration says so."""
        if self.reference is None or reference is None or self.reference.where != "reward":
            return rollout.rewards
        return self.reference.shaped_rewards(rollout, reference)

    def penalty(self, logits: Tensor, reference: Tensor | None, legal: Tensor) -> Tensor:
        """coefficient · mean KL to the reference, to be added to a loss; 0 without one, or where it is in the reward.

        logits, reference, legal: [n, 13].
        """
        if self.reference is None or reference is None or self.reference.where != "loss":
            return logits.new_zeros(())
        return self.reference.coefficient * kl(logits, reference, legal).mean()

    def state(self) -> dict[str, Any]:
        """What a checkpoint must store to resume, between two iterations."""
        return {
            "iteration": self.iteration,
            "decisions": self.decisions,
            "seconds": self.seconds,
            "roles": {name: role.state() for name, role in self.roles.items()},
            "reference": None if self.reference is None else self.reference.state(),
            "league": self.league.state(),
            "generator": self.generator.get_state(),
            "shuffle": self.shuffle.get_state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a `state`."""
        self.iteration, self.decisions = state["iteration"], state["decisions"]
        self.seconds = state.get("seconds", 0.0)  # states of 0.1.0 have none
        for name, role in self.roles.items():
            role.restore(state["roles"][name])
        if self.reference is not None:
            self.reference.restore(state["reference"])
        self.league.restore(state["league"], self.roles[LEARNER].network.shape)
        self.generator.set_state(state["generator"])
        self.shuffle.set_state(state["shuffle"])

    def close(self) -> None:
        """End what the venue has started."""
        self.battles.close()

    def _collect(self) -> dict[str, Rollout]:
        learner = self.roles[LEARNER]
        plays = SeatAssignment(LEARNER, learner.network, learner.manner, LEARNER)
        opposite = self.roles.get(OPPONENT)
        if opposite is None:
            self.league.opponent = SeatAssignment("self", learner.network, learner.manner, LEARNER)
        else:
            self.league.opponent = SeatAssignment(OPPONENT, opposite.network, opposite.manner, OPPONENT)
        self.league.past_manner = learner.manner
        settings = self.config.rollout
        plan = RolloutPlan(
            first=self.iteration * settings.battles // self.group,
            battles=settings.battles,
            group=self.group,
            branch_at=self.branch_at,
            both_seats=self.both_seats,
            learning=frozenset(name for name, role in self.roles.items() if role.settings.learning.active),
            learner=plays,
            weights=self.league.weights,
            opponent_choices=self.opponent_choices,
        )
        rollouts = self._collector.collect(plan, self.league)
        return {name: rollout.to(self.device) for name, rollout in rollouts.items()}

    def _rollout_metrics(self, rollout: Rollout, reference: Tensor | None) -> Metrics:
        """Metrics of a rollout: raw returns, the KL, and the shaped return, each under its own name."""
        counts = rollout.in_loss
        free = counts & (rollout.legal.sum(-1) > 1)
        results = rollout.results.repeat_interleave(rollout.lengths)  # [D]
        metrics = {
            "raw_return": float(rollout.results.mean()),
            "entropy": float(entropy(log_probs(rollout.logits, rollout.legal))[free].mean()),
            "decisions": float(counts.sum()),
            "battle_decisions": float(rollout.lengths.float().mean()),
            "truncated": float((~rollout.terminated).float().mean()),
            "value_error": float((rollout.values - results)[counts].square().mean()),
        }
        shown = ["past" if name.startswith("past:") else name for name in rollout.opponents]
        for name in dict.fromkeys(shown):
            mine = torch.tensor([each == name for each in shown], device=rollout.opponent.device)[rollout.opponent]
            if mine.any():
                metrics[f"raw_return/{name}"] = float(rollout.results[mine].mean())
        if self.reference is not None and reference is not None:
            divergence = kl(rollout.logits, reference, rollout.legal)
            metrics["kl"] = float(divergence[counts].mean())
            metrics["kl_coefficient"] = self.reference.coefficient
            battles = len(rollout.lengths)
            shaped = rollout.rewards - self.reference.coefficient * divergence
            metrics["shaped_return"] = float(shaped.sum() / battles)
        return metrics

    def _times(self, decisions: int) -> Metrics:
        seconds = self.clock.pop_seconds()
        total = sum(seconds.values())
        self.seconds += total
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # MiB on Linux
        metrics = {f"seconds/{part}": spent for part, spent in seconds.items()}
        metrics |= {"decisions_per_s": decisions / max(total, 1e-9), "memory_mib": memory}
        metrics["total_seconds"] = self.seconds
        if self.device.type == "cuda":
            metrics["gpu_memory_mib"] = torch.cuda.max_memory_allocated(self.device) / 2**20
        return metrics

    def _replace_weights(self) -> None:
        """What the configuration says of replaced weights before this iteration."""
        for role in self.roles.values():
            for each in role.settings.replacements:
                if each.at == self.iteration:
                    self.replace(role.name, each.by)
        opponent = self.config.opponent
        if (
            isinstance(opponent, config.OwnOpponent)
            and opponent.copy_every
            and self.iteration % opponent.copy_every == 0
        ):
            self.replace(OPPONENT, LEARNER)

    def check_replacements(self) -> None:
        """Raise BadConfig or BadInput where weights cannot be replaced that the configuration says will be.

        A checkpoint that the run itself will write cannot be looked at yet.
        """
        for role in self.roles.values():
            for each in role.settings.replacements:
                if each.at >= self.iteration and not each.by.startswith(self.config.out):
                    role.check_fits(self._weights_of(each.by))

    def replace(self, name: str, by: str) -> None:
        """Give a role the weights of another (`learner`, `opponent`) or of a checkpoint. Raises BadConfig and BadInput."""
        if name not in self.roles:
            raise BadConfig(f"role '{name}': there is none of this name: {', '.join(self.roles)}")
        self.roles[name].load_weights(self._weights_of(by))

    def _weights_of(self, source: str) -> Network:
        """The network of a role, or of a checkpoint."""
        if source in self.roles:
            return self.roles[source].network
        return checkpoint.load(checkpoint.find(source), self.device)[0]

    def _advance(self, measured: float) -> None:
        for role in self.roles.values():
            role.advance()
        if self.reference is not None:
            self.reference.advance(measured)
        self.iteration += 1


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise BadConfig(f"compute.device: {name}: there is no GPU that torch can use: set auto or cpu")
    return torch.device(name)


def finite_metrics(metrics: Metrics) -> Metrics:
    """The metrics that are numbers."""
    return {name: value for name, value in metrics.items() if math.isfinite(value)}
