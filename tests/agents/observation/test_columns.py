"""The names of an observation's columns, against the battle that the observation shows."""

from __future__ import annotations

import numpy as np
import pytest
from poke_env.battle.pokemon import Pokemon
from support.rule_matches import pair_of_fixtures, play_all

from agents import Agent, SeatBattle
from agents.battle.choices import Choice, listed_move
from agents.mechanics.moves import move_facts
from agents.observation import columns, packed_tokens, pokemon_tokens
from agents.observation.actions import ordered_moves
from agents.observation.columns import (
    FieldFeature,
    FieldId,
    MoveFeature,
    MoveId,
    PokemonFeature,
    PokemonId,
    SideFeature,
    SideId,
    turns,
)
from agents.observation.observation import FEATURES, IDS_PER_TOKEN, OUR_MOVES, OURS, THEIRS, observe
from agents.observation.vocabulary import vocabulary

_STATS = ("hp", "atk", "def", "spa", "spd", "spe")


def test_columns_are_numbered_without_gaps() -> None:
    for features in (FieldFeature, SideFeature, PokemonFeature, MoveFeature):
        assert list(features) == list(range(len(features))) and len(features) <= FEATURES
    for ids in (FieldId, SideId, PokemonId, MoveId):
        assert list(ids) == list(range(len(ids))) and len(ids) <= IDS_PER_TOKEN
    assert [name.name for name in SideFeature][:11] == [condition.name for condition in packed_tokens.CONDITIONS]
    effects = [effect.name.replace("PERISH1", "PERISH_1") for effect in pokemon_tokens.EFFECTS]
    assert [name.name for name in PokemonFeature][PokemonFeature.SUBSTITUTE :] == effects


def test_turns_are_exact_beyond_100() -> None:
    numbers = np.concatenate([np.arange(2001), [65_535, 999_999]])
    features = np.zeros((len(numbers), 19, FEATURES), np.float32)
    features[:, columns.FIELD, FieldFeature.INVERSE_TURN] = [1.0 / (1 + int(turn)) for turn in numbers]
    assert turns(features).tolist() == numbers.tolist()


class Checking(Agent):
    """Compares the named columns with poke-env's state at each decision; a difference loses the battle by an error."""

    def act(self, battle: SeatBattle) -> Choice:
        seen = observe(battle)
        ids, features, words = seen.token_ids, seen.features, vocabulary()
        assert turns(features[None]).tolist() == [battle.turn]
        assert features[0, FieldFeature.FORCED_SWITCH] == battle.force_switch
        assert features[0, FieldFeature.TRAPPED] == battle.trapped
        assert ids[0, FieldId.GENERATION] == words.region("gens")[str(battle.gen)]
        for token, team, conditions in (
            (columns.OUR_SIDE, battle.team, battle.side_conditions),
            (columns.THEIR_SIDE, battle.opponent_team, battle.opponent_side_conditions),
        ):
            side = features[token]
            assert round(6 * side[SideFeature.FAINTED]) == sum(mon.fainted for mon in team.values())
            assert round(6 * side[SideFeature.KNOWN]) == len(team)
            shown = {name.name for name in SideFeature if name <= SideFeature.LUCKY_CHANT and side[name]}
            assert shown == {condition.name for condition in conditions} & set(SideFeature.__members__)
        for token, mon in ((OURS[0], battle.active_pokemon), (THEIRS[0], battle.opponent_active_pokemon)):
            if mon is not None:
                self.compare(ids[token], features[token], mon)
        for token, listed in zip(OUR_MOVES, ordered_moves(battle.last_request), strict=False):
            facts = move_facts(listed_move(listed), battle.gen)
            row = features[token]
            assert row[MoveFeature.LISTED] and row[MoveFeature.DISABLED] == bool(listed.get("disabled"))
            assert np.isclose(row[MoveFeature.ACCURACY], facts.accuracy) or facts.id in ("recharge", "fight")
            assert np.isclose(5 * row[MoveFeature.PRIORITY], facts.priority)
            assert row[MoveFeature.SELF_DESTRUCTS] == facts.explodes
            assert row[MoveFeature.SWITCHES_TARGET] == facts.forces_switch
            assert ids[token, MoveId.CATEGORY] in (words.region("categories")[facts.category], 0)
        return self.rng.choice(battle.legal)

    def compare(self, ids: np.ndarray, features: np.ndarray, mon: Pokemon) -> None:
        words = vocabulary()
        assert (
            features[PokemonFeature.KNOWN] and features[PokemonFeature.ACTIVE] and not features[PokemonFeature.UNKNOWN]
        )
        assert np.isclose(features[PokemonFeature.HP], mon.current_hp_fraction, atol=1e-6)
        assert features[PokemonFeature.FAINTED] == mon.fainted
        assert features[PokemonFeature.FIRST_TURN] == mon.first_turn
        assert np.isclose(100 * features[PokemonFeature.LEVEL], mon.level)
        assert features[PokemonFeature.MUST_RECHARGE] == mon.must_recharge
        base = 200 * features[PokemonFeature.BASE_HP : PokemonFeature.BASE_SPEED + 1]
        assert np.allclose(base, [mon.base_stats[stat] for stat in _STATS], atol=1e-3)
        boosts = 6 * features[PokemonFeature.BOOST_ATTACK : PokemonFeature.BOOST_SPEED + 1]
        assert np.allclose(boosts, [mon.boosts[stat] for stat in _STATS[1:]], atol=1e-5)
        shown = {name.name for name in PokemonFeature if name >= PokemonFeature.SUBSTITUTE and features[name]}
        assert shown == {effect.name.replace("PERISH1", "PERISH_1") for effect in mon.effects} & set(
            PokemonFeature.__members__
        )
        status = words.region("statuses")
        assert ids[PokemonId.STATUS] == (status.none if mon.status is None else status[mon.status.name.lower()])
        assert ids[PokemonId.SPECIES] == words.region("species")[mon.species]
        assert ids[PokemonId.TYPE_1] == words.region("types")[mon.types[0].name.lower()]


@pytest.mark.parametrize("format_id", ["gen1randombattle", "gen4randombattle", "gen9randombattle"])
def test_columns_show_what_their_names_say(format_id: str) -> None:
    records = play_all(pair_of_fixtures("one", "two", format_id, 3), create_agent=lambda spec: Checking())
    assert [record.detail for record in records if record.fault is not None] == []
    assert sum(record.turns for record in records) > 20
