"""Reads the metadata of a run's agents in another process, because importing their code may have side effects.

`main` imports it, in a process that ends afterwards, with all that the code has started. In: one line of JSON, {"specs",
"formats"}. Out: one line of JSON per spec, {"refused": message} or the fields of `Description`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NoReturn

import orjson

from agents import AgentSource, is_built_in, resolve
from agents.coached import coached_parts
from teamsets.errors import BadInput
from teamsets.processes import close_to_others


def origins(spec: str) -> set[str]:
    """The packages or modules outside of the arena that a spec's code comes from: {"mybot"} for mybot.players:Best."""
    if is_built_in(spec):
        return set()
    head, _, _ = spec.partition("?")
    if head == "coached":  # it plays through the agents in its options
        return {origin for inner in coached_parts(spec).values() for origin in origins(inner)}
    return {head.partition(":")[0].partition(".")[0]}


def sharing_note(specs: tuple[str, ...]) -> str:
    """Return one line if agents of different origins will share processes; else empty."""
    first: dict[str, str] = {}
    for spec in specs:
        for origin in origins(spec):
            first.setdefault(origin, spec)
    if len(first) < 2:
        return ""
    spec, other = sorted(first.values())[:2]
    more = f" and {len(first) - 2} more" if len(first) > 2 else ""
    return (
        f"{spec}, {other}{more} come from different packages and run in the same processes, where each can read and change "
        "what belongs to the others: --isolate gives each a process of its own"
    )


#: Time limit for importing the agents of a run, in seconds.
IMPORT_SECONDS = 300.0
#: Supervised and confined before poke-env is imported: its thread would not survive a fork, and would not be confined.
_PROGRAM = (
    "from arena.processes.supervisor import supervise_rest; supervise_rest(patience=0.0, spared=()); "
    "from teamsets.processes import confine; confine(); "
    "from arena.venues.isolation.describing import main; main()"
)


@dataclass(frozen=True)
class Description:
    """An agent's metadata; see `AgentSource`. lacks: format -> what it lacks to play it."""

    spec: str
    fingerprint: str
    repeatable: bool
    documentation: str
    is_external: bool
    lacks: dict[str, str]

    def source(self) -> AgentSource:
        """Return a source that creates no agents: they are created in their own processes."""

        def make() -> NoReturn:
            raise RuntimeError(f"{self.spec} is created in a process of its own")

        def missing(format_id: str | None) -> str:
            return self.lacks.get(format_id or "", "")

        return AgentSource(
            spec=self.spec,
            make=make,
            fingerprint_of=lambda: self.fingerprint,
            repeatable=self.repeatable,
            options={},
            documentation=self.documentation,
            missing=missing,
            is_external=self.is_external,
        )


def isolated_sources(specs: tuple[str, ...], formats: tuple[str, ...]) -> dict[str, AgentSource]:
    """Return spec, as given -> source. Imports only the arena's code. Raises BadInput like `resolve`.

    Closes this process to others of the user, before another one imports the agents' code.
    """
    close_to_others()
    theirs = [spec for spec in dict.fromkeys(specs) if not is_built_in(spec)]
    sources = {spec: resolve(spec) for spec in specs if spec not in theirs}
    if theirs:
        sources |= zip(
            theirs, map(Description.source, _check_none_external(describe_agents(theirs, formats))), strict=True
        )
    return sources


def describe_agents(specs: Sequence[str], formats: Sequence[str]) -> list[Description]:
    """Return the descriptions of agents, found in another process. Raises BadInput like `resolve`."""
    order = orjson.dumps({"specs": specs, "formats": formats})
    named = ", ".join(specs)
    command = [sys.executable, "-P", "-c", _PROGRAM]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            output, errors = process.communicate(order, IMPORT_SECONDS)
        except subprocess.TimeoutExpired:
            process.terminate()  # its supervisor ends all that was started
            raise BadInput(f"agents {named}: importing them took longer than {IMPORT_SECONDS:g} s") from None
        except BaseException:  # Ctrl-C
            process.terminate()
            raise
    try:
        answers = [orjson.loads(line) for line in output.splitlines()]
    except orjson.JSONDecodeError:
        answers = []
    for answer in answers:
        if isinstance(answer, dict) and "refused" in answer:
            raise BadInput(str(answer["refused"]))
    if len(answers) != len(specs) or not all(map(_is_description, answers)):
        last = errors.decode(errors="replace").strip().split("\n")[-1][:300]
        raise BadInput(f"agents {named}: importing them ended their process" + (f": {last}" if last else ""))
    return [Description(**answer) for answer in answers]


def _check_none_external(agents: list[Description]) -> list[Description]:
    for agent in agents:
        if agent.is_external:  # its code would determine, in the worker, how its program is started
            raise BadInput(
                f"agent '{agent.spec}': starts an external program by third-party code, which cannot be isolated: leave "
                "--isolate out"
            )
    return agents


def _is_description(answer: Any) -> bool:
    kinds = {
        "spec": str,
        "fingerprint": str,
        "repeatable": bool,
        "documentation": str,
        "is_external": bool,
        "lacks": dict,
    }
    return (
        isinstance(answer, dict)
        and answer.keys() == kinds.keys()
        and all(isinstance(answer[name], kind) for name, kind in kinds.items())
    )


def describe(spec: str, formats: list[str]) -> dict[str, Any]:
    """Return an agent's description, or the error message. Imports its code."""
    try:
        source = resolve(spec)
        lacks = {format_id: lack for format_id in formats if (lack := source.missing(format_id))}
    except BadInput as error:
        return {"refused": str(error)}
    fields = source.spec, source.fingerprint, source.repeatable, source.documentation, source.is_external
    return asdict(Description(*fields, lacks))


def main() -> None:
    """Describe the agents of the order on stdin; see the module."""
    output = os.dup(1)
    os.dup2(2, 1)  # output of agents must not mix with the replies
    order = orjson.loads(sys.stdin.buffer.read())
    lines = [orjson.dumps(describe(spec, order["formats"])) for spec in order["specs"]]
    with os.fdopen(output, "wb") as file:
        file.write(b"".join(line + b"\n" for line in lines))
