"""Language models that play doubles: what is asked again, team preview, constrained answers, and whole battles."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import ChatServer, chat_server, first_pair, slot_choices_in
from support.double_requests import double_battle, previewed
from support.tournaments import tournament

from agents import resolve
from agents.battle.joint_choices import is_stored
from agents.llm.remote import OpenAI
from arena.store import rows


def agent(server: ChatServer, **options: Any) -> OpenAI:
    return OpenAI(base_url=server.url, model="m", **options)


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def test_a_pair_that_is_not_legal_is_asked_for_again_and_counted() -> None:
    answers = iter(["Action: switch mew, switch mew", "Action: move tackle +1", "Action: move tackle +1, switch mew"])
    battle = double_battle(("tackle",), ("protect",))
    with chat_server(lambda _: next(answers)) as server:
        one = agent(server, price_in=2.0)
        said = [asyncio.run(one.act(battle)) for _ in range(3)]  # type: ignore[arg-type]
    assert [battle.read_answer(each, battle.last_request) is not None for each in said] == [False, False, True]
    assert one.diagnostics is not None
    assert one.diagnostics["refused"] == ["Action: switch mew, switch mew", "Action: move tackle +1"]
    assert (one.diagnostics["requests"], one.diagnostics["prompt_tokens"]) == (3, 300)
    assert one.diagnostics["cost"] == pytest.approx(300 * 2e-6)
    retried = server.bodies[1]["messages"][0]["content"]
    assert retried.endswith("Your last answer was not one of the legal choices: Action: switch mew, switch mew\n")
    assert slot_choices_in(retried)[1] == ["move protect", "switch mew"]


def test_team_preview_is_a_decision() -> None:
    battle = previewed("gen9championsvgc2026regma", ("Onix", "Abra"), 4)
    with chat_server(lambda _: "Plan: sun\nAction: torkoal, venusaur, raichu, luxray") as server:
        one = agent(server)
        answer = one.team_preview(battle)  # type: ignore[arg-type]
        assert answer is not None and asyncio.run(answer) == "team 4512"  # type: ignore[arg-type]
    assert one.diagnostics is not None and one.diagnostics["plan"] == "sun"
    assert "this is the team preview" in server.bodies[0]["messages"][0]["content"]


def test_one_legal_pair_is_made_without_asking() -> None:
    battle = double_battle(("tackle",), ("protect",))
    team = [{**entry, "condition": "0 fnt" if n == 1 else "9/9"} for n, entry in enumerate(_team(battle))][:2]
    active = [{"moves": [{"move": "Struggle", "id": "struggle", "target": "randomNormal"}], "trapped": True}, None]
    battle.ask({"active": active, "side": {**battle.last_request["side"], "pokemon": team}})
    with chat_server(lambda _: "") as server:
        one = agent(server)
        answer = asyncio.run(one.act(battle))  # type: ignore[arg-type]
    assert battle.read_answer(answer, battle.last_request) is battle.legal[0]
    assert server.bodies == [] and one.diagnostics == {"forced": True}


def _team(battle: Any) -> list[dict[str, Any]]:
    return list(battle.last_request["side"]["pokemon"])


def test_a_server_can_be_told_which_pairs_are_legal() -> None:
    battle = double_battle(("tackle",), ("protect",))
    with chat_server(lambda _: '{"plan": "p", "action": {"a": "move tackle +1", "b": "switch mew"}}') as server:
        answer = asyncio.run(agent(server, constrained=True).act(battle))  # type: ignore[arg-type]
    choice = battle.read_answer(answer, battle.last_request)
    assert choice is not None and choice.label == "move tackle +1, switch mew"
    action = server.bodies[0]["response_format"]["json_schema"]["schema"]["properties"]["action"]
    assert [group["properties"]["b"]["enum"] for group in action["anyOf"]] == [
        ["move protect", "switch mew"],
        ["move protect"],
    ]


@pytest.mark.parametrize(
    "format_id",
    [
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("gen9doublesou", "gen9championsvgc2026regma")),
        "gen9randomdoublesbattle",
    ],
)
def test_whole_battles_are_played_without_a_fault(format_id: str, tmp_path: Path) -> None:
    db, preview = tmp_path / "a.duckdb", format_id != "gen9randomdoublesbattle"
    with chat_server(first_pair) as server:
        spec = f"llm:openai?base_url={server.url}&model=stub"
        assert resolve(spec).missing(format_id) == ""
        tournament(db, spec, "random", formats=(format_id,), think_limit=60.0)
    assert rows("SELECT count(*), bool_and(reason = 'win') FROM results WHERE agent = ?", db, [spec]) == [(2, True)]
    assert rows("SELECT * FROM faults", db) == []
    decisions = """
        SELECT turn, choice, legal, diagnostics->>'requests' FROM decisions JOIN results USING (battle_id, seat)
        WHERE agent = ? AND diagnostics LIKE '%answer%'
    """
    told = rows(decisions, db, [spec])
    assert all(is_stored(choice, legal) for _, choice, legal, _ in told)
    assert {requests for *_, requests in told} == {"1"}, "no answer was refused"
    leads = {choice for turn, choice, *_ in told if turn == 0}
    assert leads == ({"team 1234"} if "vgc" in format_id else {"team 123456"} if preview else set())


@pytest.mark.slow
def test_answers_that_are_no_pair_lose_by_illegal_choices(tmp_path: Path) -> None:
    with chat_server(lambda _: "Action: fly to the moon") as server:
        spec = f"llm:openai?base_url={server.url}&model=stub"
        tournament(tmp_path / "a.duckdb", spec, "random", formats=("gen9randomdoublesbattle",), think_limit=60.0)
        assert len(server.bodies) == 2 * 3, "three times in each battle"
    assert rows("SELECT agent, reason FROM faults", tmp_path / "a.duckdb") == [(spec, "illegal")] * 2
