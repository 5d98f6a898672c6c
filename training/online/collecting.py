"""Plays the battles of an iteration, from their start to their end, and keeps what the learning roles saw and chose.

The battles of a pool advance together: at each step every network decides for all of its seats in one call. With a GPU there
are two pools: while it decides for one, the other is played and observed here. On a CPU there is one. Whole battles are
played, so that every decision of a rollout was made by the same weights and nothing of a battle has to be saved between
iterations.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from agents.observation.layout import SINGLES, Layout
from agents.policy.network import Network
from arena.fixture import digest
from training.envs.fixtures import EnvBattle
from training.envs.network_players import NetworkPlayer, SampledActions, SamplingSettings
from training.envs.network_steps import EagerSteps, RecordedSteps, SeenTensors, Steps
from training.envs.opponents import Opponents
from training.envs.transfer import Transfer
from training.envs.venue import STUCK, TIE, UNDECIDED, Battles, Ints, Pair
from training.online.metrics import IterationClock
from training.online.opponent_head import chosen_ids, of_opponents
from training.online.recording import EndedBattle, Recorder
from training.online.rollout import Rollout

if TYPE_CHECKING:
    from agents.search.exact.teacher import Teacher

#: In place of a player's index: an agent plays the seat.
_AGENT = -1


@dataclass(frozen=True)
class SeatAssignment:
    """Who sits in a seat. network: None for an agent of `Opponents`. role: the role that it learns as, or ""."""

    name: str
    network: Network | None
    manner: SamplingSettings
    role: str

    @property
    def decides_previews(self) -> bool:
        """Whether its network chooses its lead in singles."""
        return self.network is not None and self.network.shape.team_preview


class SeatAssigner(Protocol):
    """Who an opponent's name stands for."""

    def of(self, name: str, number: int) -> SeatAssignment:
        """Who it is in the battle with this number."""


class BattleSource(Protocol):
    """Which battles are played: `Games`, or a test's."""

    def game(self, number: int, opponents: Mapping[str, float]) -> EnvBattle: ...

    def replica(self, game: EnvBattle, number: int, copy: int) -> EnvBattle: ...


@dataclass(frozen=True)
class RolloutPlan:
    """What an iteration plays. first: number of its first battle. group: battles from one start; 1: each has its own.

    branch_at: see MAGRPO in config.py. both_seats: also keep what the seat opposite saw. learning: roles whose decisions are
    kept. weights: of the opponents, by name. opponent_choices: also keep what the opponents choose (opponent_head.py).
    """

    first: int
    battles: int
    group: int
    branch_at: int
    both_seats: bool
    learning: frozenset[str]
    learner: SeatAssignment
    weights: Mapping[str, float]
    opponent_choices: bool = False


@dataclass
class _Seats:
    """Who plays which seat [N, 2]. who: index into `players`, or _AGENT; slots: of that player."""

    who: Ints
    slots: Ints
    players: list[NetworkPlayer]


@dataclass
class _Pool:
    """Battles that advance together. rows: active ones; waiting: those that have not branched; step: steps so far.

    sent: what is to be played with the actions that are under way; None: nothing, all are over.
    """

    rows: Ints
    waiting: Ints
    transfer: Transfer
    step: int = 0
    sent: _Sent | None = None


class _Sent(NamedTuple):
    """actions: [n, 2] of a pool's active battles, -1 where there is none yet. places, seats: of those that are awaited."""

    actions: Ints
    places: Ints
    seats: Ints


class Collector:
    """Plays on `battles`, a venue with as many rows as an iteration has battles.

    agents: plays the seats of agents by their specs; None if there are none. max_turns: a battle that goes beyond this turn
    is truncated. generator: draws the actions, on the networks' device. teacher: judges the decisions that are kept.
    record_steps: see `RecordedSteps`. layout: of what the seats see.
    """

    def __init__(
        self,
        battles: Battles,
        games: BattleSource,
        agents: Opponents | None,
        max_turns: int,
        generator: torch.Generator,
        clock: IterationClock,
        teacher: Teacher | None = None,
        record_steps: bool = False,
        layout: Layout = SINGLES,
    ) -> None:
        self._teacher, self._record_steps, self._layout = teacher, record_steps, layout
        self._recorded: dict[tuple[int, SamplingSettings], RecordedSteps] = {}
        self._battles, self._games, self._agents = battles, games, agents
        self._max_turns, self._generator, self._clock = max_turns, generator, clock
        self.pool_count = 2 if generator.device.type == "cuda" else 1
        self._transfers: list[Transfer] = []

    def collect(self, plan: RolloutPlan, sittings: SeatAssigner) -> dict[str, Rollout]:
        """Play the iteration. Returns the rollout of each learning role that played, on the networks' device."""
        if self._teacher is not None:
            self._teacher.begin(plan.first)
        with self._clock("draw"):
            games = [self._game(plan, row) for row in range(plan.battles)]
        opposite = [sittings.of(game.opponent, plan.first + row // plan.group) for row, game in enumerate(games)]
        agents = self._begin(plan, games, opposite)
        iteration = _Iteration(
            plan,
            games,
            agents,
            self._seated(plan, games, opposite),
            Recorder(_roles(plan, games, opposite)),
            self._branches(plan),
        )
        pools = self._pools(plan)
        for pool in pools:
            self._send(iteration, pool)
        while any(pool.sent for pool in pools):
            for pool in pools:
                self._receive(iteration, pool)
                self._send(iteration, pool)
        manners = {
            sitting.role: sitting.manner for sitting in [plan.learner, *opposite] if sitting.role in plan.learning
        }
        with self._clock("pack"):
            return iteration.recorder.rollouts(self._ended(plan, opposite, iteration.bootstrap), manners)

    def _pools(self, plan: RolloutPlan) -> list[_Pool]:
        """The battles by pools, each group in one."""
        device, groups = self._generator.device, plan.battles // plan.group
        count = min(self.pool_count, groups)
        parts = np.array_split(np.arange(groups * plan.group).reshape(groups, plan.group), count)
        if len(self._transfers) != count:
            self._transfers = [Transfer(device, 2 * part.size, self._layout) for part in parts]
        pools = []
        for part, transfer in zip(parts, self._transfers, strict=True):
            rows = part.ravel()
            waiting = rows[rows % plan.group > 0] if plan.branch_at else rows[:0]
            pools.append(_Pool(np.setdiff1d(rows, waiting), waiting, transfer))
        return pools

    def _game(self, plan: RolloutPlan, row: int) -> EnvBattle:
        number, copy = plan.first + row // plan.group, row % plan.group
        game = self._games.game(number, plan.weights)
        return self._games.replica(game, number, copy) if copy else game

    def _begin(self, plan: RolloutPlan, games: list[EnvBattle], opposite: list[SeatAssignment]) -> list[Pair]:
        """Starts the battles. Returns the agents of their seats that act alone."""
        agents: list[Pair] = [(None, None)] * len(games)
        every, mine = np.arange(len(games)), np.array([game.seat for game in games])
        leads = np.zeros((len(games), 2), np.bool_)
        leads[every, mine] = plan.learner.decides_previews
        leads[every, 1 - mine] = [sitting.decides_previews for sitting in opposite]
        theirs = np.array([row for row, sitting in enumerate(opposite) if sitting.network is None], np.int64)
        if len(theirs):
            assert self._agents is not None
            seated = self._agents.sit_down(theirs, [games[row] for row in theirs])
            for row, pair in zip(theirs.tolist(), seated, strict=True):
                agents[row] = pair
            leads[theirs, 1 - mine[theirs]] = self._agents.choosing_leads(theirs)
        with self._clock("engine"):
            self._battles.begin(every, [game.fixture for game in games], agents, leads)
        return agents

    def _seated(self, plan: RolloutPlan, games: list[EnvBattle], opposite: list[SeatAssignment]) -> _Seats:
        """Gives every seat to a player. A network plays all of its seats as one player."""
        seats: dict[tuple[int, SamplingSettings], list[tuple[int, int]]] = {}
        networks: dict[tuple[int, SamplingSettings], Network] = {}
        for row, (game, other) in enumerate(zip(games, opposite, strict=True)):
            for seat, sitting in ((game.seat, plan.learner), (1 - game.seat, other)):
                if sitting.network is not None:
                    key = (id(sitting.network), sitting.manner)
                    networks[key] = sitting.network
                    seats.setdefault(key, []).append((row, seat))
        seated = _Seats(np.full((len(games), 2), _AGENT), np.zeros((len(games), 2), np.int64), [])
        for index, (key, places) in enumerate(seats.items()):
            rows, sides = np.array(places).T
            seated.who[rows, sides], seated.slots[rows, sides] = index, np.arange(len(places))
            steps = self._steps(key, networks[key], len(places))
            seated.players.append(NetworkPlayer(steps, len(places), key[1], self._generator))
        self._recorded = {key: self._recorded[key] for key in seats if key in self._recorded}
        return seated

    def _steps(self, key: tuple[int, SamplingSettings], network: Network, slots: int) -> Steps:
        """What a player's network decides with. Recorded steps outlast an iteration, while the player is in the next one."""
        if not self._record_steps:
            return EagerSteps(network, slots)
        kept = self._recorded.get(key)
        if kept is None or kept.slots < slots:
            kept = self._recorded[key] = RecordedSteps(network, slots + slots // 4)
        return kept

    @staticmethod
    def _branches(plan: RolloutPlan) -> Ints:
        """[N]: the number of steps after which each group branches."""
        drawn = [
            random.Random(digest(["branch", plan.first + group])).randint(0, plan.branch_at)
            for group in range(plan.battles // plan.group)
        ]
        return np.repeat(np.array(drawn, np.int64), plan.group)

    def _branch_if_due(self, iteration: _Iteration, pool: _Pool) -> None:
        """Begins the battles of a pool that become copies of the first of their groups now."""
        while len(pool.waiting):
            ready = pool.waiting
            if len(pool.rows):
                ready = ready[iteration.branch[ready] <= pool.step]
            if not len(ready):
                return
            self._branch(iteration, ready)
            pool.waiting = np.setdiff1d(pool.waiting, ready)
            pool.rows = np.union1d(pool.rows, ready[self._playing(ready)])

    def _branch(self, iteration: _Iteration, rows: Ints) -> None:
        """Makes these battles copies of the first of their groups, with a chance of their own from here on."""
        leaders = rows - rows % iteration.plan.group
        seeds = [iteration.games[row].fixture.seed for row in rows.tolist()]
        self._battles.copy(leaders, rows, seeds, [iteration.agents[row] for row in rows.tolist()])
        seats = iteration.seats
        for index, player in enumerate(seats.players):
            for seat in (0, 1):
                mine = seats.who[rows, seat] == index
                player.copy(seats.slots[leaders[mine], seat], seats.slots[rows[mine], seat])
        iteration.recorder.copy(leaders, rows)

    def _send(self, iteration: _Iteration, pool: _Pool) -> None:
        """Has the next decisions of a pool made; those of networks are under way when this returns."""
        self._branch_if_due(iteration, pool)
        if not len(pool.rows):
            return
        with self._clock("engine"):
            deciding = self._battles.needs_decision(pool.rows)  # [n, 2]
        place, seats = np.nonzero(deciding)
        who = iteration.seats.who[pool.rows[place], seats]
        actions = np.full((len(pool.rows), 2), -1, np.int64)
        theirs = who == _AGENT
        if theirs.any():
            assert self._agents is not None
            with self._clock("agents"):
                rows = pool.rows[place[theirs]]
                actions[place[theirs], seats[theirs]] = self._agents.act(self._battles, rows, seats[theirs])
        ours = np.flatnonzero(~theirs)
        ours = ours[np.argsort(who[ours], kind="stable")]  # player by player
        pool.sent = _Sent(actions, place[ours], seats[ours])
        if len(ours):
            with self._clock("observe"):
                seen = pool.transfer.observe(self._battles, pool.rows[place[ours]], seats[ours])
            self._decide(iteration, pool, who[ours], seen)

    def _receive(self, iteration: _Iteration, pool: _Pool) -> None:
        """Plays a pool's decisions, if it has any."""
        if pool.sent is None:
            return
        actions, place, seats = pool.sent
        if len(place):
            with self._clock("play"):
                actions[place, seats] = pool.transfer.receive()
        with self._clock("engine"):
            self._battles.play(pool.rows, actions)
        playing = self._playing(pool.rows)
        iteration.bootstrap.update(self._values_after(iteration, pool.rows[~playing]))
        pool.rows, pool.sent = pool.rows[playing], None
        pool.step += 1

    def _decide(self, iteration: _Iteration, pool: _Pool, who: Ints, seen: SeenTensors) -> None:
        """Sends the decisions of a pool's seats that networks play; those of learning roles are kept. who: [n], sorted."""
        assert pool.sent is not None
        rows, seats = pool.rows[pool.sent.places], pool.sent.seats
        parts: list[tuple[slice, SampledActions]] = []
        players, starts = np.unique(who, return_index=True)
        with self._clock("play"):
            for index, start, end in zip(
                players.tolist(), starts.tolist(), [*starts.tolist()[1:], len(who)], strict=True
            ):
                part = slice(start, end)
                slots = iteration.seats.slots[rows[part], seats[part]]
                parts.append((part, iteration.seats.players[index].decide(slots, seen.take(part))))
            actions = torch.cat([decided.actions for _, decided in parts])
            pool.transfer.send(actions)
            theirs = None
            if iteration.plan.opponent_choices:
                theirs = of_opponents(rows, seats, chosen_ids(seen, actions))
        for part, decided in parts:
            of_part = None if theirs is None else theirs[part]
            self._keep(iteration, pool, rows[part], seats[part], seen.take(part), decided, of_part)

    def _keep(
        self,
        iteration: _Iteration,
        pool: _Pool,
        rows: Ints,
        seats: Ints,
        seen: SeenTensors,
        decided: SampledActions,
        theirs: torch.Tensor | None,
    ) -> None:
        kept = iteration.recorder.wanted(2 * rows + seats)
        if not len(kept):
            return
        if len(kept) < len(rows):
            places = torch.from_numpy(kept).to(decided.actions.device)
            rows, seats, seen = rows[kept], seats[kept], seen.take(places)
            decided, theirs = decided.take(places), None if theirs is None else theirs[places]
        others = None
        if iteration.plan.both_seats:
            with self._clock("observe"):
                others = self._battles.observe(rows, 1 - seats)
        searched = None
        if self._teacher is not None:
            engine: Any = self._battles  # the configuration admits a teacher on the engine only
            with self._clock("search"):
                policies = decided.logits.softmax(-1).cpu().numpy()
                searched = self._teacher.judge(engine.engine, rows, seats, policies)
        in_loss = iteration.branch[rows] <= pool.step  # earlier decisions are context only
        iteration.recorder.keep(2 * rows + seats, seen, decided, theirs, in_loss, others, searched)

    def _playing(self, rows: Ints) -> NDArray[np.bool_]:
        undecided = self._battles.winners[rows] == UNDECIDED
        return undecided & (self._battles.turns[rows] <= self._max_turns)

    def _values_after(self, iteration: _Iteration, ended: Ints) -> dict[int, float]:
        """Trajectory -> value of the position in which its battle was truncated, where its network is asked there."""
        cut = ended[self._battles.winners[ended] == UNDECIDED]
        values_by_trajectory: dict[int, float] = {}
        if not len(cut):
            return values_by_trajectory
        place, seats = np.nonzero(self._battles.needs_decision(cut))
        rows = cut[place]
        seen = self._battles.observe(rows, seats)
        who = iteration.seats.who[rows, seats]
        for index in np.unique(who[who != _AGENT]).tolist():
            (mine,) = np.nonzero(who == index)
            slots = iteration.seats.slots[rows[mine], seats[mine]]
            part = SeenTensors.of(seen.take(mine.tolist()), self._generator.device)
            values = iteration.seats.players[index].values(slots, part)
            values_by_trajectory |= dict(zip((2 * rows[mine] + seats[mine]).tolist(), values.tolist(), strict=True))
        return values_by_trajectory

    def _ended(self, plan: RolloutPlan, opposite: list[SeatAssignment], bootstrap: Mapping[int, float]) -> EndedBattle:
        winners = self._battles.winners[: plan.battles]
        terminated = (winners != UNDECIDED) & (winners != STUCK)
        decided = terminated & (winners != TIE)
        first = np.where(decided, np.where(winners == 0, 1.0, -1.0), 0.0).astype(np.float32)
        names = [sitting.name for sitting in opposite]
        return EndedBattle(np.stack([first, -first], axis=1), terminated, names, plan.group, bootstrap)


@dataclass(frozen=True)
class _Iteration:
    """branch: [N], the number of steps after which each battle's group branches. bootstrap: see `EndedBattle`."""

    plan: RolloutPlan
    games: list[EnvBattle]
    agents: list[Pair]
    seats: _Seats
    recorder: Recorder
    branch: Ints
    bootstrap: dict[int, float] = field(default_factory=dict)


def _roles(plan: RolloutPlan, games: list[EnvBattle], opposite: list[SeatAssignment]) -> NDArray[np.str_]:
    """[2 N], by trajectory: the learning role that plays it, or ""."""
    roles = np.full((len(games), 2), "", dtype="<U16")
    for row, (game, other) in enumerate(zip(games, opposite, strict=True)):
        for seat, sitting in ((game.seat, plan.learner), (1 - game.seat, other)):
            roles[row, seat] = sitting.role if sitting.role in plan.learning else ""
    return roles.ravel()
