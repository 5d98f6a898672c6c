"""Pairs of battles on the engine, in this process: what one player scores against others, in minutes instead of hours.

The pairs are those of a plan with `same_luck` (arena/schedules/plan.py): two battles on the same teams and with the same
seed, with the players' seats exchanged; an opponent's pairs are the same whoever meets it. Both players decide
for all of their battles in one call. Networks are evaluated here and not by an inference server, in batches as large as
there are battles; nothing of a battle is kept but its result. Agents that read the protocol play, too, one at a time: their
battles are those of training/envs/mixed_battles.py.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Protocol

import numba
import numpy as np
import torch
from numpy.typing import NDArray

from agents import AgentSource, resolve
from agents.observation.layout import SINGLES
from agents.policy import checkpoint
from agents.serving.server import device_of
from arena.fixture import FixtureTeam
from arena.run.entrants import Pools, load_pools
from arena.schedules.plan import Plan, numbered_pair
from arena.venue import Rules
from teamsets.drawn import drawn_teams
from teamsets.errors import BadInput
from training.envs.fixtures import EnvBattle
from training.envs.learner import open_battles
from training.envs.network_players import NetworkPlayer, SamplingSettings
from training.envs.network_steps import EagerSteps, EnsembleSteps
from training.envs.opponents import Opponents
from training.envs.transfer import Transfer
from training.envs.venue import STUCK, UNDECIDED, Battles, Ints, Pair
from training.runs.evaluation import BattleBlock, check_on_engine

#: Battles at once. A network decides 1.3 to 2 times as fast for 512 battles as for 128; 2,048 bring nothing more.
ROWS = 512
#: Where battles are played: (rows, format, cores).
_ENGINE = partial(open_battles, "engine")
#: Families whose networks are evaluated here: the names after them are checkpoints.
_NETWORKS = ("policy", "ensemble")


class _Player(Protocol):
    """Plays one seat of each row."""

    def begin(self, rows: Ints, games: Sequence[EnvBattle]) -> list[Pair]:
        """New battles begin in these rows; the player has the seat opposite the one that a game names.

        Returns its agents that act alone.
        """

    def choosing_leads(self, rows: Ints) -> NDArray[np.bool_]:
        """[n]: in which of these rows it chooses its lead by an action, where there is a team preview."""

    def act(self, battles: Battles, rows: Ints, seats: Ints) -> Ints:
        """The actions [n] at these seats, all of which are asked."""


class _NetworkPlayer:
    """A network, or several of which the mean of the probabilities is played. seed: of sampled actions."""

    def __init__(self, source: AgentSource, rows: int, seed: int, device: str) -> None:
        options = {**source.options, **source.given}
        temperature = float(options["temperature"])
        if not 0 <= temperature < math.inf:
            raise BadInput(f"{source.spec}: temperature={temperature}: must be 0 (most probable action) or more")
        where = _usable_device(device if options["device"] == "auto" else str(options["device"]))
        paths = source.spec.partition("?")[0].partition(":")[2].split(",")
        networks = [checkpoint.load(checkpoint.find(path.strip()), where)[0] for path in paths]
        steps = [EagerSteps(network, rows) for network in networks]
        self._player = NetworkPlayer(
            steps[0] if len(steps) == 1 else EnsembleSteps(steps),
            rows,
            SamplingSettings(temperature, 0.0),
            torch.Generator(where).manual_seed(seed % 2**63),
        )
        self._transfer = Transfer(where, rows, SINGLES)

    def begin(self, rows: Ints, games: Sequence[EnvBattle]) -> list[Pair]:
        self._player.begin(rows)
        return [(None, None)] * len(rows)

    def choosing_leads(self, rows: Ints) -> NDArray[np.bool_]:
        return np.full(len(rows), self._player.decides_previews)

    def act(self, battles: Battles, rows: Ints, seats: Ints) -> Ints:
        seen = self._transfer.observe(battles, rows, seats)
        self._transfer.send(self._player.decide(rows, seen).actions)
        return self._transfer.receive()


def _usable_device(name: str) -> torch.device:
    """Raises BadInput for a device that torch does not know or cannot use here."""
    try:
        device = device_of(name)
        torch.empty(0, device=device)
    except (AssertionError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        raise BadInput(f"device {name}: torch cannot use it here ({reason}): set auto or cpu") from None
    return device


class _AgentPlayer:
    """Agents, one for each battle."""

    def __init__(self, source: AgentSource, rows: int, format_id: str) -> None:
        self._agents = Opponents(source.spec, rows, format_id)

    def begin(self, rows: Ints, games: Sequence[EnvBattle]) -> list[Pair]:
        return self._agents.sit_down(rows, games)

    def choosing_leads(self, rows: Ints) -> NDArray[np.bool_]:
        return self._agents.choosing_leads(rows)

    def act(self, battles: Battles, rows: Ints, seats: Ints) -> Ints:
        return self._agents.act(battles, rows, seats)


def play_pairs(
    spec: str,
    opponents: Sequence[str],
    *,
    formats: Sequence[str],
    team_sets: Sequence[str],
    battles: int,
    seed: int,
    device: str = "auto",
    rows: int = ROWS,
    show: Callable[[int, int], None] = lambda ended, total: None,
    open_battles: Callable[[int, str, int], Battles] = _ENGINE,
) -> list[BattleBlock]:
    """Play `battles` (in pairs) against each opponent, in each format and on each team set. Raises BadInput.

    seed: of the teams, the battles and sampled actions. device: of networks whose spec names none. rows: battles at once.
    show(battles that have ended, of how many) is called while they are played. open_battles(rows, format, cores): where they
    are played, for tests.
    """
    sources = [resolve(one) for one in (spec, *opponents)]
    check_on_engine(sources, formats, "play on Showdown with `arena match`")
    pools, _ = load_pools(formats, team_sets, seed=seed)
    total = 2 * ((battles + 1) // 2) * len(pools) * len(opponents)
    blocks: list[BattleBlock] = []
    ended = 0

    def count(number: int) -> None:
        nonlocal ended
        ended += number
        show(ended, total)

    for format_id in dict.fromkeys(pool[0] for pool in pools):
        mine = {pool: teams for pool, teams in pools.items() if pool[0] == format_id}
        games = [_games(sources[0].spec, opponent.spec, mine, battles, seed) for opponent in sources[1:]]
        size = min(rows, sum(map(len, games)))
        players = [
            _player(source, size, format_id, len(sources) * seed + place, device)
            for place, source in enumerate(sources)
        ]
        cores = min(torch.get_num_threads(), numba.get_num_threads())
        with closing(open_battles(size, format_id, cores)) as venue:
            opponent = np.repeat(np.arange(len(games)), len(games[0]))
            scores = _play(venue, list(itertools.chain(*games)), opponent, players, count)
        by_block = scores.reshape(len(opponents) * len(mine), -1, 2).mean(axis=-1).tolist()  # [blocks, pairs]
        blocks += [
            BattleBlock(*pool, opponent.spec, [None if math.isnan(score) else score for score in of_block])
            for (opponent, pool), of_block in zip(itertools.product(sources[1:], mine), by_block, strict=True)
        ]
    return blocks


def _games(spec: str, opponent: str, pools: Pools, battles: int, seed: int) -> list[EnvBattle]:
    """The battles of a pairing, pair by pair and set by set. Their seats are those of `spec`."""
    plan = Plan((spec, opponent), pools, battles, seed, challengers=frozenset({spec}), same_luck=True)
    pairs = [numbered_pair(plan, pool, (spec, opponent), number) for pool in pools for number in range(plan.pairs)]
    fixtures = [fixture for pair in pairs for fixture in pair]
    drawn = [team for fixture in fixtures for team in fixture.teams if team.packed is None]
    packed: dict[str | None, str] = {}
    if drawn:
        seeds = list(dict.fromkeys(str(team.seed) for team in drawn))
        packed.update(zip(seeds, drawn_teams(fixtures[0].format, seeds), strict=True))

    def known(team: FixtureTeam) -> FixtureTeam:
        return team if team.packed is not None else replace(team, packed=packed[team.seed])

    return [
        EnvBattle(replace(fixture, teams=(known(fixture.teams[0]), known(fixture.teams[1]))), number % 2)
        for number, fixture in enumerate(fixtures)
    ]


def _player(source: AgentSource, rows: int, format_id: str, seed: int, device: str) -> _Player:
    if source.spec.partition(":")[0] in _NETWORKS:
        return _NetworkPlayer(source, rows, seed, device)
    return _AgentPlayer(source, rows, format_id)


def _play(
    engine: Battles,
    games: Sequence[EnvBattle],
    opponent: Ints,
    players: Sequence[_Player],
    count: Callable[[int], None],
) -> NDArray[np.float64]:
    """The scores [n] of players[0]: 1, 0.5 or 0; NaN where Showdown itself fails in the battle.

    opponent: [n], index in players[1:]. A row takes the next battle when its battle has ended, so that decisions stay many.
    Which decisions are made together depends on nothing but the battles, so the same battles have the same results.
    """
    size, max_turns = len(engine.winners), Rules().max_turns
    scores, seat = np.full(len(games), np.nan), np.array([game.seat for game in games])
    number = np.full(size, -1)  # of a row's battle; -1: none
    begun = 0
    while begun < len(games) or (number >= 0).any():
        free = np.flatnonzero(number < 0)[: len(games) - begun]
        if len(free):
            number[free] = np.arange(begun, begun + len(free))
            seated: list[Pair] = [(None, None)] * len(free)
            leads = np.zeros((len(free), 2), np.bool_)
            for index, player in enumerate(players):
                mine = np.flatnonzero((opponent[number[free]] == index - 1) | (index == 0))
                new = [games[one] for one in number[free[mine]]]
                if index == 0:
                    new = [EnvBattle(game.fixture, 1 - game.seat) for game in new]
                for at, (first, second) in zip(mine.tolist(), player.begin(free[mine], new), strict=True):
                    seated[at] = (seated[at][0] or first, seated[at][1] or second)
                of_games = seat[number[free[mine]]]
                leads[mine, of_games if index == 0 else 1 - of_games] = player.choosing_leads(free[mine])
            _begin(engine, free, [games[one] for one in number[free]], seated, leads)
            begun += len(free)
        active = np.flatnonzero(number >= 0)
        place, seats = np.nonzero(engine.needs_decision(active))
        rows = active[place]
        games_of = number[rows]
        who = np.where(seats == seat[games_of], 0, 1 + opponent[games_of])
        actions = np.full((len(active), 2), -1, np.int64)
        for index in np.unique(who).tolist():
            asked = who == index
            actions[place[asked], seats[asked]] = players[index].act(engine, rows[asked], seats[asked])
        engine.play(active, actions)
        winners = engine.winners[active]
        over = (winners != UNDECIDED) | (engine.turns[active] > max_turns)
        ended, won = number[active[over]], winners[over]
        scores[ended] = np.where(won == seat[ended], 1.0, np.where((won == 0) | (won == 1), 0.0, 0.5))
        scores[ended[won == STUCK]] = np.nan
        number[active[over]] = -1
        if len(ended):
            count(len(ended))
    return scores


def _begin(
    engine: Battles, rows: Ints, games: Sequence[EnvBattle], seated: Sequence[Pair], leads: NDArray[np.bool_]
) -> None:
    try:
        engine.begin(rows, [game.fixture for game in games], seated, leads)
    except (BadInput, ValueError) as error:
        raise BadInput(
            f"team set '{games[0].fixture.team_set}': the engine cannot play one of its teams: {error} Use another set, or "
            "play on Showdown"
        ) from None
