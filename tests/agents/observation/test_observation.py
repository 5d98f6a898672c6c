"""What a model sees and may do, on real battles of several generations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from poke_env.data import GenData
from support.battle_lines import battle_after
from support.rule_matches import play_all

from agents import Agent
from agents.battle import SeatBattle
from agents.battle.choices import Choice
from agents.observation.actions import ACTIONS, MOVES, SWITCHES, TERA, action_of, legal_actions
from agents.observation.estimates import NO_MOVE
from agents.observation.observation import (
    FEATURES,
    IDS_PER_TOKEN,
    OUR_MOVES,
    OURS,
    THEIRS,
    TOKENS,
    Observation,
    observe,
)
from agents.observation.packed_tokens import move_token
from agents.observation.vocabulary import Vocabulary, move_name, vocabulary
from arena.fixture import Fixture, FixtureTeam
from arena.run.entrants import load_pools
from arena.schedules.plan import Plan, round_robin

LONG = pytest.mark.slow
FORMATS = [
    "gen1ou",
    pytest.param("gen4ou", marks=LONG),
    "gen9ou",
    pytest.param("gen3randombattle", marks=LONG),
    pytest.param("gen7randombattle", marks=LONG),
    pytest.param("gen8randombattle", marks=LONG),
]


class Watcher(Agent):
    """Plays at random and keeps what a model would have seen at each decision, and what it could have done."""

    kept: list[tuple[Observation, dict[int, Choice], dict[str, Any], list[Choice]]]

    def act(self, battle: SeatBattle) -> Choice:
        actions = legal_actions(battle.last_request, battle.legal)
        self.kept.append((observe(battle), actions, battle.last_request, list(battle.legal)))
        return self.rng.choice(battle.legal)


class FirstMove(Watcher):
    """The first move while there is one: it never switches of its own will."""

    def act(self, battle: SeatBattle) -> Choice:
        super().act(battle)
        return battle.legal[0]


def play(fixture: Fixture, watchers: dict[str, type[Watcher]]) -> dict[str, list[Any]]:
    """What the watchers kept, by spec."""
    kept: dict[str, list[Any]] = {spec: [] for spec in watchers}

    def made(spec: str) -> Agent:
        agent = watchers[spec]()
        agent.kept = kept[spec]
        return agent

    (record,) = play_all([fixture], max_turns=200, create_agent=made)
    assert record.fault is None, record.detail
    return kept


def fixture_of(format_id: str) -> Fixture:
    return next(iter(round_robin(Plan(("one", "two"), load_pools((format_id,))[0], 2, 0))))


@pytest.mark.parametrize("format_id", FORMATS)
def test_every_choice_has_its_action_and_every_token_its_place(format_id: str):
    kept = play(fixture_of(format_id), {"one": Watcher, "two": Watcher})
    assert len(kept["one"]) > 10
    size = vocabulary().size
    for observation, actions, request, legal in kept["one"] + kept["two"]:
        assert observation.token_ids.shape == (TOKENS, IDS_PER_TOKEN) and observation.features.shape == (
            TOKENS,
            FEATURES,
        )
        assert observation.token_ids.min() >= 0 and observation.token_ids.max() < size
        assert np.isfinite(observation.features).all() and np.abs(observation.features).max() <= 8
        assert set(np.flatnonzero(observation.legal)) == set(actions) and observation.legal.shape == (ACTIONS,)
        named = [choice for choice in legal if choice.extra in ("", "terastallize")]
        assert sorted(actions.values()) == sorted(named), "each choice once, but for those that no action means"
        species = vocabulary().region("species")
        for action, choice in actions.items():
            assert action_of(choice.label, actions) == action
            if action in SWITCHES:
                name = request["side"]["pokemon"][choice.slot - 1]["details"].split(",")[0]
                shown = observation.token_ids[OURS[1 + action - SWITCHES[0]], 0]
                assert shown in (species[_id(name)], species[_id(name.split("-")[0])])
            else:
                listed = request["active"][0]["moves"][choice.slot - 1]["id"]
                place = action - (MOVES[0] if action in MOVES else TERA[0])
                shown = observation.token_ids[OUR_MOVES[place], 0]
                assert shown == vocabulary().region("moves")[move_name(listed)]


def _id(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def test_what_the_opponent_has_not_shown_changes_nothing():
    """Two battles that differ in the opponent's Pokémon on the bench alone: until one of them comes in, all is the same."""
    base = fixture_of("gen1ou")
    others = load_pools(("gen1ou",))[0]
    theirs = base.teams[1]
    mons = theirs.packed.split("]")
    bench = next(
        team.packed.split("]")[1:]
        for teams in others.values()
        for team in teams
        if mons[0].split("|")[0] not in team.packed and len(team.packed.split("]")) == 6
    )
    changed = FixtureTeam(**{**_fields(theirs), "packed": "]".join([mons[0], *bench]), "id": "another"})
    views = []
    for team in (theirs, changed):
        fixture = Fixture(**{**_fields(base), "teams": (base.teams[0], team)})
        kept = play(fixture, {"one": FirstMove, "two": FirstMove})["one"]
        views.append([observation for observation, *_ in kept])
    same, unknown = 0, vocabulary().region("species").unknown
    for one, two in zip(*views, strict=False):
        if not (one.token_ids[THEIRS[1], 0] == two.token_ids[THEIRS[1], 0] == unknown):
            break  # another one has come in
        assert (
            np.argwhere(one.token_ids != two.token_ids).tolist() == []
            and np.argwhere(one.features != two.features).tolist() == []
        )
        same += 1
    assert same >= 3


def _fields(thing: Any) -> dict[str, Any]:
    return {name: getattr(thing, name) for name in thing.__dataclass_fields__}


def test_the_vocabulary_keeps_its_places_and_knows_what_it_does_not_know():
    words = vocabulary()
    assert words.version == Vocabulary().version
    regions = [words.region(kind) for kind in ("species", "moves", "last_moves", "abilities", "items", "types")]
    taken = [place for region in regions for place in range(region.none, region.end)]
    assert len(taken) == len(set(taken)) and max(taken) < words.size < np.iinfo(np.int16).max
    species = words.region("species")
    assert species["missingno"] == species.unknown != species["pikachu"] != species.none
    # a checkpoint that was trained with these words reads them at these places
    assert (species["tauros"], words.region("moves")["bodyslam"]) == (PLACES["tauros"], PLACES["bodyslam"])


PLACES = {"tauros": 1222, "bodyslam": 1494}


def asked(*lines: str, foe: str) -> Observation:
    """What p1 sees in generation 9 after lines, asked for a move of its only Pokémon."""
    seat = battle_after(9, *lines, foe=foe)
    stats = dict.fromkeys(("atk", "def", "spa", "spd", "spe"), 200)
    sheet = {"moves": ["surf"], "baseAbility": "immunity", "ability": "immunity", "item": "", "teraType": "Water"}
    mon = {"ident": "p1: Own", "details": "Snorlax", "condition": "300/300", "active": True, "stats": stats, **sheet}
    move = {"move": "Surf", "id": "surf", "pp": 24, "maxpp": 24, "target": "allAdjacent", "disabled": False}
    seat.ask({"active": [{"moves": [move]}], "side": {"name": "p1", "id": "p1", "pokemon": [mon]}})
    return observe(seat)


def test_one_that_roosts_has_other_types_in_that_turn_alone() -> None:
    flying, none = vocabulary().region("types")["flying"], vocabulary().region("types").none
    move = "|move|p2a: Foe|Roost|p2a: Foe"
    roosting = asked(move, "|-singleturn|p2a: Foe|move: Roost", foe="Corviknight").token_ids[THEIRS[0], 8:10]
    after = asked(move, "|-singleturn|p2a: Foe|move: Roost", "|upkeep", "|turn|2", foe="Corviknight")
    assert roosting[1] == none and after.token_ids[THEIRS[0], 8] == flying


def test_one_that_has_changed_forme_is_not_also_listed_as_unseen() -> None:
    previews = ["|poke|p2|Mimikyu, F|", "|poke|p2|Blissey, F|"]
    seen = asked(*previews, "|detailschange|p2a: Foe|Mimikyu-Busted, F", foe="Mimikyu, F").token_ids[THEIRS, 0]
    species = vocabulary().region("species")
    assert seen[:3].tolist() == [species["mimikyubusted"], species["blissey"], species.unknown]


@pytest.mark.parametrize("gen", [pytest.param(gen, marks=() if gen == 6 else LONG) for gen in range(1, 10)])
def test_the_facts_of_every_move_can_be_read(gen: int) -> None:
    """poke-env's `self_boost` fails for Diamond Storm in generation 6."""
    for move in GenData.from_gen(gen).moves:
        ids, features = move_token({"id": move, "move": move}, gen, NO_MOVE)
        assert len(ids) == 2 * IDS_PER_TOKEN and len(features) == 4 * FEATURES
