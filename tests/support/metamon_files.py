"""Files as metamon writes them, made by hand, and the part of a battle that they have."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.observation.columns import at_preview
from training.data.trajectory import COLUMNS, Trajectory

_BOOSTS = ("atk", "spa", "def", "spd", "spe", "accuracy", "evasion")


def write(path: Path, states: Sequence[dict[str, Any]], actions: Sequence[int]) -> Path:
    """A file of metamon's; skips where lz4 is not installed."""
    frame = pytest.importorskip("lz4.frame")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(frame.compress(json.dumps({"states": list(states), "actions": list(actions)}).encode()))
    return path


def in_play(trajectory: Trajectory) -> Trajectory:
    """A trajectory without the decision at team preview, which metamon does not keep."""
    played = ~at_preview(trajectory.features)
    return replace(trajectory, **{name: getattr(trajectory, name)[played] for name in COLUMNS})


def move(name: str, pp: int = 16, most: int = 16) -> dict[str, Any]:
    return {
        "name": name, "move_type": "normal", "category": "physical", "base_power": 80, "accuracy": 1.0, "priority": 0,
        "current_pp": pp, "max_pp": most,
    }  # fmt: skip


def mon(name: str, *moves: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A Pokémon that is well and of which nothing is known but its moves, unless `more` says it."""
    told = {
        "name": name, "base_species": name, "hp_pct": 1.0, "types": "normal notype", "tera_type": "notype",
        "item": "unknownitem", "ability": "unknownability", "lvl": 100, "status": "nostatus", "effect": "noeffect",
        "moves": list(moves),
    }  # fmt: skip
    boosts = {f"{stat}_boost": 0 for stat in _BOOSTS}
    stats = {f"base_{stat}": 80 for stat in ("atk", "spa", "def", "spd", "spe", "hp")}
    return {**told, **boosts, **stats, **more}


def state(ours: dict[str, Any], theirs: dict[str, Any], bench: Sequence[dict[str, Any]], **more: Any) -> dict[str, Any]:
    told = {
        "format": "gen9ou", "player_active_pokemon": ours, "opponent_active_pokemon": theirs,
        "available_switches": list(bench), "player_prev_move": move("nomove"), "opponent_prev_move": move("nomove"),
        "opponents_remaining": 6, "player_conditions": "noconditions", "opponent_conditions": "noconditions",
        "weather": "noweather", "battle_field": "nofield", "forced_switch": False, "battle_won": False,
        "battle_lost": False, "can_tera": True, "opponent_teampreview": [],
    }  # fmt: skip
    return {**told, **more}
