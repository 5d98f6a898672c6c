"""The server of a local language model, which answers all workers of a machine. `python -m agents.llm.serve`.

A question is JSON (the fields of generation.Question), an answer too (those of player.Reply). Questions that arrive while
the model writes wait, and up to --batch of one kind are answered together next, the oldest first. agents/serving/client.py
starts the server; it exits some seconds after its last client has gone.
"""

from __future__ import annotations

import argparse
import asyncio
import math
from dataclasses import asdict, fields
from pathlib import Path

import orjson
import torch

from agents.llm.generation import Model, Question
from agents.llm.prompts import STYLES
from agents.serving.server import QuestionServer, device_of, reported, serve, server_options
from agents.serving.wire import ANSWER, FAILED, frame
from teamsets.errors import BadInput


def question_of(body: bytes) -> Question:
    """Return the question of a body of ASK. Raises ValueError if a field is missing, of another type, or out of range."""
    payload = orjson.loads(body)
    if not isinstance(payload, dict) or payload.keys() != {field.name for field in fields(Question)}:
        raise ValueError(f"a question with other fields than {', '.join(field.name for field in fields(Question))}")
    choices, seed, temperature, limit = (payload[name] for name in ("choices", "seed", "temperature", "max_tokens"))
    checks = {
        "prompt": isinstance(payload["prompt"], str),
        "style": isinstance(payload["style"], str) and payload["style"] in STYLES,
        "temperature": type(temperature) in (int, float) and 0 <= temperature < math.inf,
        "max_tokens": type(limit) is int and limit >= 1,
        "choices": choices is None
        or (isinstance(choices, list) and choices != [] and all(isinstance(choice, str) for choice in choices)),
        "seed": seed is None or (type(seed) is int and 0 <= seed < 2**63),
    }
    for name, is_fit in checks.items():
        if not is_fit:
            raise ValueError(f"a question whose {name} is {str(payload[name])[:80]!r}")
    return Question(**{**payload, "choices": None if choices is None else tuple(choices)})


class LanguageModelServer(QuestionServer[Question]):
    """Answers questions in batches of at most `batch`. path: of the socket. linger: as in Server."""

    def __init__(self, model: Model, batch: int, path: Path, linger: float) -> None:
        super().__init__(path, linger)
        self.model, self.batch = model, batch
        self._planned = False

    def read_question(self, body: bytes) -> Question:
        return question_of(body)

    def _plan(self) -> None:
        """Schedule the next batch after the event loop has read from all connections."""
        if self._waiting and not self._planned:
            self._planned = True
            self.loop.call_soon(self._answer)

    def _answer(self) -> None:
        """Answer the oldest question, and those that can be answered with it."""
        self._planned = False
        if not self._waiting:
            return
        first = next(iter(self._waiting.values()))[1].kind
        keys = [key for key, (_, question) in self._waiting.items() if question.kind == first][: self.batch]
        asked = [self._waiting.pop(key) for key in keys]
        answers = self._answers([question for _, question in asked])
        for (_, session), (connection, _), (kind, body) in zip(keys, asked, answers, strict=True):
            connection.send(frame(kind, session, 0, body))
        self._plan()

    def _answers(self, questions: list[Question]) -> list[tuple[int, bytes]]:
        """Return the kind and the body of each answer. Where a batch fails (out of memory, one prompt too long) each
        question is asked alone."""
        try:
            return [(ANSWER, orjson.dumps(asdict(reply))) for reply in self.model.answers(questions)]
        except (RuntimeError, ValueError, IndexError) as error:
            if len(questions) == 1:
                return [(FAILED, reported(error))]
        return [answer for question in questions for answer in self._answers([question])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="folder of the model")
    parser.add_argument("--dtype", default="auto", help="auto, fp32, bf16, fp16")
    parser.add_argument("--batch", type=int, default=16, help="the most questions that are answered together")
    server_options(parser)
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    try:
        model = Model(options.model, device_of(options.device), options.dtype)
    except (BadInput, OSError, ValueError, RuntimeError) as error:
        raise SystemExit(f"model {options.model}: {' '.join(str(error).split())[:300]}") from error
    asyncio.run(serve(lambda: LanguageModelServer(model, options.batch, options.socket, options.linger), options))


if __name__ == "__main__":
    main()
