"""Proves that the generation-9 engine's observations are those of the protocol: the arrays that a network gets on Showdown.

Battles are played on the engine, which is equal to Showdown (gen9_parity.py), and writes the protocol's lines. At each
decision a SeatBattle has read the lines and the request of its seat; its observation (agents/observation/observation.py)
must equal the engine's bit by bit: ids, features, legal actions. With --words, what each seat was shown must be equal, too
(src/shown/shown.h, field by field). Differences are shown by name; then the exit code is 1.

    python scripts/parity/gen9_observation_parity.py --battles 200 --seed 1 --teams ring1 --policy random

--teams, --policy: as of gen9_parity.py (teams ring1, ring2, random, or a team set or folder); policies: random, moves
(switches seldom), switcher, stall (mostly moves without damage), tera (terastallizes at once), rules (a rule player).
--from-lines: the words come from the SeatBattle, so that only what is written from them is proved.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import os
import random
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import gen9_teams
import numpy as np
from gen9_shown import name_ranks, shown_of
from numpy.typing import NDArray

from agents import Agent, resolve
from agents.battle import SeatBattle
from agents.engine.gen9.choices import action_of
from agents.engine.gen9.engine import UNDECIDED, Engine, records
from agents.engine.gen9.layout import SHOWN
from agents.engine.gen9.log import for_seat, opening
from agents.engine.gen9.requests import Team, members_of, request
from agents.engine.gen9.teams import DATA, IDS, SPECIES, to_id
from agents.observation.gen9_observation import FORMAT, observe_rows
from agents.observation.observation import Observations, observe

CHUNK, MAX_TURNS = 25, 300
POLICIES = ("random", "moves", "switcher", "stall", "tera", "rules")
#: Of which "rules" draws one for each seat.
RULES = ("balanced", "hazard-stacker", "max-damage", "red-blue", "staller", "status-spreader", "type-switcher")
_STATUS = {name for name, (_, target, _) in DATA["moves"].items() if target in ("self", "allySide", "foeSide", "all")}


class Battle:
    """A battle of a row with what both seats read of it. legal: of the engine, as bits."""

    def __init__(self, engine: Engine, row: int, teams: tuple[str, str], words: NDArray[np.int32], seed: str) -> None:
        self.row, self.teams, self._engine = row, teams, engine
        self.numbers = tuple(
            {f"p{seat + 1}: {member.name}": 6 * seat + place for place, member in enumerate(members_of(team))}
            for seat, team in enumerate(teams)
        )
        self.seats = [
            SeatBattle(f"battle-{FORMAT}-1", f"p{n + 1}", f"p{n + 1}", 9, FORMAT, random.Random(0)) for n in (0, 1)
        ]
        self._teams = [Team(team, seat) for seat, team in enumerate(teams)]
        self.rng = random.Random(f"{seed} {row}")
        self._rules: list[Agent] = []
        self.lines: list[str] = []
        record = records(words[None])[0]
        for seat, battle in enumerate(self.seats):
            battle.feed(for_seat(list(opening(words, ("p1", "p2"))), seat))
            battle.ask({"teamPreview": True, "side": self._teams[seat].request(record["sides"][seat])})

    def read(self, locked: Sequence[int]) -> list[bool]:
        """Let both seats read what the engine has written, and what it asks. Returns who is asked."""
        lines = self._engine.lines(self.row)
        lines = lines[lines.index("|teampreview") + 1 :] if "|teampreview" in lines else lines
        self.lines += lines
        asked = []
        record = records(self._engine.words)[self.row]
        for seat, battle in enumerate(self.seats):
            battle.feed(for_seat(lines, seat))
            asks = request(record["sides"][seat], self._teams[seat], locked[seat])
            if record["winner"] == UNDECIDED and asks is not None:
                battle.ask(asks)
            asked.append(record["winner"] == UNDECIDED and asks is not None)
        return asked

    def shown(self, seat: int) -> NDArray[Any]:
        """The words of a seat, by its SeatBattle."""
        own, other = self.numbers[seat], self.numbers[1 - seat]
        return shown_of(self.seats[seat], (own, other), name_ranks(self.teams[seat]))

    def choose(self, seat: int, legal: int, locked: int, policy: str) -> int:
        """An action of the engine."""
        side = records(self._engine.words)[self.row]["sides"][seat]
        actions = [action for action in range(13) if legal >> action & 1]
        if policy == "rules":
            answer = self._rules[seat].act(self.seats[seat])
            battle = self.seats[seat]
            choice = battle.read_answer(answer, battle.last_request)
            action = -1 if choice is None else action_of(side, legal, choice.wire)
            return action if action >= 0 else self.rng.choice(actions)
        wanted: list[int] = []
        roll = self.rng.random()
        if policy == "moves" and roll < 0.9:
            wanted = [action for action in actions if action < 8]
        elif policy == "switcher" and roll < 0.6:
            wanted = [action for action in actions if action >= 8]
        elif policy == "tera":
            wanted = [action for action in actions if 4 <= action < 8]
        elif policy == "stall" and roll < 0.8:
            mon = side["pokemon"][(side["order"][0] - 1) % 6]
            wanted = [n for n in actions if n < 4 and IDS.get(int(mon["moveSlots"]["id"][n])) in _STATUS]
        return self.rng.choice(wanted or actions)

    def begin(self, policy: str) -> None:
        """Prepare the players."""
        if policy == "rules":
            for battle in self.seats:
                player = resolve(f"heuristic:{self.rng.choice(RULES)}").make()
                player.rng = random.Random(self.rng.random())
                player.start(battle)
                self._rules.append(player)


def _team(listed: Sequence[str], rng: random.Random) -> str:
    """One of the teams, or a random one, in which no species comes twice."""
    while True:
        team = rng.choice(listed) if listed else gen9_teams.random_team(rng, None)
        names = [member.split("|") for member in team.split("]")]
        bases = {DATA["species"][SPECIES[to_id(fields[1] or fields[0])]]["base"] for fields in names}
        if len(bases) == len(names) == len({member.name for member in members_of(team)}):
            return team


def play(chunk: tuple[str, int, int, str, str, bool, bool]) -> tuple[int, int, collections.Counter[str], list[str]]:
    """Plays and compares some battles: battles, decisions, differences by place, and the first ones in words."""
    seed, first, number, kind, policy, from_lines, with_words = chunk
    rng = random.Random(f"{seed} {first}")
    listed = [] if kind == "random" else gen9_teams.teams_of(kind.split(","))
    pairs = [(_team(listed, rng), _team(listed, rng)) for _ in range(number)]
    seeds = [f"gen5,{rng.getrandbits(64):016x}" for _ in range(number)]
    orders = [tuple(rng.sample(range(team.count("]") + 1), team.count("]") + 1) for team in pair) for pair in pairs]
    engine = Engine(number, 1, shows=True)
    for row in range(number):
        engine.record(row)
    previews = engine.previewed(pairs, seeds)
    battles = [Battle(engine, row, pairs[row], previews[row], seeds[row]) for row in range(number)]
    engine.reset(pairs, seeds, orders=orders)
    for battle in battles:
        battle.begin(policy)
    places: collections.Counter[str] = collections.Counter()
    examples: list[str] = []
    decisions, playing = 0, list(range(number))
    while playing:
        rows = np.array(playing)
        legal, locked = engine.legal(rows)[:, :, 0], engine.locked(rows)[:, :, 0]
        asked = [battles[row].read(locked[n]) for n, row in enumerate(playing)]
        pairs_of = [(row, seat) for n, row in enumerate(playing) for seat in (0, 1) if asked[n][seat]]
        if from_lines:
            for row, seat in pairs_of:
                engine.shown.view(SHOWN)[row, seat, 0] = battles[row].shown(seat)
        if pairs_of:
            seen = observe_rows(engine, *(np.array(part, np.int64) for part in zip(*pairs_of, strict=True)))
        for k, (row, seat) in enumerate(pairs_of):
            decisions += 1
            battle = battles[row].seats[seat]
            found = [*differences(Observations.single(observe(battle)), seen.take([k]))]
            if with_words:
                found += different_words(battles[row].shown(seat), engine.shown.view(SHOWN)[row, seat, 0])
            for place, what in found:
                places[place] += 1
                if len(examples) < 20:
                    examples.append(f"{seed} {first} row {row} p{seat + 1} turn {battle.turn}, {place}: {what}")
        actions = np.zeros((number, *Engine.shape), np.int32)
        going = []
        for n, row in enumerate(playing):
            record = records(engine.words)[row]
            if record["winner"] != UNDECIDED or record["turn"] > MAX_TURNS:
                continue
            going.append(row)
            for seat in (0, 1):
                if legal[n, seat]:
                    actions[row, seat, 0] = battles[row].choose(seat, int(legal[n, seat]), int(locked[n, seat]), policy)
        playing = going
        if playing:
            engine.step(actions[playing], np.array(playing))
    return number, decisions, places, examples


def differences(expected: Observations, actual: Observations) -> Iterator[tuple[str, str]]:
    """Yields (place, both values) of each difference."""
    for name in ("token_ids", "features", "legal"):
        ours, theirs = getattr(expected, name)[0], getattr(actual, name)[0]
        for place in map(tuple, np.argwhere(ours != theirs)):
            yield f"{name} {list(map(int, place))}", f"{ours[place]} by the protocol, {theirs[place]} by the engine"


def different_words(expected: NDArray[Any], actual: NDArray[Any], name: str = "") -> Iterator[tuple[str, str]]:
    """Yields (field, both values) of each difference of words."""
    if expected.dtype.names:
        for field in expected.dtype.names:
            yield from different_words(expected[field], actual[field], f"{name}.{field}")
    elif expected.dtype.fields is None and expected.ndim and expected.dtype.names is None:
        for n in np.ndindex(expected.shape):
            if expected[n] != actual[n]:
                yield f"words{name}", f"{expected.tolist()} by the protocol, {actual.tolist()} by the engine"
                return
    elif expected != actual:
        yield f"words{name}", f"{expected} by the protocol, {actual} by the engine"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--battles", type=int, default=100)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--teams", default="ring1")
    parser.add_argument("--policy", default="random", choices=POLICIES)
    parser.add_argument("--from-lines", action="store_true")
    parser.add_argument("--words", action="store_true")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    given = parser.parse_args()
    chunks = [
        (given.seed, first, min(CHUNK, given.battles - first), given.teams, given.policy, given.from_lines, given.words)
        for first in range(0, given.battles, CHUNK)
    ]
    battles, decisions, places, examples = 0, 0, collections.Counter[str](), list[str]()
    with concurrent.futures.ProcessPoolExecutor(given.workers) as pool:
        for played, made, where, what in pool.map(play, chunks):
            battles, decisions = battles + played, decisions + made
            places += where
            examples += what
    for line in examples[:40]:
        print(line)
    print(f"{battles:,} battles, {decisions:,} decisions, {sum(places.values())} differences")
    print(", ".join(f"{place}: {number}" for place, number in places.most_common(30)))
    return 1 if places else 0


if __name__ == "__main__":
    sys.exit(main())
