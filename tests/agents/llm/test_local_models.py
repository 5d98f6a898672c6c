"""Local language models: several questions at once, constrained answers, one server for all, and real battles."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from support.language_models import tiny_model  # noqa: E402
from support.tournaments import tournament  # noqa: E402

from agents import resolve  # noqa: E402
from agents.llm.generation import Model, Question  # noqa: E402
from agents.llm.models import folder_of, identity  # noqa: E402
from agents.llm.prompts import read  # noqa: E402
from agents.llm.serve import LanguageModelServer  # noqa: E402
from agents.serving import client  # noqa: E402
from agents.serving.wire import ANSWER, ASK, FAILED, HEAD  # noqa: E402
from arena.store import rows  # noqa: E402
from teamsets.errors import BadInput  # noqa: E402

CHOICES = ("move surf", "move blizzard", "switch tauros", "switch tauros #3")


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv(client.THREADS, "1")
    yield
    client.close_all()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def model(folder: Path) -> Model:
    return Model(folder, torch.device("cpu"), "auto")


def question(prompt: str = "Choose.\n", **changes: Any) -> Question:
    plain: dict[str, Any] = {"style": "plan", "temperature": 0.0, "max_tokens": 12, "choices": None}
    return Question(prompt, **{**plain, **changes})


def test_questions_of_different_lengths_are_answered_together_as_alone(model: Model) -> None:
    asked = [question("Choose.\n"), question("Your active Pokémon: starmie, 50% HP.\nChoose.\n"), question("x\n")]
    together = model.answers(asked)
    assert together == [model.answers([one])[0] for one in asked]
    assert all(reply.completion_tokens == 12 and reply.cut for reply in together)
    assert together[0].prompt_tokens == len(model.tokenizer("Choose.\n")["input_ids"])


@pytest.mark.parametrize("style", ["plan", "action"])
@pytest.mark.parametrize("temperature", [0.0, 5.0])
def test_a_constrained_answer_is_always_a_legal_choice(model: Model, style: str, temperature: float) -> None:
    torch.manual_seed(0)
    asked = [
        question(f"Number {n}\n", style=style, temperature=temperature, choices=CHOICES[n % 2 :]) for n in range(6)
    ]
    for one, reply in zip(asked, model.answers(asked), strict=True):
        assert one.choices is not None and read(reply.text).action in one.choices, reply


def test_a_constrained_answer_in_doubles_is_a_pair(model: Model) -> None:
    pairs = tuple(f"{one}, {other}" for one in CHOICES for other in CHOICES if one != other)
    asked = [question(f"Number {n}\n", temperature=5.0, choices=pairs, seed=n) for n in range(4)]
    assert all(read(reply.text).action in pairs for reply in model.answers(asked))


@pytest.mark.parametrize("choices", [None, CHOICES])
def test_an_answer_with_a_seed_is_drawn_again_whatever_is_answered_with_it(
    model: Model, choices: tuple[str, ...] | None
) -> None:
    asked = [question(f"Number {n % 2}\n", temperature=1.5, choices=choices, seed=n) for n in range(6)]
    together = model.answers(asked)
    assert together == [model.answers([one])[0] for one in asked]
    assert len({reply.text for reply in together[::2]}) > 1, "the same prompt, with other seeds"


def test_an_answer_ends_behind_its_action(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    script = model.tokenizer("Plan: wait\nAction: move surf\nPlan: again\nAction: move blizzard\n")["input_ids"]
    forward = type(model.model).forward

    def scripted(self: Any, *arguments: Any, **named: Any) -> Any:
        output = forward(self, *arguments, **named)
        output.logits[:] = 0
        output.logits[:, -1, script[written.pop(0)]] = 9
        return output

    written = list(range(len(script)))
    monkeypatch.setattr(type(model.model), "forward", scripted)
    (reply,) = model.answers([question(max_tokens=len(script))])
    assert reply.text == "Plan: wait\nAction: move surf\n" and not reply.cut


def test_a_prompt_that_is_too_long_is_named(model: Model) -> None:
    with pytest.raises(ValueError, match=r"a prompt of \d+ tokens and max_tokens=12 are more than the 1024"):
        model.answers([question("word " * 2000)])


def test_a_model_with_a_chat_template_gets_its_prompt_in_it(folder: Path, tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    mine = tiny_model(tmp_path / "chat")
    tokenizer = AutoTokenizer.from_pretrained(mine)
    tokenizer.chat_template = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}[assistant]"
    tokenizer.save_pretrained(mine)
    chat = Model(mine, torch.device("cpu"), "fp32")
    assert chat.tokenizer.decode(chat._ids("Choose.")) == "[user]Choose.[assistant]"
    assert identity(mine) != identity(folder)


@pytest.mark.slow  # the server imports transformers
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"\xff", "JSONDecodeError"),
        (b"[]", "a question with other fields than prompt"),
        (b'{"prompt": "x"}', "a question with other fields than prompt"),
        (b'{"prompt":"x","style":[],"temperature":0,"max_tokens":9,"choices":null,"seed":null}', "whose style is '[]'"),
        (
            b'{"prompt":"x","style":"plan","temperature":0,"max_tokens":0,"choices":null,"seed":null}',
            "whose max_tokens",
        ),
        (b'{"prompt":"x","style":"plan","temperature":0,"max_tokens":9,"choices":[1],"seed":null}', "whose choices"),
    ],
)
def test_a_bad_frame_fails_alone(model: Model, tmp_path: Path, body: bytes, words: str) -> None:
    """Two clients ask at once; the one's frame is bad, the other's question is answered."""
    sent: list[list[tuple[int, int, bytes]]] = [[], []]
    good = orjson.dumps(asdict(question()))

    async def serve() -> None:
        server = LanguageModelServer(model, 4, tmp_path / "s.socket", 60.0)
        for heard, asked in zip(sent, (body, good), strict=True):
            connection = server.connect()
            connection.send = lambda data, heard=heard: heard.append((*HEAD.unpack(data[:13])[1:3], data[13:]))  # type: ignore[method-assign]
            connection.frame_received(ASK, 1, 0, asked)
        await asyncio.sleep(0.01)
        server._end.cancel()

    asyncio.run(serve())
    ((failed, _, message),), ((answered, _, _),) = sent
    assert (failed, answered) == (FAILED, ANSWER) and words in message.decode()


def test_battles_are_asked_together_and_share_one_server(folder: Path) -> None:
    source = resolve(f"llm:{folder}?max_tokens=4&constrained=true&style=action")
    assert source.missing("gen1ou") == "" and not source.repeatable
    agents = [source.make() for _ in range(5)]
    assert len({id(one._server) for one in agents}) == 1  # type: ignore[attr-defined]

    async def ask() -> list[Any]:
        return await asyncio.gather(*(one.ask("Choose.\n", list(CHOICES)) for one in agents))  # type: ignore[attr-defined]

    assert {read(reply.text).action for reply in asyncio.run(ask())} <= set(CHOICES)


def test_what_is_no_model_is_refused_before_a_run(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "run" / "checkpoints").mkdir(parents=True)
    for path, words in (
        (tmp_path / "nowhere", "no such folder"),
        (tmp_path, "it has no config.json and no adapter_config.json"),
        (tmp_path / "run", "its run has not finished"),
        ("someone/model-of-theirs", "not in the Hugging Face cache: download it first (`hf download someone/"),
    ):
        assert words in resolve(f"llm:{path}").missing(None)
    assert "dtype=fp8: must be one of" in resolve(f"llm:{folder}?dtype=fp8").missing(None)
    (tmp_path / "run" / "model").symlink_to(folder)
    assert folder_of(str(tmp_path / "run")) == tmp_path / "run" / "model"
    (tmp_path / "adapter_config.json").write_text("{}")
    with pytest.raises(BadInput, match=r"adapter_config.json does not name its base model"):
        identity(tmp_path)


@pytest.mark.slow
def test_random_weights_lose_by_illegal_answers_and_play_whole_battles_if_constrained(
    folder: Path, tmp_path: Path
) -> None:
    free, bound = f"llm:{folder}?max_tokens=8", f"llm:{folder}?constrained=true&style=action"
    db = tmp_path / "a.duckdb"
    tournament(db, free, bound, "random", pairings=[(free, "random"), (bound, "random")], think_limit=300.0)
    assert rows("SELECT agent, reason, count(*) FROM faults GROUP BY ALL", db) == [(free, "illegal", 2)]
    assert rows("SELECT count(*) FROM results WHERE agent = ? AND outcome = 'illegal' AND score = 0", db, [free]) == [
        (2,)
    ]
    assert rows("SELECT count(*) FROM results WHERE agent = ? AND reason = 'win'", db, [bound]) == [(2,)]
    fewest = "min(CAST(diagnostics->>'completion_tokens' AS INTEGER))"
    assert rows(f"SELECT {fewest} > 0 FROM decisions WHERE diagnostics LIKE '%answer%'", db) == [(True,)]
    assert os.environ["HF_HUB_OFFLINE"] == "1"
