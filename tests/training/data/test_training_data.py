"""From stored battles to trajectories, shards and batches: what was chosen is learned, in an order one can rely on."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import zstandard
from safetensors.numpy import save
from support.command_line import Said

from agents.observation.actions import MOVES
from agents.observation.layout import SINGLES
from agents.observation.observation import VERSION, unlike
from arena.store import Store, rows
from teamsets.formats import get_format
from training.commands.options import show_built
from training.data.build import Built
from training.data.from_store import selected, sides, trajectories
from training.data.shards import BadData, Dataset, DatasetWriter, all_trajectories, opened, read_shard
from training.data.stats import count
from training.data.stream import Batch, Stream, validation_batches
from training.data.targets import Target
from training.data.trajectory import COLUMNS, MISSING, Trajectory, build_trajectory


def same(one: Trajectory, other: Trajectory) -> bool:
    parts = all(np.array_equal(getattr(one, n), getattr(other, n), equal_nan=n == "values") for n in COLUMNS)
    return parts and one.result == other.result and one.about == other.about


@pytest.mark.slow
def test_every_decision_of_a_battle_is_there_with_the_action_that_was_taken(
    played: Path, observed_sides: list[Trajectory]
) -> None:
    for one in observed_sides:
        battle, seat = one.about["battle"], one.about["seat"]
        stored = rows(
            "SELECT choice FROM decisions WHERE battle_id = ? AND seat = ? ORDER BY index", played, [battle, seat]
        )
        choices = [choice for (choice,) in stored]
        assert len(one) == len(choices), "the team preview is a decision, too"
        assert one.legal[np.arange(len(one)), one.actions].all(), "what was done was legal"
        in_play = [pair for pair in zip(one.actions, choices, strict=True) if not pair[1].startswith("team ")]
        assert all((action in MOVES or action >= 9) == choice.startswith("move") for action, choice in in_play)
        score = rows("SELECT score FROM results WHERE battle_id = ? AND seat = ?", played, [battle, seat])[0][0]
        assert one.result == score


def test_a_coachs_thoughts_become_shares_and_a_value(played: Path) -> None:
    (side,) = sides(played, selected(played, "format = 'gen1ou'")[:1])
    from arena.record import unpacked

    lines = unpacked(side.log)
    plain = build_trajectory("p1", "gen1ou", lines, side.choices, 1.0, {})
    assert plain is not None and not plain.target_policy.any() and np.isnan(plain.values).all()
    searched = [{"visits": {words: 0.85, "move nonsense": 0.15}, "win_probability": 0.6} for words in side.choices]
    told = build_trajectory("p1", "gen1ou", lines, side.choices, 1.0, {}, searched)
    assert told is not None
    assert np.array_equal(told.target_policy.argmax(1), told.actions) and (told.target_policy.sum(1) == 1).all()
    assert np.allclose(told.values, 0.6, atol=1e-3)
    assert (told.targets == Target.EXPERT).all() and (plain.targets == Target.CHOICE).all()
    weighed = [{"probabilities": {words: 1.0}, "win_probability": 0.25} for words in side.choices]
    told = build_trajectory("p1", "gen1ou", lines, side.choices, 1.0, {}, weighed, by_expert=True)
    assert (
        told is not None and (told.values == 0.25).all() and np.array_equal(told.target_policy.argmax(1), told.actions)
    )
    watched = [{**thought, "coach": words} for thought, words in zip(weighed, side.choices, strict=True)]
    told = build_trajectory("p1", "gen1ou", lines, side.choices, 1.0, {}, watched)
    assert told is not None and (told.targets == Target.EXPERT).all()
    own = build_trajectory("p1", "gen1ou", lines, side.choices, 1.0, {}, weighed)
    assert own is not None and not own.target_policy.any() and (own.targets == Target.CHOICE).all(), "nobody watched"


def test_choices_that_are_not_known_are_missing_and_a_side_without_any_is_left_out(played: Path) -> None:
    from arena.record import unpacked

    (side,) = sides(played, selected(played, "format = 'gen1ou'")[:1])
    lines = unpacked(side.log)
    half = [words if place % 2 else None for place, words in enumerate(side.choices)]
    one = build_trajectory("p1", "gen1ou", lines, half, 0.0, {})
    assert one is not None
    assert (one.actions[::2] == MISSING).all() and (one.actions[1::2] != MISSING).all()
    assert build_trajectory("p1", "gen1ou", lines, [None] * len(half), 0.0, {}) is None


def test_a_dataset_comes_back_from_the_disk_as_it_was(dataset: Dataset, observed_sides: list[Trajectory]) -> None:
    assert len(dataset.names) > 3
    assert dataset.trajectories == len(observed_sides)
    assert dataset.decisions == sum(map(len, observed_sides))
    for one, other in zip(all_trajectories(dataset), observed_sides, strict=True):
        assert same(one, other)


@pytest.mark.parametrize("damage", ["cut", "flip", "gone"])
def test_a_damaged_shard_is_named(dataset: Dataset, tmp_path: Path, damage: str) -> None:
    shutil.copytree(dataset.folder, tmp_path / "d")
    shard = tmp_path / "d" / dataset.names[1]
    content = bytearray(shard.read_bytes())
    if damage == "cut":
        shard.write_bytes(content[: len(content) // 2])
    elif damage == "flip":
        content[len(content) // 2] ^= 255
        shard.write_bytes(content)
    else:
        shard.unlink()
    with pytest.raises(BadData, match=f"{dataset.names[1]} cannot be read"):
        list(all_trajectories(opened(tmp_path / "d")))


def test_a_dataset_of_another_observation_is_refused(dataset: Dataset, tmp_path: Path) -> None:
    shutil.copytree(dataset.folder, tmp_path / "d")
    file = tmp_path / "d" / "dataset.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"observation": 0}))
    with pytest.raises(BadData, match=f"built with observation 0, but this version has {VERSION}: build it again"):
        opened(tmp_path / "d")


def test_a_dataset_of_observation_2_is_good_where_nothing_has_changed(dataset: Dataset, tmp_path: Path) -> None:
    shutil.copytree(dataset.folder, tmp_path / "d")
    file = tmp_path / "d" / "dataset.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"observation": 2}))
    older = opened(tmp_path / "d")
    formats = {one.about["format"] for one in all_trajectories(dataset)}
    assert not any(unlike(2, get_format(format_id).gen) for format_id in formats)
    assert sum(1 for _ in all_trajectories(older)) == dataset.trajectories
    arrays, about = read_shard(dataset, 0).arrays, [{**one, "format": "gen4ou"} for one in read_shard(dataset, 0).about]
    packed = save({**arrays, "about": np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)})
    (tmp_path / "d" / dataset.names[0]).write_bytes(zstandard.ZstdCompressor().compress(packed))
    with pytest.raises(
        BadData, match=f"built with observation 2, but this version has {VERSION} for gen4ou: build it again"
    ):
        list(all_trajectories(older))


def test_nothing_stays_of_a_dataset_that_could_not_be_finished(
    observed_sides: list[Trajectory], tmp_path: Path
) -> None:
    with pytest.raises(ZeroDivisionError), DatasetWriter(tmp_path / "d", {}) as writer:
        writer.add(observed_sides[0])
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def take(stream: Stream, number: int) -> list[Batch]:
    return list(itertools.islice(stream, number))


def equal(one: Batch, other: Batch) -> bool:
    return all(
        np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
        for a, b in zip(vars(one).values(), vars(other).values(), strict=True)
    )


def stream(dataset: Dataset, seed: int = 1, weights: tuple[float, ...] = (1.0,)) -> Stream:
    return Stream([dataset] * len(weights), list(weights), batch_size=4, max_length=24, seed=seed)


def test_the_order_is_the_seeds_and_each_epoch_has_its_own(dataset: Dataset) -> None:
    first, again, other = (take(stream(dataset, seed), 30) for seed in (1, 1, 2))
    assert all(map(equal, first, again))
    assert not all(map(equal, first, other))


def test_an_epoch_shows_every_trajectory_once(dataset: Dataset) -> None:
    # 8 batches of 4 are drawn together: epochs end inside a round, so whole rounds over whole epochs are compared.
    rounds = np.lcm(dataset.trajectories, 32) // 32
    seen = np.concatenate([batch.results for batch in take(stream(dataset), 8 * int(rounds))])
    epochs = 32 * int(rounds) // dataset.trajectories
    results = [one.result for one in all_trajectories(dataset)]
    assert sorted(seen) == sorted(results * epochs)


def test_the_mean_number_of_decisions_of_a_batch_is_known_before(dataset: Dataset) -> None:
    batches = 8 * int(np.lcm(dataset.trajectories, 32) // 32)  # whole rounds over whole epochs
    found = stream(dataset)
    seen = [batch.decisions for batch in take(found, batches)]
    assert found.mean_decisions == pytest.approx(np.mean(seen)) and min(seen) < np.mean(seen) < max(seen)
    assert stream(dataset, weights=(3.0, 1.0)).mean_decisions == pytest.approx(found.mean_decisions)


@pytest.mark.parametrize("left_after", [1, 7, 8, 9, 21])
def test_a_stream_goes_on_from_any_batch(dataset: Dataset, left_after: int) -> None:
    whole = take(stream(dataset, weights=(3.0, 1.0)), 32)
    begun = stream(dataset, weights=(3.0, 1.0))
    take(begun, left_after)
    state = json.loads(json.dumps(begun.state))
    later = stream(dataset, weights=(3.0, 1.0))
    later.restore(state)
    assert all(map(equal, take(later, 32 - left_after), whole[left_after:]))


def test_a_mixture_keeps_to_its_weights(dataset: Dataset) -> None:
    mixed = stream(dataset, weights=(3.0, 1.0))
    take(mixed, 65)
    one, other = mixed.state["began"]
    assert (one, other) == (192, 64)


def test_a_batch_is_padded_behind_and_cut_where_it_is_too_long(dataset: Dataset) -> None:
    for batch in take(stream(dataset), 16):
        assert batch.valid_mask.shape[1] <= 24
        assert (batch.valid_mask[:, 1:] <= batch.valid_mask[:, :-1]).all(), "padding comes last"
        padding = ~batch.valid_mask
        assert (
            (batch.actions[padding] == MISSING).all()
            and batch.legal[padding].all()
            and not batch.token_ids[padding].any()
        )
        parts = [batch.rows(part, 3) for part in range(3)]
        assert sum(part.decisions for part in parts) == batch.decisions


def test_measuring_goes_once_through_a_dataset_or_a_sample_of_it(dataset: Dataset) -> None:
    assert sum(batch.decisions for batch in validation_batches(dataset, 4, 10_000, 10_000)) == dataset.decisions
    few, again = (
        [batch.valid_mask.sum(1).tolist() for batch in validation_batches(dataset, 4, 10_000, 6)] for _ in range(2)
    )
    assert few == again and [len(one) for one in few] == [4, 2], "always the same ones"
    first = [length for shard in dataset.lengths for length in shard][:6]
    assert [length for one in few for length in one] != first, "not those that happen to come first"


def test_what_was_cut_off_behind_a_trajectory_is_counted(dataset: Dataset) -> None:
    lengths = [length for shard in dataset.lengths for length in shard]
    assert max(lengths) > 24 > min(lengths)
    for batch in [
        *validation_batches(dataset, 4, 24, 10_000),
        *take(stream(dataset), 16),
    ]:  # a drawn window may end anywhere
        kept = batch.valid_mask.sum(1)
        assert ((batch.remaining == 0) | (kept == 24)).all() and (kept + batch.remaining <= max(lengths)).all()
    ends = [int(left) for batch in validation_batches(dataset, 4, 24, 10_000) for left in batch.remaining]
    assert sum(left > 0 for left in ends) > 0, "some windows end before the battle does"


def test_what_is_counted(dataset: Dataset, observed_sides: list[Trajectory]) -> None:
    counted = count(dataset)
    assert counted["decisions"] == counted["known_actions"] == sum(map(len, observed_sides))
    assert counted["by"]["format"].keys() == {"gen1ou", "gen9ou"}
    assert counted["by"]["result"]["won"] == counted["by"]["result"]["lost"]
    assert sum(counted["by"]["length"].values()) == len(observed_sides)


def test_selecting(played: Path) -> None:
    won = selected(played, "won AND agent = 'random'")
    expected = rows("SELECT count(*) FROM results WHERE score = 1 AND agent = 'random'", played)[0][0]
    assert len(won) == expected > 0
    with pytest.raises(BadData, match=r"--where \"colour = 1\": .*colour.*; columns are battle_id, run_id"):
        selected(played, "colour = 1")
    with pytest.raises(BadData, match="no side of a battle"):
        selected(played, "agent = 'nobody'")
    assert len(list(trajectories(played, won[:3], processes=2))) == 3


@pytest.mark.parametrize(
    "where", ["true); COPY (SELECT 1) TO '{db}' (FORMAT csv, USE_TMP_FILE false); SELECT (1", "true); SELECT (1"]
)
def test_a_condition_is_one_condition_and_changes_no_file(where: str, tmp_path: Path) -> None:
    db = tmp_path / "arena.duckdb"
    Store(db)
    before = db.read_bytes()
    with pytest.raises(BadData, match="more than one statement"):
        selected(db, where.format(db=db))
    assert db.read_bytes() == before
    with pytest.raises(BadData, match="no side of a battle"):
        selected(db, "won -- a remark")


@pytest.mark.slow
def test_build_and_stats_as_a_user_calls_them(played: Path, tmp_path: Path, train_command: Callable[..., Said]) -> None:
    where = "format = 'gen1ou'"
    made = train_command(
        "data", "build", "--db", played, "--where", where, "--out", "d", "--hold-out", "0.5", cwd=tmp_path
    )
    assert made.code == 0, made.err
    said = train_command("data", "stats", "d", "d-held-out", "--json", cwd=tmp_path)
    kept, held = json.loads(said.out)
    sides_in_all = rows("SELECT count(*) FROM results WHERE format = 'gen1ou'", played)[0][0]
    assert kept["trajectories"] + held["trajectories"] == sides_in_all and held["trajectories"] > 0
    pairs = [{one.about["pair"] for one in all_trajectories(opened(tmp_path / name))} for name in ("d", "d-held-out")]
    assert not pairs[0] & pairs[1]
    assert "trajectories" in train_command("data", "stats", "d", cwd=tmp_path).out

    again = train_command("data", "build", "--db", played, "--where", where, "--out", "d", cwd=tmp_path)
    assert again.code == 2 and "d: was built with other settings (hold_out 0.5, now 0.0): delete it" in again.err
    wrong = train_command("data", "build", "--db", played, "--where", "colour = 1", "--out", "e", cwd=tmp_path)
    assert wrong.code == 2 and wrong.err.count("\n") == 1 and not (tmp_path / "e").exists()


def test_formats_are_printed_with_the_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arrays = {name: column.stacked([np.zeros(column.shape(SINGLES))] * 2, SINGLES) for name, column in COLUMNS.items()}
    with DatasetWriter(tmp_path / "both", {}) as writer:
        for format_id in ("gen1ou", "gen9ou", "gen1ou"):
            writer.add(Trajectory(**arrays, result=1.0, about={"format": format_id}))
    both = opened(tmp_path / "both")
    assert both.formats == {"gen1ou": 2, "gen9ou": 1}
    show_built(Built((both,), new=True))
    printed = capsys.readouterr()
    assert printed.out == f"{tmp_path / 'both'}: 3 trajectories (gen1ou 2, gen9ou 1), 6 decisions\n"
    assert "--where \"format = 'gen1ou'\" selects one" in printed.err
