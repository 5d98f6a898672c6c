"""`llm:openai?base_url=…&model=…`: a language model behind any OpenAI-compatible server (llama.cpp, vLLM, hosted)."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import functools
import os
import re
import socket
import weakref
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import orjson
from asyncio_throttle import Throttler

from agents.http import BadAnswer, Response, post
from agents.llm.player import LanguageModel, Reply
from agents.llm.prompts import answer_schema
from agents.serving.client import ServerFailed
from teamsets.errors import BadInput

_KEY = "OPENAI_API_KEY"
#: Answers after which a request is sent again: too many requests, or an overloaded server or proxy.
_AGAIN = (408, 409, 429, 500, 502, 503, 504)
#: Requests for one answer, and the most seconds between two.
_TRIES, _LONGEST_WAIT = 6, 8.0
#: Seconds to find out before a run whether a server listens.
_CONNECT_SECONDS = 3.0
#: Shorter keys are no secrets.
_SHORTEST_KEY = 6
_USE = "llm:openai?base_url=http://127.0.0.1:8080/v1&model=NAME"


class OpenAI(LanguageModel):
    """A language model behind an OpenAI-compatible server: llama.cpp, vLLM, or a hosted one.

    Each decision is a request to BASE_URL/chat/completions. It is sent again while the server is overloaded or cannot be
    reached, up to six times; the agent's clock runs meanwhile. Give it time: `--think-limit 120`.

    The API key is read from an environment variable and stored nowhere. Its prompt is a file that can be replaced
    (docs/llm.md).

    Options: base_url and model, required; style, plan (a plan, then an action) or action; prompt, the file of a template;
    temperature, 0; max_tokens, of an answer, 256; constrained, the server is given a JSON schema of the legal answers,
    false; key, the name of the environment variable, OPENAI_API_KEY; timeout, seconds of one request, 60; per_minute,
    requests a minute that a worker sends, 0: any number; at_once, requests of a worker that are under way at the same time,
    8; price_in and price_out, of a million tokens, for the cost of each decision, 0.
    """

    named = "llm:openai"
    #: Seconds before a request is sent for the second time; twice as long before each that follows.
    first_wait = 0.5

    def __init__(
        self,
        base_url: str = "",
        model: str = "",
        style: str = "plan",
        prompt: str = "",
        temperature: float = 0.0,
        max_tokens: int = 256,
        constrained: bool = False,
        key: str = _KEY,
        timeout: float = 60.0,
        per_minute: int = 0,
        at_once: int = 8,
        price_in: float = 0.0,
        price_out: float = 0.0,
    ) -> None:
        super().__init__(style, prompt, temperature, max_tokens, price_in, price_out)
        if problem := _problem(base_url, model, timeout, per_minute, at_once):
            raise BadInput(f"{self.named}: {problem}")
        self.url = f"{urlsplit(base_url).geturl().rstrip('/')}/chat/completions"
        self.model, self.constrained, self.timeout = model, constrained, timeout
        self._key = os.environ.get(key, "")
        self._limits = base_url, per_minute, at_once

    @classmethod
    def missing(cls, format_id: str | None = None, **options: Any) -> str:
        """Return what is missing: the server's address and model, its key, or the server itself."""
        base_url = options.get("base_url", "")
        problem = _problem(
            base_url,
            options.get("model", ""),
            options.get("timeout", 1.0),
            options.get("per_minute", 0),
            options.get("at_once", 1),
        ) or super().missing(format_id, **options)
        if problem:
            return problem
        key = options.get("key", _KEY)
        if key != _KEY and not os.environ.get(key):
            return f"key={key}: the environment variable {key} is not set: set it to the server's API key"
        url = urlsplit(base_url)
        address = url.hostname or "", url.port or (443 if url.scheme == "https" else 80)
        try:
            socket.create_connection(address, _CONNECT_SECONDS).close()
        except OSError as error:
            return f"base_url={base_url}: no server answers there ({error}): start it, or give its address"
        return ""

    async def ask(self, text: str, choices: list[str], seed: int | None = None) -> Reply:
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": "user", "content": text}],
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
        }
        if seed is not None:
            body["seed"] = seed
        if self.constrained:
            schema = {"name": "answer", "strict": True, "schema": answer_schema(self.style, choices)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return self._reply(await self._sent(orjson.dumps(body)))

    async def _sent(self, body: bytes) -> Response:
        """Return the server's answer, of status 200. Raises ServerFailed."""
        problem, wait = "", self.first_wait
        limits = _limits_of(*self._limits)
        for number in range(_TRIES):
            if number:
                await asyncio.sleep(wait)
                wait = min(2 * wait, _LONGEST_WAIT)
            try:
                async with limits.free, limits.pace or contextlib.nullcontext(), asyncio.timeout(self.timeout):
                    response = await post(self.url, self._headers(), body)
            except TimeoutError:
                problem = f"no answer within {self.timeout:g} s"
            except (OSError, BadAnswer) as error:
                problem = self._redacted(str(error)) or type(error).__name__
            else:
                if response.status == 200:
                    return response
                problem = f"status {response.status}: {self._error_text(response)}"
                if response.status not in _AGAIN:
                    raise ServerFailed(f"{self._limits[0]} refused the request with {problem}")
                with contextlib.suppress(ValueError):  # Retry-After may also be a date
                    wait = max(wait, min(float(response.headers.get("retry-after", "")), 60.0))
        raise ServerFailed(f"{self._limits[0]} failed {_TRIES} times; the last time {problem}")

    def _headers(self) -> dict[str, str]:
        key = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        return {"Content-Type": "application/json", "Accept": "application/json", **key}

    def _error_text(self, response: Response) -> str:
        """What a server says about an error, in one line, without the key that it may repeat."""
        return " ".join(self._redacted(response.body.decode(errors="replace")).split())[:200]

    def _redacted(self, text: str) -> str:
        """Return a server's text without the key, in whatever form it repeats it: what it says is stored with the battle."""
        for form in _forms(self._key):
            text = re.sub(re.escape(form), "***", text, flags=re.IGNORECASE)
        return text

    def _reply(self, response: Response) -> Reply:
        try:
            told = orjson.loads(response.body)
            first = told["choices"][0]
            usage = told.get("usage") or {}
            text = first["message"].get("content") or ""  # null: it has only thought, or called a tool
            return Reply(
                self._redacted(str(text)),
                _count(usage.get("prompt_tokens")),
                _count(usage.get("completion_tokens")),
                first.get("finish_reason") == "length",
            )
        except (ValueError, LookupError, TypeError, AttributeError):
            raise ServerFailed(f"{self._limits[0]} sent no chat completion: {self._error_text(response)}") from None


@dataclass(frozen=True)
class _Limits:
    """What all agents of a process share for one server. free: places for requests. pace: requests a minute."""

    free: asyncio.Semaphore
    pace: Throttler | None


_limits: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, int, int], _Limits]] = (
    weakref.WeakKeyDictionary()
)


def _limits_of(base_url: str, per_minute: int, at_once: int) -> _Limits:
    kept = _limits.setdefault(asyncio.get_running_loop(), {})
    key = base_url, per_minute, at_once
    if key not in kept:
        # Not all of a minute's requests in its first second.
        pace = Throttler(1, 60 / per_minute) if per_minute else None
        kept[key] = _Limits(asyncio.Semaphore(at_once), pace)
    return kept[key]


@functools.cache
def _forms(key: str) -> tuple[str, ...]:
    """The forms in which a server may repeat a key, the longest first: as it is, in base64, quoted for URLs and JSON.

    A shorter key than _SHORTEST_KEY is left as it is: it is a placeholder like "none", and could be a word of an answer.
    """
    if len(key) < _SHORTEST_KEY:
        return ()
    data = key.encode(errors="surrogateescape")
    forms = {key, quote(data, safe=""), data.hex(), orjson.dumps(key.encode(errors="replace").decode()).decode()[1:-1]}
    for start in (b"", b"Bearer "):
        forms.add(base64.b64encode(start + data).decode().rstrip("="))
        forms.add(base64.urlsafe_b64encode(start + data).decode().rstrip("="))
    return tuple(sorted(forms, key=len, reverse=True))


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _problem(base_url: str, model: str, timeout: float, per_minute: int, at_once: int) -> str:
    if not base_url or not model:
        return f"base_url and model are required: {_USE}"
    try:
        url = urlsplit(base_url)
        _ = url.port  # raises ValueError if it is none
    except ValueError as error:
        return f"base_url={base_url}: {error}"
    if url.scheme not in ("http", "https") or not url.hostname:
        return f"base_url={base_url}: must be a URL like http://127.0.0.1:8080/v1"
    if url.username is not None or url.query or url.fragment:
        return (
            f"base_url={base_url}: must have no user, password or query: the key is read from an environment variable "
            "(key=NAME)"
        )
    if not timeout > 0:
        return f"timeout={timeout}: must be seconds above 0"
    if per_minute < 0:
        return f"per_minute={per_minute}: must be a number of requests, or 0 for any number"
    return "" if at_once >= 1 else f"at_once={at_once}: must be 1 or more"
