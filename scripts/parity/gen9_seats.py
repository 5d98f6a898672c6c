"""Battles of the generation-9 engine whose seats also read the protocol: a SeatBattle for each, fed as a host feeds it.

Lines and requests are those of the engine, which engine_host.py compares with Showdown's.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import gen9_teams
import numpy as np

from agents.battle import SeatBattle
from agents.contract import Agent
from agents.engine.gen9.choices import ILLEGAL, SWITCHING, TERASTALLIZING, action_of
from agents.engine.gen9.engine import Engine, records
from agents.engine.gen9.log import for_seat
from agents.engine.gen9.requests import Team, request
from agents.engine.gen9.teams import DATA, SPECIES
from agents.registry import resolve

FORMAT = "gen9ou"
_PREVIEW = "|teampreview"


class Asked(NamedTuple):
    """A seat that has to choose. legal: its actions as bits."""

    row: int
    seat: int
    battle: SeatBattle
    legal: int


class SeatedBattles:
    """Battles of an engine in play; `engine` keeps what its seats were shown.

    teams: both packed teams of each battle; orders: as of Engine.reset. battles [N][2]: what the seats have read.
    """

    def __init__(self, teams: Sequence[tuple[str, str]], seeds: Sequence[str], orders: Sequence[tuple[list[int], ...]]):
        self.engine = Engine(len(teams), shows=True)
        for row in range(len(teams)):
            self.engine.record(row)
        previewed = records(self.engine.previewed(teams, seeds))
        self.engine.reset(teams, seeds, orders=orders)  # type: ignore[arg-type]
        self._teams = [[Team(packed, seat) for seat, packed in enumerate(pair)] for pair in teams]
        self.battles = [
            [
                SeatBattle(f"battle-{row}", f"p{seat + 1}", f"p{seat + 1}", 9, FORMAT, random.Random(row))
                for seat in range(2)
            ]
            for row in range(len(teams))
        ]
        for row, seats in enumerate(self.battles):
            lines = self.engine.lines(row)
            begin = lines.index(_PREVIEW) + 1
            for seat, battle in enumerate(seats):
                battle.feed(for_seat(lines[:begin], seat))
                battle.ask({"teamPreview": True, "side": self._teams[row][seat].request(previewed[row]["sides"][seat])})
                battle.feed(for_seat(lines[begin:], seat))
        self.asked: list[Asked] = []
        self._ask()

    def _ask(self) -> None:
        legal, locked = self.engine.legal()[:, :, 0], self.engine.locked(np.arange(len(self.battles)))[:, :, 0]
        sides = records(self.engine.words)["sides"]
        self.asked = []
        for row, seat in np.argwhere(legal).tolist():
            asked = request(sides[row, seat], self._teams[row][seat], int(locked[row, seat]))
            assert asked is not None
            battle = self.battles[row][seat]
            battle.ask(asked)
            self.asked.append(Asked(row, seat, battle, int(legal[row, seat])))

    def step(self, actions: Sequence[int]) -> None:
        """Play on by an action for each seat that is asked, in their order."""
        rows = np.unique([asked.row for asked in self.asked])
        chosen = np.zeros((len(rows), *Engine.shape), np.int32)
        for asked, action in zip(self.asked, actions, strict=True):
            chosen[np.searchsorted(rows, asked.row), asked.seat, 0] = action
        self.engine.step(chosen, rows)
        for row in rows.tolist():
            lines = self.engine.lines(row)
            for seat, battle in enumerate(self.battles[row]):
                battle.feed(for_seat(lines, seat))
        self._ask()

    def action_of(self, asked: Asked, choice: str) -> int:
        """The action of a choice in Showdown's words; ILLEGAL for one that Showdown would refuse (a hidden trap)."""
        return action_of(records(self.engine.words)[asked.row]["sides"][asked.seat], asked.legal, choice)


def drawn(
    teams: str, number: int, rng: random.Random
) -> tuple[list[tuple[str, str]], list[str], list[tuple[list[int], ...]]]:
    """Teams, seeds and orders of battles. teams: as of gen9_parity.py, without a second Pokémon of one species."""
    known = [] if teams == "random" else gen9_teams.teams_of(teams.split(","))
    packed = [_without_doubles(rng.choice(known) if known else gen9_teams.random_team(rng)) for _ in range(2 * number)]
    pairs = list(zip(packed[::2], packed[1::2], strict=True))
    seeds = [f"gen5,{rng.getrandbits(64):016x}" for _ in pairs]
    return pairs, seeds, [(_order(pair[0], rng), _order(pair[1], rng)) for pair in pairs]


def _without_doubles(packed: str) -> str:
    """A team by the Species Clause, without which lines name two Pokémon alike."""
    members = {}
    for member in packed.split("]"):
        name, species, *_ = member.split("|")
        members.setdefault(DATA["species"][SPECIES[gen9_teams._to_id(species or name)]]["base"], member)
    return "]".join(members.values())


def _order(packed: str, rng: random.Random) -> list[int]:
    order = list(range(packed.count("]") + 1))
    lead = rng.choice(order) if rng.randrange(2) else 0
    return [lead, *(place for place in order if place != lead)]


Policy = Callable[[SeatedBattles, Asked], int]


def policy_of(name: str, rng: random.Random) -> Policy:
    """random: any action; tera: terastallizes at once; switcher: every second choice a switch; rare: the move that was used
    least so far, or a switch; else the spec of an agent.
    """

    def bits(legal: int) -> list[int]:
        return [action for action in range(SWITCHING + 5) if legal >> action & 1]

    def preferring(share: float, first: int, end: int) -> Policy:
        def choose(_: SeatedBattles, asked: Asked) -> int:
            actions = bits(asked.legal)
            preferred = [action for action in actions if first <= action < end] if rng.random() < share else []
            return rng.choice(preferred or actions)

        return choose

    if name == "random":
        return preferring(0.7, 0, SWITCHING)
    if name == "tera":
        return preferring(1.0, TERASTALLIZING, SWITCHING)
    if name == "switcher":
        return preferring(0.5, SWITCHING, SWITCHING + 5)
    if name == "rare":
        uses: Counter[int] = Counter()

        def rarest(battles: SeatedBattles, asked: Asked) -> int:
            side = records(battles.engine.words)[asked.row]["sides"][asked.seat]
            moves = side["pokemon"][(side["order"][0] - 1) % 6]["moveSlots"]["id"].tolist()
            actions = bits(asked.legal)
            rng.shuffle(actions)
            if actions[0] >= SWITCHING:
                return actions[0]
            least = min(
                (action for action in actions if action < SWITCHING), key=lambda one: uses[moves[one % TERASTALLIZING]]
            )
            uses[moves[least % TERASTALLIZING]] += 1
            return least

        return rarest
    agents: dict[int, Agent] = {}
    source = resolve(name)

    def act(battles: SeatedBattles, asked: Asked) -> int:
        agent = agents.get(id(asked.battle))
        if agent is None:
            agent = agents[id(asked.battle)] = source.make()
            agent.rng = asked.battle.rng
        choice = asked.battle.read_answer(agent.act(asked.battle), asked.battle._last_request)
        action = ILLEGAL if choice is None else battles.action_of(asked, choice.wire)
        return rng.choice(bits(asked.legal)) if action == ILLEGAL else action

    return act
