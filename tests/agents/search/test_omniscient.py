"""`search:omniscient`: an opponent in training that searches from the true position, and has no part in evaluations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")

from support.environments import played

from agents import resolve
from teamsets.errors import BadInput
from training.envs import PokemonVectorEnv


@pytest.mark.slow
@pytest.mark.parametrize("format_id", ["gen1ou", "gen9ou"])
def test_it_beats_random_play_and_plays_the_same_with_the_same_seed(format_id: str) -> None:
    opponent = "search:omniscient?iterations=60&temperature=0.5"
    one, same = (played(PokemonVectorEnv(4, format=format_id, opponent=opponent), 120, seed=7) for _ in range(2))
    rewards = np.concatenate([step[1][step[2]] for step in one[1:]])  # at the ends of battles
    assert len(rewards) >= 8 and (rewards == -1).mean() > 0.85
    for ours, theirs in zip(one, same, strict=True):
        assert all(np.array_equal(ours[0][name], theirs[0][name]) for name in ours[0])


@pytest.mark.parametrize("option", ["iterations=0", "temperature=-1.0"])
def test_options_out_of_range_are_refused_by_name(option: str) -> None:
    with pytest.raises(BadInput, match=f"search:omniscient: {option}: must be"):
        resolve(f"search:omniscient?{option}").make()


def test_an_evaluation_refuses_it(arena: Callable[..., Any], tmp_path: Path) -> None:
    said = arena("match", "search:omniscient", "random", "--format", "gen1ou", "--db", tmp_path / "a.duckdb")
    assert said.code == 2
    assert "'search:omniscient': cannot play gen1ou: it sees both teams" in said.err


def test_showdowns_environment_refuses_it() -> None:
    with pytest.raises(BadInput, match="it sees both teams"):
        PokemonVectorEnv(2, venue="showdown", opponent="search:omniscient")
