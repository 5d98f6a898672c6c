"""Several answers of a language model to the same prompt become pairs of texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("numba")

from click.testing import CliRunner, Result
from support.chat_server import chat_server, choices_in
from support.json_lines import json_lines

from agents.battle.choices import Choice, read_answer
from training.commands.preferences import preferences
from training.preferences.answers import attempt_of
from training.preferences.attempts import TriedChoice

FEW = "battle_id IN (SELECT battle_id FROM battles WHERE format = 'gen1ou' AND turns > 15 ORDER BY key LIMIT 3)"


def build(played: Path, out: Path, *words: str, source: str = "answers") -> Result:
    tries = ["--decisions", "4", "--playouts", "4", "--baseline", "position"]
    where = ["--db", str(played), "--where", FEW, "--out", str(out)]
    return CliRunner().invoke(preferences, ["build", *where, *tries, "--source", source, *words])


def said(prompt: str, body: dict[str, Any]) -> str:
    """A legal choice by the seed, one in four times nothing that can be played, and nonsense at a high temperature."""
    if body["temperature"] == 3:
        return "Plan: dance\nAction: fly to the moon"
    listed, seed = choices_in(prompt), body["seed"]
    if seed % 4 == 0:
        return "Plan: splash\nAction: move splash" if seed % 8 else "I cannot say."
    return f"Let me think.\nPlan: choose number {seed % len(listed)}\nAction: {listed[seed % len(listed)]}"


@pytest.fixture(scope="module")
def made(played: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Pairs of a stand-in server, and the spec that it had."""
    out = tmp_path_factory.mktemp("answers") / "pairs"
    with chat_server(said, whole=True) as server:
        spec = f"llm:openai?base_url={server.url}&model=m&temperature=0.7"
        result = build(played, out, "--answers-of", spec, "--garble", "temperature", "--garble-temperature", "3")
        assert result.exit_code == 0, (result.output, result.exception)
        heats = [body["temperature"] for body in server.bodies]
        assert heats.count(0.7) == 4 * heats.count(3) == 4 * 24, "six sides, four decisions each, four answers"
        assert len({body["seed"] for body in server.bodies}) == len(heats)
    return out, spec


def test_answers_are_tried_and_become_pairs_of_whole_texts(made: tuple[Path, str]) -> None:
    tried = [one for side in json_lines(made[0] / "attempts.jsonl")[1:] for one in side["tried"]]
    assert all(len(one["attempts"]) == 4 and one["hot"]["failure"] == "illegal" for one in tried)
    attempts = [each for one in tried for each in one["attempts"]]
    assert {each["failure"] for each in attempts} == {"", "illegal", "unparsable"}
    assert all(len(each["results"]) == (0 if each["failure"] else 4) for each in attempts)

    found = json_lines(made[0] / "pairs.jsonl")
    assert {one["part"] for one in found} == {"action", "plan"} and {one["source"] for one in found} == {"answers"}
    for one in found:
        assert "Say in one sentence what you want to do" in one["prompt"], "the prompt of the player's style"
        if one["part"] == "plan":
            assert one["chosen"].startswith("Plan: choose number ") and "Action" not in one["chosen"]
        else:
            assert one["chosen"].startswith("Let me think.\nPlan: choose number ")
            assert one["chosen"].endswith(f"\nAction: {one['chosen_action']}")
            assert one["rejected_action"] in one["rejected"] and one["rejected"] != one["chosen"]
    failed = [one for one in found if one["rejected_outcome"].startswith("failed to act")]
    assert failed and all(one["margin"] is None and one["rejected_score"] is None for one in failed)
    played_on = [one for one in found if one["rejected_outcome"] == "acted, no gain"]
    assert played_on and all(one["low"] <= one["margin"] <= one["high"] for one in played_on)


def test_other_rules_ask_nothing_and_rejected_answers_are_counted_by_kind(
    made: tuple[Path, str], played: Path, tmp_path: Path
) -> None:
    out, spec = tmp_path / "again", made[1]
    out.mkdir()
    (out / "attempts.jsonl").write_bytes((made[0] / "attempts.jsonl").read_bytes())
    again = ["--answers-of", spec, "--garble-temperature", "3", "--json", "--rejected", "garbled"]
    with pytest.MonkeyPatch.context() as patch:  # the server is gone
        patch.setattr("agents.llm.remote.OpenAI.missing", classmethod(lambda *words, **more: ""))
        hot = json.loads(build(played, out, *again, "--garble", "temperature").stdout)
        texts = {(one["part"], one["rejected"]) for one in json_lines(out / "pairs.jsonl")}
        other = json.loads(build(played, out, *again, "--garble", "corrupted").stdout)
        refused = build(played, out, *again, "--answers", "5")
    assert hot["by"]["rejected"] == {"garbled (temperature): illegal": hot["pairs"]}
    assert texts == {("action", "Plan: dance\nAction: fly to the moon"), ("plan", "Plan: dance")}
    assert other["by"]["rejected"] == {"garbled (corrupted)": other["pairs"]}
    for one in json_lines(out / "pairs.jsonl"):
        if one["part"] == "action":
            assert one["rejected"].startswith("Plan: choose number "), "only the action is damaged"
    assert "begun with other settings (choices 4, now 5)" in str(refused.exception)
    shown = CliRunner().invoke(preferences, ["show", str(made[0]), "--number", "50"]).output
    assert "  chosen    Let me think. / Plan: choose number" in shown


def test_an_answer_is_legal_as_a_seat_would_take_it() -> None:
    legal = [Choice("move surf", "move 1", "move", 1), Choice("switch snorlax", "switch 2", "switch", 2)]
    request: dict[str, Any] = {"active": [{"moves": [{"id": "surf", "move": "Surf"}]}]}

    def tried(text: str) -> TriedChoice:
        return attempt_of(text, lambda action: read_answer(action, legal, request))

    text = "Plan: hit\nAction: **Move Surf**."
    assert tried(text) == TriedChoice("move surf", plan="hit", text=text)
    assert tried("Action: move rest").failure == "illegal"
    assert tried("I do not know") == TriedChoice("I do not know", failure="unparsable", text="I do not know")
    assert tried("") == TriedChoice("(nothing)", failure="unparsable", text="")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((), "--source answers and --answers-of belong together: add --answers-of llm:PATH?temperature=1"),
        (("--answers-of", "random"), "--answers-of random: must be a language model: llm:PATH or llm:openai?"),
        (
            ("--answers-of", "llm:openai?base_url=nowhere&model=m"),
            "--answers-of llm:openai?base_url=nowhere&model=m: base_url=nowhere: must be a URL",
        ),
        (("--answers-of", "llm:x", "--source", "forks"), "belong together: use --source answers"),
        (("--source", "forks", "--garble", "temperature"), "--garble temperature: needs a language model to ask"),
        (("--answers-of", "llm:x", "--garble", "worse", "--rejected", "garbled"), "--garble worse: makes no garbled"),
    ],
)
def test_what_cannot_be_asked_is_said_in_one_line(
    played: Path, tmp_path: Path, words: tuple[str, ...], problem: str
) -> None:
    assert problem in str(build(played, tmp_path / "out", *words).exception)


def test_a_model_that_says_the_same_each_time_is_refused(played: Path, tmp_path: Path) -> None:
    with chat_server(said, whole=True) as server:
        spec = f"llm:openai?base_url={server.url}&model=m"
        cold = str(build(played, tmp_path, "--answers-of", spec).exception)
        hot = str(build(played, tmp_path, "--answers-of", f"{spec}&temperature=2.5").exception)
    assert "says the same each time at temperature 0: use for example llm:openai?" in cold
    assert cold.endswith("&model=m&temperature=1")
    assert hot.startswith("--garble-temperature 2: must be above the 2.5 of")
