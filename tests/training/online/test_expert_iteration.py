"""Expert iteration: what its search may know, how far its targets are from the policy, and an unbiased regret."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numba")

import numpy as np  # noqa: E402
from support.hand_made import rollout  # noqa: E402
from support.online import settings, trainer  # noqa: E402

from agents.engine.gen1 import layout as W  # noqa: E402
from agents.engine.gen1.engine import Engine  # noqa: E402
from agents.observation.columns import at_preview  # noqa: E402
from agents.search.exact.active_pokemon import side_at  # noqa: E402
from agents.search.exact.positions import Gen1Positions  # noqa: E402
from agents.search.exact.teacher import Searched, Teacher  # noqa: E402
from agents.search.exact.weights import read  # noqa: E402
from training.online.config import OnlineConfig  # noqa: E402
from training.online.rules.expert_iteration import ExpertIteration, regret, search_metrics  # noqa: E402
from training.runs.config_reader import BadConfig, validated  # noqa: E402

SEED = "gen5,0123456789abcdef"


def member(species: str, *moves: str) -> str:
    return f"{species}|{species}||noability|{','.join(moves)}||252,252,252,252,252,252||||||"


def judged(
    teams: tuple[str, str],
    battles: int,
    iterations: int,
    determinizations: int,
    second_share: float,
    seat: int = 0,
    hp: int = 0,
) -> Searched:
    """The teacher's judgements of a seat's first decision, the same in all battles. hp: of both active Pokémon; 0: full."""
    engine = Engine(battles)
    engine.reset([teams] * battles, [SEED] * battles)
    if hp:
        engine.words[:, [side_at(i) + W.MONS + W.MON_HP for i in range(2)]] = hp
    teacher = Teacher(Gen1Positions(read("network"), determinizations), iterations, 8.0, 0, second_share=second_share)
    teacher.begin(0)
    return teacher.judge(engine, np.arange(battles), np.full(battles, seat))


@pytest.mark.parametrize("determinizations", [0, 2])
def test_regret_between_equal_actions_is_0_only_by_a_second_search(determinizations: int) -> None:
    """Pound and Scratch are the same move by two names."""
    teams = member("tauros", "pound", "scratch"), member("snorlax", "bodyslam")
    found = judged(teams, 256, 40, determinizations, 1.0)
    values, second_values = torch.from_numpy(found.values), torch.from_numpy(found.second_values)
    policy = (~values.isnan()).float() / 2
    by_two, by_one = regret(values, second_values, policy), regret(values, values, policy)
    error = float(by_two.std()) / 16
    assert abs(float(by_two.mean())) < 3 * error < 0.5 * float(by_one.mean())
    assert float(by_one.mean()) > 5 * float(by_one.std()) / 16


def test_the_second_search_reports_means_and_for_what_it_has_not_tried_the_position() -> None:
    """Both have 1 HP: Swift wins at once, so that Splash is not tried. A guess of 0.05 less would be taken as regret."""
    teams = member("jolteon", "swift", "splash"), member("pidgey", "tackle")
    found = judged(teams, 4, 200, 0, 1.0, hp=1)
    splash, swift = 0, 1  # by name, as the network's actions are
    assert (found.second_values[:, swift] > 0.99).all() and (found.value > 0.99).all()
    assert (np.abs(found.second_values[:, splash] - found.value) < 0.01).all()
    assert (found.values[:, splash] < found.value - 0.04).all()


def test_a_second_search_of_some_decisions_leaves_the_first_as_it_is() -> None:
    teams = member("tauros", "bodyslam", "blizzard"), member("snorlax", "bodyslam", "rest")
    none, some = (judged(teams, 60, 30, 2, share) for share in (0.0, 0.25))
    assert (none.values[:, :2] == some.values[:, :2]).all() and (none.value == some.value).all()
    assert np.isnan(none.second_values).all()
    count = (~np.isnan(some.second_values[:, 0])).sum()
    assert 6 <= count <= 24  # of 60, a quarter
    measured = some.second_values[:, :2][~np.isnan(some.second_values[:, 0])]
    assert (measured != some.values[:, :2][~np.isnan(some.second_values[:, 0])]).any()


def test_determinized_targets_know_what_the_network_sees_and_no_more() -> None:
    """Out on the other side is the same Pokémon; behind it, and in its other moves, is what the seat was not shown."""
    ours = "]".join([member("tauros", "bodyslam", "blizzard"), member("chansey", "softboiled", "icebeam")])
    ghosts = "]".join([member("starmie", "surf"), member("gengar", "explosion", "nightshade")])
    birds = "]".join([member("starmie", "thunderbolt", "recover"), member("zapdos", "thunderbolt", "drillpeck")])
    for determinizations, same in ((0, False), (3, True)):
        one, other = (judged((ours, theirs), 2, 90, determinizations, 0.0) for theirs in (ghosts, birds))
        assert np.array_equal(one.values, other.values, equal_nan=True) == same
        assert (one.value == other.value).all() == same
    one, other = (judged((theirs, ours), 2, 90, 3, 0.0, seat=1) for theirs in (ghosts, birds))
    assert np.array_equal(one.values, other.values, equal_nan=True)


def test_the_distance_of_targets_and_the_regret_of_a_rollout() -> None:
    logits = torch.full((3, 13), -torch.inf)
    logits[:, :2] = 0.0
    values, second_values = torch.full((3, 13), torch.nan), torch.full((3, 13), torch.nan)
    values[:2, 0], values[:2, 1] = 0.6, 0.5
    second_values[0, 0], second_values[0, 1] = 0.55, 0.59  # of the first decision only
    made = rollout(
        [0.0] * 3, [3], [1.0], logits=logits, searched_values=values, searched_second_values=second_values,
        searched_value=torch.tensor([0.55, 0.55, torch.nan]),
    )  # fmt: skip
    target = logits.clone()
    target[:, 0] = torch.log(torch.tensor(3.0))  # 3/4 against 1/2
    found = search_metrics(made, target)
    assert found["target_distance"] == pytest.approx(0.25)
    assert found["search_regret"] == pytest.approx(0.55 - (0.55 + 0.59) / 2)
    nothing = rollout([0.0], [1], [1.0], searched_value=torch.tensor([torch.nan]), searched_values=values[2:])
    assert search_metrics(nothing, target[2:]) == {}


def test_a_file_of_an_earlier_version_searches_the_true_position() -> None:
    told = settings("expert_iteration").model_dump(mode="json")
    assert told["algorithm"]["determinizations"] > 0  # as shipped
    del told["algorithm"]["determinizations"], told["algorithm"]["regret_share"]
    rule = validated(OnlineConfig, told, "old.yaml").algorithm
    assert isinstance(rule, ExpertIteration.Settings)
    assert rule.determinizations == 0 and rule.sharpness.at(0) == settings("expert_iteration").algorithm.sharpness.at(0)


def test_more_samples_than_iterations_are_refused() -> None:
    with pytest.raises(BadConfig, match=r"algorithm.determinizations: 3: .* at most 2 \(algorithm.iterations\)"):
        settings("expert_iteration", algorithm__determinizations=3, algorithm__iterations=2)


def test_a_sharper_schedule_moves_the_targets_further_from_the_policy() -> None:
    """At the first iteration β is 10, at the second 100; what is searched is of the same kind."""
    one = trainer(
        "expert_iteration",
        league__members=[{"who": "opponent", "weight": 1.0}],
        rollout__battles=2,
        algorithm__iterations=40,
        algorithm__regret_share=0.5,
        algorithm__sharpness={"kind": "piecewise", "points": [[0, 10.0], [1, 100.0]]},
        learner__optimizer__learning_rate={"kind": "constant", "value": 0.0},
    )
    first, second = one.iterate(), one.iterate()
    assert 0 < 3 * first["target_distance"] < second["target_distance"] < 1
    assert -0.1 < first["search_regret"] < 0.2


NINTH = {"format": "gen9ou", "algorithm__determinizations": 0, "algorithm__iterations": 20, "rollout__battles": 4}


def test_in_gen9ou_samples_of_the_hidden_are_refused_and_other_formats_by_name() -> None:
    with pytest.raises(BadConfig, match=r"algorithm.determinizations: 2: in gen9ou the search knows both teams: set 0"):
        settings("expert_iteration", **{**NINTH, "algorithm__determinizations": 2})
    with pytest.raises(BadConfig, match="set venue: engine and format: one of gen1ou, gen1randombattle and gen9ou"):
        settings("expert_iteration", **NINTH, venue="showdown")


FIRST = {"algorithm__iterations": 20, "rollout__battles": 4}


@pytest.mark.slow
@pytest.mark.parametrize("played", [FIRST, NINTH], ids=["gen1ou", "gen9ou"])
def test_team_previews_and_battles_against_an_agent_that_acts_alone_are_not_searched(
    monkeypatch: pytest.MonkeyPatch, played: dict[str, Any]
) -> None:
    rollouts = []
    monkeypatch.setattr(ExpertIteration, "learn", lambda self, role, rollout, reference: rollouts.append(rollout) or {})
    for who in ({"who": "opponent", "weight": 1.0}, {"who": "agent", "agent": "heuristic:max-power", "weight": 1.0}):
        one = trainer("expert_iteration", **played, league__members=[who])
        one.iterate()
        one.close()
    searched, alone = rollouts
    previews = torch.from_numpy(at_preview(searched.features.numpy()))
    choices = (searched.legal.sum(-1) > 1) & ~previews
    assert previews.any() == (played is NINTH)
    assert (~searched.searched_value.isnan() == choices).all() and choices.sum() > 100
    assert (~searched.searched_values.isnan() == searched.legal)[choices].all()
    assert alone.searched_value.isnan().all() and len(alone.searched_value) > 50
