"""A battle of two Pokémon that an exhaustive search solves: moves of fixed damage, and an opponent that has one move.

Alakazam (313 HP) moves first and is knocked out by the fourth Seismic Toss (100). Snorlax (523 HP) falls to five of its own
Seismic Tosses, which come too late; Counter gives back twice what it took.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

import numpy as np

from agents.engine.gen1.engine import Engine
from agents.engine.gen1.layout import SEED, TURN, UNDECIDED, WINNER
from arena.fixture import Fixture, FixtureTeam, showdown_seed
from training.envs.fixtures import LEARNER, EnvBattle

OURS = "Alakazam|||noability|seismictoss,counter,sonicboom,splash||255,255,255,255,255,255|||||"
THEIRS = "Snorlax|||noability|seismictoss||255,255,255,255,255,255|||||"
#: Chances that are drawn for each action in a position, and the share of them below which an outcome is left out: a miss of
#: a move that always hits (1/256 in generation 1), after which the search would never end. Sonic Boom misses in a tenth.
_SAMPLES, _RARE = 256, 0.05


class TinyBattles:
    """Draws them, in place of `Games`: the learner has the Pokémon that has a choice, in either seat."""

    def game(self, number: int, opponents: Mapping[str, float]) -> EnvBattle:
        rng = random.Random(number)
        return _game(next(iter(opponents)), rng.randrange(2), showdown_seed("tiny", number))

    def replica(self, game: EnvBattle, number: int, copy: int) -> EnvBattle:
        return _game(game.opponent, game.seat, showdown_seed("tiny", number, copy))


def _game(opponent: str, seat: int, seed: str) -> EnvBattle:
    teams = FixtureTeam("ours", "ours", packed=OURS), FixtureTeam("theirs", "theirs", packed=THEIRS)
    agents = LEARNER, opponent
    if seat:
        teams, agents = teams[::-1], agents[::-1]
    return EnvBattle(Fixture("gen1ou", agents, teams, seed, "", ""), seat)


class Solver:
    """Exhaustive search: the value of each position (from -1 to 1) with the best actions, positions told apart by all words.

    Positions that differ in their random numbers only are one. Outcomes that are rarer than `_RARE` are left out.
    """

    def __init__(self) -> None:
        self._values: dict[bytes, dict[int, float]] = {}
        self._rng = np.random.default_rng(0)

    def start(self) -> float:
        """The value of the battle before its first turn."""
        engine = Engine(1)
        engine.reset([(OURS, THEIRS)], [showdown_seed("tiny", 0)])
        return max(self.actions(engine.words[0]).values())

    def actions(self, words: np.ndarray) -> dict[int, float]:
        """Action of the engine -> value, in a position of seat 0."""
        key = self._key(words)
        if key not in self._values:
            engine = Engine(1)
            engine.words[:] = words
            legal = int(engine.legal()[0, 0])
            self._values[key] = {action: self._value(words, action) for action in range(9) if legal >> action & 1}
        return self._values[key]

    def _value(self, words: np.ndarray, action: int) -> float:
        engine = Engine(_SAMPLES)
        engine.words[:] = words
        engine.words[:, SEED : SEED + 4] = self._rng.integers(0, 1 << 16, (_SAMPLES, 4))
        engine.step(np.tile(np.array([action, 0], np.int32), (_SAMPLES, 1)))
        after: dict[bytes, tuple[np.ndarray, int]] = {}
        for row in engine.words:
            kept, count = after.get(self._key(row), (row, 0))
            after[self._key(row)] = kept, count + 1
        total, counted = 0.0, 0
        for row, count in after.values():
            if count < _RARE * _SAMPLES:
                continue
            counted += count
            winner = int(row[WINNER])
            value = max(self.actions(row).values()) if winner == UNDECIDED else {0: 1.0, 1: -1.0}.get(winner, 0.0)
            total += count * value
        return total / counted

    @staticmethod
    def _key(words: np.ndarray) -> bytes:
        rest = words.copy()
        rest[SEED : SEED + 4] = 0
        assert rest[TURN] < 40
        return rest.tobytes()
