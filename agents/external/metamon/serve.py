"""The server of one checkpoint of metamon, for all workers of a machine. `python -m agents.external.metamon.serve`.

metamon needs other versions of poke-env than the arena does, so its code runs in a process of its own environment
(resident.py), which this server starts and feeds: all decisions that arrive while it works are one order next. A question is
JSON, the fields of `ASK_FIELDS`; an answer is what resident.py answers. agents/serving/client.py starts the server; it exits
some seconds after its last client has gone, and metamon's process with it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from agents.external.metamon import environment
from agents.serving.client import exit_of
from agents.serving.server import QuestionServer, ServerConnection, reported, serve, server_options
from agents.serving.wire import ANSWER, FAILED, frame

MODULE = "agents.external.metamon.serve"
RESIDENT = Path(__file__).parent / "inside" / "start.py"
#: Names and types of a question's fields: the format, the seat's role, new protocol lines, the request's text.
ASK_FIELDS: dict[str, type | tuple[type, ...]] = {
    "format": str,
    "name": str,
    "lines": list,
    "request": str,
    "seed": int,
    "temperature": (int, float),
}


@dataclass(frozen=True)
class Settings:
    """What resident.py loads. model: a pretrained model of metamon, or the one whose architecture the folder's weights have.

    folder: of a run; "": the model's weights, downloaded by metamon. own: the arguments of metamon.rl.train for a folder
    without `model`. checkpoint: its number; None: the model's default. backend, preview: as the agent's options.
    """

    model: str
    folder: str
    checkpoint: int | None
    backend: str
    preview: str
    own: dict[str, str]
    device: str

    def to_json(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)


class ResidentProcess:
    """metamon's process. Raises RuntimeError if it does not load the checkpoint."""

    def __init__(self, python: str, settings: dict[str, Any], threads: int) -> None:
        self._process = subprocess.Popen(
            [python, str(RESIDENT), json.dumps({**settings, "threads": threads})],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **_variables(settings["device"])},
        )
        first = self._read()
        if "ready" not in first:
            raise RuntimeError(first.get("error", "its process has ended"))
        self.about = first["ready"]

    def exchange(self, order: dict[str, Any]) -> list[dict[str, Any]]:
        """Send asks and what to forget; return the answers. Raises RuntimeError if the process has ended."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(orjson.dumps(order) + b"\n")
            self._process.stdin.flush()
            answers: list[dict[str, Any]] = self._read()["answers"]
        except (OSError, KeyError, ValueError) as error:  # ValueError: it ended in the middle of a line
            raise RuntimeError(f"metamon's process has ended{exit_of(self._process, 1.0)}") from error
        return answers

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        reply: dict[str, Any] = orjson.loads(self._process.stdout.readline() or b"{}")
        return reply

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _variables(device: str) -> dict[str, str]:
    """Return the environment variables of metamon's process."""
    variables = {environment.CACHE_VARIABLE: str(environment.cache_dir()), "WANDB_MODE": "disabled"}
    if device == "cpu":
        variables |= {"ACCELERATE_USE_CPU": "true", "CUDA_VISIBLE_DEVICES": ""}
    elif ":" in device:
        variables["CUDA_VISIBLE_DEVICES"] = device.partition(":")[2]
    return variables


def ask_of(body: bytes) -> dict[str, Any]:
    """Return the fields of a body of ASK. Raises ValueError if one is missing or of another type."""
    ask = orjson.loads(body)
    if not isinstance(ask, dict) or ask.keys() != ASK_FIELDS.keys():
        raise ValueError(f"a question with other fields than {', '.join(ASK_FIELDS)}")
    for name, kind in ASK_FIELDS.items():
        if not isinstance(ask[name], kind):
            raise ValueError(f"a question whose {name} is {str(ask[name])[:80]!r}")
    if not all(isinstance(line, str) for line in ask["lines"]) or not 0 <= ask["temperature"] < math.inf:
        raise ValueError("a question whose lines are not texts, or whose temperature is below 0")
    return ask


class MetamonServer(QuestionServer[dict[str, Any]]):
    """Orders all waiting decisions at once. path: of the socket. linger: as in Server."""

    def __init__(self, process: ResidentProcess, path: Path, linger: float) -> None:
        super().__init__(path, linger)
        self.process = process
        self._over: list[str] = []
        self._working: asyncio.Task[None] | None = None

    def read_question(self, body: bytes) -> dict[str, Any]:
        return ask_of(body)

    def forget(self, connection: ServerConnection, session: int) -> None:
        super().forget(connection, session)
        self._over.append(f"{connection.number}.{session}")
        self._plan()

    def _plan(self) -> None:
        if self._working is None:
            self._working = self.loop.create_task(self._work())

    async def _work(self) -> None:
        """Have everything that waits answered, until nothing does."""
        while self._waiting or self._over:
            waiting, self._waiting = self._waiting, {}
            over, self._over = self._over, []
            asks = [{**ask, "session": f"{number}.{session}"} for (number, session), (_, ask) in waiting.items()]
            try:
                answers = await asyncio.to_thread(self.process.exchange, {"asks": asks, "forget": over})
            except RuntimeError as error:
                body = reported(error)
                for (_, session), (connection, _) in [*waiting.items(), *self._waiting.items()]:
                    connection.send(frame(FAILED, session, 0, body))
                self.ended.set()
                return
            for ((_, session), (connection, _)), answer in zip(waiting.items(), answers, strict=True):
                connection.send(frame(ANSWER, session, 0, orjson.dumps(answer)))
        self._working = None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python", help="the Python of metamon's environment")
    parser.add_argument("settings", type=json.loads, help="JSON: the fields of Settings")
    server_options(parser)
    options = parser.parse_args()
    try:
        process = ResidentProcess(options.python, options.settings, options.threads)
    except (RuntimeError, OSError) as error:
        raise SystemExit(f"metamon: {error}") from error
    print(f"ready: {process.about}", flush=True)
    try:
        asyncio.run(serve(lambda: MetamonServer(process, options.socket, options.linger), options))
    finally:
        process.close()


if __name__ == "__main__":
    main()
