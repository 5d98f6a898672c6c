"""Battles of one learner against opponents, N at a time: what the Gymnasium environments share."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.engine import HOSTED_FORMATS
from agents.observation.layout import layout_of_format
from agents.observation.observation import Observations
from arena.fixture import seat_seed
from arena.options import default
from teamsets.errors import BadInput
from teamsets.formats import get_format
from training.envs.fixtures import EnvBattle, FixtureSampler
from training.envs.opponents import Mixture, Opponents
from training.envs.seeding import draw_actions, next_random
from training.envs.spaces import NOTHING_TO_CHOOSE, Arrays, arrays_of
from training.envs.venue import STUCK, TIE, UNDECIDED, Battles, Ints, check_engine_format

_MOST_TURNS = default("max_turns")
ILLEGAL = ("random", "error")


def open_battles(venue: str, size: int, format_id: str, cores: int | None = None) -> Battles:
    """The battles of a venue: "engine" or "showdown". Imports only what that one needs. Raises BadInput, MissingTool."""
    if venue == "engine":
        check_engine_format(format_id)  # before what has to be installed for it
        return _open_on_engine(size, format_id, cores)
    if venue == "showdown":
        from training.envs.showdown_battles import ShowdownBattles

        return ShowdownBattles(size, format_id)
    raise BadInput(f"venue '{venue}': must be engine or showdown")


def _open_on_engine(size: int, format_id: str, cores: int | None) -> Battles:
    """Battles in which an agent acts alone follow the generation-9 engine's protocol, or Showdown's where there is none."""
    from training.envs.mixed_battles import MixedBattles

    if format_id in HOSTED_FORMATS:
        from training.envs.gen9_battles import Gen9Battles
        from training.envs.hosted_battles import HostedBattles

        return MixedBattles(Gen9Battles(size, format_id, cores), partial(HostedBattles, size, format_id, cores))
    from training.envs.engine_battles import EngineBattles

    return MixedBattles(EngineBattles(size, format_id, cores), partial(open_battles, "showdown", size, format_id))


def check_max_turns(max_turns: int) -> int:
    """Returns it. Raises BadInput: Showdown ends a battle at turn 1000."""
    if not 1 <= max_turns <= _MOST_TURNS:
        raise BadInput(f"max_turns={max_turns}: must be from 1 to {_MOST_TURNS}")
    return max_turns


class LearnerBattles:
    """N battles, each at a decision of the learner or over. After `begin` and `play` this holds for every row again.

    venue: "engine" or "showdown". format: e.g. "gen1ou". opponent: an agent's spec or a mixture (opponents.py).
    teams: a team set; None: `competitive`, or the teams that the format generates. seat: the learner's: "drawn",
    "alternate", "p1" or "p2". max_turns: a battle that goes beyond this turn is truncated.
    illegal_action: what becomes of an action that is not legal: "random" plays a legal one drawn by the battle's seed,
    "error" raises BadInput. cores: that the engine uses at most; None: all. team_preview: whether the learner chooses its
    lead in singles, in formats with a team preview; otherwise its team keeps its order. In doubles it always chooses.
    """

    def __init__(
        self,
        size: int,
        *,
        venue: str = "engine",
        format: str = "gen1ou",
        opponent: Mixture = "random",
        teams: str | None = None,
        seat: str = "drawn",
        max_turns: int = 1000,
        illegal_action: str = "random",
        cores: int | None = None,
        team_preview: bool = False,
    ) -> None:
        if illegal_action not in ILLEGAL:
            raise BadInput(f"illegal_action='{illegal_action}': must be {' or '.join(ILLEGAL)}")
        if size < 1:
            raise BadInput(f"num_envs={size}: must be 1 or more")
        format_id = get_format(format).id
        self.layout = layout_of_format(format_id)
        self.size, self.max_turns, self.strict = size, check_max_turns(max_turns), illegal_action == "error"
        self.team_preview = team_preview
        self.battles = open_battles(venue, size, format_id, cores)
        self.opponents = Opponents(opponent, size, format_id, on_engine=venue == "engine")
        self.draw = FixtureSampler(format_id, teams, seat, packed=venue == "engine")
        self.games: list[EnvBattle | None] = [None] * size
        self.seats = np.zeros(size, np.int64)
        self.masks = np.zeros((size, self.layout.actions), np.bool_)
        self._seeds, self._numbers = [0] * size, [0] * size
        self._states = np.zeros(size, np.uint64)

    def seed(self, row: int, seed: int) -> None:
        """Makes the row's next battles those of this seed, from its first one on."""
        self._seeds[row], self._numbers[row] = seed, 0

    def begin(self, rows: Ints) -> None:
        """Begins the next battle in each row."""
        weights = self.opponents.weights
        games = []
        for row in rows.tolist():
            game = self.draw.game(self._seeds[row], self._numbers[row], weights)
            self._numbers[row] += 1
            self.games[row], self.seats[row] = game, game.seat
            self._states[row] = seat_seed(game.fixture.seed, "illegal") % 2**64
            games.append(game)
        agents = self.opponents.sit_down(rows, games)
        leads = np.full((len(rows), 2), self.team_preview)
        leads[np.arange(len(rows)), 1 - self.seats[rows]] = self.opponents.choosing_leads(rows)
        self.battles.begin(rows, [game.fixture for game in games], agents, leads)
        self._play_on(rows[self._waits(rows)])

    def play(self, rows: Ints, actions: Ints) -> NDArray[np.bool_]:
        """Plays the learner's actions in those rows. Returns which of them were not legal and were replaced.

        Raises BadInput for an illegal action if these are errors; then no battle is advanced.
        """
        chosen, illegal = self._legal(rows, actions)
        both = np.full((len(rows), 2), -1, np.int64)
        both[np.arange(len(rows)), self.seats[rows]] = chosen
        self._step(rows, both)
        self._play_on(rows[self._waits(rows)])
        return illegal

    def over(self, rows: Ints) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which battles are terminated (won, lost, tied), and which truncated (too many turns, the simulator failed)."""
        winners = self.battles.winners[rows]
        truncated = (self.battles.turns[rows] > self.max_turns) | (winners == STUCK)
        return (winners != UNDECIDED) & ~truncated, truncated

    def rewards(self, rows: Ints, terminated: NDArray[np.bool_]) -> NDArray[np.float64]:
        """1 for a won battle, -1 for a lost one, else 0."""
        winners = self.battles.winners[rows]
        decided = terminated & (winners != TIE)
        return np.where(decided, np.where(winners == self.seats[rows], 1.0, -1.0), 0.0)

    def result(self, row: int) -> dict[str, Any]:
        """For `info` at the end of a battle: its result ("win", "loss", "tie", "turn-limit", "failed") and turns."""
        winner, turns = int(self.battles.winners[row]), int(self.battles.turns[row])
        if winner == STUCK:
            name = "failed"
        elif turns > self.max_turns:
            name = "turn-limit"
        else:
            name = "tie" if winner == TIE else "win" if winner == self.seats[row] else "loss"
        return {"result": name, "turns": turns}

    def observe(self, rows: Ints, out: Arrays | None = None) -> Arrays:
        """What the learner sees in those rows; where there is nothing to choose, only action 0 is in the mask.

        The observation of a terminated battle is all zeros. out: arrays to be written instead of new ones.
        """
        into = None
        if out is not None:
            into = Observations(out["token_ids"], out["features"], out["action_mask"].view(np.bool_))
            into.legal[:] = False
        seen = self.battles.observe(rows, self.seats[rows], into)
        ended = self.battles.winners[rows] != UNDECIDED
        seen.token_ids[ended], seen.features[ended], seen.legal[ended] = 0, 0, False
        self.masks[rows] = seen.legal
        seen.legal[~seen.legal.any(axis=1), NOTHING_TO_CHOOSE] = True
        return arrays_of(seen)

    def close(self) -> None:
        """Ends what the venue has started."""
        self.battles.close()

    def _legal(self, rows: Ints, actions: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        masks = self.masks[rows]
        inside = (actions >= 0) & (actions < self.layout.actions)
        illegal = ~inside | ~masks[np.arange(len(rows)), np.where(inside, actions, 0)]
        if not illegal.any():
            return actions, illegal
        first = int(np.flatnonzero(illegal)[0])
        if self.strict:
            legal = ", ".join(map(str, np.flatnonzero(masks[first])))
            raise BadInput(f"environment {rows[first]}: action {actions[first]} is not legal: choose one of {legal}")
        states = self._states[rows[illegal]]
        drawn = draw_actions(masks[illegal], next_random(states))
        self._states[rows[illegal]] = states
        actions = actions.copy()
        actions[illegal] = drawn
        return actions, illegal

    def _step(self, rows: Ints, actions: Ints) -> None:
        """Adds the opponents' actions, where they are asked, and advances the battles."""
        if not len(rows):
            return
        theirs = 1 - self.seats[rows]
        deciding = self.battles.needs_decision(rows)[np.arange(len(rows)), theirs]
        actions[deciding, theirs[deciding]] = self.opponents.act(self.battles, rows[deciding], theirs[deciding])
        self.battles.play(rows, actions)

    def _waits(self, rows: Ints) -> NDArray[np.bool_]:
        """In which of these rows the learner is not asked although the battle is not over."""
        terminated, truncated = self.over(rows)
        deciding = self.battles.needs_decision(rows)[np.arange(len(rows)), self.seats[rows]]
        return ~(terminated | truncated | deciding)

    def _play_on(self, rows: Ints) -> None:
        """Advances battles in which only the opponent has to choose, until the learner has to or they are over."""
        while len(rows):
            self._step(rows, np.full((len(rows), 2), -1, np.int64))
            rows = rows[self._waits(rows)]
