"""Battles of doubles as data: the joint choices that were made become decisions slot by slot, and are learned."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from support.doubles import doubles_fixtures
from support.rule_matches import play_all

from agents.observation.columns import FIELD
from agents.observation.decisions import decisions_of
from agents.observation.doubles.columns import FieldFeature
from agents.observation.layout import DOUBLES, SINGLES
from arena.record import BattleRecord
from teamsets.formats import DOUBLES_FORMATS
from training.data.shards import BadData, DatasetWriter, all_trajectories, opened
from training.data.stream import Stream
from training.data.targets import Target
from training.data.trajectory import COLUMNS, MISSING, Trajectory, build_trajectory, decision_points

FORMAT = "gen9championsvgc2026regma"
LONG = [pytest.param(one, marks=pytest.mark.slow) for one in DOUBLES_FORMATS if one != FORMAT]


@cache
def played(format_id: str) -> BattleRecord:
    (record,) = play_all(doubles_fixtures(format_id, ("random", "heuristic:max-power"), 1), 60)
    assert record.fault is None, record.detail
    return record


def stored_choices(record: BattleRecord, seat: int) -> list[str]:
    return [row[4] for row in record.decisions if row[0] == seat]


def built(record: BattleRecord, seat: int, **more: object) -> Trajectory:
    choices, format_id = stored_choices(record, seat), record.fixture.format
    about = {"format": format_id, "agent": record.fixture.agents[seat]}
    found = build_trajectory(f"p{seat + 1}", format_id, record.logs[seat], choices, 1.0, about, **more)  # type: ignore[arg-type]
    assert found is not None
    return found


@pytest.mark.parametrize("format_id", [FORMAT, *LONG])
def test_the_decisions_of_a_log_amount_to_the_choices_that_were_stored(format_id: str) -> None:
    record = played(format_id)
    for seat in (0, 1):
        made, choices = built(record, seat), stored_choices(record, seat)
        assert made.layout is DOUBLES and made.token_ids.shape == (len(made), DOUBLES.tokens, DOUBLES.ids)
        assert (made.actions != MISSING).all() and made.legal[np.arange(len(made)), made.actions].all()
        actions = iter(made.actions.tolist())
        points = decision_points(f"p{seat + 1}", format_id, record.logs[seat])
        for battle, choice in zip(points, choices, strict=True):
            turn = decisions_of(battle)
            while turn.actions:
                turn.take(next(actions))
            meant = turn.choice.label
            assert meant == choice or (
                choice.startswith("team ") and meant[: len("team 12")] == choice[: len("team 12")]
            )
        assert next(actions, None) is None and len(made) > len(choices)


def test_what_an_expert_says_of_a_slot_is_the_target_of_that_slots_decision() -> None:
    record = played(FORMAT)
    reported = []
    for choice in stored_choices(record, 0):
        halves = dict(zip("ab", choice.split(", "), strict=False))
        shares = {f"{letter}: {half}": 1.0 for letter, half in halves.items()}
        reported.append({"win_probability": 0.25, **({} if "team" in choice else {"probabilities": shares})})
    made = built(record, 0, diagnostics=reported, by_expert=True)
    assert (made.values == 0.25).all()
    expert = made.targets == Target.EXPERT
    assert expert.sum() == len(made) - 4, "all but the picks at team preview"
    assert (made.target_policy[expert].argmax(1) == made.actions[expert]).all()


def test_what_a_coach_would_have_chosen_is_the_target_where_the_learner_chose_as_it_up_to_there() -> None:
    """A coach's joint choice labels slot a; it labels slot b where a chose what the coach would have. So at team preview."""
    record = played(FORMAT)
    choices = stored_choices(record, 0)
    agreeing = [{"coach": choice, "probabilities": {choice: 1.0}} for choice in choices]
    made = built(record, 0, diagnostics=agreeing)
    assert (made.targets == Target.EXPERT).all() and (made.target_policy.argmax(1) == made.actions).all()
    joint = next(place for place, choice in enumerate(choices) if choice.startswith("move ") and ", move " in choice)
    first, second = choices[joint].split(", ")
    other = next(
        label.removeprefix("a: ")
        for label in record.decisions[[k for k, row in enumerate(record.decisions) if row[0] == 0][joint]][3]
        if label.startswith("a: move") and label != f"a: {first}"
    )
    differing = [*agreeing]
    differing[joint] = {"coach": f"{other}, {second}", "probabilities": {f"{other}, {second}": 1.0}}
    told = built(record, 0, diagnostics=differing)
    (changed,) = np.flatnonzero(
        (told.target_policy != made.target_policy).any(axis=1) & (told.targets == Target.EXPERT)
    )
    assert told.target_policy[changed].argmax() != made.actions[changed], "slot a: the coach's own"
    assert told.targets[changed + 1] == Target.EMPTY and (told.targets == Target.EMPTY).sum() == 1, "slot b: not known"


def test_a_coach_labels_a_learners_decisions_at_team_preview_too() -> None:
    """DAgger: slot a and the first pick have a target each time, the others where the learner chose as the coach."""
    coached = "coached?learner=random&coach=heuristic:max-power"
    (record,) = play_all(doubles_fixtures(FORMAT, (coached, "random"), 1), 60)
    assert record.fault is None, record.detail
    made = built(record, 0, diagnostics=[row[6] for row in record.decisions if row[0] == 0])
    assert set(made.targets.tolist()) == {Target.EXPERT, Target.EMPTY}
    assert made.targets[0] == Target.EXPERT, "the first pick"
    slots = made.features[:, FIELD]
    first = (slots[:, FieldFeature.PREVIEW] == 0) & (slots[:, FieldFeature.OTHER_HAS_CHOSEN] == 0)
    assert first.sum() > 3 and (made.targets[first] == Target.EXPERT).all()
    assert made.legal[np.arange(len(made)), made.target_policy.argmax(1)][made.targets == Target.EXPERT].all()


def test_an_unknown_choice_of_the_first_slot_leaves_out_what_the_second_would_have_seen() -> None:
    record = played(FORMAT)
    whole, choices = built(record, 0), stored_choices(record, 0)
    joint = [place for place, choice in enumerate(choices) if choice.startswith("move ") and ", move " in choice]
    changed = [*choices]
    changed[joint[0]] = "move unheardof, move protect"
    part = build_trajectory("p1", FORMAT, record.logs[0], changed, 1.0, {})
    assert part is not None and len(part) == len(whole) - 1 and (part.actions == MISSING).sum() == 1


def test_a_pair_is_at_the_first_decision_where_its_choices_differ() -> None:
    record = played(FORMAT)
    whole, choices = built(record, 0), stored_choices(record, 0)
    joint = next(place for place, choice in enumerate(choices) if choice.startswith("move ") and ", move " in choice)
    first, second = choices[joint].split(", ")
    legal = [row[3] for row in record.decisions if row[0] == 0][joint]
    plain = [label for label in legal if ": move " in label and not label.endswith(" mega")]
    other_a, *_ = (label[3:] for label in plain if label.startswith("a: ") and label[3:] != first)
    other_b, *_ = (label[3:] for label in plain if label.startswith("b: ") and label[3:] != second)

    def with_pair(better: str, worse: str) -> Trajectory:
        return built(record, 0, pairs=[(better, worse) if place == joint else None for place in range(len(choices))])

    of_a = with_pair(f"{other_a}, {second}", choices[joint])
    of_b = with_pair(choices[joint], f"{first}, {other_b}")
    of_both = with_pair(f"{other_a}, {other_b}", choices[joint])
    ((a,), (b,)) = (np.flatnonzero(made.rejected != MISSING) for made in (of_a, of_b))
    assert b == a + 1
    for made in (of_a, of_b, of_both):
        assert np.array_equal(made.token_ids, whole.token_ids) and np.array_equal(made.features, whole.features)
    assert of_a.rejected[a] == whole.actions[a] != of_a.actions[a] and of_a.actions[b] == whole.actions[b]
    assert of_b.actions[b] == whole.actions[b] != of_b.rejected[b] and of_b.legal[b, of_b.rejected[b]]
    assert np.array_equal(of_both.rejected, of_a.rejected), "slot b's decisions follow other choices of slot a"
    unplayed = with_pair(f"{other_a}, {other_b}", f"{other_a}, {second}")
    assert unplayed.rejected[b] == whole.actions[b] and (unplayed.rejected != MISSING).sum() == 1
    assert unplayed.actions[a] == of_a.actions[a], "both have chosen it"
    assert not np.array_equal(unplayed.features[b], whole.features[b]), "slot b has seen what slot a did not choose"
    assert np.array_equal(unplayed.features[b + 1 :], whole.features[b + 1 :])


def test_a_dataset_is_of_doubles_or_of_singles(tmp_path: Path) -> None:
    doubles = built(played(FORMAT), 0)
    rows = {name: column.stacked([np.zeros(column.shape(SINGLES))] * 2, SINGLES) for name, column in COLUMNS.items()}
    singles = Trajectory(**rows, result=1.0, about={"format": "gen9ou"})
    with DatasetWriter(tmp_path / "doubles", {}) as writer:
        writer.add(doubles)
    dataset = opened(tmp_path / "doubles")
    assert (dataset.slots, dataset.observation, dataset.decisions) == (2, DOUBLES.version, len(doubles))
    (again,) = all_trajectories(dataset)
    assert all(
        np.array_equal(getattr(again, name), getattr(doubles, name), equal_nan=name == "values") for name in COLUMNS
    )
    batch = next(iter(Stream([dataset], [1.0], batch_size=2, max_length=16, seed=0)))
    assert batch.legal.shape == (2, 16, DOUBLES.actions) and batch.features.shape[-1] == DOUBLES.features
    with (
        pytest.raises(BadData, match="singles and doubles in one dataset"),
        DatasetWriter(tmp_path / "both", {}) as writer,
    ):
        writer.add(doubles)
        writer.add(singles)
    with DatasetWriter(tmp_path / "singles", {}) as writer:
        writer.add(singles)
    assert "slots" not in (tmp_path / "singles" / "dataset.json").read_text()
    damaged = (tmp_path / "doubles" / "dataset.json").read_text().replace('"slots": 2', '"slots": 3')
    (tmp_path / "doubles" / "dataset.json").write_text(damaged)
    with pytest.raises(BadData, match=r"dataset\.json is damaged \(slots: 3\)"):
        opened(tmp_path / "doubles")
