"""A role: a network that plays and may learn, with everything that is its own."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from agents.policy import checkpoint
from agents.policy.network import Network
from agents.policy.shape import Shape, unlike
from teamsets.formats import Format
from training.envs.network_players import SamplingSettings
from training.online import config
from training.online.noise_scale import NoiseScale
from training.online.schedules import ParameterSchedule, ScheduleSettings
from training.runs.common_settings import decides_previews
from training.runs.config_reader import BadConfig
from training.runs.parameters import freeze, initialized, parameter_groups, take_over
from training.runs.state import TrainingFailed, finite

if TYPE_CHECKING:
    from training.online.replay import ReplayBuffer
    from training.online.rollout import Piece

#: Consecutive updates with a non-finite gradient after which a run stops.
_BAD_UPDATES = 20


class Role:
    """`learner` or `opponent`. lineage: the checkpoints that it descends from, oldest first. updates: gradient steps so far.

    The replay buffer is made by the learning rule, which knows what it holds. Raises BadConfig and BadInput.
    """

    def __init__(
        self, name: str, settings: config.RoleSettings, seed: int, played: Format, device: torch.device
    ) -> None:
        self.name, self.settings, self.device = name, settings, device
        self.lineage: list[Any] = []
        self.network = self._built(seed, played)
        self.head: nn.Module | None = None
        self._averaged = copy.deepcopy(self.network) if settings.optimizer.average else None
        self.optimizer = _adamw(self._learning, self.settings.optimizer)
        self.learning_rate = ParameterSchedule(settings.optimizer.learning_rate)
        self.temperature = ParameterSchedule(settings.exploration.temperature)
        self.epsilon = ParameterSchedule(settings.exploration.epsilon)
        self.replay: ReplayBuffer | None = None
        self.updates, self._skipped, self._gradient_used = 0, 0, True
        self.noise_scale = NoiseScale()

    def attach(self, head: nn.Module) -> None:
        """Train another head beside the network from here on. It is part of the state, not of the network's checkpoints."""
        self.head = head.to(self.device)
        self.optimizer = _adamw(self._learning, self.settings.optimizer)

    @property
    def published(self) -> Network:
        """The network that checkpoints store: as it is, or the moving average of its weights."""
        return self.network if self._averaged is None else self._averaged

    @property
    def _learning(self) -> nn.Module:
        """Everything that `update` trains."""
        return self.network if self.head is None else nn.ModuleList([self.network, self.head])

    @property
    def manner(self) -> SamplingSettings:
        """How it plays in this iteration."""
        return SamplingSettings(self.temperature.value, self.epsilon.value)

    def learns(self, iteration: int) -> bool:
        """Whether it is trained in this iteration."""
        learning = self.settings.learning
        return learning.active and iteration >= learning.start and (not learning.end or iteration < learning.end)

    def update(self, loss: Tensor) -> float:
        """Take a gradient step on a loss: `add_gradient` and `step` in one."""
        self.add_gradient(loss)
        return self.step()

    def _policies(self) -> list[list[nn.Parameter]]:
        """The parameters that are trained, by policy."""
        if self.network.second is None:
            return [list(self._learning.parameters())]
        second = list(self.network.second.parameters())
        known = {id(parameter) for parameter in second}
        return [[each for each in self._learning.parameters() if id(each) not in known], second]

    def add_gradient(self, loss: Tensor) -> None:
        """Add the gradient of a loss, or of a piece of it, to those since the last `step`."""
        if self._gradient_used:
            self.optimizer.zero_grad()
            self._gradient_used = False
        loss.backward()

    def add_piece(self, piece: Piece, loss: Tensor, fresh: bool = True) -> None:
        """Add the gradient of a piece of a minibatch. loss: the mean over the piece.

        fresh: whether the rollout was not learned from before; from such gradients the noise scale is estimated.
        """
        self.add_gradient(piece.share * loss)
        if fresh:
            gradients = [each.grad for each in self._learning.parameters() if each.grad is not None]
            self.noise_scale.add(gradients, piece.share, piece.decisions)

    def step(self) -> float:
        """Take a gradient step by what `add_gradient` got. Returns the norm of the gradient before clipping.

        Two policies are clipped each by itself. A step whose gradient is not finite is skipped. Raises TrainingFailed after
        `_BAD_UPDATES` of them in a row.
        """
        self._gradient_used = True
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate.value
        policies = self._policies()
        norms = [
            torch.nn.utils.get_total_norm([each.grad for each in policy if each.grad is not None])
            for policy in policies
        ]
        norm = math.hypot(*map(float, norms))
        for policy, own_norm in zip(policies, norms, strict=True):
            torch.nn.utils.clip_grads_with_norm_(policy, self.settings.optimizer.max_grad_norm, own_norm)
        self._skipped = 0 if math.isfinite(norm) else self._skipped + 1
        if self._skipped >= _BAD_UPDATES:
            raise TrainingFailed(
                f"{self.name}: the gradient was not finite in {_BAD_UPDATES} updates in a row: lower "
                f"{self.name}.optimizer.learning_rate and start another run"
            )
        if math.isfinite(norm):
            self.optimizer.step()
            self.updates += 1
            self._average()
        return norm

    @torch.no_grad()
    def _average(self) -> None:
        """Move the average towards the weights: slowly, but at first not slower than all of them count alike."""
        if self._averaged is not None:
            decay = min(self.settings.optimizer.average, 1 - 1 / self.updates)
            averages: list[torch.Tensor] = list(self._averaged.parameters())
            weights: list[torch.Tensor] = list(self.network.parameters())
            torch._foreach_lerp_(averages, weights, 1 - decay)

    def advance(self) -> None:
        """Go on to the next iteration."""
        for schedule in (self.learning_rate, self.temperature, self.epsilon):
            schedule.advance()

    def check_fits(self, network: Network) -> None:
        """Raise BadConfig unless `load_weights` can take over its weights."""
        own = self.network.shape
        given = replace(without_dropout(network.shape), team_preview=own.team_preview)
        if given not in (own, replace(own, policies=1)):
            sizes = "" if given.name == own.name else f" ({given.name}, not {own.name})"
            raise BadConfig(
                f"{self.name}: its network cannot be replaced by one of another shape{sizes}: change `replacements` or "
                "`copy_every`, or let both have the same preset, sizes, policies and format"
            )

    def load_weights(self, network: Network) -> None:
        """Take over the weights of a network of the same shape, or of one for both slots; the optimizer begins anew."""
        self.check_fits(network)
        take_over(self.network, network)
        if self._averaged is not None:
            take_over(self._averaged, network)
        self.optimizer = _adamw(self._learning, self.settings.optimizer)

    def norms(self) -> dict[str, float]:
        """The norms of each layer's weights and of its last gradient, for the metrics."""
        norms: dict[str, float] = {}
        for name, parameter in self.network.named_parameters():
            norms[f"norms/{self.name}/weight/{name}"] = float(parameter.detach().norm())
            if parameter.grad is not None:
                norms[f"norms/{self.name}/gradient/{name}"] = float(parameter.grad.norm())
        return norms

    def state(self) -> dict[str, Any]:
        """What a checkpoint must store to resume, the network included."""
        return {
            "network": self.network.state_dict(),
            "head": None if self.head is None else self.head.state_dict(),
            "averaged": None if self._averaged is None else self._averaged.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedules": [each.state for each in (self.learning_rate, self.temperature, self.epsilon)],
            "replay": None if self.replay is None else self.replay.state(),
            "lineage": self.lineage,
            "updates": self.updates,
            "skipped": self._skipped,
            "noise_scale": self.noise_scale.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a `state`."""
        self.network.load_state_dict(state["network"])
        if self.head is not None:
            self.head.load_state_dict(state["head"])
        if self._averaged is not None:
            self._averaged.load_state_dict(state["averaged"])
        self.optimizer.load_state_dict(state["optimizer"])
        for schedule, saved in zip(
            (self.learning_rate, self.temperature, self.epsilon), state["schedules"], strict=True
        ):
            schedule.restore(saved)
        if self.replay is not None:
            self.replay.restore(state["replay"])
        self.lineage, self.updates, self._skipped = state["lineage"], state["updates"], state["skipped"]
        if "noise_scale" in state:  # states of 0.1.0 have none
            self.noise_scale.restore(state["noise_scale"])

    def _built(self, seed: int, played: Format) -> Network:
        """The network with its initial weights. Dropout is off: what plays must be what is trained."""
        settings = self.settings.network
        if settings.policies > played.slots:
            raise BadConfig(
                f"{self.name}.network.policies: {settings.policies}: in {played.id} there is one slot: set 1"
            )
        folder = checkpoint.find(settings.start_from) if settings.start_from else None
        team_preview = decides_previews(settings.team_preview, played, folder)
        fields: dict[str, Any] = {"policies": settings.policies, "team_preview": team_preview}
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            shape = replace(without_dropout(settings.shape), slots=played.slots, **fields)
            built = initialized(shape, f"{self.name}.network")
        if folder is not None:
            loaded, about = checkpoint.load(folder)
            if unfit := about.unfit_for(played.gen, doubles=played.doubles):
                raise BadConfig(f"{self.name}.network.start_from: {folder}: {unfit}")
            if not built.shape.extends(loaded.shape):
                raise BadConfig(f"{self.name}.network.start_from: {folder}: {unlike(built.shape, loaded.shape)}")
            if loaded.shape.policies > settings.policies:
                raise BadConfig(
                    f"{self.name}.network.policies: {settings.policies}: {folder} has a network for each slot: set 2"
                )
            if not finite(loaded):
                raise BadConfig(f"{folder}: contains non-finite weights: start from another checkpoint")
            take_over(built, loaded)
            name, identity = checkpoint.name_of(folder), checkpoint.identity(folder)
            self.lineage = [*about.lineage, {"checkpoint": name, "step": about.step, "identity": identity}]
        freeze(built, settings.freeze)
        return built.to(self.device).eval()


class Critic:
    """A network that only evaluates, with an optimizer of its own: that of a role's settings, at its own learning rate."""

    def __init__(self, network: nn.Module, learning_rate: ScheduleSettings, role: Role) -> None:
        self.network = network.to(role.device).eval().requires_grad_(True)
        settings = role.settings.optimizer
        self._optimizer = _adamw(self.network, settings)
        self._learning_rate, self._max_norm = learning_rate, settings.max_grad_norm

    def add_gradient(self, loss: Tensor) -> None:
        """Add the gradient of a loss, or of a piece of it, to those since the last `step`."""
        loss.backward()

    def step(self, iteration: int) -> None:
        """Take a gradient step by what `add_gradient` got, unless it is not finite."""
        for group in self._optimizer.param_groups:
            group["lr"] = self._learning_rate.at(iteration)
        if math.isfinite(float(torch.nn.utils.clip_grad_norm_(self.network.parameters(), self._max_norm))):
            self._optimizer.step()
        self._optimizer.zero_grad()

    def state(self) -> dict[str, Any]:
        """What a checkpoint must store to resume."""
        return {"network": self.network.state_dict(), "optimizer": self._optimizer.state_dict()}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a `state`."""
        self.network.load_state_dict(state["network"])
        self._optimizer.load_state_dict(state["optimizer"])


def _adamw(network: nn.Module, settings: config.RoleOptimizer) -> torch.optim.Optimizer:
    """The optimizer of a network; its learning rate is set at each update."""
    groups = parameter_groups(network, settings.weight_decay)
    return torch.optim.AdamW(groups, lr=1.0, betas=settings.betas, fused=True)  # 2 ms a step for tiny instead of 12


def without_dropout(shape: Shape) -> Shape:
    """The shape with dropout off."""
    return replace(shape, dropout=0.0)
