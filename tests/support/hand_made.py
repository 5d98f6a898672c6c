"""Rollouts made by hand, for tests of learning rules against numbers worked out on paper."""

from __future__ import annotations

import math
from typing import Any

import torch

from agents.observation.actions import ACTIONS
from agents.observation.observation import FEATURES, IDS_PER_TOKEN, TOKENS
from training.envs.network_players import SamplingSettings
from training.online.rollout import Rollout


def rollout(values: list[float], lengths: list[int], results: list[float], **changes: Any) -> Rollout:
    """Decisions with these values; every one has two legal actions, of which the first was played."""
    count, trajectories = len(values), len(lengths)
    legal = torch.zeros((count, ACTIONS), dtype=torch.bool)
    legal[:, :2] = True
    parts: dict[str, Any] = {
        "token_ids": torch.zeros((count, TOKENS, IDS_PER_TOKEN), dtype=torch.int16),
        "features": torch.zeros((count, TOKENS, FEATURES)),
        "legal": legal,
        "actions": torch.zeros(count, dtype=torch.int64),
        "log_probs": torch.full((count,), math.log(0.5)),
        "logits": torch.zeros((count, ACTIONS)).masked_fill(~legal, -torch.inf),
        "values": torch.tensor(values),
        "in_loss": torch.ones(count, dtype=torch.bool),
        "others_token_ids": torch.zeros((0, TOKENS, IDS_PER_TOKEN), dtype=torch.int16),
        "others_features": torch.zeros((0, TOKENS, FEATURES)),
        "searched_values": torch.zeros((0, ACTIONS)),
        "searched_second_values": torch.zeros((0, ACTIONS)),
        "searched_value": torch.zeros(0),
        "opponent_choices": torch.zeros(0, dtype=torch.int64),
        "lengths": torch.tensor(lengths),
        "results": torch.tensor(results),
        "terminated": torch.ones(trajectories, dtype=torch.bool),
        "bootstrap": torch.zeros(trajectories),
        "battle": torch.arange(trajectories),
        "seat": torch.zeros(trajectories, dtype=torch.int64),
        "opponent": torch.zeros(trajectories, dtype=torch.int64),
        "group": torch.zeros(trajectories, dtype=torch.int64),
    }
    return Rollout(**(parts | changes), opponents=("self",), manner=SamplingSettings(1.0, 0.0))
