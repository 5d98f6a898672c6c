"""The commands of README and docs pages: found in the text, made small, and run as a reader would run them."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

#: What a line of an indented block starts with when it is a command (after VARIABLE=value words).
PROGRAMS = (
    "arena",
    "train",
    "make",
    "scripts/",
    "python",
    "pip",
    "source",
    "export",
    "read",
    "git",
    "accelerate",
    "cd",
)


@dataclass(frozen=True)
class Block:
    """A code block of a page. kind: "commands" or, for a fenced block, its language. lines: without the indentation.

    before: the last line of text before it.
    """

    page: str
    heading: str
    kind: str
    lines: tuple[str, ...]
    before: str = ""

    @property
    def file(self) -> str:
        """The file that its reader saves it to: "… `NAME`:" before the block, or "# NAME.py" in its first line; or ""."""
        named = re.search(r"`([\w./-]+\.\w+)`:$", self.before) if self.kind != "commands" else None
        named = named or (re.match(r"# (\S+\.py)$", self.lines[0]) if self.kind == "python" else None)
        return named[1] if named else ""

    def save(self, folder: Path) -> None:
        """Saves it where its reader would; nothing, if the page does not say so."""
        if self.file:
            (folder / self.file).parent.mkdir(parents=True, exist_ok=True)
            (folder / self.file).write_text("\n".join(self.lines) + "\n", "utf-8")

    @property
    def commands(self) -> list[str]:
        """Whole commands: continuation lines joined, trailing comments removed; none where it holds something else."""
        return [] if self.kind not in ("commands", "sh", "bash") else list(_commands(self.lines))


def blocks(path: Path) -> list[Block]:
    """Every code block of a Markdown page, in order: indented by four spaces, or fenced."""
    found: list[Block] = []
    heading, before, fence, indented, fenced = "", "", None, [], []
    lines = [*path.read_text(encoding="utf-8").split("\n"), "end"]
    for line in lines:
        if fence is not None:
            if line.startswith("```"):
                found.append(Block(path.name, heading, fence or "text", tuple(fenced), before))
                fence, before = None, ""
            else:
                fenced.append(line)
            continue
        if line.startswith("    ") and line.strip():
            indented.append(line[4:])
            continue
        if indented and line.strip():
            found.append(Block(path.name, heading, "commands", tuple(indented)))
            indented, before = [], ""
        if line.startswith("```"):
            fence, fenced = line[3:].strip(), []
        elif line.startswith("#"):
            heading, before = line.lstrip("# "), ""
        elif line.strip():
            before = line.strip()
    return found


def is_command(line: str) -> bool:
    """Whether a line of a block is a command of a shell, and not output, YAML or Python."""
    first = re.sub(r"^(\w+=\S*\s+)+", "", line)
    return any(first == name or first.startswith(name if name.endswith("/") else name + " ") for name in PROGRAMS)


def _commands(lines: Sequence[str]) -> Iterator[str]:
    whole = ""
    for line in lines:
        if not whole and not is_command(line):
            continue
        whole += line if not whole else "\n" + line
        if whole.endswith("\\"):
            continue
        try:
            shlex.split(whole, comments=True)
        except ValueError:  # a quotation goes on in the next line
            continue
        yield re.sub(r"\s+#\s[^\"']*$", "", whole)
        whole = ""
    assert not whole, f"a command without its end: {whole}"


@dataclass(frozen=True)
class Rule:
    """How a command is made small: `pattern` is replaced by `by`. why: what the smaller one leaves out."""

    pattern: str
    by: str
    why: str


#: Two threads of each of several processes on two cores wait for each other.
ONE_THREAD = "--set compute.threads=1"
#: Commands that train, on few steps and on so few battles that a small share of them would be none.
TRAINING_RULES = [
    Rule(r"(heuristic:expert heuristic:staller .*)--battles \d+", r"\1--battles 24", "battles"),
    Rule(
        r"^(train data build .*)--hold-out 0\.\d+", r"\1--hold-out 0.5", "battles, of which a small share would be none"
    ),
    Rule(
        r"^(train preferences build .*)--hold-out 0\.\d+",
        r"\1--decisions 3 --playouts 4 --baseline position --min-margin 0.01",
        "playouts, and battles of which a small share would be none",
    ),
    Rule(
        r"^(train dpo dpo(?: --set .*)?)$",
        rf"\1 --set length.max_steps=2 --set data.validate_on=[] {ONE_THREAD}",
        "steps",
    ),
    Rule(
        r"^(train base \w+\.yaml)$",
        r"\1 --set length.max_steps=4 --set data.batch_size=4 --set data.max_length=32 --set checkpoints.every=2 "
        + ONE_THREAD,
        "steps",
    ),
    Rule(
        r"^(train finetune .*)",
        r"\1 --set length.max_steps=2 --set data.batch_size=2 --set data.max_length=32 --set checkpoints.every=2 "
        + ONE_THREAD,
        "steps",
    ),
    Rule(
        r"^(train online (?:ppo|\w+\.yaml))",
        r"\1 --set iterations=2 --set rollout.battles=8 --set rollout.max_turns=40 --set checkpoints.every=2 "
        + ONE_THREAD,
        "iterations, battles and turns",
    ),
]

#: Put last: it changes the beginning that other rules look for.
ONE_WORKER = Rule(
    r"^arena (evaluate|match) (?!--resume)", r"arena \1 --workers 1 ", "a second worker, which takes seconds to start"
)


def small(command: str, rules: Sequence[Rule]) -> str:
    """The command with every rule applied."""
    for rule in rules:
        command = re.sub(rule.pattern, rule.by, command)
    return command


@dataclass
class Shell:
    """A terminal in a folder: what `source` and `export` change stays for the commands after them.

    log: a transcript of everything, for people.
    """

    folder: Path
    environment: dict[str, str]
    log: Path
    servers: list[subprocess.Popen[str]] = field(default_factory=list)

    def run(self, command: str, timeout: float = 900) -> str:
        """Runs one command to its end and returns its output. Raises AssertionError when it does not exit with 0."""
        keeps = command.startswith(("source ", "export ", "cd "))
        began, worked = time.monotonic(), _cpu_seconds()
        script = f"{command} && env -0 >{shlex.quote(str(self._kept))}" if keeps else command
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
            check=False,
        )
        self.note(f"$ {command}\n{done.stdout}[{time.monotonic() - began:.0f} s, CPU {_cpu_seconds() - worked:.0f} s]")
        assert done.returncode == 0, f"{command}: exit code {done.returncode}\n{done.stdout[-3000:]}"
        if keeps:
            pairs = self._kept.read_text().rstrip("\0").split("\0")
            self.environment = dict(pair.split("=", 1) for pair in pairs)
        return done.stdout

    @property
    def _kept(self) -> Path:
        return self.log.with_suffix(".environment")

    def serve(self, command: str, ready: str) -> None:
        """Starts a command that runs until Ctrl-C, and waits for a line of its output that holds `ready`."""
        server = subprocess.Popen(
            ["bash", "-c", f"exec {command}"],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.servers.append(server)
        self.note(f"$ {command}   (in a terminal of its own)\n")
        assert server.stdout is not None
        said = ""
        for line in server.stdout:
            said += line
            if ready in line:
                self.note(said)
                return
        raise AssertionError(f"{command} ended without '{ready}':\n{said}")

    def stop_servers(self) -> None:
        """Ctrl-C for each server, and its end."""
        for server in self.servers:
            server.send_signal(signal.SIGINT)
            try:
                said, _ = server.communicate(timeout=60)
            finally:
                with contextlib.suppress(OSError):
                    server.kill()
            self.note(f"^C\n{said}")
            assert server.returncode in (0, 130), f"exit code {server.returncode} after Ctrl-C:\n{said[-2000:]}"
        self.servers.clear()

    def note(self, text: str) -> None:
        """Adds to the transcript."""
        with self.log.open("a", encoding="utf-8") as file:
            file.write(text if text.endswith("\n") else text + "\n")


def _cpu_seconds() -> float:
    """What the processes that have been started and have ended took, those that they started included."""
    taken = os.times()
    return taken.children_user + taken.children_system


#: What a new account does not have: the surroundings of these tests and of whoever runs them.
_NOT_FRESH = re.compile(
    r"^(PYTHON.*|VIRTUAL_ENV.*|ARENA_.*|WANDB_.*|METAMON_.*|XDG_.*|MAKE.*|MFLAGS|ARGS|JOBS|PYTEST_.*|COLUMNS|LINES)$"
)


def fresh_environment(home: Path) -> dict[str, str]:
    """The variables of a new account on this machine; what pip, uv, npm and cargo have downloaded before is reused."""
    environment = {name: value for name, value in os.environ.items() if not _NOT_FRESH.match(name)}
    programs = [
        folder for folder in environment["PATH"].split(os.pathsep) if folder != str(Path(sys.executable).parent)
    ]
    old = Path.home()
    caches = {
        "UV_CACHE_DIR": old / ".cache" / "uv",
        "PIP_CACHE_DIR": old / ".cache" / "pip",
        "npm_config_cache": old / ".npm",
        "CARGO_HOME": old / ".cargo",
        "RUSTUP_HOME": old / ".rustup",
    }
    reused = {name: str(folder) for name, folder in caches.items() if folder.is_dir() and name not in environment}
    own = {"HOME": str(home), "PATH": os.pathsep.join(programs), "WANDB_MODE": "offline", "COLUMNS": "120"}
    return {**environment, **reused, **own}
