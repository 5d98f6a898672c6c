"""Hidden Power has its real type and power, wherever it is looked at, in every generation that has it."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from poke_env.battle.move import Move
from support.made_logs import sides
from support.rule_matches import play_all

from agents import Agent
from agents.battle import SeatBattle
from agents.battle.choices import Choice
from agents.mechanics.fighters import foe_fighter, own_fighter
from agents.mechanics.moves import MoveFacts, facts_of, move_facts
from agents.mechanics.set_sampling import draw_set
from agents.mechanics.sets import guess
from agents.observation.actions import ordered_moves
from agents.observation.observation import OUR_MOVES, OURS, VERSION, Observation, observe, unlike
from agents.observation.vocabulary import vocabulary
from agents.policy import checkpoint
from agents.rules.expert import Expert
from agents.search.poke_engine.history import History
from agents.search.poke_engine.state import own_side
from arena.fixture import Fixture, FixtureTeam

GENERATIONS = range(2, 8)
#: IVs of 29 (DVs of 14) make a power other than the usual one before generation 6.
POWER = {2: 69, 3: 30, 4: 30, 5: 30, 6: 60, 7: 60}
_TEAM = "]".join(
    f"{species}|||{ability}|hiddenpowerice,{other}|Timid|||29,29,29,29,29,29|||"
    for species, ability, other in (("Zapdos", "pressure", "rest"), ("Jolteon", "voltabsorb", "agility"))
)


class Seen:
    """What one side has seen at one decision."""

    def __init__(self, battle: SeatBattle) -> None:
        self.observation: Observation = observe(battle)
        self.request: dict[str, Any] = battle.last_request
        mons = [mon for mon in (battle.active_pokemon, battle.opponent_active_pokemon) if mon is not None]
        own, foe = own_fighter(mons[0], battle), foe_fighter(mons[1], battle)
        self.own, self.foe = ({move.id: move for move, _ in fighter.moves} for fighter in (own, foe))
        self.foe_has_shown = "hiddenpower" in mons[1].moves
        history = History()
        history.follow(battle)
        self.engine = [[move.name for move in mon.moves] for mon in own_side(battle, history).pokemon]
        self.expert = Expert().act(battle) if mons[0].moves else None


class Attacker(Agent):
    """Hidden Power while it may, and keeps what it has seen."""

    kept: list[Seen]

    def act(self, battle: SeatBattle) -> Choice:
        if battle.last_request.get("active"):
            self.kept.append(Seen(battle))
        labels = [choice.label for choice in battle.legal]
        return battle.legal[labels.index("move hiddenpower") if "move hiddenpower" in labels else 0]


@pytest.fixture(scope="module", params=GENERATIONS)
def played(request: pytest.FixtureRequest) -> tuple[int, list[Seen]]:
    """A generation, and all decisions of a short battle in it between two teams with Hidden Power Ice."""
    gen, kept = request.param, list[Seen]()
    teams = tuple(FixtureTeam(name, name, packed=_TEAM) for name in ("one", "two"))
    fixture = Fixture(f"gen{gen}ou", ("a", "b"), teams, "gen5,0000000000000001", "pair", "own")  # type: ignore[arg-type]

    def made(spec: str) -> Agent:
        agent = Attacker()
        agent.kept = kept
        return agent

    (record,) = play_all([fixture], max_turns=12, create_agent=made)
    assert record.fault is None, record.detail
    assert len(kept) > 4
    return gen, kept


def test_our_moves_token_carries_its_type_and_its_power(played: tuple[int, list[Seen]]) -> None:
    gen, kept = played
    words = vocabulary()
    expected = [words.region("moves")["hiddenpower"], words.region("types")["ice"]]
    for seen in kept:
        moves = [listed["id"] for listed in ordered_moves(seen.request)]
        token = OUR_MOVES[moves.index("hiddenpower")]
        numbers = seen.observation.features[token]
        assert [*seen.observation.token_ids[token, :3]] == [*expected, words.region("categories")["special"]]
        assert numbers[9] == pytest.approx(POWER[gen] / 150)
        assert numbers[3] > 0 and numbers[8] == 0  # damage is expected, and it is not of its user's type


def test_our_pokemons_tokens_know_the_word(played: tuple[int, list[Seen]]) -> None:
    moves = vocabulary().region("moves")
    for seen in played[1]:
        for token in OURS:
            if seen.observation.features[token, 0]:
                assert moves["hiddenpower"] in seen.observation.token_ids[token, 3:7]
                assert moves.unknown not in seen.observation.token_ids[token, 3:7]


def test_rule_players_reckon_with_its_type_and_its_power(played: tuple[int, list[Seen]]) -> None:
    gen, kept = played
    for seen in kept:
        facts = seen.own["hiddenpowerice"]
        assert (facts.type, facts.category, facts.power) == ("ICE", "special", POWER[gen])
        assert seen.expert is not None


def test_the_opponents_has_the_type_that_its_sets_make_likeliest(played: tuple[int, list[Seen]]) -> None:
    gen, kept = played
    shown = [seen.foe for seen in kept if seen.foe_has_shown]
    assert shown
    for foe in shown:
        (facts,) = [facts for name, facts in foe.items() if name.startswith("hiddenpower")]
        assert facts.damages and facts.power == (60 if gen >= 6 else 70)


def test_poke_engine_gets_the_typed_name(played: tuple[int, list[Seen]]) -> None:
    gen, kept = played
    name = f"hiddenpowerice{60 if gen >= 6 else 70}"  # it knows no other powers
    assert all(name in moves for seen in kept for moves in seen.engine)


def test_an_opponents_hidden_power_takes_a_type_of_its_species_sets() -> None:
    """Of the published sets; without sets it is of no type."""
    found = guess("gen4ou", 4, "zapdos", ("hiddenpower", "thunderbolt"))
    (shown, chance), *_ = found.moves
    assert shown.startswith("hiddenpower") and shown != "hiddenpower" and chance == 1.0
    assert sum(name.startswith("hiddenpower") for name, _ in found.moves) == 1
    drawn = draw_set("gen4ou", 4, "zapdos", ("hiddenpower", "thunderbolt"), None, None, random.Random(1))
    typed = [name for name in drawn.moves if name.startswith("hiddenpower")]
    assert len(typed) == 1 and typed != ["hiddenpower"] and len(drawn.moves) == 4
    assert guess("gen4ou", 4, "unown", ("hiddenpower",)).moves[0][0].startswith("hiddenpower")


@pytest.mark.parametrize("gen", GENERATIONS)
def test_one_of_unknown_type_does_damage_to_all_alike(gen: int) -> None:
    facts: MoveFacts = move_facts("hiddenpower", gen)
    assert (facts.type, facts.category, facts.attack_stat) == ("THREE_QUESTION_MARKS", "special", "spa")
    assert facts.power == (60 if gen >= 6 else 70)


def test_what_people_s_replays_show_is_read_the_same() -> None:
    """The public log names no type: the reconstruction has drawn one, which its requests name as the simulator's do."""
    side, _ = sides(
        "|switch|p1a: Zap|Zapdos|100/100\n|switch|p2a: Star|Starmie|100/100\n|turn|1\n|\n"
        "|move|p1a: Zap|Hidden Power|p2a: Star\n|move|p2a: Star|Surf|p1a: Zap\n|turn|2"
    )
    for seen in _decisions(side.lines, 4):
        (listed,) = [move for move in seen.request["active"][0]["moves"] if move["id"] == "hiddenpower"]
        kind = listed["move"].split()[2].lower()
        token = OUR_MOVES[[move["id"] for move in ordered_moves(seen.request)].index("hiddenpower")]
        assert seen.observation.token_ids[token, 1] == vocabulary().region("types")[kind] and kind != "normal"
        assert seen.observation.features[token, 9] == pytest.approx(70 / 150)


def _decisions(lines: list[str], gen: int) -> list[SimpleNamespace]:
    battle, found = SeatBattle("battle-gen4ou-1", "p1", "p1", gen, f"gen{gen}ou", random.Random(0)), []
    for line in lines:
        if not line.startswith("|request|"):
            battle.feed([line])
            continue
        battle.ask(orjson.loads(line[9:]))
        if battle.last_request.get("active"):
            found.append(SimpleNamespace(request=battle.last_request, observation=observe(battle)))
    assert found
    return found


def test_checkpoints_and_data_of_version_2_are_good_where_nothing_has_changed() -> None:
    assert not unlike(VERSION) and not unlike(VERSION, 4)
    assert not unlike(2) and [gen for gen in range(1, 10) if unlike(2, gen)] == list(GENERATIONS)
    assert unlike(1) and unlike(1, 1) and unlike(None)
    about = checkpoint.About({}, 1, observation=2)
    assert about.unfit_for(1) == about.unfit_for(9) == ""
    assert "train it again" in about.unfit_for(4)
    assert checkpoint.About({}, 1).unfit_for(4) == ""


def test_the_shipped_checkpoint_is_still_read_and_refused_where_it_would_misread() -> None:
    about = checkpoint.read(checkpoint.find("gen1ou-tiny"))
    assert about.observation == 2 and about.unfit_for(1) == ""
    assert about.unfit_for(3).startswith("made for observation 2, which does not know Hidden Power's type")


def test_facts_of_a_move_take_the_power_that_was_told() -> None:
    move = Move("hiddenpower", 4, raw_id="hiddenpowerfire")
    assert facts_of(move).power == 70
    move._base_power_override = 51
    assert (facts_of(move).power, facts_of(move).type) == (51, "FIRE")
