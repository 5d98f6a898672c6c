"""What two Pokémon would do to each other: the quick estimate against the rules' own formula, on real battles."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Iterator
from itertools import islice

import numpy as np
import orjson
import pytest

from agents.battle import SeatBattle
from agents.observation import estimates, observation
from agents.observation.observation import OUR_MOVES, OURS, THEIRS, VERSION, Observation, observe, unlike
from agents.rules.turn_view import TurnView
from arena.record import BattleRecord
from arena.run.entrants import load_pools
from arena.schedules.plan import Plan, round_robin
from arena.venue import Rules
from arena.venues.simulator.simulator import play_all
from teamsets.formats import get_format

#: Over every observation of `played` in a format. Where one changes, so must VERSION: older checkpoints see it no more.
SEEN = {"gen1ou": "1934a174848a2add", "gen9ou": "756c8cea49eae995"}


def played(format_id: str) -> BattleRecord:
    agents = ("random", "poke-env:RandomPlayer")  # whose play no change of ours moves
    plan = Plan(agents, load_pools((format_id,))[0], 2, 5)
    return asyncio.run(play_all(islice(round_robin(plan), 1), Rules(think_limit=60.0, max_turns=200)))[0]


def decisions(record: BattleRecord, role: int = 0) -> Iterator[SeatBattle]:
    name, format_id = ("p1", "p2")[role], record.fixture.format
    battle = SeatBattle(f"battle-{format_id}-1", name, name, get_format(format_id).gen, format_id, random.Random(0))
    for line in record.logs[role]:
        if not line.startswith("|request|"):
            battle.feed([line])
            continue
        battle.ask(orjson.loads(line[9:]))
        if battle.legal and battle.legal[0].kind != "team":
            yield battle


@pytest.fixture(scope="module", params=list(SEEN))
def record(request: pytest.FixtureRequest) -> BattleRecord:
    return played(request.param)


def battle_gen(record: BattleRecord) -> int:
    return get_format(record.fixture.format).gen


def all_seen(record: BattleRecord) -> list[Observation]:
    return [observe(battle) for role in (0, 1) for battle in decisions(record, role)]


def test_an_observation_hangs_on_its_battle_alone(record: BattleRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not on what was seen before, in this battle and in others, and is remembered."""
    first = all_seen(record)
    again = all_seen(record)
    forgetful = []
    for role in (0, 1):
        for battle in decisions(record, role):
            observation._pokemon_tokens.cache_clear()
            forgetful.append(observe(battle))
    monkeypatch.setattr(estimates, "_MAX_CACHED_PAIRS", 15)
    full = all_seen(record)
    assert len(first) == len(again) == len(forgetful) == len(full) > 20
    for one, *others in zip(first, again, forgetful, full, strict=True):
        for other in others:
            assert (one.token_ids == other.token_ids).all() and (one.features == other.features).all()


@pytest.mark.parametrize("step", [2, 3, 7])
def test_nothing_is_missed_between_two_observations(record: BattleRecord, step: int) -> None:
    """Who is asked seldom sees the same: Pokémon came, moved and left in between."""
    for role in (0, 1):
        always = [observe(battle) for battle in decisions(record, role)]
        seldom = [observe(battle) for battle in islice(decisions(record, role), 0, None, step)]
        for one, other in zip(always[::step], seldom, strict=True):
            assert (one.token_ids == other.token_ids).all() and (one.features == other.features).all()


def test_a_change_of_forme_is_seen(record: BattleRecord) -> None:
    """Though the Pokémon keeps its name: its types and its weight are the forme's, and so is what they do to damage."""
    battle = next(decisions(record))
    mon = battle.opponent_active_pokemon
    assert mon is not None
    before = observe(battle)
    mon._update_from_pokedex("aerodactyl", store_species=False)
    after = observe(battle)
    observation._pokemon_tokens.cache_clear()
    afresh = observe(battle)
    assert (after.token_ids == afresh.token_ids).all() and (after.features == afresh.features).all()
    assert (after.token_ids[THEIRS[0]] != before.token_ids[THEIRS[0]]).any()
    assert (after.features[OUR_MOVES] != before.features[OUR_MOVES]).any()


def test_a_small_team_leaves_its_places_empty(record: BattleRecord) -> None:
    """The opponent's tokens stay where they are whatever we bring."""
    for battle in decisions(record):
        whole = observe(battle)
        side = battle.last_request["side"]
        left = [mon for mon in side["pokemon"] if mon["active"] or mon is side["pokemon"][-1]]
        battle._last_request = {**battle.last_request, "side": {**side, "pokemon": left}}
        battle.legal = [choice for choice in battle.legal if choice.kind == "move"]
        small = observe(battle)
        empty = slice(OURS[0] + len(left), OURS[-1] + 1)
        assert not small.token_ids[empty].any() and not small.features[empty].any() and whole.token_ids[empty].any()
        for token in (*THEIRS, *OUR_MOVES):
            assert (small.token_ids[token] == whole.token_ids[token]).all() and (
                small.features[token] == whole.features[token]
            ).all()
        return


def test_observations_change_with_the_version_alone(record: BattleRecord) -> None:
    assert VERSION == 7 and not any(unlike(version, battle_gen(record)) for version in (2, 3, 4, 5, 6))
    digest = hashlib.sha256(b"2")
    for one in all_seen(record):
        digest.update(
            one.token_ids.tobytes() + np.round(one.features, 3).astype(np.float16).tobytes() + one.legal.tobytes()
        )
    assert digest.hexdigest()[:16] == SEEN[record.fixture.format]


def test_the_estimates_are_near_what_the_rules_reckon(record: BattleRecord) -> None:
    """The damage of our moves, what each of ours must fear, and who is faster, as agents/rules/turn_view.py has them."""
    moves, fears, swifter = [], [], []
    for role in (0, 1):
        for battle in decisions(record, role):
            view, seen = TurnView(battle), observe(battle).features
            if view.foe is None or view.me is None or view.me.hp == 0:
                continue
            listed = sorted(battle.last_request["active"][0]["moves"], key=lambda m: m["id"]) if view.moves else []
            by_name = {option.move.id: option.expected for option in view.moves}
            for token, move in zip(OUR_MOVES, listed, strict=False):
                if move["id"] in by_name:
                    moves.append((seen[token, 3], min(by_name[move["id"]], 1.5)))
            fears.append((seen[OURS[0], _OF_PAIR + 1], min(view.threat(view.me), 1.5)))
            swifter.append(seen[OURS[0], _OF_PAIR + 5] == view.faster(view.me))
            # The other's row says the same from the other side.
            assert (seen[OURS[0], _OF_PAIR + 1 : _OF_PAIR + 3] == seen[THEIRS[0], _OF_PAIR + 3 : _OF_PAIR + 5]).all()
    assert len(moves) > 40 and max(real for _, real in moves) > 0.2
    assert np.mean([abs(quick - real) < 0.02 for quick, real in moves]) > 0.9
    assert np.mean([abs(quick - real) < 0.05 for quick, real in fears]) > 0.9
    assert np.mean(swifter) > 0.95


#: Where a Pokémon's estimates begin in its row.
_OF_PAIR = 21
