"""`search:exact`: the row that it starts from, what it chooses where the best choice is known, and what it may not know."""

from __future__ import annotations

import asyncio
import itertools
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.scripts import script
from support.small_battles import at_first_request, fought, team

pytest.importorskip("numba")

from agents import resolve
from agents.battle import SeatBattle
from agents.battle.choices import Choice
from agents.engine.gen1 import layout
from agents.engine.gen1.engine import Engine
from agents.search.exact.active_pokemon import side_at
from agents.search.exact.agent import ExactSearch, compiled
from agents.search.exact.battle_log import BattleLog
from agents.search.exact.fitted_values import read_weights
from agents.search.exact.root_position import root_of
from agents.search.exact.root_values import TreeSettings
from agents.search.exact.steps import legal
from agents.search.exact.tree import HIDDEN, Tree, grow
from agents.search.exact.weights import read
from arena.record import BattleRecord
from arena.run.entrants import load_pools
from arena.schedules.plan import Plan, round_robin
from arena.venue import Rules
from arena.venues.simulator.simulator import play_all
from teamsets.errors import BadInput

_comparison = script("simulate/exact_comparison.py")
Position, foreseen, sheets = _comparison.Position, _comparison.foreseen, _comparison.sheets
unequal, walk = _comparison.unequal, _comparison.walk
RULES = Rules(think_limit=60.0, max_turns=80)
WEIGHTS = Path(__file__).parents[3] / "agents" / "search" / "weights" / "gen1.txt"


def played(agents: tuple[str, str], battles: int, seed: int, format_id: str = "gen1ou") -> list[BattleRecord]:
    plan = Plan(agents, load_pools((format_id,))[0], battles, seed)
    return asyncio.run(play_all(round_robin(plan), RULES))


def positions(record: BattleRecord) -> list[list[Position]]:
    teams = record.fixture.teams[0].packed or "", record.fixture.teams[1].packed or ""
    choices = [d[4] for d in record.decisions if d[0] == 0], [d[4] for d in record.decisions if d[0] == 1]
    return [list(points) for points in walk(record.logs, choices, teams, record.fixture.seed, record.fixture.format)]


@pytest.mark.parametrize(("agents", "seed"), [(("heuristic:expert", "random"), 11), (("random", "random"), 12)])
def test_it_starts_from_the_engines_own_row_but_for_what_no_player_is_told(agents: tuple[str, str], seed: int) -> None:
    turns = [point for record in played(agents, 4, seed) for point in positions(record)]
    asked = [position for points in turns for position in points]
    assert len(asked) > 150
    assert [unequal(position) for position in asked if unequal(position)] == []
    assert all(legal(position.built, side_at(position.seat)) == position.legal for position in asked)


def test_rare_moves_too_leave_it_with_the_legal_choices_of_the_request() -> None:
    """Transform, Mimic, Bide, Disable, Metronome, Mirror Move, Haze, binding and charging moves."""
    odd = team(
        ("ditto", "transform"), ("mew", "mimic", "metronome", "mirrormove", "rage"),
        ("dragonite", "wrap", "hyperbeam", "thunderwave", "agility"), ("muk", "disable", "haze", "toxic", "screech"),
        ("snorlax", "bide", "substitute", "rest", "counter"), ("moltres", "firespin", "skyattack", "razorwind", "fly"),
    )  # fmt: skip
    asked = [position for points in positions(fought(odd, odd)) for position in points]
    assert len(asked) > 60
    wrong = sum(legal(position.built, side_at(position.seat)) != position.legal for position in asked)
    assert wrong <= len(asked) // 50  # whether a binding move is over is drawn, and a search draws again


def test_what_happens_is_among_what_the_engine_foresees() -> None:
    rng = np.random.default_rng(3)
    found = []
    for record in played(("heuristic:expert", "heuristic:emerald"), 2, 13):
        points = positions(record)
        for before, after in itertools.pairwise(points):
            if len(before) == 2:
                actions = before[0].choice, before[1].choice
                found.append(foreseen(before[0].true, actions, after[0].true, rng))
    assert len(found) > 40 and all(found)


def test_words_that_differ_are_named() -> None:
    """The comparison above can fail."""
    position = positions(fought(team(("tauros", "bodyslam")), team(("chansey", "icebeam"))))[0][0]
    wrong = position.built.copy()
    wrong[side_at(0) + layout.MODIFIED + 4] += 1
    wrong[side_at(1) + layout.MONS + layout.MON_STATUS] = layout.BURN
    seen = Position(0, position.battle, position.log, position.true, wrong, 0, 0)
    assert unequal(seen) == ["MODIFIED", "MON_STATUS"] and unequal(position) == []


def searched(one: str, two: str, changes: dict[int, int], iterations: int = 800, guide: Any = None) -> list[list[int]]:
    """The visits of both seats' actions at a battle's first decision after changes to its words."""
    engine = Engine(1)
    engine.reset([(one, two)], ["gen5,0123456789abcdef"])
    for word, value in changes.items():
        engine.words[0, word] = value
    tree = Tree(4096)
    hidden, allowed = np.full((2, HIDDEN), -1, np.int64), np.full(2, 511, np.int64)
    tree.plant(engine.words[0], hidden, allowed, TreeSettings(), read("fitted"), 77, guide)
    tree.grow(iterations)
    return [tree.edges(seat)[0].tolist() for seat in range(2)]


def test_going_on_with_a_tree_compiles_nothing() -> None:
    """Once the second call of a decision took a minute, because the type of an argument was another."""
    engine = Engine(1)
    engine.reset([(OURS, THEIRS)], ["gen5,0123456789abcdef"])
    tree, hidden = Tree(64), np.full((2, HIDDEN), -1, np.int64)
    tree.plant(engine.words[0], hidden, np.full(2, 511, np.int64), TreeSettings(), read("fitted"), 77)
    for _ in range(2):
        tree.grow(50)
    assert len(grow.compiled.signatures) == 1
    assert tree.size == 64 and tree.edges(0)[0].sum() == 100  # a full tree is searched on


def hp(seat: int, index: int = 0) -> int:
    return side_at(seat) + layout.MONS + index * layout.MON_WORDS + layout.MON_HP


def test_only_the_move_with_priority_wins() -> None:
    """Both have 1 HP, the foe is faster and its Swift never misses: any other move loses."""
    ours = team(("pidgeot", "tackle", "skyattack", "quickattack", "wingattack"))
    for seat, teams in enumerate([(ours, team(("jolteon", "swift"))), (team(("jolteon", "swift")), ours)]):
        visits = searched(*teams, {hp(0): 1, hp(1): 1})[seat]
        assert visits.index(max(visits)) == 2 and visits[2] > 0.8 * sum(visits)


def test_the_only_move_that_hits_a_ghost_wins() -> None:
    ours = team(("snorlax", "bodyslam", "hyperbeam", "selfdestruct", "earthquake"))
    visits = searched(ours, team(("gengar", "nightshade")), {hp(0): 60, hp(1): 1})[0]
    assert visits.index(max(visits)) == 3


def test_a_pokemon_that_would_faint_is_switched_for_one_that_wins() -> None:
    """Out is Magikarp, whose Splash does nothing, with 1 HP; behind it Jolteon, faster, outspeeds and knocks out."""
    ours = team(("magikarp", "splash"), ("jolteon", "thunderbolt"))
    visits = searched(ours, team(("gyarados", "splash")), {hp(1): 40})[0]
    assert visits.index(max(visits)) == 4


@pytest.mark.parametrize("action", range(4))
def test_visits_concentrate_on_an_action_that_has_all_of_the_roots_prior(action: int) -> None:
    ours = team(("tauros", "bodyslam", "blizzard", "earthquake", "hyperbeam"))
    guide = np.zeros((2, 9), np.float32)
    guide[0, action] = 1
    guided, alone = (searched(ours, ours, {}, 40, given)[0] for given in (guide, None))
    assert guided[action] >= 38 and sum(guided) == 40
    assert max(alone) < 38, "else the guide was not what did it"


def test_what_a_guide_leaves_of_1_keeps_the_priors_of_the_weights() -> None:
    ours = team(("tauros", "bodyslam", "blizzard", "earthquake", "hyperbeam"))
    nothing = np.zeros((2, 9), np.float32)
    assert searched(ours, ours, {}, 200, nothing) == searched(ours, ours, {}, 200)
    half = nothing.copy()
    half[0, 2] = 0.5
    mixed, alone = (searched(ours, ours, {}, 200, guide)[0] for guide in (half, None))
    assert alone[2] < mixed[2] < 190


def first_decision(record: BattleRecord, options: str, seed: int) -> dict[str, Any]:
    """What `search:exact` finds at p1's first decision of a battle."""
    battle = at_first_request(record)
    agent = resolve(f"search:exact?{options}").make()
    agent.rng = random.Random(seed)
    choice = agent.act(battle)
    assert isinstance(choice, Choice)
    assert isinstance(agent, ExactSearch) and choice in battle.legal and agent.diagnostics is not None
    return agent.diagnostics


OURS = team(("tauros", "bodyslam", "blizzard"), ("chansey", "softboiled", "icebeam"), ("snorlax", "rest", "bodyslam"))
THEIRS = team(("starmie", "surf", "recover"), ("alakazam", "psychic", "recover"), ("jynx", "lovelykiss", "blizzard"))
OTHERS = team(("starmie", "thunderbolt", "toxic"), ("rhydon", "earthquake"), ("gengar", "explosion", "nightshade"))


def test_the_opponents_hidden_team_changes_nothing() -> None:
    first, second = (first_decision(fought(OURS, theirs), "iterations=400", 5) for theirs in (THEIRS, OTHERS))
    assert first == second and first["iterations"] == 400
    assert first_decision(fought(OURS, THEIRS), "iterations=400", 6) != first  # another seed draws other teams
    assert (
        first_decision(fought(OURS, THEIRS), "iterations=400&threads=2", 5) == first
    )  # samples have trees of their own


def test_a_time_limit_is_kept_to_by_each_thread() -> None:
    found = first_decision(fought(OURS, THEIRS), "ms=1&samples=3&threads=2", 5)
    assert found["iterations"] >= 3 * 200 and sum(found["visits"].values()) == pytest.approx(1, abs=0.01)


def test_the_battles_own_random_numbers_are_not_in_its_row() -> None:
    record = fought(OURS, THEIRS)
    position = positions(record)[0][0]
    assert position.true[layout.SEED : layout.SEED + 4].any()
    root = root_of(position.battle, position.log, sheets(THEIRS), random.Random(0))
    assert not root.row[layout.SEED : layout.SEED + 4].any()


@pytest.mark.parametrize("format_id", ["gen1ou", "gen1randombattle"])
def test_whole_battles_are_legal_and_repeatable_by_their_seed(format_id: str) -> None:
    spec = "search:exact?iterations=60&temperature=0.5"
    first, second = (played((spec, "heuristic:max-power"), 2, 14, format_id) for _ in range(2))
    assert [record.input_log for record in first] == [record.input_log for record in second]
    for record in first:
        assert record.reason in ("win", "tie", "turn-limit"), record.detail
        seat = record.fixture.agents.index(spec)
        free = [d for d in record.decisions if d[0] == seat and len(d[3]) > 1]
        assert len(free) > 10
        for _, _, _, labels, choice, _, thought in free:
            assert thought is not None and "failed" not in thought
            assert choice in labels and set(thought["visits"]) == set(labels)
            assert sum(thought["visits"].values()) == pytest.approx(1, abs=0.01)


def test_a_line_of_the_log_is_read_once() -> None:
    battle = SeatBattle("battle-gen1ou-1", "p1", "p1", 1, "gen1ou", random.Random(0))
    battle.feed(
        ["|switch|p1a: Tauros|Tauros|353/353", "|switch|p2a: Jynx|Jynx|100/100", "|-start|p1a: Tauros|confusion"]
    )
    log = BattleLog()
    for _ in range(2):
        log.follow(battle)
        battle.feed(["|-activate|p1a: Tauros|confusion"])
    log.follow(battle)
    assert log.sides[0].active.confused == 2 and log.sides[1].entries == ["Jynx"]


@pytest.mark.parametrize(
    "option",
    [
        "ms=0",
        "samples=-1",
        "threads=0",
        "steps=0",
        "iterations=-1",
        "temperature=-1.0",
        "weights=nowhere",
        "beta=-1.0",
        "beta=nan",
        "prior=1.5",
    ],
)
def test_options_out_of_range_are_refused_by_name(option: str) -> None:
    with pytest.raises(BadInput, match=f"search:exact: {option}: must be"):
        resolve(f"search:exact?{option}").make()


def test_a_weight_that_is_none_of_generation_1_is_refused(tmp_path: Path) -> None:
    (tmp_path / "w.txt").write_text("# ours\nvalue hp 1\nvalue tera_used 2\n")
    with pytest.raises(BadInput, match="'value tera_used 2' is no weight of generation 1"):
        read_weights(tmp_path / "w.txt")


def test_it_says_which_formats_it_plays() -> None:
    source = resolve("search:exact")
    assert source.missing("gen1ou") == source.missing("gen1randombattle") == ""
    assert source.missing("gen3ou") == "the engines play gen1ou, gen1randombattle and gen9ou only"
    assert not source.repeatable and resolve("search:exact?iterations=10").repeatable


def test_without_numba_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.search.exact.agent.importlib.util.find_spec", lambda name: None)
    assert "Numba is not installed: `make training` installs it" in resolve("search:exact").missing("gen1ou")
    compiled.cache_clear()  # an earlier test of this process has loaded it
    with pytest.raises(BadInput, match="search:exact: Numba is not installed"):
        resolve("search:exact").make().prepare("gen1ou")
