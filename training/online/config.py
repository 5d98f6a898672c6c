"""The configuration of online training. Every setting is in its YAML file; none has a hidden default.

`train config ppo > my.yaml` prints a complete file, `train online my.yaml` runs it. Schedules are functions of the iteration
(training/online/schedules.py).
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, PlainValidator, SerializeAsAny

from agents.engine import ALL_FORMATS, FORMATS_IN_WORDS
from teamsets import variety
from teamsets.formats import get_format
from training.online.schedules import ScheduleSettings
from training.runs.common_settings import (
    CheckpointSettings,
    EvaluationSettings,
    NetworkSize,
    RunConfig,
    TeamPreview,
    TrackingSettings,
)
from training.runs.config_reader import BadConfig, Section, algorithm_class, bad_name, settings_by_name

Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]


class RuleSettings(Section):
    """Settings of a learning rule: the class `Settings` of each rule, shipped or a user's, is a subclass (docs/online.md).

    name: `ppo` and its neighbours, or MODULE:CLASS. needs_replay: the rule draws decisions from the role's replay buffer.
    needs_probabilities: it learns from the probabilities of what was played, so no role plays at temperature 0.
    """

    name: str
    needs_replay: ClassVar[bool] = False
    needs_probabilities: ClassVar[bool] = True

    def check_run(self, config: OnlineConfig) -> None:
        """Check what the rule demands of the run's other settings. Raises BadConfig that begins with the key."""


def _algorithm(given: Any) -> RuleSettings:
    return settings_by_name(given, RuleSettings, _settings_class)


#: The shipped rules, by the same names as a user's: their modules import torch.
RULES = {
    "ppo": "training.online.rules.ppo:PPO",
    "ddqn": "training.online.rules.ddqn:DDQN",
    "iac": "training.online.rules.iac:IAC",
    "maac": "training.online.rules.maac:MAAC",
    "magrpo": "training.online.rules.magrpo:MAGRPO",
    "expert_iteration": "training.online.rules.expert_iteration:ExpertIteration",
}


def _settings_class(name: str) -> type[RuleSettings]:
    rule = algorithm_class(name, RULES, "docs/online.md", RULES)
    settings = getattr(rule, "Settings", None)
    if not (hasattr(rule, "learn") and isinstance(settings, type) and issubclass(settings, RuleSettings)):
        raise bad_name(
            name,
            f"{name.partition(':')[2]} is no subclass of training.online.trainer.Trainer whose `Settings` is a subclass of "
            "training.online.config.RuleSettings",
        )
    return settings


Algorithm = Annotated[SerializeAsAny[RuleSettings], PlainValidator(_algorithm)]


class RoleNetwork(NetworkSize):
    """start_from: initial checkpoint, which may have fewer layers; "": random weights. freeze: names' patterns.

    policies: 2: in doubles the slots are two agents with networks of their own, of this size; both begin as start_from.
    team_preview: whether it chooses its lead in singles; auto: like start_from, and with random weights in formats with a
    team preview.
    """

    start_from: str
    freeze: list[str]
    policies: Literal[1, 2] = 1
    team_preview: TeamPreview = "auto"


class RoleOptimizer(Section):
    """AdamW, with a learning rate by schedule.

    average: decay of the moving average of the weights that checkpoints then store, instead of the last ones; 0: off.
    """

    learning_rate: ScheduleSettings
    weight_decay: NotNegative
    betas: tuple[float, float]
    max_grad_norm: Positive
    average: Annotated[float, Field(ge=0, lt=1)] = 0.0


class Exploration(Section):
    """How a role plays while it learns. temperature: divisor of its logits. epsilon: probability of any legal action."""

    temperature: ScheduleSettings
    epsilon: ScheduleSettings


class ReplaySettings(Section):
    """The replay buffer of a role: `capacity` decisions; 0 where the algorithm learns from its rollout only."""

    capacity: Annotated[int, Field(ge=0)]
    prioritised: bool
    priority_exponent: Share


class Learning(Section):
    """When a role learns: in the iterations from `start` up to and without `end` (0: to the last). Not active: frozen."""

    active: bool
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]


class Replacement(Section):
    """Before iteration `at`, the weights become those of a checkpoint, or of the `learner`; the optimizer restarts."""

    at: Annotated[int, Field(ge=0)]
    by: str


class RoleSettings(Section):
    """One of the two roles, with everything that is its own."""

    network: RoleNetwork
    optimizer: RoleOptimizer
    exploration: Exploration
    replay: ReplaySettings
    learning: Learning
    replacements: list[Replacement]


class SameOpponent(Section):
    """The opponent is the learner itself: one network plays both seats and learns from both."""

    kind: Literal["same"]


class OwnOpponent(RoleSettings):
    """The opponent has a network of its own. copy_every: iterations after which it becomes the learner; 0: never."""

    kind: Literal["own"]
    copy_every: Annotated[int, Field(ge=0)]


class OnlineReference(Section):
    """A frozen policy that the learner stays near. checkpoint: "": `learner.network.start_from`.

    coefficient: of KL(π || π_ref), nats per decision; constant 0: off. target: KL that the coefficient is adapted to; 0:
    none. where: `loss`, added to it, or `reward`, taken from each decision's reward.
    """

    checkpoint: str
    coefficient: ScheduleSettings
    target: NotNegative
    where: Literal["loss", "reward"]


class WeightedTeams(Section):
    """A team set and its weight."""

    set: str
    weight: Positive


class RolloutSettings(Section):
    """What is played between two updates: `battles` from their start to their end, or up to turn `max_turns`.

    held_out: team sets none of whose teams is ever played on here.
    """

    battles: Annotated[int, Field(ge=1)]
    max_turns: Annotated[int, Field(ge=2, le=1000)]
    teams: list[WeightedTeams]
    held_out: list[str]


class OpponentMember(Section):
    """A member of the league: the role `opponent` as it is now."""

    who: Literal["opponent"]
    weight: Positive


class PastMember(Section):
    """A member of the league: earlier learners. choose: evenly, the latest, or those that it wins least against."""

    who: Literal["past"]
    weight: Positive
    choose: Literal["uniform", "latest", "hardest"]


class CheckpointMember(Section):
    """A member of the league: a stored checkpoint. temperature: 0: its most probable action."""

    who: Literal["checkpoint"]
    weight: Positive
    checkpoint: str
    temperature: NotNegative


class AgentMember(Section):
    """A member of the league: an agent by its spec.

    On the engine those that act in batches (`random`, `array:…`, `search:omniscient`) are fast; battles against others
    follow the protocol.
    """

    who: Literal["agent"]
    weight: Positive
    agent: str


Member = Annotated[OpponentMember | PastMember | CheckpointMember | AgentMember, Field(discriminator="who")]


class LeagueSettings(Section):
    """Whom the learner meets, by weights. snapshot_every: iterations between two snapshots of it; keep: the latest so many.

    hardness: p of the weight (1 - score)^p of a past learner where `choose` is `hardest`.
    """

    members: Annotated[list[Member], Field(min_length=1)]
    snapshot_every: Annotated[int, Field(ge=1)]
    keep: Annotated[int, Field(ge=1)]
    hardness: NotNegative


class OnlineCompute(Section):
    """device: auto, cpu, cuda or cuda:N. threads: of torch on a CPU; 0: torch's default.

    precision: tf32 lets a GPU round the factors of matrix products to 10 bits, at play and in learning. cuda_graphs: at play
    the kernels of a network's step are recorded and started as one (`RecordedSteps`).
    """

    device: Annotated[str, Field(pattern=r"^(auto|cpu|cuda(:\d+)?)$")]
    threads: Annotated[int, Field(ge=0)]
    precision: Literal["fp32", "tf32"] = "fp32"
    cuda_graphs: bool = False


class OnlineTracking(TrackingSettings):
    """Metrics. every: interval in iterations; norms_every: of each layer's weight and gradient norms; 0: never."""

    norms_every: Annotated[int, Field(ge=0)]


class OnlineConfig(RunConfig):
    """A run of online training. out: its folder. seed: of battles, actions, initial weights and minibatches.

    It ends after `iterations`, or with the one in which the learner has made `max_decisions` in all or the run has played
    and learned for `max_minutes`; 0: no limit. Files of earlier versions do not have `max_minutes`.
    """

    format: str
    venue: Literal["engine", "showdown"]
    iterations: Annotated[int, Field(ge=1)]
    max_decisions: Annotated[int, Field(ge=0)]
    max_minutes: NotNegative = 0.0
    algorithm: Algorithm
    learner: RoleSettings
    opponent: Annotated[SameOpponent | OwnOpponent, Field(discriminator="kind")]
    reference: OnlineReference
    rollout: RolloutSettings
    league: LeagueSettings
    compute: OnlineCompute
    checkpoints: CheckpointSettings
    evaluation: EvaluationSettings
    tracking: OnlineTracking

    printed_by: ClassVar[str] = "train config ppo"

    def check(self) -> None:
        _check(self)


def _check(config: OnlineConfig) -> None:
    """Check constraints between settings."""
    played = get_format(config.format)
    if config.venue == "engine" and config.format not in ALL_FORMATS:
        raise BadConfig(
            f"format: {config.format}: the engines play {FORMATS_IN_WORDS}: choose one of them, or set venue: showdown"
        )
    drawn = played.random
    if drawn == bool(config.rollout.teams):
        fix = "Showdown generates the teams: leave it empty" if drawn else "name at least one team set"
        raise BadConfig(f"rollout.teams: {fix}")
    if drawn and config.rollout.held_out:
        raise BadConfig("rollout.held_out: Showdown generates the teams: leave it empty")
    for teams in config.rollout.teams:
        if teams.set in config.rollout.held_out and teams.set.partition(":")[0] != variety.NAME:
            raise BadConfig(f"rollout.teams: {teams.set} is held out: use another set")
    names = [each.agent for each in config.league.members if isinstance(each, AgentMember)]
    names += [each.checkpoint for each in config.league.members if isinstance(each, CheckpointMember)]
    names += [each.who for each in config.league.members if isinstance(each, OpponentMember | PastMember)]
    for name in names:
        if names.count(name) > 1:
            raise BadConfig(f"league.members: '{name}' is named twice: add the weights")
    for role_name, role in roles(config).items():
        needs = config.algorithm.needs_replay
        if needs != bool(role.replay.capacity):
            fix = "set how many decisions it holds" if needs else "this algorithm has no use for it: set 0"
            raise BadConfig(f"{role_name}.replay.capacity: {role.replay.capacity}: {fix}")
        if role.learning.active and config.algorithm.needs_probabilities:
            temperature = role.exploration.temperature
            lowest = min(temperature.at(iteration) for iteration in range(config.iterations))
            if lowest <= 0:
                raise BadConfig(
                    f"{role_name}.exploration.temperature: falls to {lowest}: must be above 0: this algorithm learns "
                    "from probabilities (ddqn can use 0)"
                )
    config.algorithm.check_run(config)
    if config.evaluation.every % config.checkpoints.every:
        raise BadConfig("evaluation.every: not a multiple of checkpoints.every, and only checkpoints can be evaluated")


def roles(config: OnlineConfig) -> dict[str, RoleSettings]:
    """The settings of the roles that have a network of their own, by name."""
    own = {"opponent": config.opponent} if isinstance(config.opponent, OwnOpponent) else {}
    return {"learner": config.learner, **own}
