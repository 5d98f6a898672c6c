"""Battles of the generation-9 engine whose seats also read the protocol: a SeatBattle for each, fed as a host feeds it.

Lines and requests are those of the engine, which gen9_parity.py and engine_host.py compare with Showdown's. What the engine
knows of a seat is compared at each of its decisions by gen9_shown_parity.py and gen9_observation_parity.py.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import os
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import engine_ranges
import gen9_teams
import numpy as np

from agents.battle import SeatBattle
from agents.engine.gen9.choices import ILLEGAL, SWITCHING, TERASTALLIZING, action_of
from agents.engine.gen9.engine import Engine, Orders, records
from agents.engine.gen9.library import announce, build
from agents.engine.gen9.log import for_seat
from agents.engine.gen9.requests import Team, members_of, request
from agents.engine.gen9.teams import DATA, IDS, SPECIES, TYPES, to_id
from agents.observation.observation import Observation, observe
from agents.registry import resolve
from teamsets.errors import BadInput, MissingTool

FORMAT = "gen9ou"
#: Battles of a process at once, and after how many turns they are left.
CHUNK, TURNS = 50, 300
#: Of these players "rules" draws one for each seat.
RULES = ("balanced", "hazard-stacker", "max-damage", "red-blue", "staller", "status-spreader", "type-switcher")
#: Differences that are shown in words.
EXAMPLES = 30
#: Of "odd" teams: what seats read by more than one line, or by one that does not say all.
ODD = {
    "species": "ditto mimikyu ogerpon greninjabond okidogi fezandipiti dragapult weavile kingambit greattusk ironvaliant "
    "corviknight toxapex zapdos moltres gholdengo clefable cresselia latias pecharunt meowscarada cinderace "
    "gliscor",
    "items": "stickybarb stickybarb whiteherb whiteherb toxicorb custapberry choicescarf redcard ejectbutton airballoon "
    "powerherb weaknesspolicy leftovers rockyhelmet lifeorb mentalherb flameorb boosterenergy grassyseed "
    "psychicseed",
    "abilities": "pickpocket magician frisk toxicchain imposter pressure neutralizinggas regenerator naturalcure libero "
    "protean disguise magicbounce roughskin flashfire protosynthesis quarkdrive supremeoverlord cursedbody "
    "grassysurge psychicsurge",
    "moves": "trick knockoff futuresight skillswap lunardance healingwish destinybond endure protect transform "
    "courtchange spikes toxicspikes defog mortalspin uturn partingshot closecombat shellsmash icespinner encore "
    "sleeptalk rest substitute phantomforce meteorbeam hyperbeam outrage whirlpool roost haze clearsmog "
    "painsplit wish toxic roar taunt psychicnoise curse poltergeist saltcure chillyreception fireblast bodyslam",
}
_PREVIEW = "|teampreview"
_HARMLESS = {name for name, (_, target, _) in DATA["moves"].items() if target in ("self", "allySide", "foeSide", "all")}


class PendingDecision(NamedTuple):
    """A seat that has to choose. legal: its actions as bits."""

    row: int
    seat: int
    battle: SeatBattle
    legal: int

    @property
    def actions(self) -> list[int]:
        """Its legal actions."""
        return [action for action in range(SWITCHING + 5) if self.legal >> action & 1]


class SeatedBattles:
    """Battles of an engine in play; `engine` keeps what its seats were shown.

    teams: both packed teams of each battle; orders: as of Engine.reset. battles [N][2]: what the seats have read. pending:
    the seats that have to choose now, rows in order. previews [N][2]: what they saw at their team previews.
    """

    def __init__(self, teams: Sequence[tuple[str, str]], seeds: Sequence[str], orders: Sequence[Orders]) -> None:
        self.engine = Engine(len(teams), 1, shows=True)
        for row in range(len(teams)):
            self.engine.record(row)
        previewed = records(self.engine.previewed(teams, seeds))
        self.engine.reset(teams, seeds, orders=orders)
        self.teams, self.seeds = teams, seeds
        self._teams = [[Team(packed, seat) for seat, packed in enumerate(pair)] for pair in teams]
        self.battles = [
            [SeatBattle(f"battle-{row}", role, role, 9, FORMAT, random.Random(row)) for role in ("p1", "p2")]
            for row in range(len(teams))
        ]
        self.previews: list[list[Observation]] = [[] for _ in teams]
        for row, seats in enumerate(self.battles):
            lines = self.engine.lines(row)
            begin = lines.index(_PREVIEW) + 1
            for seat, battle in enumerate(seats):
                battle.feed(for_seat(lines[:begin], seat))
                battle.ask({"teamPreview": True, "side": self._teams[row][seat].request(previewed[row]["sides"][seat])})
                self.previews[row].append(observe(battle))
                battle.feed(for_seat(lines[begin:], seat))
        self.pending: list[PendingDecision] = []
        self._ask()

    def _ask(self) -> None:
        legal, locked = self.engine.legal()[:, :, 0], self.engine.locked(np.arange(len(self.teams)))[:, :, 0]
        sides = records(self.engine.words)["sides"]
        self.pending = []
        for row, seat in np.argwhere(legal).tolist():
            battle = self.battles[row][seat]
            if battle.turn > TURNS:
                continue
            asked = request(sides[row, seat], self._teams[row][seat], int(locked[row, seat]))
            assert asked is not None
            battle.ask(asked)
            self.pending.append(PendingDecision(row, seat, battle, int(legal[row, seat])))

    def step(self, actions: Sequence[int]) -> None:
        """Play on by an action of each seat that is asked."""
        rows = np.unique([decision.row for decision in self.pending])
        chosen = np.zeros((len(rows), *Engine.shape), np.int32)
        for decision, action in zip(self.pending, actions, strict=True):
            chosen[np.searchsorted(rows, decision.row), decision.seat, 0] = action
        self.engine.step(chosen, rows)
        for row in rows.tolist():
            lines = self.engine.lines(row)
            for seat, battle in enumerate(self.battles[row]):
                battle.feed(for_seat(lines, seat))
        self._ask()

    def moves_of(self, decision: PendingDecision) -> list[int]:
        """The moves of its active Pokémon, by number, in the order of actions."""
        side = records(self.engine.words)[decision.row]["sides"][decision.seat]
        moves: list[int] = side["pokemon"][(side["order"][0] - 1) % 6]["moveSlots"]["id"].tolist()
        return moves

    def action_of(self, decision: PendingDecision, choice: str) -> int:
        """The action of a choice in Showdown's words; ILLEGAL for one that Showdown would refuse (a hidden trap)."""
        return action_of(records(self.engine.words)[decision.row]["sides"][decision.seat], decision.legal, choice)


Policy = Callable[[SeatedBattles, PendingDecision], int]


def _preferring(share: float, first: int, end: int) -> Callable[[random.Random], Policy]:
    """In a share of the decisions an action from first to end - 1, where one of these is legal; else any."""

    def policy(rng: random.Random) -> Policy:
        def choose(_: SeatedBattles, decision: PendingDecision) -> int:
            preferred = [action for action in decision.actions if first <= action < end] if rng.random() < share else []
            return rng.choice(preferred or decision.actions)

        return choose

    return policy


def _rare(rng: random.Random) -> Policy:
    uses: collections.Counter[int] = collections.Counter()

    def choose(battles: SeatedBattles, decision: PendingDecision) -> int:
        any_action, moves = rng.choice(decision.actions), battles.moves_of(decision)
        if any_action >= SWITCHING:
            return any_action
        of_moves = [action for action in decision.actions if action < SWITCHING]
        rng.shuffle(of_moves)
        rarest = min(of_moves, key=lambda action: uses[moves[action % TERASTALLIZING]])
        uses[moves[rarest % TERASTALLIZING]] += 1
        return rarest

    return choose


def _stall(rng: random.Random) -> Policy:
    def choose(battles: SeatedBattles, decision: PendingDecision) -> int:
        moves = battles.moves_of(decision)
        harmless = [action for action in decision.actions if action < 4 and IDS.get(moves[action]) in _HARMLESS]
        return rng.choice(harmless if harmless and rng.random() < 0.8 else decision.actions)

    return choose


def _rules(rng: random.Random) -> Policy:
    players: dict[tuple[int, int], Callable[[], object]] = {}

    def choose(battles: SeatedBattles, decision: PendingDecision) -> int:
        player = players.get((decision.row, decision.seat))
        if player is None:
            agent = resolve(f"heuristic:{rng.choice(RULES)}").make()
            agent.rng = decision.battle.rng
            agent.start(decision.battle)
            player = players[decision.row, decision.seat] = lambda: agent.act(decision.battle)
        choice = decision.battle.read_answer(player(), decision.battle.last_request)
        action = ILLEGAL if choice is None else battles.action_of(decision, choice.wire)
        return rng.choice(decision.actions) if action == ILLEGAL else action

    return choose


#: random; moves: switches seldom; switcher: often; tera: terastallizes at once; rare: the moves that were used least; stall:
#: mostly moves that do no damage; rules: rule players.
POLICIES: dict[str, Callable[[random.Random], Policy]] = {
    "random": _preferring(0.0, 0, 0),
    "moves": _preferring(0.9, 0, SWITCHING),
    "switcher": _preferring(0.5, SWITCHING, SWITCHING + 5),
    "tera": _preferring(1.0, TERASTALLIZING, SWITCHING),
    "rare": _rare,
    "stall": _stall,
    "rules": _rules,
}


def drawn_battles(teams: str, number: int, rng: random.Random) -> SeatedBattles:
    """Battles of random teams, seeds and orders. teams: random, rings or team sets, as of gen9_parity.py; odd: of ODD."""
    made: dict[str, Callable[[random.Random], str]] = {"random": gen9_teams.random_team, "odd": _odd_team}
    listed = [] if teams in made else gen9_teams.teams_of(teams.split(","))
    draw = made.get(teams) or (lambda rng: rng.choice(listed))
    pairs = [(_team(draw, rng), _team(draw, rng)) for _ in range(number)]
    seeds = [f"gen5,{rng.getrandbits(64):016x}" for _ in pairs]
    orders = [tuple(rng.sample(range(team.count("]") + 1), team.count("]") + 1) for team in pair) for pair in pairs]
    return SeatedBattles(pairs, seeds, orders)  # type: ignore[arg-type]  # pairs of orders


def _odd_team(rng: random.Random) -> str:
    ids = {kind: names.split() for kind, names in ODD.items()}

    def member(species: str) -> str:
        item, ability, moves = rng.choice(ids["items"]), rng.choice(ids["abilities"]), rng.sample(ids["moves"], 4)
        ability = {"mimikyu": "disguise", "ditto": "imposter"}.get(species, ability)
        gender, level, tera = rng.choice(("", "M", "N")), rng.choice(("", "70")), rng.choice(TYPES)
        return f"{species}||{item}|{ability}|{','.join(moves)}|Hardy||{gender}|||{level}|,,,,,{tera}"

    return "]".join(map(member, rng.sample(ids["species"], 6)))


def _team(draw: Callable[[random.Random], str], rng: random.Random) -> str:
    """A team by the Species Clause, without which lines name two Pokémon alike."""
    while True:
        team = draw(rng)
        named = [fields[1] or fields[0] for fields in (member.split("|") for member in team.split("]"))]
        bases = {DATA["species"][SPECIES[to_id(name)]]["base"] for name in named}
        if len(bases) == len(named) == len({member.name for member in members_of(team)}):
            return team


#: Of the seats that are asked: the number of one, the place of a difference, and both values in words.
Compare = Callable[[SeatedBattles], Iterator[tuple[int, str, str]]]
Result = tuple[int, collections.Counter[str], list[str]]


def play(battles: SeatedBattles, policy: Policy, compare: Compare) -> Result:
    """Plays battles to their end: decisions, differences by place, and the first ones in words."""
    decisions, places, examples = 0, collections.Counter[str](), list[str]()
    while battles.pending:
        decisions += len(battles.pending)
        for n, place, what in compare(battles):
            row, seat, battle, _ = battles.pending[n]
            places[place.rpartition(": ")[2]] += 1
            if len(examples) < EXAMPLES:
                examples.append(f"{battles.seeds[row]} p{seat + 1} turn {battle.turn}, {place}: {what}")
        battles.step([policy(battles, decision) for decision in battles.pending])
    return decisions, places, examples


def _play_chunk(chunk: tuple[str, int, int, str, str, Compare]) -> Result:
    seed, first, number, teams, policy, compare = chunk
    rng = random.Random(f"{seed} {first}")
    return play(drawn_battles(teams, number, rng), POLICIES[policy](rng), compare)


def main(description: str | None, compare: Compare) -> int:
    """The command line of a script that compares by a function of its module. Returns its exit code: 1 at a difference."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--battles", type=int, default=100)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--teams", default="ring1")
    parser.add_argument("--policy", default="random", choices=POLICIES)
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    given = parser.parse_args()
    firsts = range(0, given.battles, CHUNK)
    chunks = [(given.seed, n, min(CHUNK, given.battles - n), given.teams, given.policy, compare) for n in firsts]
    decisions, places, examples = 0, collections.Counter[str](), list[str]()
    try:
        engine_ranges.check_least(given, battles=1, workers=1)
        build(say=announce)
        with concurrent.futures.ProcessPoolExecutor(given.workers) as pool:
            for made, where, what in pool.map(_play_chunk, chunks):
                decisions += made
                places += where
                examples += what
    except (BadInput, MissingTool) as error:
        print(f"{os.path.basename(sys.argv[0])}: {error}", file=sys.stderr)
        return 2
    for line in examples[:EXAMPLES]:
        print(line)
    print(f"{given.battles:,} battles, {decisions:,} decisions, {sum(places.values()):,} differences")
    if places:
        print(", ".join(f"{place}: {number}" for place, number in places.most_common(30)))
    return 1 if places else 0
