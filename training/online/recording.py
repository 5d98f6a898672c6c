"""Keeps the decisions of an iteration as they are made, and packs them into rollouts, on the network's device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.observation.observation import Observations
from training.envs.network_players import SampledActions, SamplingSettings
from training.envs.network_steps import SeenTensors
from training.envs.venue import Ints
from training.online.rollout import Rollout

if TYPE_CHECKING:
    from agents.search.exact.teacher import Searched


@dataclass(frozen=True)
class EndedBattle:
    """How the battles [N] of an iteration ended. results: raw return of each seat [N, 2]; 0 where truncated.

    bootstrap: trajectory -> the value of the position after its last decision, where a battle was truncated.
    """

    results: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    opponents: list[str]
    group: int
    bootstrap: Mapping[int, float]


@dataclass(frozen=True)
class _Kept:
    """Decisions of one step. trajectory: [n], 2 · battle + seat."""

    trajectory: Ints
    seen: SeenTensors
    decided: SampledActions
    opponent_choices: Tensor | None
    in_loss: NDArray[np.bool_]
    others: Observations | None
    searched: Searched | None


class Recorder:
    """The decisions that are kept in an iteration. roles: [2 N], by trajectory: whose rollout it belongs to, or ""."""

    def __init__(self, roles: NDArray[np.str_]) -> None:
        self._roles, self._is_kept = roles, roles != ""
        self._kept: list[_Kept] = []

    def wanted(self, trajectory: Ints) -> Ints:
        """The places in `trajectory` [n] of those that are kept."""
        return np.flatnonzero(self._is_kept[trajectory])

    def keep(
        self,
        trajectory: Ints,
        seen: SeenTensors,
        decided: SampledActions,
        opponent_choices: Tensor | None,
        in_loss: NDArray[np.bool_],
        others: Observations | None,
        searched: Searched | None = None,
    ) -> None:
        """Keep decisions [n]. others: what the seats opposite saw, or None. searched: what a teacher said, or None."""
        self._kept.append(_Kept(trajectory, seen, decided, opponent_choices, in_loss, others, searched))

    def copy(self, leaders: Ints, rows: Ints) -> None:
        """Give battles what was kept of those that they became copies of, as context only."""
        copies = []
        for kept in self._kept:
            battle, seat = kept.trajectory // 2, kept.trajectory % 2
            for leader, row in zip(leaders.tolist(), rows.tolist(), strict=True):
                (matching,) = np.nonzero(battle == leader)
                if len(matching):
                    places = torch.from_numpy(matching)
                    copies.append(
                        _Kept(
                            2 * row + seat[matching],
                            kept.seen.take(places),
                            kept.decided.take(places),
                            None if kept.opponent_choices is None else kept.opponent_choices[places],
                            np.zeros(len(matching), np.bool_),
                            None if kept.others is None else kept.others.take(matching.tolist()),
                            None if kept.searched is None else kept.searched.take(matching),
                        )
                    )
        self._kept += copies

    def rollouts(self, ended: EndedBattle, manners: Mapping[str, SamplingSettings]) -> dict[str, Rollout]:
        """The rollout of each role that has one; what was kept is gone then. manners: role -> how it played."""
        if not self._kept:
            return {}
        trajectory = np.concatenate([kept.trajectory for kept in self._kept])
        kept_roles = self._roles[trajectory]
        orders = {role: _in_order(trajectory, np.flatnonzero(kept_roles == role)) for role in manners}
        orders = {role: order for role, order in orders.items() if len(order)}
        device = self._kept[0].decided.actions.device
        places = {role: torch.from_numpy(order).to(device) for role, order in orders.items()}
        packed: dict[str, dict[str, Tensor]] = {role: {} for role in orders}
        for name, parts in self._take_fields().items():
            whole = torch.cat(parts)
            parts.clear()  # one field after another, so that all of it is never there twice
            for role, place in places.items():
                packed[role][name] = whole[place]
        return {role: _rollout(packed[role], trajectory[orders[role]], ended, manners[role]) for role in orders}

    def _take_fields(self) -> dict[str, list[Tensor]]:
        """Each field's parts, step by step."""
        kept, self._kept = self._kept, []
        fields = {
            "token_ids": [each.seen.token_ids for each in kept],
            "features": [each.seen.features for each in kept],
            "legal": [each.seen.legal for each in kept],
            "actions": [each.decided.actions for each in kept],
            "log_probs": [each.decided.log_probs for each in kept],
            "logits": [each.decided.logits for each in kept],
            "values": [each.decided.values for each in kept],
        }
        choices = [each.opponent_choices for each in kept if each.opponent_choices is not None]
        if choices:
            fields["opponent_choices"] = choices
        device = kept[0].decided.actions.device
        arrays: dict[str, list[NDArray[Any]]] = {"in_loss": [each.in_loss for each in kept]}
        others = [each.others for each in kept if each.others is not None]
        if others:
            arrays["others_token_ids"] = [each.token_ids for each in others]
            arrays["others_features"] = [each.features for each in others]
        searched = [each.searched for each in kept if each.searched is not None]
        if searched:
            for name in ("values", "second_values"):
                values = np.concatenate([getattr(each, name) for each in searched])
                unknown = kept[0].seen.legal.shape[1] - values.shape[1]  # actions that no position of the engine has
                beyond = ((0, 0), (0, unknown))
                arrays[f"searched_{name}"] = [np.pad(values, beyond, constant_values=np.nan)]
            arrays["searched_value"] = [each.value for each in searched]
        moved = {name: [torch.from_numpy(np.concatenate(parts)).to(device)] for name, parts in arrays.items()}
        return fields | moved


def _in_order(trajectory: Ints, mine: Ints) -> Ints:
    """`mine`, sorted by trajectory, the decisions of each in the order in which they were made."""
    return mine[np.argsort(trajectory[mine], kind="stable")]


def _rollout(packed: dict[str, Tensor], trajectory: Ints, ended: EndedBattle, manner: SamplingSettings) -> Rollout:
    """packed: the decisions' fields, sorted by trajectory. trajectory: [D], of each."""
    trajectories, lengths = np.unique(trajectory, return_counts=True)
    battle, seat = trajectories // 2, trajectories % 2
    device = packed["values"].device
    bootstrap = packed["values"][torch.from_numpy(lengths.cumsum() - 1).to(device)].cpu().numpy()
    for place in np.flatnonzero(~ended.terminated[battle]).tolist():
        bootstrap[place] = ended.bootstrap.get(int(trajectories[place]), bootstrap[place])
    names = tuple(dict.fromkeys(ended.opponents))
    numbers = {name: number for number, name in enumerate(names)}
    opponents = np.array([numbers[name] for name in ended.opponents], np.int64)
    arrays: dict[str, NDArray[Any]] = {
        "lengths": lengths.astype(np.int64),
        "results": ended.results[battle, seat],
        "terminated": ended.terminated[battle],
        "bootstrap": bootstrap,
        "battle": battle,
        "seat": seat,
        "opponent": opponents[battle],
        "group": battle // ended.group,
    }
    actions = packed["legal"].shape[1]
    empty: dict[str, NDArray[Any]] = {
        "others_token_ids": np.zeros((0, *packed["token_ids"].shape[1:]), np.int16),
        "others_features": np.zeros((0, *packed["features"].shape[1:]), np.float32),
        "searched_values": np.zeros((0, actions), np.float32),
        "searched_second_values": np.zeros((0, actions), np.float32),
        "searched_value": np.zeros(0, np.float32),
        "opponent_choices": np.zeros(0, np.int64),
    }
    arrays |= {name: array for name, array in empty.items() if name not in packed}
    tensors: dict[str, Any] = packed | {name: torch.from_numpy(array).to(device) for name, array in arrays.items()}
    return Rollout(**tensors, opponents=names, manner=manner)
