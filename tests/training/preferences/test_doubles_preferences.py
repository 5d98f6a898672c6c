"""Pairs of doubles from really played battles: forked slot by slot and pick by pick, written, and learned."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
import yaml
from click.testing import CliRunner, Result
from support.chat_server import chat_server, slot_choices_in
from support.doubles import doubles_fixtures
from support.json_lines import json_lines
from support.language_models import tiny_model
from support.records import RUN
from support.rule_matches import play_all

pytest.importorskip("torch")

import torch

from agents.battle import SeatDoubleBattle
from agents.observation.doubles.columns import decision_numbers
from agents.observation.layout import DOUBLES
from agents.policy import checkpoint
from agents.policy.network import Network
from agents.policy.shape import PRESETS
from arena.fixture import SEATS, Fixture
from arena.record import unpacked
from arena.store import open_store, rows
from training.commands.preferences import preferences
from training.data.from_store import selected, sides, trajectory
from training.data.shards import all_trajectories, opened
from training.data.trajectory import MISSING, decision_points
from training.envs.venue import Battles, Ints, Pair
from training.llm.config import LlmConfig
from training.offline.config import Config
from training.offline.trainer import train
from training.preferences.choices import DoublesChoices
from training.preferences.forks import ForkedSide, ReplayedForks, stored_battles
from training.preferences.playing import ForkPlayer, Tries
from training.runs.config_reader import validated
from training.runs.shipped import resolve_path, text

RANDOM, VGC = "gen9randomdoublesbattle", "gen9championsvgc2026regma"
AGENTS = ("random", "heuristic:max-power")


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two battles of random doubles, and two of VGC, the second with open team sheets."""
    first, second = doubles_fixtures(VGC, AGENTS, 2, drawn=False)
    file = tmp_path_factory.mktemp("doubles") / "a.duckdb"
    with open_store(file) as store:
        for record in play_all([*doubles_fixtures(RANDOM, AGENTS, 2), first, replace(second, open_sheets=True)]):
            assert record.reason == "win", record.detail
            store.add(record.to_line(RUN))
        store.ingest_journal()
    return file


def build(db: Path, out: Path, *options: str, where: str = "true") -> Result:
    tries = ["--decisions", "3", "--choices", "3", "--playouts", "2", "--baseline", "position", "--min-gain", "0.01"]
    return CliRunner().invoke(
        preferences, ["build", "--db", str(db), "--where", where, "--out", str(out), *tries, *options]
    )


@pytest.fixture(scope="module")
def made(db: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("preferences") / "pairs"
    short = ("--decisions", "0", "--playouts", "1", "--play-on", "random", "--max-turns", "10")
    result = build(db, out, *short, where="seat = 'p1' AND battle_id IN (1, 4)")
    assert result.exit_code == 0, (result.output, result.exception)
    return out


def differing(one: str, other: str) -> int:
    """The number of slots, or of team members in other roles (leads, bench), in which two choices differ."""
    if one.startswith("team "):
        roles = [(set(text[5:7]), set(text[7:])) for text in (one, other)]
        return max(len(mine - theirs) for mine, theirs in zip(*roles, strict=True))
    return sum(half != its for half, its in zip(one.split(", "), other.split(", "), strict=True))


def test_pairs_are_of_joint_choices_that_differ_in_one_slot_or_pick(made: Path, db: Path) -> None:
    tried = [each for side in json_lines(made / "attempts.jsonl")[1:] for each in side["tried"]]
    assert all(len(each["results"]) == 1 for outcome in tried for each in outcome["attempts"])
    found = json_lines(made / "pairs.jsonl")
    kinds = {"preview": 0, "a": 0, "b": 0}
    for pair in found:
        chosen, rejected = pair["chosen_action"], pair["rejected_action"]
        assert (pair["chosen"], pair["rejected"]) == (f"Action: {chosen}", f"Action: {rejected}")
        query = "SELECT turn, choice FROM decisions WHERE battle_id = ? AND seat = ? AND index = ?"
        ((turn, played),) = rows(query, db, [pair["battle"], pair["seat"], pair["decision"]])
        assert turn == pair["turn"] and pair["source"] == "forks"
        assert differing(chosen, rejected) == 1 and max(differing(played, each) for each in (chosen, rejected)) == 1
        if chosen.startswith("team "):
            kinds["preview"] += 1
            assert "this is the team preview" in pair["prompt"]
        else:
            kinds["ab"[chosen.split(", ")[0] == rejected.split(", ")[0]]] += 1
            listed = pair["prompt"].partition("Your legal choices:\n")[2]
            assert all(half in listed for half in (*chosen.split(", "), *rejected.split(", ")))
    assert min(kinds.values()) > 0, kinds
    assert {pair["format"] for pair in found} == {RANDOM, VGC}


def test_the_dataset_has_each_pair_at_its_decision_in_the_battle_as_it_was_played(made: Path, db: Path) -> None:
    played = {
        (side.about["battle"], side.seat): (side, trajectory(side)) for side in sides(db, list(selected(db, "true")))
    }
    written = {(pair["battle"], pair["seat"], pair["decision"]): pair for pair in json_lines(made / "pairs.jsonl")}
    found = 0
    for one in all_trajectories(opened(made / "train")):
        side, whole = played[one.about["battle"], one.about["seat"]]
        assert whole is not None and one.layout is DOUBLES
        for name in ("token_ids", "features", "legal"):
            assert np.array_equal(getattr(one, name), getattr(whole, name)[: len(one)])
        row = 0
        for index, battle in enumerate(decision_points(side.seat, side.format, unpacked(side.log))):
            assert isinstance(battle, SeatDoubleBattle)
            size = len(DoublesChoices(battle).actions(side.choices[index]) or ())
            pair = written.get((one.about["battle"], side.seat, index))
            at = [place for place in range(row, min(row + size, len(one))) if one.rejected[place] != MISSING]
            assert len(at) == (pair is not None)
            for place in at:
                better, worse = (
                    DoublesChoices(battle).actions(pair[f"{name}_action"]) for name in ("chosen", "rejected")
                )  # type: ignore[index]
                assert better and worse and better[: place - row] == worse[: place - row]
                assert (one.actions[place], one.rejected[place]) == (better[place - row], worse[place - row])
                assert one.actions[place] != one.rejected[place] and one.legal[place, one.rejected[place]]
                found += 1
            row += size
        assert one.rejected[-1] != MISSING and (one.actions != MISSING).sum() == (one.rejected != MISSING).sum()
    assert found == len(written)


class Watcher:
    """Plays at random by the masks, and keeps what it sees in the replayed battle."""

    def __init__(self) -> None:
        self.seen: list[dict[str, np.ndarray]] = []
        self.sheets: list[dict[str, Any]] = []

    def begin(self, seed: int, fixture: Fixture) -> None:
        self.rng = np.random.default_rng(seed)

    def watch(self, battles: Battles, rows: Ints, seats: Ints) -> None:
        seen = battles.observe(rows, seats)
        self.seen += [
            {"row": row, "seat": seat, "token_ids": ids, "features": features, "legal": legal}
            for row, seat, ids, features, legal in zip(rows.tolist(), seats.tolist(), *seen, strict=True)
        ]

    def fork(self, source: int, rows: Ints, seeds: Sequence[str]) -> list[Pair]:
        return [(None, None)] * len(rows)

    def act(self, battles: Battles, rows: Ints, seats: Ints) -> Ints:
        masks = battles.masks(rows, seats)
        return np.array([self.rng.choice(np.flatnonzero(mask)) for mask in masks], np.int64)


@pytest.mark.parametrize(("format_id", "which"), [(RANDOM, 0), (VGC, 1)])
def test_who_plays_on_has_seen_every_decision_of_the_battle_slot_by_slot(format_id: str, which: int, db: Path) -> None:
    """In order, and with the team sheets where they are open: as a network sees it when it plays."""
    query = f"SELECT battle_id FROM battles WHERE format = '{format_id}' ORDER BY 1 LIMIT 1 OFFSET {which}"
    ((number,),) = rows(query, db)
    (stored,) = stored_battles(db, [number], [format_id])
    assert isinstance(stored, ForkedSide) and stored.fixture.open_sheets is (format_id == VGC)
    tries, watcher = Tries(decisions=0, choices=2, playouts=1, max_turns=1), Watcher()
    forks = ReplayedForks(tries.rows(2), format_id, engine=False)
    side = ForkPlayer(forks, watcher, tries, 2).side(stored, 0)
    assert not side.skipped and len(side.tried) > 3
    for seat, name in enumerate(SEATS):
        (whole,) = (
            trajectory(each) for each in sides(db, list(selected(db, f"battle_id = {number}"))) if each.seat == name
        )
        assert whole is not None
        seen = [each for each in watcher.seen if each["seat"] == seat and each["row"] == 0]
        assert len(seen) > 10
        for row, each in enumerate(seen):
            assert np.array_equal(each["legal"], whole.legal[row])
            assert np.array_equal(each["token_ids"], whole.token_ids[row])
            assert np.array_equal(each["features"].astype(np.float16), whole.features[row])
    rest = [each for each in watcher.seen if each["row"] > 0]
    assert rest, "the second slot of a choice that is tried"
    numbers = decision_numbers(np.stack([each["features"] for each in rest]))
    assert {each["seat"] for each in rest} == {0} and (numbers > 0).all()
    forks.close()


def said(prompt: str, body: dict[str, Any]) -> str:
    """A choice of each slot by the seed, one in four times none that can be made, and nonsense at a high temperature."""
    if body["temperature"] == 3:
        return "Plan: dance\nAction: fly to the moon, pass"
    seed = body["seed"]
    if seed % 4 == 0:
        return "Plan: splash\nAction: move splash, move splash" if seed % 8 else "I cannot say."
    if "team preview" in prompt:
        return f"Plan: lead {seed % 6 + 1}\nAction: team {seed % 6 + 1}"
    halves = [listed[seed % len(listed)].partition(" (")[0] for listed in slot_choices_in(prompt)]
    return f"Plan: {' and '.join(halves)}\nAction: {', '.join(halves)}"


def test_answers_of_a_language_model_become_pairs_of_whole_texts(db: Path, tmp_path: Path) -> None:
    options = ("--source", "answers", "--play-on", "random", "--max-turns", "10", "--decisions", "4", "--playouts", "1")
    hot = ("--garble", "temperature", "--garble-temperature", "3")
    with chat_server(said, whole=True) as server:
        model = ("--answers-of", f"llm:openai?base_url={server.url}&model=m&temperature=0.7")
        result = build(db, tmp_path / "out", *options, *model, *hot, where=f"format = '{VGC}' AND seat = 'p2'")
        assert result.exit_code == 0, (result.output, result.exception)
        asked = {body["messages"][-1]["content"].partition("(")[0] for body in server.bodies}
    assert asked == {"You play a Pokémon battle of doubles "}
    tried = [each for side in json_lines(tmp_path / "out" / "attempts.jsonl")[1:] for each in side["tried"]]
    assert {attempt["failure"] for each in tried for attempt in each["attempts"]} == {"", "illegal", "unparsable"}
    assert {each["hot"]["failure"] for each in tried} == {"illegal"}
    assert any(each["played"].startswith("team ") for each in tried)
    found = json_lines(tmp_path / "out" / "pairs.jsonl")
    assert {pair["part"] for pair in found} == {"plan", "action"}
    for pair in found:
        assert "Say in one sentence what you want to do" in pair["prompt"], "the prompt of the player's style"
        if pair["part"] == "action" and not pair["chosen_action"].startswith("team "):
            assert pair["chosen"].endswith(f"\nAction: {pair['chosen_action']}")
    decided = {(each["turn"], each["played"]): each for each in tried}
    for each in decided.values():  # garbled from what differs from an answer in one slot
        acted = [attempt["action"] for attempt in each["attempts"] if not attempt["failure"]]
        assert set(acted) <= set(each["legal"]) and len(each["legal"]) < 400


@pytest.mark.parametrize(
    ("where", "options", "problem"),
    [
        ("true", ("--venue", "engine"), f"format '{RANDOM}': the engines play gen1ou, gen1randombattle and gen9ou"),
        (
            "true",
            ("--play-on", "array:max-damage"),
            f"--play-on array:max-damage: opponent 'array:max-damage': cannot play {RANDOM}: it plays singles only",
        ),
        (
            "true",
            ("--play-on", "policy:gen1ou-tiny"),
            "gen1ou-tiny: plays singles only, not doubles: choose a format of singles, or a network that was trained on",
        ),
    ],
)
def test_who_cannot_play_on_is_refused_in_one_line(
    where: str, options: tuple[str, ...], problem: str, db: Path, tmp_path: Path
) -> None:
    result = build(db, tmp_path / "out", *options, where=where)
    assert problem in str(result.exception) and not (tmp_path / "out").exists()


def test_singles_and_doubles_together_are_refused_before_anything_is_tried(db: Path, tmp_path: Path) -> None:
    both = tmp_path / "both.duckdb"
    shutil.copy(db, both)
    with duckdb.connect(str(both)) as store:
        store.execute("UPDATE battles SET format = 'gen9ou' WHERE battle_id = 1")
    result = build(both, tmp_path / "out")
    assert str(result.exception) == (
        f'--where "true": selects singles (gen9ou) and doubles ({VGC}), and a dataset holds either: '
        f"add for example \"format = '{VGC}'\""
    )
    assert not (tmp_path / "out").exists()


def test_an_experts_joint_choices_become_pairs(db: Path, tmp_path: Path) -> None:
    """Of an expert that values joint choices; the network learns where they first differ."""
    labelled, found = tmp_path / "labelled.duckdb", []
    shutil.copy(db, labelled)
    query = f"""SELECT battle_id, seat, index, choice, legal FROM decisions JOIN battles USING (battle_id)
        WHERE format = '{VGC}' AND choice LIKE 'move %, move %' ORDER BY ALL LIMIT 4"""
    with duckdb.connect(str(labelled)) as store:
        for battle, seat, index, choice, legal in store.execute(query).fetchall():
            one, other = choice.split(", ")
            second = next(each[3:] for each in legal if each.startswith("b: move ") and each[3:] != other)
            coach = f"{one}, {second}"
            thought = json.dumps({"coach": coach, "values": {coach: 0.8, choice: 0.5}})
            where = [thought, battle, seat, index]
            store.execute("UPDATE decisions SET diagnostics = ? WHERE battle_id = ? AND seat = ? AND index = ?", where)
            found.append((coach, choice))
    result = build(labelled, tmp_path / "out", "--source", "expert")
    assert result.exit_code == 0, (result.output, result.exception)
    pairs = json_lines(tmp_path / "out" / "pairs.jsonl")
    assert sorted((pair["chosen_action"], pair["rejected_action"]) for pair in pairs) == sorted(found)
    assert json.loads((tmp_path / "out" / "counts.json").read_text())["in_datasets"]["train"] == len(found)


def test_a_network_of_doubles_learns_the_pairs_of_both_slots(made: Path, tmp_path: Path) -> None:
    settings = yaml.safe_load(text("dpo", "preset")) | {"out": str(tmp_path / "run")}
    train_on = {"path": str(made / "train"), "weight": 1.0}
    settings["data"] |= {"train": [train_on], "validate_on": [str(made / "train")], "batch_size": 4}
    settings["network"] |= {"preset": "micro", "start_from": str(started(tmp_path))}
    settings["length"] = {"epochs": 100, "max_steps": 16}
    settings["optimizer"] |= {"learning_rate": 0.01, "warmup_steps": 0}
    settings["checkpoints"] |= {"every": 16}
    settings["compute"] |= {"threads": 1}
    settings["tracking"] |= {"wandb": "disabled", "every": 1}
    finished = train(validated(Config, settings, "test"))
    steps = [line for line in json_lines(finished.folder / "metrics.jsonl") if "policy_loss" in line]
    assert steps[0]["pair_accuracy"] == 0.5 and steps[0]["policy_loss"] == pytest.approx(math.log(2), abs=1e-4)
    about = checkpoint.read(checkpoint.folder_of(finished.folder, finished.step))
    assert about.layout is DOUBLES and about.metrics["pair_accuracy"] > 0.9


def started(folder: Path) -> Path:
    """The checkpoint of a network of doubles that knows nothing."""
    torch.manual_seed(0)
    network = Network(replace(PRESETS["micro"], slots=2))
    return checkpoint.save(checkpoint.folder_of(folder / "start", 1), network, 1)


@pytest.mark.slow
def test_a_language_model_learns_the_pairs(
    made: Path, db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("trl")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    settings = yaml.safe_load(resolve_path("llm-dpo", "llm").read_text()) | {"out": str(tmp_path / "run")}
    model = tiny_model(tmp_path / "tiny", length=4096)
    settings["model"]["path"] = str(model)
    settings["data"] |= {"pairs": [str(made)], "max_length": 4096}
    settings["length"] = {"epochs": 1.0, "max_steps": 2}
    settings["compute"] |= {"threads": 1, "gradient_accumulation_steps": 1}
    settings["tracking"] |= {"wandb": "disabled", "every": 1}
    done = import_module("training.llm.run").train_llm(validated(LlmConfig, settings, "test"))
    steps = [line for line in json_lines(done.folder / "metrics.jsonl") if "loss" in line]
    assert [line["step"] for line in steps] == [1, 2] and steps[0]["loss"] == pytest.approx(math.log(2), abs=1e-3)
