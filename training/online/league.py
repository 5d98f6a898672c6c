"""The league: whom the learner meets. Snapshots of earlier learners, stored checkpoints, agents, and the role `opponent`.

The scores against past learners decay, so that those that the present learner wins least against are met most (`hardest`),
as in the prioritised self-play of AlphaStar (Vinyals et al. 2019).
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import torch

from agents.policy import checkpoint
from agents.policy.network import Network
from agents.policy.shape import Shape
from arena.fixture import digest
from teamsets.errors import BadInput
from teamsets.formats import Format
from training.envs.network_players import SamplingSettings
from training.online.collecting import SeatAssignment
from training.online.config import AgentMember, CheckpointMember, LeagueSettings, Member, PastMember
from training.online.rollout import Rollout

#: The share of an earlier score that is kept with each battle against the same past learner.
_DECAY = 0.98
OPPONENT, PAST = "opponent", "past"


class League:
    """The members of a league. `opponent` is set by the trainer before each iteration: the role's network as it is then.

    agents: spec in the settings -> the agent's name in `Opponents`. Raises BadInput for a checkpoint that cannot be used.
    """

    def __init__(
        self, settings: LeagueSettings, seed: int, played: Format, device: torch.device, agents: Mapping[str, str]
    ) -> None:
        self._settings, self._seed, self._device, self._agents = settings, seed, device, agents
        self.opponent: SeatAssignment
        self.past_manner = SamplingSettings(1.0, 0.0)
        self._stored: dict[str, SeatAssignment] = {}
        for each in settings.members:
            if isinstance(each, CheckpointMember):
                policy, about = checkpoint.load(checkpoint.find(each.checkpoint), device)
                if unfit := about.unfit_for(played.gen, doubles=played.doubles):
                    raise BadInput(f"league.members: {each.checkpoint}: {unfit}")
                name = each.checkpoint
                self._stored[name] = SeatAssignment(
                    name, policy.requires_grad_(False), SamplingSettings(each.temperature, 0.0), ""
                )
        self._past: dict[int, Network] = {}  # iteration -> the learner before it
        self._scores: dict[int, tuple[float, float]] = {}  # iteration -> decayed score and number of battles

    @property
    def weights(self) -> dict[str, float]:
        """Opponent's name -> weight."""
        return {self._name(each): each.weight for each in self._settings.members}

    def of(self, name: str, number: int) -> SeatAssignment:
        if name == OPPONENT or (name == PAST and not self._past):
            return self.opponent
        if name == PAST:
            iteration = self._chosen(number)
            return SeatAssignment(f"past:{iteration}", self._past[iteration], self.past_manner, "")
        return self._stored.get(name) or SeatAssignment(name, None, self.past_manner, "")

    def snapshot_if_due(self, iteration: int, learner: Network) -> None:
        """Keep the learner as it is before this iteration."""
        if iteration % self._settings.snapshot_every == 0:
            self._past[iteration] = self._frozen(learner.shape, learner.state_dict())
            self._scores[iteration] = (0.0, 0.0)
            for old in sorted(self._past)[: -self._settings.keep]:
                del self._past[old], self._scores[old]

    def note(self, rollout: Rollout) -> None:
        """Count the learner's results against past learners."""
        scores = ((rollout.results + 1) / 2).tolist()
        for index, score in zip(rollout.opponent.tolist(), scores, strict=True):
            kind, _, iteration = rollout.opponents[index].partition(":")
            if kind == PAST and int(iteration) in self._scores:
                total, count = self._scores[int(iteration)]
                self._scores[int(iteration)] = (_DECAY * total + score, _DECAY * count + 1)

    @property
    def scores(self) -> dict[int, float]:
        """The learner's decayed score against each past learner; a half before the first battle."""
        return {iteration: (total + 0.5) / (count + 1) for iteration, (total, count) in self._scores.items()}

    def state(self) -> dict[str, Any]:
        """What a checkpoint must store to resume."""
        return {"past": {i: each.state_dict() for i, each in self._past.items()}, "scores": dict(self._scores)}

    def restore(self, state: Mapping[str, Any], shape: Shape) -> None:
        """Restore a `state`. shape: of the learner's network."""
        self._past = {iteration: self._frozen(shape, weights) for iteration, weights in state["past"].items()}
        self._scores = dict(state["scores"])

    def _frozen(self, shape: Shape, weights: Mapping[str, Any]) -> Network:
        kept = Network(shape).to(self._device).eval().requires_grad_(False)
        kept.load_state_dict(weights)
        return kept

    def _chosen(self, number: int) -> int:
        """The past learner of the battle with this number."""
        known = sorted(self._past)
        choose = next(each.choose for each in self._settings.members if isinstance(each, PastMember))
        if choose == "latest":
            return known[-1]
        scores = self.scores
        hard = [max(1 - scores[i], 1e-3) ** self._settings.hardness for i in known]
        rng = random.Random(digest(["league", self._seed, number]))
        return rng.choices(known, hard if choose == "hardest" else None)[0]

    def _name(self, member: Member) -> str:
        if isinstance(member, CheckpointMember):
            return member.checkpoint
        return self._agents[member.agent] if isinstance(member, AgentMember) else member.who
