"""What is collected is what was played: the same numbers come out of a forward pass, results and groups are right."""

from __future__ import annotations

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numba")

import numpy as np  # noqa: E402
from support.online import collected, trainer  # noqa: E402

from agents.policy.distributions import log_prob_of  # noqa: E402
from training.envs.network_players import SamplingSettings, behaviour_log_probs, returns_of  # noqa: E402
from training.online.rollout import forward, forward_in_loss  # noqa: E402
from training.online.trainer import LEARNER  # noqa: E402

SELF = [{"who": "opponent", "weight": 1.0}]
RULES = [{"who": "opponent", "weight": 0.5}, {"who": "agent", "weight": 0.5, "agent": "array:max-damage"}]


@pytest.mark.parametrize("epsilon, cuda_graphs", [(0.0, False), (0.2, False), (0.2, True)])
def test_the_probabilities_and_values_that_played_come_out_of_the_forward_pass(
    epsilon: float, cuda_graphs: bool
) -> None:
    """With cuda_graphs the steps are filled up on a CPU, too; recorded ones have been used before, by other battles."""
    manner = {
        "compute__cuda_graphs": cuda_graphs,
        "learner__exploration__temperature": {"kind": "constant", "value": 1.5},
        "learner__exploration__epsilon": {"kind": "constant", "value": epsilon},
    }
    one = trainer(league__members=RULES, **manner)
    if cuda_graphs:
        collected(one)
    rollout = collected(one)
    assert rollout.manner == SamplingSettings(1.5, epsilon)
    padded = rollout.padded()
    with torch.no_grad():
        output = forward(one.roles[LEARNER].network, rollout, padded)
    valid = padded.valid_mask
    log_policy = behaviour_log_probs(output.logits[valid], rollout.legal, rollout.manner)
    torch.testing.assert_close(log_prob_of(log_policy, rollout.actions), rollout.log_probs, atol=2e-4, rtol=1e-4)
    torch.testing.assert_close(returns_of(output.value[valid]), rollout.values, atol=2e-4, rtol=1e-4)
    assert rollout.legal.gather(1, rollout.actions[:, None]).all()


@pytest.mark.parametrize("branch_at", [0, 6])
def test_pools_that_take_turns_play_battles_and_branch_as_one_does(branch_at: int) -> None:
    one, other = trainer(league__members=RULES), trainer(league__members=RULES)
    other._collector.pool_count = 2
    alone, divided = (collected(each, group=3, branch_at=branch_at) for each in (one, other))
    assert alone.opponents == divided.opponents and (alone.battle.unique() == divided.battle.unique()).all()
    with torch.no_grad():
        output = forward(other.roles[LEARNER].network, divided, padded := divided.padded())
    assert (divided.seat == alone.seat).all() and divided.terminated.all()
    torch.testing.assert_close(returns_of(output.value[padded.valid_mask]), divided.values, atol=2e-4, rtol=1e-4)
    context = (padded.valid_mask & ~padded.take(divided.in_loss)).sum(1)
    for group in range(4):  # no group is divided
        for seat in (0, 1):
            mine = (divided.group == group) & (divided.seat == seat)
            assert len(set(context[mine].tolist())) <= 1
    assert divided.in_loss.all() == (branch_at == 0)


def test_battles_end_to_end_give_what_battles_side_by_side_give() -> None:
    one = trainer(league__members=SELF)
    rollout, network = collected(one, group=4, branch_at=6), one.roles[LEARNER].network
    (part, *_) = rollout.minibatches(300, torch.Generator().manual_seed(3))
    padded = rollout.padded(part)
    chosen = padded.valid_mask & padded.take(rollout.in_loss)
    with torch.no_grad():
        beside, (index, behind) = forward(network, rollout, padded), forward_in_loss(network, rollout, part)
    assert (index == padded.places[chosen]).all() and 0 < len(index) < padded.valid_mask.sum()
    torch.testing.assert_close(behind.logits, beside.logits[chosen], atol=1e-4, rtol=0)
    torch.testing.assert_close(behind.value, beside.value[chosen], atol=1e-4, rtol=0)


def test_both_seats_of_self_play_are_kept_and_their_results_are_opposite() -> None:
    rollout = collected(trainer(league__members=SELF))
    assert len(rollout.lengths) == 24 and int(rollout.lengths.sum()) == rollout.decisions
    assert rollout.terminated.all()
    for battle in range(12):
        assert float(rollout.results[rollout.battle == battle].sum()) == 0
    assert set(rollout.results.tolist()) <= {-1.0, 0.0, 1.0} and rollout.results.abs().sum() > 0
    rewards = rollout.rewards
    assert float(rewards.sum()) == float(rollout.results.sum()) and int((rewards != 0).sum()) <= 24


def test_against_an_agent_only_the_learners_seat_is_kept() -> None:
    rollout = collected(trainer(league__members=[{"who": "agent", "weight": 1.0, "agent": "array:max-damage"}]))
    assert len(rollout.lengths) == 12 and len(set(rollout.battle.tolist())) == 12
    assert rollout.opponents == ("array:max-damage",)
    assert 0 < int(rollout.seat.sum()) < 12  # the learner sits in either seat


def test_a_battle_that_takes_too_long_is_truncated_and_has_a_bootstrap_value() -> None:
    one = trainer(league__members=SELF, rollout__max_turns=5)
    rollout = collected(one)
    cut = ~rollout.terminated
    assert cut.sum() >= 20 and (rollout.results[cut] == 0).all()
    assert (rollout.bootstrap[cut] != rollout.values[rollout.ends][cut]).any()
    assert rollout.bootstrap.abs().max() <= 1


def test_groups_share_their_start_and_then_have_chances_of_their_own() -> None:
    rollout = collected(trainer(league__members=SELF, rollout__battles=12), group=4)
    assert set(rollout.group.tolist()) == {0, 1, 2}
    first = rollout.starts
    for group in range(3):
        for seat in (0, 1):
            mine = first[(rollout.group == group) & (rollout.seat == seat)]
            assert len(mine) == 4
            assert (rollout.token_ids[mine] == rollout.token_ids[mine[0]]).all()
    assert len(set(rollout.lengths.tolist())) > 3
    assert rollout.in_loss.all()


@pytest.mark.parametrize("played", ["gen1ou", pytest.param("gen9ou", marks=pytest.mark.slow)])
def test_a_group_from_the_middle_shares_what_was_before_as_context_only(played: str) -> None:
    members = SELF if played == "gen1ou" else [*SELF, {"who": "agent", "weight": 0.5, "agent": "heuristic:max-damage"}]
    rollout = collected(trainer(league__members=members, rollout__battles=12, format=played), group=4, branch_at=6)
    assert not rollout.in_loss.all() and rollout.in_loss.any()
    padded = rollout.padded()
    context = (padded.valid_mask & ~padded.take(rollout.in_loss)).sum(1)  # [B]
    for group in range(3):
        branch = []  # whether all saw the same at their first own decision: one seat at least, as the other may not be asked
        for seat in (0, 1):
            mine = torch.nonzero((rollout.group == group) & (rollout.seat == seat))[:, 0]
            if not len(mine):
                assert played == "gen9ou"  # an agent plays the seat
                continue
            assert len(set(context[mine].tolist())) == 1
            length = int(context[mine[0]])
            for fields in (rollout.actions, rollout.features, rollout.values):
                shared = padded.take(fields)[mine, :length]
                assert (shared == shared[0]).all()
            first = padded.take(rollout.features)[mine, length]
            branch.append(bool((first == first[0]).all()))
        assert any(branch)
    log_policy = torch.log_softmax(rollout.logits, -1)
    torch.testing.assert_close(log_prob_of(log_policy, rollout.actions), rollout.log_probs, atol=1e-5, rtol=1e-5)
    with torch.no_grad():  # the memory was copied too: what follows the branch comes out of the forward pass
        one = trainer(league__members=SELF)
        output = forward(one.roles[LEARNER].network, rollout, padded)
    torch.testing.assert_close(returns_of(output.value[padded.valid_mask]), rollout.values, atol=2e-4, rtol=1e-4)


def test_what_the_other_seat_saw_is_what_it_kept_itself_where_both_chose() -> None:
    rollout = collected(trainer(league__members=SELF), both=True)
    assert rollout.others_features.shape == rollout.features.shape
    zero, one = (torch.nonzero((rollout.battle == 0) & (rollout.seat == seat))[0, 0] for seat in (0, 1))
    a, b = int(rollout.starts[zero]), int(rollout.starts[one])
    assert (rollout.others_token_ids[a] == rollout.token_ids[b]).all()
    assert (rollout.others_token_ids[b] == rollout.token_ids[a]).all()


def test_minibatches_have_every_trajectory_once() -> None:
    rollout = collected(trainer(league__members=SELF))
    parts = list(rollout.minibatches(200, torch.Generator().manual_seed(1)))
    assert sorted(torch.cat(parts).tolist()) == list(range(24))
    assert len(parts) == max(1, round(rollout.decisions / 200))
    padded = rollout.padded(parts[0])
    back = rollout.packed(rollout.padded(), rollout.padded().take(rollout.values))
    assert (back == rollout.values).all() and padded.valid_mask.sum() == rollout.lengths[parts[0]].sum()


def test_the_same_seed_plays_the_same_battles() -> None:
    one, other = collected(trainer(league__members=RULES)), collected(trainer(league__members=RULES))
    assert (one.actions == other.actions).all() and (one.results == other.results).all()
    third = collected(trainer(league__members=RULES, seed=1))
    assert third.decisions != one.decisions or (third.actions != one.actions).any()


def test_held_out_teams_are_never_drawn() -> None:
    from teamsets.loading import load_set

    one = trainer(rollout__teams=[{"set": "variety:30", "weight": 1.0}], rollout__held_out=["variety:10"])
    held_out = {team.packed for team in load_set("variety:10", "gen1ou").teams}
    games = [one._collector._games.game(number, {"opponent": 1.0}) for number in range(300)]
    drawn = {team.packed for game in games for team in game.fixture.teams}
    assert len(drawn) == 20 and not drawn & held_out
    assert np.mean([game.seat for game in games]) == pytest.approx(0.5, abs=0.1)


def test_a_rollout_is_moved_whole() -> None:
    rollout = collected(trainer(league__members=SELF))
    moved = replace(rollout).to("cpu")
    assert moved.opponents == rollout.opponents and (moved.features == rollout.features).all()
