"""`search:exact` in gen9ou: what its tree chooses where the best choice is known, its samples, and whole battles."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.compilers import need_compiler
from support.gen9_battles import team

from agents.battle import SeatBattle
from agents.engine.gen9.engine import Engine, records
from agents.engine.gen9.layout import CONSTANTS
from agents.engine.gen9.played import plays
from agents.engine.gen9.teams import side_words
from agents.search.exact.agent import ExactSearch
from agents.search.exact.gen9.battle_log import BattleLog
from agents.search.exact.gen9.position import HIDDEN, PENDING, Root
from agents.search.exact.gen9.sampled_team import near_move, near_species
from agents.search.exact.gen9.tree import ACTIONS, Tree
from agents.search.exact.gen9.weights import read
from agents.search.exact.root_values import TreeSettings
from agents.search.exact.weights import NINTH
from arena.record import BattleRecord
from arena.run.entrants import load_pools
from arena.schedules.plan import Plan, round_robin
from arena.venue import Rules
from arena.venues.simulator.simulator import play_all
from teamsets.errors import BadInput

need_compiler()

RULES = Rules(think_limit=60.0, max_turns=200)
EVERY = (1 << ACTIONS) - 1


def searched(
    teams: tuple[str, str],
    change: Callable[[Any], None] = lambda row: None,
    iterations: int = 600,
    seed: int = 7,
    hidden: Any = None,
    guide: Any = None,
) -> list[list[int]]:
    """The visits of both seats' actions at a battle's first decision after a change to its row."""
    engine = Engine(1)
    engine.reset([teams], ["gen5,0123456789abcdef"])
    change(records(engine.words)[0])
    tree = Tree(4096)
    unknown = np.full((2, HIDDEN), -1, np.int32) if hidden is None else hidden
    tree.plant(Root(engine.words[0], unknown), np.array([EVERY, EVERY]), TreeSettings(), read(NINTH), seed, guide)
    tree.grow(iterations)
    return [tree.edges(seat)[0].tolist() for seat in range(2)]


FRAIL = team(("Greattusk", "", "protosynthesis", "earthquake,rapidspin,knockoff,stealthrock"))
FAST = team(("Dragapult", "", "clearbody", "shadowball,uturn"))


def both_at_one(row: Any) -> None:
    row["sides"]["pokemon"]["hp"][:, 0] = 1


@pytest.mark.parametrize("seat", [0, 1])
def test_only_the_move_with_priority_wins(seat: int) -> None:
    """Both have 1 HP and the foe is faster: any move but Extreme Speed loses."""
    ours = team(("Dragonite", "", "innerfocus", "earthquake,extremespeed,roost,dragondance"))
    theirs = team(("Darkrai", "", "baddreams", "darkpulse"))
    visits = searched((ours, theirs) if seat == 0 else (theirs, ours), both_at_one)[seat]
    chosen = visits[1] + visits[5]  # with or without terastallizing
    assert chosen > 0.8 * sum(visits)


def test_a_pokemon_that_would_faint_is_switched_for_one_that_wins() -> None:
    ours = team(("Blissey", "", "naturalcure", "softboiled"), ("Dragapult", "", "clearbody", "shadowball"))
    theirs = team(("Gholdengo", "", "goodasgold", "recover"))

    def change(row: Any) -> None:
        row["sides"]["pokemon"]["hp"][1, 0] = 30

    visits = searched((ours, theirs), change)[0]
    assert visits.index(max(visits)) == 8


def test_the_same_seed_grows_the_same_tree() -> None:
    one, again, other = (searched((FRAIL, FAST), seed=seed) for seed in (7, 7, 8))
    assert one == again != other


def test_a_guide_leads_where_it_is_the_whole_prior() -> None:
    guide = np.zeros((2, ACTIONS), np.float32)
    guide[0, 3] = 1
    guided, alone = (searched((FRAIL, FRAIL), iterations=30, guide=given)[0] for given in (guide, None))
    assert guided[3] > 24 and alone[3] < 24


def test_equal_positions_are_worth_the_same_to_both() -> None:
    engine = Engine(1)
    engine.reset([(FRAIL, FRAIL)], ["gen5,0123456789abcdef"])
    tree = Tree(1024)
    hidden = np.full((2, HIDDEN), -1, np.int32)
    tree.plant(Root(engine.words[0], hidden), np.array([EVERY, EVERY]), TreeSettings(), read(NINTH), 3)
    tree.grow(1)
    assert tree.edges(0)[1].sum() == pytest.approx(0.5, abs=0.35)
    assert tree.edges(0)[1].sum() + tree.edges(1)[1].sum() == pytest.approx(1)


def test_what_the_opponent_has_yet_to_do_is_drawn() -> None:
    """Ours has used U-turn first; the foe's only attack, still to come, kills Blissey and does nothing to Gholdengo."""
    ours = team(
        ("Dragapult", "", "clearbody", "uturn"), ("Blissey", "", "naturalcure", "softboiled"),
        ("Gholdengo", "", "goodasgold", "recover"),
    )  # fmt: skip
    theirs = team(("Greattusk", "", "protosynthesis", "rapidspin"))
    engine = Engine(1)
    engine.reset([(ours, theirs)], ["gen5,0123456789abcdef"])
    engine.step(np.zeros((1, *Engine.shape), np.int32))
    row = records(engine.words)[0]
    assert row["sides"]["request"].tolist() == [CONSTANTS["REQUEST_SWITCH"], 0] and row["queueLength"] == 2
    row["queue"][0] = row["queue"][1]
    row["queueLength"] = 1
    row["sides"]["pokemon"]["hp"][0, 1:3] = 1
    hidden = np.full((2, HIDDEN), -1, np.int32)
    hidden[1, PENDING] = 1
    tree = Tree(1024)
    tree.plant(Root(engine.words[0], hidden), np.array([EVERY, EVERY]), TreeSettings(), read(NINTH), 3)
    tree.grow(300)
    visits = tree.edges(0)[0].tolist()
    assert visits[9] > 0.8 * sum(visits)


def test_what_the_engine_does_not_play_is_replaced_by_something_near() -> None:
    assert near_species("dragonite") == "dragonite" and near_move("earthquake") == "earthquake"
    assert near_species("volcarona") != "volcarona" and not plays("moves", "fusionflare")
    assert plays("moves", near_move("fusionflare"))
    side_words(f"x|{near_species('volcarona')}||healer|{near_move('fusionflare')}|Hardy|||||100|,,,,,Fire", 0)


def played(spec: str, other: str, seed: int) -> list[BattleRecord]:
    plan = Plan((spec, other), load_pools(("gen9ou",))[0], 2, seed)
    return asyncio.run(play_all(round_robin(plan), RULES))


def test_it_wins_against_random_play_and_plays_the_same_again() -> None:
    spec = "search:exact?iterations=60"
    battles, again = played(spec, "random", 5), played(spec, "random", 5)
    assert [record.fault for record in battles] == [None, None]
    assert [r.fixture.agents[int(r.winner[1]) - 1] for r in battles if r.winner] == [spec, spec]
    assert [record.input_log for record in battles] == [record.input_log for record in again]


def test_an_agent_reads_the_lines_as_they_were_written() -> None:
    """poke-env takes lines apart as it reads them; what the search reads afterwards must still be whole."""
    record = played("random", "random", 3)[0]
    for seat, role in enumerate(("p1", "p2")):
        written = [line for line in record.logs[seat] if not line.startswith("|request|")]
        battle = SeatBattle("battle-gen9ou-1", role, role, 9, "gen9ou", random.Random(1))
        battle.feed(written)
        ours, theirs = BattleLog(), BattleLog()
        ours.read_all(battle._replay_data)
        theirs.read_all([line.split("|") for line in written])
        assert ours.turn > 5 and ours.sides == theirs.sides and ours.weather == theirs.weather


def test_formats_that_it_does_not_play_are_refused_in_one_line() -> None:
    assert ExactSearch.missing("gen9ou") == ""
    assert ExactSearch.missing("gen3ou") == "the engines play gen1ou, gen1randombattle and gen9ou only"


def test_weights_that_are_none_are_refused(tmp_path: Any) -> None:
    file = tmp_path / "weights.txt"
    file.write_text("value alive\n")
    with pytest.raises(BadInput, match="value NAME WEIGHT"):
        read(file)
    with pytest.raises(BadInput, match="value NAME WEIGHT"):  # before the battle, not in its first decision
        ExactSearch(weights=str(file)).prepare("gen9ou")
