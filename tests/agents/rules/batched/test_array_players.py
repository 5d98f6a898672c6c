"""What the rule players on arrays decide, on arrays that are made by hand."""

from __future__ import annotations

from typing import Self

import numpy as np
import pytest

from agents.mechanics.moves import move_facts
from agents.mechanics.type_chart import effectiveness
from agents.observation.columns import (
    THEIR_SIDE,
    FieldFeature,
    FieldId,
    MoveFeature,
    MoveId,
    PokemonFeature,
    PokemonId,
    SideFeature,
)
from agents.observation.observation import FEATURES, IDS_PER_TOKEN, OUR_MOVES, OURS, THEIRS, TOKENS, Observations
from agents.observation.vocabulary import vocabulary
from agents.rules.batched import PLAYERS, ArrayPlayer
from agents.rules.batched.support_players import BatchedSetUp
from agents.rules.batched.switch_players import BatchedTypeSwitcher, type_edges


class Board:
    """A decision: two able Pokémon of type Normal face each other; no move and no switch is legal yet."""

    def __init__(self, gen: int = 1, turn: int = 5) -> None:
        self.ids = np.zeros((TOKENS, IDS_PER_TOKEN), np.int16)
        self.features = np.zeros((TOKENS, FEATURES), np.float32)
        self.legal = np.zeros(13, np.bool_)
        self.gen = gen
        self.ids[0, FieldId.GENERATION] = vocabulary().region("gens")[str(gen)]
        self.features[0, FieldFeature.INVERSE_TURN] = 1 / (1 + turn)
        for token in (OURS[0], THEIRS[0]):
            self.pokemon(token, ESTIMATED=1)

    def pokemon(
        self, token: int, types: str = "normal", status: str = "", ability: str = "", **features: float
    ) -> Self:
        """A known Pokémon at full health, unless its features say otherwise."""
        words = vocabulary()
        self.features[token, [PokemonFeature.KNOWN, PokemonFeature.HP]] = 1
        kinds = [words.region("types")[kind] for kind in types.split("/")]
        self.ids[token, PokemonId.TYPE_1], self.ids[token, PokemonId.TYPE_2] = (*kinds, words.region("types").none)[:2]
        statuses, abilities = words.region("statuses"), words.region("abilities")
        self.ids[token, PokemonId.STATUS] = statuses[status] if status else statuses.none
        self.ids[token, PokemonId.ABILITY] = abilities[ability] if ability else abilities.unknown
        for name, value in features.items():
            self.features[token, PokemonFeature[name]] = value
        return self

    def us(self, **features: float) -> Self:
        return self.pokemon(OURS[0], **features)  # type: ignore[arg-type]

    def them(self, types: str = "normal", status: str = "", ability: str = "", **features: float) -> Self:
        return self.pokemon(THEIRS[0], types, status, ability, **features)

    def move(self, action: int, name: str, damage: float = 0.0, left: float | None = None, **features: float) -> Self:
        """A legal move. damage: expected; left: the same of what is left, equal to it by default."""
        facts, token = move_facts(name, self.gen), OUR_MOVES[action]
        self.ids[token, MoveId.MOVE] = vocabulary().region("moves")[name]
        self.ids[token, MoveId.TYPE] = vocabulary().region("types")[facts.type.lower()]
        self.features[token, [MoveFeature.DAMAGE, MoveFeature.DAMAGE_OF_LEFT]] = (
            damage,
            damage if left is None else left,
        )
        self.features[token, MoveFeature.POWER], self.features[token, MoveFeature.HITS] = (
            facts.power / 150,
            facts.hits / 5,
        )
        self.features[token, MoveFeature.ACCURACY] = facts.accuracy
        for feature, value in features.items():
            self.features[token, MoveFeature[feature]] = value
        self.legal[action] = True
        return self

    def bench(self, action: int, types: str = "normal", **features: float) -> Self:
        """A Pokémon that may come in by an action from 4 to 8."""
        self.legal[action] = True
        return self.pokemon(OURS[action - 3], types, **features)  # type: ignore[arg-type]

    def seen(self) -> Observations:
        return Observations(self.ids[None], self.features[None], self.legal[None])

    def chosen(self, name: str) -> int:
        return int(PLAYERS[name].choose(*self.seen())[0])


def test_max_power_counts_all_hits_and_switches_to_the_first_able() -> None:
    assert Board().move(0, "bodyslam").move(1, "hyperbeam").move(2, "surf").chosen("max-power") == 1
    assert Board().move(0, "bodyslam").move(1, "doublekick").chosen("max-power") == 0  # 85 > 2 * 30
    assert Board().move(1, "icebeam").move(3, "blizzard").move(2, "thunderbolt").chosen("max-power") == 3
    assert Board(gen=2).move(1, "icebeam").move(2, "thunderbolt").chosen("max-power") == 1, "equal: the lowest action"
    assert Board().bench(6).bench(7).chosen("max-power") == 6


def test_max_damage_does_not_count_what_is_beyond_the_hp_that_is_left() -> None:
    two = Board().move(0, "bodyslam", 0.4).move(1, "earthquake", 0.5)
    assert two.chosen("max-damage") == 1
    # Both take all that is left: the larger damage decides. With one just below, it is the other.
    assert Board().move(0, "bodyslam", 0.4, 1.2).move(1, "earthquake", 0.5, 1.5).chosen("max-damage") == 1
    assert Board().move(0, "bodyslam", 0.30, 1.0).move(1, "earthquake", 0.29, 0.97).chosen("max-damage") == 0
    two.legal[1] = False
    assert two.bench(5, DEALT=1.5).chosen("max-damage") == 0, "it switches only if it must"
    forced = Board().bench(4, DEALT=0.2, DEALT_OF_LEFT=0.4).bench(7, DEALT=0.3, DEALT_OF_LEFT=0.6).bench(8, DEALT=0.1)
    assert forced.chosen("max-damage") == 7


@pytest.mark.parametrize("name", ["max-damage", "set-up", "revenger", "status", "hazards", "type-switcher"])
def test_a_difference_in_the_last_bits_decides_nothing(name: str) -> None:
    """Observations from an engine are equal to those from a log to 1e-6 only; equal moves must stay equal."""
    assert Board().move(0, "icebeam", 0.3).move(1, "thunderbolt", 0.3 + 1e-6).chosen(name) == 0
    assert Board().move(0, "icebeam", 0.3).move(1, "thunderbolt", 0.3 + 1e-4).chosen(name) == 1


def test_nobody_terastallizes() -> None:
    board = Board(gen=9).move(2, "earthquake", 0.5)
    board.legal[9:13] = True
    assert {board.chosen(name) for name in PLAYERS} == {2}


def test_hazards_are_laid_in_full_while_somebody_is_left_to_meet_them() -> None:
    def board(**laid: float) -> Board:
        made = Board(gen=9).move(0, "roar", SWITCHES_TARGET=1, POWER=0).move(1, "spikes").move(2, "stealthrock")
        made.move(3, "earthquake", laid.pop("damage", 0.2))
        for name, value in laid.items():
            made.features[THEIR_SIDE, SideFeature[name]] = value
        return made

    assert board().chosen("hazards") == 1
    assert board(SPIKES=2 / 3).chosen("hazards") == 1
    assert board(SPIKES=1).chosen("hazards") == 2
    assert board(FAINTED=5 / 6).chosen("hazards") == 3, "nobody is left to come in"
    assert board(SPIKES=1, STEALTH_ROCK=1).chosen("hazards") == 0, "it drives out what it cannot hurt"
    assert board(SPIKES=1, STEALTH_ROCK=1, damage=0.3).chosen("hazards") == 3
    toxic = Board(gen=9).move(0, "toxicspikes").move(1, "earthquake", 0.2)
    for layers, chosen in ((0, 0), (1, 0), (2, 1)):
        toxic.features[THEIR_SIDE, SideFeature.TOXIC_SPIKES] = layers / 3
        assert toxic.chosen("hazards") == chosen


def test_type_switcher_switches_for_a_better_matchup_but_not_twice_in_a_row() -> None:
    # Water hits Electric for 1 and is hit for 2: -1. Ground hits for 2 and is hit for 0: 2. Normal: 1 - 1 = 0.
    def board(turn: int = 5, first: float = 0.0) -> Board:
        made = Board(turn=turn).them("electric").pokemon(OURS[0], "water", FIRST_TURN=first)
        return made.move(0, "surf", 0.3).move(1, "blizzard", 0.5).bench(4).bench(6, "ground").bench(7, "ground", HP=0.4)

    assert type_edges(*board().seen()[:2])[0, [0, 1, 3, 4]].tolist() == [-1, 0, 2, 2]
    assert board().chosen("type-switcher") == 6, "of two equal matchups the one with more HP"
    assert board(first=1.0).chosen("type-switcher") == 1, "it came in last turn: the strongest move"
    assert board(turn=1, first=1.0).chosen("type-switcher") == 6, "a lead may leave at once"
    never, at_three = BatchedTypeSwitcher(margin=3.5), BatchedTypeSwitcher(margin=3.0)
    both = Observations(*(np.concatenate([part, part]) for part in board().seen()))
    assert BatchedTypeSwitcher.act_many([never, at_three], both).tolist() == [1, 6], "each agent has its own margin"
    without = board()
    without.legal[:4] = False
    assert without.chosen("type-switcher") == 6
    assert without.them("electric", FAINTED=1).chosen("type-switcher") == 4, "nobody to match: the most HP, the first"


def test_type_edges_are_those_of_the_type_chart() -> None:
    """Two types on both sides; Ghost does not hit Psychic in generation 1."""
    for gen, ours, theirs in (
        (1, "ghost/poison", "psychic"),
        (4, "steel/psychic", "fire/flying"),
        (9, "fairy", "dragon/dark"),
    ):
        mine, other = (tuple(kind.upper() for kind in types.split("/")) for types in (ours, theirs))
        attack = max(effectiveness(gen, kind, other) for kind in mine)
        defence = max(effectiveness(gen, kind, mine) for kind in other)
        found = type_edges(*Board(gen).them(theirs).pokemon(OURS[0], ours).seen()[:2])
        assert found[0, 0] == attack - defence


def board_to_set_up(gen: int = 1, **us: float) -> Board:
    made = Board(gen).us(**{"ESTIMATED": 1, "HP": 1.0, "TAKEN": 0.2, **us})
    return made.move(0, "bodyslam", 0.4).move(1, "swordsdance").move(2, "softboiled")


def test_set_up_raises_stats_while_healthy_and_heals_while_hurt() -> None:
    assert board_to_set_up().chosen("set-up") == 1
    assert board_to_set_up(BOOST_ATTACK=1 / 6).chosen("set-up") == 1
    assert board_to_set_up(BOOST_ATTACK=2 / 6).chosen("set-up") == 0, "+2 is enough"
    assert board_to_set_up(TAKEN=0.4).chosen("set-up") == 0, "the opponent hits too hard to set up"
    assert board_to_set_up(HP=0.6).chosen("set-up") == 0
    assert board_to_set_up(HP=0.4, TAKEN=0.4).chosen("set-up") == 2
    assert board_to_set_up(HP=0.4, TAKEN=0.6).chosen("set-up") == 0, "healing would be in vain"
    assert board_to_set_up().move(0, "bodyslam", 0.4, MUST_KNOCK_OUT=1).chosen("set-up") == 0
    assert Board().us(ESTIMATED=1).move(0, "bodyslam", 0.1).move(1, "growl").chosen("set-up") == 0, "not our stat"
    forced = Board().bench(4, DEALT=0.5, TAKEN=0.6).bench(5, DEALT=0.3, TAKEN=0.2).bench(6, HP=0.1)
    assert forced.chosen("set-up") == 5
    two = Observations(*(np.concatenate([part, part]) for part in board_to_set_up(HP=0.4).seen()))
    assert BatchedSetUp.act_many([BatchedSetUp(), BatchedSetUp(heal_under=0.3)], two).tolist() == [2, 0]


def test_rest_heals_unless_it_is_asleep() -> None:
    def board(status: str) -> Board:
        made = Board().pokemon(OURS[0], status=status, ESTIMATED=1, HP=0.3, TAKEN=0.2)
        return made.move(0, "bodyslam", 0.4).move(3, "rest")

    assert board("").chosen("set-up") == 3 and board("par").chosen("set-up") == 3 and board("slp").chosen("set-up") == 0


@pytest.mark.parametrize(
    ("gen", "moves", "them", "action"),
    [
        (1, ["bodyslam", "toxic", "thunderwave", "lovelykiss"], {}, 3),  # sleep first
        (1, ["bodyslam", "toxic", "thunderwave", "surf"], {}, 2),
        (1, ["lovelykiss", "sleeppowder", "spore", "surf"], {}, 2),  # the most accurate
        (1, ["surf", "toxic", "bodyslam", "growl"], {}, 1),
        (1, ["surf", "toxic", "bodyslam", "growl"], {"status": "par"}, 0),  # the strongest move
        (1, ["surf", "toxic", "bodyslam", "growl"], {"types": "grass/poison"}, 0),
        (1, ["surf", "toxic", "bodyslam", "growl"], {"types": "steel"}, 1),
        (2, ["surf", "toxic", "bodyslam", "growl"], {"types": "steel"}, 0),
        (1, ["surf", "thunderwave", "bodyslam", "growl"], {"types": "ground/rock"}, 0),
        (1, ["surf", "glare", "bodyslam", "growl"], {"types": "ghost"}, 0),
        (4, ["surf", "glare", "bodyslam", "growl"], {"types": "ghost"}, 1),
        (5, ["surf", "thunderwave", "bodyslam", "growl"], {"types": "electric"}, 1),
        (6, ["surf", "thunderwave", "bodyslam", "growl"], {"types": "electric"}, 0),
        (5, ["surf", "sleeppowder", "bodyslam", "growl"], {"types": "grass"}, 1),
        (6, ["surf", "sleeppowder", "bodyslam", "growl"], {"types": "grass"}, 0),
        (4, ["surf", "willowisp", "bodyslam", "growl"], {"types": "fire"}, 0),
        (4, ["surf", "willowisp", "bodyslam", "growl"], {"ability": "waterveil"}, 0),
        (4, ["surf", "willowisp", "bodyslam", "growl"], {"ability": "limber"}, 1),
        (1, ["surf", "toxic", "bodyslam", "growl"], {"SUBSTITUTE": 1}, 1),
        (2, ["surf", "toxic", "bodyslam", "growl"], {"SUBSTITUTE": 1}, 0),
        (1, ["surf", "toxic", "bodyslam", "growl"], {"FAINTED": 1}, 0),
    ],
)  # fmt: skip
def test_status_spreader_uses_what_works(gen: int, moves: list[str], them: dict[str, float], action: int) -> None:
    board = Board(gen).them(**them)  # type: ignore[arg-type]
    for place, name in enumerate(moves):
        board.move(place, name, 0.5 - 0.1 * place if move_facts(name, gen).damages else 0.0)
    assert board.chosen("status") == action


def test_status_spreader_heeds_the_sleep_clause() -> None:
    board = Board().move(0, "spore").move(1, "toxic").move(2, "surf", 0.4)
    assert board.chosen("status") == 0
    assert board.pokemon(THEIRS[3], status="slp").chosen("status") == 1


def test_revenger_leaves_only_if_it_would_be_knocked_out_first() -> None:
    def board(faster: float = 0.0, left: float = 0.5, taken: float = 1.2, priority: float = 0.0) -> Board:
        made = Board().us(HP=0.6, TAKEN_OF_LEFT=taken, FASTER=faster).move(0, "bodyslam", 0.4, left, PRIORITY=priority)
        made.bench(4, HP=0.9, TAKEN=0.3, DEALT=0.3, DEALT_OF_LEFT=0.4)
        made.bench(6, HP=1.0, TAKEN=0.6, DEALT=0.9, DEALT_OF_LEFT=1.2, FASTER=1)
        return made.bench(7, HP=1.0, TAKEN=0.5, DEALT=0.8, DEALT_OF_LEFT=1.1, FASTER=1)

    assert board().chosen("revenger") == 7, "of two that knock out first, the one that takes less"
    assert board(taken=0.8).chosen("revenger") == 0
    assert board(faster=1.0, left=1.1).chosen("revenger") == 0, "it knocks out first itself"
    assert board(priority=0.2, left=1.1).chosen("revenger") == 0
    assert board(left=1.1).chosen("revenger") == 7
    assert board().us(HP=0.2, TAKEN_OF_LEFT=1.2).chosen("revenger") == 0, "not worth saving"
    weak = board()
    weak.features[OURS[1] : OURS[-1] + 1, PokemonFeature.TAKEN] = 0.6
    assert weak.chosen("revenger") == 0, "nobody withstands the hit"
    slow = board()
    slow.features[OURS[1] : OURS[-1] + 1, PokemonFeature.FASTER] = 0
    # Nobody knocks out first: dealt - taken + 0.3 HP is 0.27, 0.6 and 0.7 for the actions 4, 6 and 7.
    slow.features[OURS[4], PokemonFeature.DEALT] = 0.9
    assert slow.chosen("revenger") == 7


@pytest.mark.parametrize("player", PLAYERS.values(), ids=PLAYERS)
def test_decisions_of_a_batch_do_not_depend_on_each_other(player: type[ArrayPlayer]) -> None:
    """Random arrays of two generations: all together, one by one, and reversed."""
    draw = np.random.default_rng(5)
    boards = [Board(int(gen)) for gen in draw.choice([1, 9], 200)]
    for board in boards:
        names = draw.choice(
            ["bodyslam", "toxic", "recover", "swordsdance", "spore", "thunderwave", "icebeam"], 4, False
        )
        for action, name in enumerate(names):
            board.move(action, str(name), float(draw.random()))
        for action in range(4, 9):
            board.bench(action, str(draw.choice(["fire", "water", "ground", "ghost"])), TAKEN=draw.random())
        board.us(ESTIMATED=1, HP=draw.random(), TAKEN=draw.random(), TAKEN_OF_LEFT=draw.random() * 1.5)
        board.them(str(draw.choice(["fire", "water", "ground", "ghost"])))
        board.legal &= draw.random(13) < 0.7
        board.legal[0] |= not board.legal.any()
    many = Observations(*(np.concatenate(parts) for parts in zip(*(board.seen() for board in boards), strict=True)))
    actions = player.choose(*many)
    assert actions.dtype == np.int64 and many.legal[np.arange(200), actions].all()
    assert len(set(actions.tolist())) > 3
    assert actions.tolist() == [int(player.choose(*many.take([row]))[0]) for row in range(200)]
    assert actions.tolist() == player.choose(*many.take(slice(None, None, -1)))[::-1].tolist()
