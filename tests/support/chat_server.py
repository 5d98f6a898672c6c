"""A small OpenAI-compatible server on the loopback, whose answers a test writes."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from poke_env.data import GenData

#: What a test answers: a text, or a whole response (status, headers, body).
Answer = str | tuple[int, dict[str, str], bytes]


@dataclass
class ChatServer:
    """A running server. url: its base_url. bodies, keys: of the requests so far, in their order."""

    url: str
    bodies: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)


class _Listening(ThreadingHTTPServer):
    """A client that ends with a connection open is no error, and must not be told to whichever test runs by then."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def chat_server(answer: Callable[..., Answer], *, chunked: bool = False, whole: bool = False) -> Iterator[ChatServer]:
    """Run a server that answers each prompt with `answer(prompt)`. chunked: in chunks, as hosted servers do.

    whole: with `answer(prompt, body)`, the request's body.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.bodies.append(body)
            server.keys.append(self.headers.get("Authorization"))
            if self.path != "/v1/chat/completions":
                self._send(404, {}, b"no such path")
                return
            prompt = body["messages"][-1]["content"]
            said = answer(prompt, body) if whole else answer(prompt)
            if isinstance(said, str):
                self._send(200, {"Content-Type": "application/json"}, completion(said))
            else:
                self._send(*said)

        def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if chunked:
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for part in (body[:7], body[7:]):
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part) if part else b"")
                self.wfile.write(b"0\r\n\r\n")
            else:
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *words: Any) -> None:
            pass

    listening = _Listening(("127.0.0.1", 0), Handler)
    server = ChatServer(f"http://127.0.0.1:{listening.server_address[1]}/v1")
    thread = threading.Thread(target=listening.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


def completion(text: str) -> bytes:
    """A chat completion that says a text; each word is a token."""
    return json.dumps(
        {
            "id": "1",
            "object": "chat.completion",
            "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}},
            ],
            "usage": {"prompt_tokens": 100, "completion_tokens": len(text.split())},
        }
    ).encode()


def choices_in(prompt: str) -> list[str]:
    """The legal choices that a prompt lists."""
    listed = prompt.partition("Your legal choices:\n")[2].splitlines()
    end = next((number for number, line in enumerate(listed) if not line.startswith("- ")), len(listed))
    return [line.removeprefix("- ") for line in listed[:end]]


def strongest(prompt: str) -> str:
    """Answer with the move of the greatest base power, or else the first legal choice."""
    moves = GenData.from_gen(1).moves

    def power(choice: str) -> int:
        kind, _, name = choice.partition(" ")
        return int(moves.get(name, {}).get("basePower", 0)) if kind == "move" else 0

    return f"Plan: hit hard\nAction: {max(choices_in(prompt), key=power)}"


def slot_choices_in(prompt: str) -> list[list[str]]:
    """The choices of each slot that a prompt of doubles lists, with their notes; one list where it lists pairs."""
    slots: list[list[str]] = []
    for line in prompt.partition("Your legal choices:\n")[2].splitlines():
        if line.startswith("Slot "):
            slots.append([])
        elif line.startswith("- "):
            slots = slots or [[]]
            slots[-1].append(line.removeprefix("- "))
        else:
            break
    return slots


def first_pair(prompt: str) -> str:
    """Answer a prompt of doubles with the first choices, and its notes; a slot that could only repeat has its last one."""
    if "team preview" in prompt:
        return "Plan: as they stand\nAction: team 1234"
    slots = slot_choices_in(prompt)
    if len(slots) == 1:
        return f"Plan: replace\nAction: {slots[0][0]}"
    first, second = slots[0][0], slots[1][0]
    return f"Plan: hit hard\nAction: {first}, {slots[1][-1] if first == second and 'switch' in first else second}"
