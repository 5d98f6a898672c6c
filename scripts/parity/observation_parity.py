"""Proves that the engine's observations are those of the protocol: the arrays that a network gets on Showdown.

Battles are played on Showdown and then again on the engine with the same teams, seeds and choices. At each decision the
observation of the engine must equal agents/observation/observation.py's, which reads what Showdown has sent to that player:
ids and legal actions exactly, features to 1e-6. Each difference is shown by token and column; then the exit code is 1.

    python scripts/parity/observation_parity.py --battles 1000 --seed 1 --teams any

--teams any: random species, levels and moves; random: Showdown's random battles; otherwise the name of a gen1ou team set.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import concurrent.futures
import os
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from agents.contract import Agent
from agents.engine.gen1.engine import Engine
from agents.engine.gen1.layout import UNDECIDED, WINNER
from agents.engine.gen1.tables import DATA
from agents.observation.engine_observation import observe_rows
from agents.observation.observation import Observation, Observations, observe
from arena.fixture import Fixture, FixtureTeam
from arena.record import BattleRecord
from arena.venue import Rules
from arena.venues.simulator.simulator import play_all
from teamsets.drawn import drawn_teams
from teamsets.loading import load_set
from training.data.trajectory import decision_points

CHUNK = 100
TOLERANCE = 1e-6


class MostlyMoves(Agent):
    """A random move in 85 of 100 decisions, else a random switch; of two choices with one name the first, as a network."""

    reads_battle = False

    def act(self, battle: Any) -> Any:
        kind = "move" if self.rng.random() < 0.85 else "switch"
        named = list({choice.label: choice for choice in reversed(battle.legal)}.values())
        return self.rng.choice([choice for choice in named if choice.kind == kind] or named)


def any_team(rng: random.Random) -> str:
    """A packed team of six different species with random moves."""
    members = []
    for number, species in enumerate(rng.sample(DATA["species"], rng.choice([6, 6, 6, 6, 4, 2]))):
        known = [move["id"] for move in DATA["moves"] if move["id"] != "struggle"]
        moves = ",".join(rng.sample(known, rng.choice([4, 4, 4, 3, 1])))
        level = rng.choice([100, 100, rng.randint(1, 99)])
        name = f"n{rng.randint(0, 9)}{number}"
        members.append(f"{name}|{species['id']}||noability|{moves}||||30,30,30,30,30,30||{level}|")
    return "]".join(members)


def teams_of(name: str, rng: random.Random, number: int) -> list[str]:
    """Packed teams."""
    if name == "any":
        return [any_team(rng) for _ in range(number)]
    if name == "random":
        seed = rng.randrange(1 << 16)
        return drawn_teams("gen1randombattle", [f"{n},{seed},7,7" for n in range(number)])
    packed = [team.packed for team in load_set(name, "gen1ou").teams]
    return [rng.choice(packed) for _ in range(number)]


def compare(chunk: tuple[int, int, str, str, tuple[str, str]]) -> tuple[int, int, collections.Counter[str], list[str]]:
    """Plays and compares some battles: battles, decisions, differences by place, and the first ones in words."""
    seed, number, teams, format_id, agents = chunk
    rng = random.Random(seed)
    packed = teams_of(teams, rng, 2 * number)
    fixtures = [
        Fixture(
            format_id,
            agents,
            (FixtureTeam("a", "a", packed[2 * n]), FixtureTeam("b", "b", packed[2 * n + 1])),
            f"gen5,{rng.getrandbits(64):016x}",
            "",
            teams,
        )
        for n in range(number)
    ]
    records = asyncio.run(play_all(fixtures, Rules(max_turns=300, think_limit=600)))
    return compared(records, format_id)


def compared(
    records: list[BattleRecord], format_id: str, observe_engine: Callable[..., Observations] = observe_rows
) -> tuple[int, int, collections.Counter[str], list[str]]:
    """Plays records again on the engine and compares all observations; the result is that of `compare`.

    observe_engine(engine, rows, seats): the observations that are compared with those by the protocol.
    """
    engine = Engine(len(records), format_id)
    teams = [(str(r.fixture.teams[0].packed), str(r.fixture.teams[1].packed)) for r in records]
    engine.reset(teams, [record.fixture.seed for record in records])
    points: list[list[Iterator[Any]]] = [
        [decision_points(f"p{seat + 1}", format_id, record.logs[seat]) for seat in range(2)] for record in records
    ]
    chosen = [[iter([row for row in record.decisions if row[0] == seat]) for seat in range(2)] for record in records]
    places: collections.Counter[str] = collections.Counter()
    examples: list[str] = []
    decisions = 0
    playing = set(range(len(records)))
    while playing:
        legal = engine.legal()
        pairs = [(n, seat) for n in sorted(playing) for seat in range(2) if legal[n, seat]]
        rows, seats = np.array([n for n, _ in pairs]), np.array([seat for _, seat in pairs])
        seen = observe_engine(engine, rows, seats)
        actions = np.zeros((len(records), 2), np.int32)
        for k, (n, seat) in enumerate(pairs):
            battle, row = next(points[n][seat], None), next(chosen[n][seat], None)
            if battle is None or row is None:  # the turn limit
                playing.discard(n)
                continue
            decisions += 1
            expected = observe(battle)
            actual = Observation(seen.token_ids[k], seen.features[k], seen.legal[k])
            for place, what in differences(expected, actual):
                places[place] += 1
                if len(examples) < 40:
                    fixture = records[n].fixture
                    examples.append(f"{fixture.seed} p{seat + 1} turn {battle.turn}, {place}: {what}")
            bits = [action for action in range(9) if legal[n, seat] >> action & 1]
            actions[n, seat] = bits[row[3].index(row[4])]
        playing = {n for n in playing if engine.words[n, WINNER] == UNDECIDED}
        keep = np.zeros((len(records), 2), np.int32)
        keep[list(playing)] = actions[list(playing)]
        stopped = [n for n in range(len(records)) if n not in playing]
        engine.words[stopped, WINNER] = 2
        engine.step(keep)
        playing = {n for n in playing if engine.words[n, WINNER] == UNDECIDED}
    return len(records), decisions, places, examples


def differences(expected: Observation, actual: Observation) -> Iterator[tuple[str, str]]:
    """Yields (place, both values) of each difference."""
    for token, column in np.argwhere(expected.token_ids != actual.token_ids):
        protocol_value, engine_value = expected.token_ids[token, column], actual.token_ids[token, column]
        yield f"id {token},{column}", f"{protocol_value} by the protocol, {engine_value} by the engine"
    for token, column in np.argwhere(np.abs(expected.features - actual.features) > TOLERANCE):
        protocol_value, engine_value = expected.features[token, column], actual.features[token, column]
        yield f"feature {token},{column}", f"{protocol_value:.6f} by the protocol, {engine_value:.6f} by the engine"
    for (action,) in np.argwhere(expected.legal != actual.legal):
        yield f"legal {action}", f"{expected.legal[action]} by the protocol, {actual.legal[action]} by the engine"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--battles", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--teams", default="any")
    parser.add_argument("--agents", nargs=2, default=["observation_parity:MostlyMoves"] * 2, help="specs of both seats")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    arguments = parser.parse_args()
    format_id = "gen1randombattle" if arguments.teams == "random" else "gen1ou"
    chunks = [
        (
            arguments.seed * 1_000_003 + first,
            min(CHUNK, arguments.battles - first),
            arguments.teams,
            format_id,
            tuple(arguments.agents),
        )
        for first in range(0, arguments.battles, CHUNK)
    ]
    battles, decisions, places, examples = 0, 0, collections.Counter[str](), list[str]()
    with concurrent.futures.ProcessPoolExecutor(arguments.workers) as pool:
        for played, made, where, what in pool.map(compare, chunks):
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
