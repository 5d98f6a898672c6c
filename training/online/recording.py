"""Keeps the decisions of an iteration as they are made, and packs them into rollouts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from agents.observation.actions import ACTIONS
from agents.observation.observation import FEATURES, IDS_PER_TOKEN, TOKENS, Observations
from training.online.players import Ints, SampledActions, SamplingSettings
from training.online.rollout import Rollout

if TYPE_CHECKING:
    from agents.search.exact.positions import Searched


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
    seen: Observations
    decided: SampledActions
    in_loss: NDArray[np.bool_]
    others: Observations | None
    searched: Searched | None


class Recorder:
    """The decisions that are kept in an iteration. roles: [2 N], by trajectory: whose rollout it belongs to, or ""."""

    def __init__(self, roles: NDArray[np.str_]) -> None:
        self._roles = roles
        self._kept: list[_Kept] = []

    def wanted(self, trajectory: Ints) -> Ints:
        """The places in `trajectory` [n] of those that are kept."""
        return np.flatnonzero(self._roles[trajectory] != "")

    def keep(
        self,
        trajectory: Ints,
        seen: Observations,
        decided: SampledActions,
        in_loss: NDArray[np.bool_],
        others: Observations | None,
        searched: Searched | None = None,
    ) -> None:
        """Keep decisions [n]. others: what the seats opposite saw, or None. searched: what a teacher said, or None."""
        self._kept.append(_Kept(trajectory, seen, decided, in_loss, others, searched))

    def copy(self, leaders: Ints, rows: Ints) -> None:
        """Give battles what was kept of those that they became copies of, as context only."""
        copies = []
        for kept in self._kept:
            battle, seat = kept.trajectory // 2, kept.trajectory % 2
            for leader, row in zip(leaders.tolist(), rows.tolist(), strict=True):
                (matching,) = np.nonzero(battle == leader)
                if len(matching):
                    copies.append(
                        _Kept(
                            2 * row + seat[matching],
                            kept.seen.take(matching.tolist()),
                            kept.decided.take(matching),
                            np.zeros(len(matching), np.bool_),
                            None if kept.others is None else kept.others.take(matching.tolist()),
                            None if kept.searched is None else kept.searched.take(matching),
                        )
                    )
        self._kept += copies

    def rollouts(self, ended: EndedBattle, manners: Mapping[str, SamplingSettings]) -> dict[str, Rollout]:
        """The rollout of each role that has one. manners: role -> how it played."""
        if not self._kept:
            return {}
        trajectory = np.concatenate([kept.trajectory for kept in self._kept])
        arrays: dict[str, NDArray[Any]] = {
            "token_ids": np.concatenate([kept.seen.token_ids for kept in self._kept]),
            "features": np.concatenate([kept.seen.features for kept in self._kept]),
            "legal": np.concatenate([kept.seen.legal for kept in self._kept]),
            "actions": np.concatenate([kept.decided.actions for kept in self._kept]),
            "log_probs": np.concatenate([kept.decided.log_probs for kept in self._kept]),
            "logits": np.concatenate([kept.decided.logits for kept in self._kept]),
            "values": np.concatenate([kept.decided.values for kept in self._kept]),
            "in_loss": np.concatenate([kept.in_loss for kept in self._kept]),
        }
        others = [kept.others for kept in self._kept if kept.others is not None]
        if others:
            arrays["others_token_ids"] = np.concatenate([each.token_ids for each in others])
            arrays["others_features"] = np.concatenate([each.features for each in others])
        searched = [kept.searched for kept in self._kept if kept.searched is not None]
        if searched:
            values = np.concatenate([each.values for each in searched])
            beyond = ((0, 0), (0, ACTIONS - values.shape[1]))  # actions that no position of the engine has
            arrays["searched_values"] = np.pad(values, beyond, constant_values=np.nan)
            arrays["searched_value"] = np.concatenate([each.value for each in searched])
        roles = self._roles[trajectory]
        return {
            role: _rollout(role_arrays, trajectory[order], ended, manner)
            for role, manner in manners.items()
            if len(order := _in_order(trajectory, np.flatnonzero(roles == role)))
            for role_arrays in ({name: array[order] for name, array in arrays.items()},)
        }


def _in_order(trajectory: Ints, mine: Ints) -> Ints:
    """`mine`, sorted by trajectory, the decisions of each in the order in which they were made."""
    return mine[np.argsort(trajectory[mine], kind="stable")]


def _rollout(
    arrays: dict[str, NDArray[Any]], trajectory: Ints, ended: EndedBattle, manner: SamplingSettings
) -> Rollout:
    trajectories, lengths = np.unique(trajectory, return_counts=True)
    battle, seat = trajectories // 2, trajectories % 2
    last = arrays["values"][lengths.cumsum() - 1]
    bootstrap = [ended.bootstrap.get(t, v) for t, v in zip(trajectories.tolist(), last.tolist(), strict=True)]
    names = tuple(dict.fromkeys(ended.opponents))
    arrays.setdefault("others_token_ids", np.zeros((0, TOKENS, IDS_PER_TOKEN), np.int16))
    arrays.setdefault("others_features", np.zeros((0, TOKENS, FEATURES), np.float32))
    arrays.setdefault("searched_values", np.zeros((0, ACTIONS), np.float32))
    arrays.setdefault("searched_value", np.zeros(0, np.float32))
    arrays |= {
        "lengths": lengths.astype(np.int64),
        "results": ended.results[battle, seat],
        "terminated": ended.terminated[battle],
        "bootstrap": np.array(bootstrap, np.float32),
        "battle": battle,
        "seat": seat,
        "opponent": np.array([names.index(ended.opponents[row]) for row in battle.tolist()], np.int64),
        "group": battle // ended.group,
    }
    tensors: dict[str, Any] = {name: torch.from_numpy(array) for name, array in arrays.items()}
    return Rollout(**tensors, opponents=names, manner=manner)
