"""Language models behind an OpenAI-compatible server: what is sent, what is kept, what fails, and real battles."""

from __future__ import annotations

import asyncio
import base64
import json
import random
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import ChatServer, chat_server, choices_in, completion, strongest
from support.tournaments import tournament

from agents import resolve
from agents.battle import SeatBattle
from agents.battle.choices import Choice
from agents.llm.remote import OpenAI
from agents.serving.client import ServerFailed
from arena.store import rows

LEGAL = [Choice("move surf", "move 1", "move", 1), Choice("switch tauros", "switch 2", "switch", 2)]


def battle(*legal: Choice) -> SeatBattle:
    one = SeatBattle("battle-gen1ou-1", "p1", "p1", 1, "gen1ou", random.Random(0))
    one.legal, one._last_request = list(legal or LEGAL), {}
    return one


def agent(server: ChatServer, **options: Any) -> OpenAI:
    one = OpenAI(base_url=server.url, model="m", **options)
    one.first_wait = 0.001
    return one


def acted(one: OpenAI, seat: SeatBattle) -> Any:
    return asyncio.run(one.act(seat))  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.mark.parametrize("chunked", [False, True])
def test_a_decision_is_a_request_and_its_answer_is_kept_with_tokens_and_cost(chunked: bool) -> None:
    with chat_server(lambda _: "Plan: wait a turn\nAction: Switch Tauros", chunked=chunked) as server:
        one = agent(server, price_in=2.0, price_out=10.0, temperature=0.5, max_tokens=40)
        assert acted(one, battle()) == "switch tauros"
    assert one.diagnostics == {
        "plan": "wait a turn",
        "answer": "Plan: wait a turn\nAction: Switch Tauros",
        "requests": 1,
        "prompt_tokens": 100,
        "completion_tokens": 7,
        "cost": pytest.approx(100 * 2e-6 + 7 * 10e-6),
    }
    (body,) = server.bodies
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("m", 0.5, 40)
    assert choices_in(body["messages"][0]["content"]) == ["move surf", "switch tauros"]
    assert server.keys == [None] and "response_format" not in body


def test_a_refused_answer_is_told_to_the_model_and_counted() -> None:
    answers = iter(["Action: fly away", "nonsense", "Action: move surf"])
    with chat_server(lambda _: next(answers)) as server:
        one, seat = agent(server), battle()
        said = [acted(one, seat) for _ in range(3)]
        assert said == ["fly away", "nonsense", "move surf"]
        assert one.diagnostics is not None
        assert one.diagnostics["refused"] == ["Action: fly away", "nonsense"]
        assert (one.diagnostics["requests"], one.diagnostics["prompt_tokens"]) == (3, 300)
        retried = server.bodies[1]["messages"][0]["content"]
        assert retried.endswith("Your last answer was not one of the legal choices: Action: fly away\n")
        seat._last_request = {}  # the next decision
        answers = iter(["Action: move surf"])
        acted(one, seat)
    assert "refused" not in one.diagnostics and one.diagnostics["requests"] == 1


def test_a_forced_choice_costs_nothing() -> None:
    with chat_server(lambda _: "") as server:
        one = agent(server)
        assert acted(one, battle(LEGAL[0])) is LEGAL[0]
    assert server.bodies == [] and one.diagnostics == {"forced": True}


def test_a_server_can_be_told_which_answers_are_legal() -> None:
    with chat_server(lambda _: '{"plan": "p", "action": "move surf"}') as server:
        assert acted(agent(server, constrained=True), battle()) == "move surf"
    schema = server.bodies[0]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["action"]["enum"] == ["move surf", "switch tauros"]
    assert schema["required"] == ["plan", "action"]


def test_the_key_is_sent_and_appears_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "secret-123")
    refusal = (401, {}, b'{"error": "wrong key: secret-123"}')
    with chat_server(lambda _: refusal) as server:
        one = agent(server, key="MY_KEY")
        with pytest.raises(ServerFailed, match=r"refused the request with status 401: .*wrong key: \*\*\*") as caught:
            acted(one, battle())
        spec = f"llm:openai?base_url={server.url}&model=m&key=MY_KEY"
        source = resolve(spec)
        assert source.missing(None) == ""
        assert "secret-123" not in f"{caught.value}{source.spec}{source.options}"
    assert server.keys == ["Bearer secret-123"], "a request that is refused is not sent again"
    monkeypatch.delenv("MY_KEY")
    assert "the environment variable MY_KEY is not set" in resolve(spec).missing(None)


@pytest.mark.parametrize(
    "repeated",
    [
        "sk-Secret/123+x",
        "SK-SECRET/123+X",
        "sk-Secret%2F123%2Bx",
        base64.b64encode(b"sk-Secret/123+x").decode(),
        base64.b64encode(b"Bearer sk-Secret/123+x").decode(),
    ],
)
def test_a_key_that_an_answer_repeats_is_not_kept(monkeypatch: pytest.MonkeyPatch, repeated: str) -> None:
    """In the plan, in an answer that is refused, and at the end of an error's words, which are cut."""
    monkeypatch.setenv("MY_KEY", "sk-Secret/123+x")
    answers: list[Any] = [
        f"Plan: use {repeated}.\nAction: move surf",
        f"I use {repeated}",
        (401, {}, b"x" * 190 + f" {repeated}".encode()),
        (200, {}, b"no JSON " + b"x" * 1985 + f" {repeated}".encode()),
    ]
    kept: list[Any] = []
    with chat_server(lambda _: answers.pop(0)) as server:
        for _ in range(4):
            one = agent(server, key="MY_KEY")
            try:
                kept.append((acted(one, battle()), one.diagnostics))
            except ServerFailed as error:
                kept.append(str(error))
    assert "***" in kept[0][1]["plan"] and "***" in kept[0][1]["answer"] and "***" in kept[1][1]["answer"]
    assert "status 401" in kept[2] and "no chat completion" in kept[3]
    assert repeated[:9] not in str(kept)


def test_an_overloaded_server_is_asked_again_and_a_dead_one_fails_in_the_end() -> None:
    busy = (429, {"Retry-After": "0"}, b"slow down")
    answers: list[Any] = [busy, (503, {}, b""), "Action: move surf"]
    with chat_server(lambda _: answers.pop(0)) as server:
        assert acted(agent(server), battle()) == "move surf"
    with chat_server(lambda _: busy) as server:
        with pytest.raises(ServerFailed, match="failed 6 times; the last time status 429: slow down"):
            acted(agent(server), battle())
        assert len(server.bodies) == 6
    one = agent(server)
    with pytest.raises(ServerFailed, match="failed 6 times; the last time"):
        acted(one, battle())


@pytest.mark.parametrize("body", [b"{}", b"[1]", b"<html>", b'{"choices": []}', b'{"choices": [{"message": 3}]}'])
def test_what_is_no_completion_is_the_agents_error(body: bytes) -> None:
    with chat_server(lambda _: (200, {}, body)) as server, pytest.raises(ServerFailed, match="sent no chat completion"):
        acted(agent(server), battle())


def test_an_answer_without_text_or_usage_is_no_action_of_any_kind() -> None:
    told = json.loads(completion(""))
    told["choices"][0]["message"]["content"] = None
    del told["usage"]
    with chat_server(lambda _: (200, {}, json.dumps(told).encode())) as server:
        one = agent(server)
        assert acted(one, battle()) == ""
    assert one.diagnostics == {"plan": "", "answer": "", "requests": 1}


def test_requests_of_a_worker_keep_their_limits() -> None:
    under_way: list[str] = []
    most = 0
    pair = threading.Barrier(2)

    def in_pairs(prompt: str) -> str:
        """Answers no request before another one is under way, and leaves time for a third."""
        nonlocal most
        under_way.append(prompt)
        pair.wait(60)
        time.sleep(0.1)
        most = max(most, len(under_way))
        under_way.pop()
        return "Action: move surf"

    async def all_at_once(server: ChatServer, **limits: int) -> float:
        began = time.monotonic()
        await asyncio.gather(*(agent(server, **limits).act(battle()) for _ in range(6)))  # type: ignore[arg-type]
        return time.monotonic() - began

    with chat_server(in_pairs) as server:
        asyncio.run(all_at_once(server, at_once=2))
    assert most == 2
    with chat_server(lambda _: "Action: move surf") as server:
        # The throttle's own clock decides, not this machine's speed: six requests cannot begin within five intervals.
        assert asyncio.run(all_at_once(server, per_minute=1200)) >= 5 * 60 / 1200


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("", "base_url and model are required: llm:openai?base_url=http://127.0.0.1:8080/v1&model=NAME"),
        ("?base_url=localhost:80&model=m", "must be a URL like http://127.0.0.1:8080/v1"),
        ("?base_url=http://me:pw@h/v1&model=m", "must have no user, password or query"),
        ("?base_url=http://127.0.0.1:1/v1&model=m", "no server answers there"),
        ("?base_url=http://127.0.0.1:1/v1&model=m&style=poem", "style=poem: must be one of plan, action"),
        ("?base_url=http://127.0.0.1:1/v1&model=m&temperature=-1", "temperature=-1.0: must be 0"),
        ("?base_url=http://127.0.0.1:1/v1&model=m&at_once=0", "at_once=0: must be 1 or more"),
        ("?base_url=http://127.0.0.1:1/v1&model=m&price_in=-1", "price_in=-1.0: must be the price of a million"),
    ],
)
def test_what_is_missing_is_said_before_a_run(options: str, words: str) -> None:
    assert words in resolve("llm:openai" + options).missing(None)


def test_a_scripted_model_wins_real_battles_and_a_babbling_one_loses_by_illegal_answers(tmp_path: Path) -> None:
    with chat_server(strongest) as good, chat_server(lambda _: "Action: fly to the moon") as bad:
        scripted, babbling = (f"llm:openai?base_url={one.url}&model=stub" for one in (good, bad))
        tournament(tmp_path / "a.duckdb", scripted, babbling, "heuristic:restless", think_limit=60.0)
        asked = len(bad.bodies)
    db = tmp_path / "a.duckdb"
    won = "SELECT count(*) FROM results WHERE agent = ? AND outcome = 'win' AND opponent = 'heuristic:restless'"
    assert rows(won, db, [scripted]) == [(2,)]
    faults = "SELECT reason, count(*) FROM faults WHERE agent = ? GROUP BY ALL"
    assert rows(faults, db, [babbling]) == [("illegal", 4)] and rows(faults, db, [scripted]) == []
    assert asked == 4 * 3, "three times in each battle"
    tokens = """
        SELECT min(CAST(diagnostics->>'prompt_tokens' AS INTEGER)), bool_and(diagnostics->>'plan' = 'hit hard')
        FROM decisions WHERE diagnostics LIKE '%answer%'
    """
    assert rows(tokens, db) == [(100, True)]


@pytest.mark.slow
def test_a_model_that_is_too_slow_loses_by_timeout(tmp_path: Path) -> None:
    with chat_server(lambda _: time.sleep(60) or "") as server:  # type: ignore[func-returns-value]
        spec = f"llm:openai?base_url={server.url}&model=stub"
        tournament(tmp_path / "a.duckdb", spec, "random", think_limit=2.0)  # `random` has it as well
    assert rows("SELECT agent, reason FROM faults", tmp_path / "a.duckdb") == [(spec, "timeout")] * 2


@pytest.mark.slow
def test_a_request_without_an_answer_is_sent_again_in_a_battle(tmp_path: Path) -> None:
    over, silent = threading.Event(), iter(range(2))

    def answer(prompt: str) -> str:
        if next(silent, None) is not None:
            over.wait(60)
        return strongest(prompt)

    with chat_server(answer) as server:
        spec = f"llm:openai?base_url={server.url}&model=stub&timeout=0.5"
        tournament(tmp_path / "a.duckdb", spec, "random", think_limit=60.0, max_turns=3)
        over.set()
    assert rows("SELECT detail FROM faults WHERE agent <> 'nobody'", tmp_path / "a.duckdb") == []
