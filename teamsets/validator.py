"""Showdown's TeamValidator in a node subprocess."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from teamsets import showdown
from teamsets.errors import ArenaError, BadTeam, UnknownFormat, last_error
from teamsets.formats import suggestion

SCRIPT = Path(__file__).with_name("validator.mjs")


@dataclass(frozen=True)
class TeamCheck:
    """The result of a validation: the packed team as validated ("" if rejected), and Showdown's list of problems."""

    packed: str
    problems: tuple[str, ...]


@cache
def rules_version() -> str:
    """Return what a result depends on besides team and format: the versions of the simulator and of our script."""
    return f"{showdown.version()}-{hashlib.sha256(SCRIPT.read_bytes()).hexdigest()[:8]}"


class TeamValidator:
    """A node subprocess that validates and exports teams. Use it as a context manager; it is not thread-safe.

    with TeamValidator() as validator:
        check = validator.validate("gen1ou", text)

    Starting raises MissingTool without node or its package.
    """

    def __init__(self) -> None:
        environment = os.environ | {"ARENA_SHOWDOWN": str(showdown.package().resolve())}
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (closed in close())
        self._node = subprocess.Popen(
            [showdown.node(), str(SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=environment,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the node subprocess, by closing its stdin; it is killed if it does not exit."""
        if self._node.stdin:
            with contextlib.suppress(BrokenPipeError):  # the child may have ended with a request unread
                self._node.stdin.close()
        try:
            self._node.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._node.kill()
            self._node.wait()
        if self._node.stdout:
            self._node.stdout.close()
        self._stderr.close()

    def validate(self, format_id: str, text: str) -> TeamCheck:
        """Validate a team, in Showdown's export text or packed. Raises UnknownFormat if Showdown does not play it."""
        reply = self._ask(op="validate", format=format_id, team=text)
        if "formats" in reply:
            known = tuple(reply["formats"])
            raise UnknownFormat(f"format '{format_id}': {reply['error']}: {suggestion(format_id, known)}")
        if "error" in reply:  # Showdown's reader tripped over the text: as good as a refusal
            return TeamCheck("", (f"cannot be read: {reply['error']}",))
        return TeamCheck(reply["packed"], tuple(reply["problems"]))

    def export(self, packed: str) -> str:
        """Showdown's export text of a packed team. Raises BadTeam for what is not one."""
        reply = self._ask(op="export", packed=packed)
        if "error" in reply:
            raise BadTeam(f"team '{packed[:40]}': {reply['error']}: give a team in Showdown's packed format")
        return reply["text"]

    def species(self, gen: int, names: list[str]) -> dict[str, dict[str, Any]]:
        """The Pokédex of a generation, by species: `base`, `speed`, first `ability`, `takes` (type -> multiplier).

        Names that the generation does not have are left out.
        """
        return self._ask(op="species", gen=gen, names=names)["species"]

    def _ask(self, **request: object) -> dict[str, Any]:
        assert self._node.stdin and self._node.stdout
        try:
            self._node.stdin.write(json.dumps(request).encode() + b"\n")
            self._node.stdin.flush()
            line = self._node.stdout.readline()
        except BrokenPipeError:
            line = b""
        if not line:
            self._stderr.seek(0)
            last = last_error(self._stderr.read().decode(errors="replace")) or "no message"
            raise ArenaError(f"the team validator (node {SCRIPT.name}) ended: {last}")
        try:
            return json.loads(line)
        except ValueError:
            said = line.decode(errors="replace").strip()[:100]
            raise ArenaError(
                f"the team validator (node {SCRIPT.name}) answered {said!r}: check `node --version` and ARENA_NODE"
            ) from None
