"""Pairs from really played battles: forked where they were decided, written, resumed, split, read by people and by `dpo`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import duckdb
import numpy as np
import pytest
from click.testing import CliRunner, Result
from support.json_lines import json_lines

pytest.importorskip("torch")
pytest.importorskip("numba")

from arena.store import rows
from teamsets.errors import BadInput
from training.commands.preferences import preferences
from training.data.shards import all_trajectories, opened
from training.data.trajectory import MISSING
from training.preferences.forks import LEADER, EngineForks, ForkedSide, stored_battles

FEW = (
    "--decisions",
    "2",
    "--choices",
    "3",
    "--playouts",
    "4",
    "--baseline",
    "position",
    "--play-on",
    "array:max-damage",
)


def build(played: Path, out: Path, *words: str, where: str = "format = 'gen1ou'") -> Result:
    return CliRunner().invoke(
        preferences, ["build", "--db", str(played), "--where", where, "--out", str(out), *FEW, *words]
    )


@pytest.fixture(scope="module")
def made(played: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("preferences") / "pairs"
    result = build(played, out, "--hold-out", "0.5")
    assert result.exit_code == 0, result.output
    return out


def test_a_stored_battle_comes_back_on_the_engine_with_its_legal_choices(played: Path) -> None:
    numbers = [
        number
        for (number,) in rows("SELECT battle_id FROM battles WHERE format = 'gen1ou' ORDER BY key LIMIT 3", played)
    ]
    forks, leader = EngineForks(1, "gen1ou"), np.array([LEADER])
    compared = 0
    for one in stored_battles(played, numbers, ["gen1ou"] * len(numbers)):
        assert isinstance(one, ForkedSide)
        forks.begin(one)
        places = [0, 0]
        while forks.battles.needs_decision(leader).any() and all(places[s] < len(one.choices[s]) for s in (0, 1)):
            actions = np.full((1, 2), -1)
            for seat in np.flatnonzero(forks.battles.needs_decision(leader)[0]).tolist():
                _, decided = one.choices[seat][places[seat]]
                choices = forks.choices(seat)
                assert {decided.choice, *choices.others(decided.choice)[0]} == set(decided.legal)
                assert choices.actions("move splash") is None
                (actions[0, seat],) = choices.actions(decided.choice) or ()
                places[seat] += 1
                compared += 1
            forks.battles.play(leader, actions)
    assert compared > 60


def test_pairs_are_as_trl_reads_them_and_say_where_they_are_from(made: Path, played: Path) -> None:
    found = json_lines(made / "pairs.jsonl") + json_lines(made / "pairs-held-out.jsonl")
    assert len(found) > 5
    for one in found:
        assert (
            one["chosen"] == f"Action: {one['chosen_action']}"
            and one["rejected"] == f"Action: {one['rejected_action']}"
        )
        assert f"- {one['chosen_action']}\n" in one["prompt"] and f"- {one['rejected_action']}\n" in one["prompt"]
        query = "SELECT turn, legal FROM decisions WHERE battle_id = ? AND seat = ? AND index = ?"
        ((turn, legal),) = rows(query, played, [one["battle"], one["seat"], one["decision"]])
        assert (turn, one["source"], one["rule"]) == (one["turn"], "forks", "some-worked")
        assert {one["chosen_action"], one["rejected_action"]} <= set(legal)
        assert one["margin"] == pytest.approx(one["chosen_score"] - one["rejected_score"]) and one["margin"] >= 0.2
        assert one["low"] < one["margin"] < one["high"] or one["high"] == 1.0


def test_nothing_leaks_into_the_held_out_part_and_no_pair_is_there_twice(made: Path) -> None:
    learned, held_out = json_lines(made / "pairs.jsonl"), json_lines(made / "pairs-held-out.jsonl")
    assert learned and held_out
    assert not {one["pair"] for one in learned} & {one["pair"] for one in held_out}
    texts = [(one["prompt"], one["chosen"], one["rejected"]) for one in learned + held_out]
    assert len(set(texts)) == len(texts)


def test_the_datasets_hold_the_same_pairs_and_end_at_the_last_of_a_side(made: Path) -> None:
    for name, file in (("train", "pairs.jsonl"), ("train-held-out", "pairs-held-out.jsonl")):
        told = {(one["battle"], one["seat"]): 0 for one in json_lines(made / file)}
        for one in json_lines(made / file):
            told[one["battle"], one["seat"]] += 1
        found = {}
        for one in all_trajectories(opened(made / name)):
            pairs = one.rejected != MISSING
            found[one.about["battle"], one.about["seat"]] = int(pairs.sum())
            assert pairs[-1] and ((one.actions != MISSING) == pairs).all()
            assert one.legal[pairs, one.actions[pairs]].all() and one.legal[pairs, one.rejected[pairs]].all()
            assert (one.actions[pairs] != one.rejected[pairs]).all()
        assert found == told


def test_an_interrupted_build_goes_on_with_the_same_pairs(made: Path, played: Path, tmp_path: Path) -> None:
    whole = (made / "attempts.jsonl").read_bytes().split(b"\n")
    again = tmp_path / "again"
    again.mkdir()
    # Killed while it wrote the fourth side.
    (again / "attempts.jsonl").write_bytes(b"\n".join([*whole[:4], whole[4][: len(whole[4]) // 2]]))
    result = build(played, again, "--hold-out", "0.5")
    assert result.exit_code == 0, result.output
    for name in ("attempts.jsonl", "pairs.jsonl", "pairs-held-out.jsonl", "counts.json"):
        assert (again / name).read_bytes() == (made / name).read_bytes(), name
    other = build(played, again, "--hold-out", "0.5", "--seed", "3")
    assert "begun with other settings (seed 0, now 3): restore them, use --replace" in str(other.exception)


def test_other_rules_need_no_playing(made: Path, played: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("played")

    monkeypatch.setattr("training.preferences.build.player_of", never)
    before = (made / "pairs.jsonl").read_bytes()
    result = build(played, made, "--hold-out", "0.5", "--baseline", "0.1", "--garble", "illegal", "--json")
    counts = json.loads(result.stdout)
    assert counts["by"]["pairs"]["everything-worked (action)"] > 0
    assert sum(counts["in_datasets"].values()) < counts["pairs"] + counts["held_out"], "illegal answers are no actions"
    assert build(played, made, "--hold-out", "0.5").exit_code == 0
    assert (made / "pairs.jsonl").read_bytes() == before


def test_pairs_are_printed_for_people(made: Path) -> None:
    result = CliRunner().invoke(preferences, ["show", str(made), "--number", "2"])
    assert result.exit_code == 0
    assert result.output.count("  chosen    ") == 2 and result.output.count("Your legal choices:") == 2
    assert "why       some-worked (action, from forks): score" in result.output and "95% interval" in result.output
    wrong = CliRunner().invoke(preferences, ["show", str(made), "--rule", "magic"])
    assert str(wrong.exception) == f"--rule magic: no pair in {made}; there are some-worked"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (
            ("--play-on", "heuristic:expert"),
            "--play-on heuristic:expert: cannot play on the engine, where gen1ou's forks are played in batches",
        ),
        (("--baseline", "2"), "--baseline 2: must be a score from 0 to 1, or position"),
        (("--source", "expert"), "no pairs (nothing was tried): lower --min-margin, or select other battles"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    played: Path, tmp_path: Path, words: tuple[str, ...], problem: str
) -> None:
    assert problem in str(build(played, tmp_path / "out", *words).exception)


def test_who_plays_on_plays_at_its_temperature() -> None:
    from training.preferences.players import player_of

    specs = ("policy:gen1ou-tiny?temperature=0.5", "policy:gen1ou-tiny")
    assert [player_of(spec, 1, "gen1ou", in_batches=True)._temperature for spec in specs] == [0.5, 0.0]  # type: ignore[attr-defined]


def test_a_player_that_sees_the_engines_rows_plays_on_there() -> None:
    from training.preferences.players import player_of

    assert player_of("search:omniscient?iterations=9", 1, "gen1ou", in_batches=True)
    with pytest.raises(BadInput, match="it sees both teams"):
        player_of("search:omniscient?iterations=9", 1, "gen1ou", in_batches=False)


def test_an_experts_choices_in_stored_battles_become_pairs(played: Path, tmp_path: Path) -> None:
    db = tmp_path / "labelled.duckdb"
    shutil.copy(played, db)
    query = "SELECT battle_id, seat, index, choice, legal FROM decisions JOIN battles USING (battle_id) WHERE format = 'gen1ou' AND len(legal) > 1 ORDER BY ALL LIMIT 3"  # noqa: E501
    with duckdb.connect(str(db)) as store:
        labelled = store.execute(query).fetchall()
        for battle, seat, index, choice, legal in labelled:
            other = next(label for label in legal if label != choice)
            thought = json.dumps({"coach": other, "values": {other: 0.8, choice: 0.5}})
            where = [thought, battle, seat, index]
            store.execute("UPDATE decisions SET diagnostics = ? WHERE battle_id = ? AND seat = ? AND index = ?", where)
    result = build(db, tmp_path / "out", "--source", "expert")
    assert result.exit_code == 0, (result.output, result.exception)
    found = {(one["battle"], one["seat"], one["decision"]): one for one in json_lines(tmp_path / "out" / "pairs.jsonl")}
    assert found.keys() == {tuple(row[:3]) for row in labelled}
    assert {one["rejected_action"] for one in found.values()} == {row[3] for row in labelled}
    assert {(one["rule"], one["margin"], one["low"]) for one in found.values()} == {("expert-differs", 0.3, None)}


def test_a_command_that_is_refused_leaves_no_settings_for_the_next_one(played: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    refused = build(played, out, "--play-on", "heuristic:expert")
    assert "cannot play on the engine" in str(refused.exception) and not out.exists()
    out.mkdir()  # killed while it wrote the first side
    (out / "attempts.jsonl").write_text('{"settings":{"seed":7}}\n{"battle":1,"se')
    few = "battle_id IN (SELECT arg_min(battle_id, key) FROM battles WHERE format = 'gen1ou')"
    assert build(played, out, "--baseline", "0", "--garble", "illegal", where=few).exit_code == 0
