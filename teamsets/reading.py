"""Reads untrusted text, JSON and YAML with limits: a hostile file is refused in bounded time and memory."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import orjson
import yaml

from teamsets.errors import BadInput

#: The longest text file that is read, in bytes.
MAX_TEXT_BYTES = 64 * 1024 * 1024
#: How many values JSON may hold. Each takes some 64 bytes in memory, and two in a file that is made to fill it.
MAX_JSON_VALUES = 4_000_000
#: The longest YAML file, in bytes, and how much it may hold: values, its aliases written out, and levels of nesting.
MAX_YAML_BYTES = 1024 * 1024
MAX_YAML_NODES = 50_000
MAX_YAML_DEPTH = 50
#: The longest single word of a YAML file: PyYAML's numbers take quadratic time.
MAX_YAML_SCALAR = 65_536


class UnusableText(BadInput, ValueError):
    """A file's content cannot be used. The message is a short reason, without the file's name."""


def read_text(path: Path, max_bytes: int = MAX_TEXT_BYTES) -> str:
    """The text of a UTF-8 file, with or without a byte order mark, its line ends as "\\n".

    Raises UnusableText for a file of more than max_bytes, of another encoding or with NUL bytes, and OSError.
    """
    with open(path, "rb") as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise UnusableText(f"larger than {_size(max_bytes)}")
    if b"\0" in data:
        raise UnusableText("contains NUL bytes, so it is not a text file")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise UnusableText("not UTF-8 text") from None


def is_no_file(path: Path) -> str:
    """Return why a path cannot be read as a file, though it is there: a folder, a pipe, a device, a name that is too long.

    Empty for a file, and for nothing at all. Opening a pipe would wait for a writer that never comes.
    """
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)
    return "" if stat.S_ISREG(mode) else f"is {_KINDS.get(stat.S_IFMT(mode), 'not a file')}"


_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def _marks(text: str | bytes) -> int:
    """Count what begins a value of JSON, or parts it from the next."""
    if isinstance(text, str):
        return text.count(",") + text.count("[") + text.count("{")
    return text.count(b",") + text.count(b"[") + text.count(b"{")


def parse_json(text: str | bytes) -> Any:
    """Parse JSON. Raises UnusableText, also for more than 1,024 levels of nesting, for NaN, and for too many values."""
    if _marks(text) > MAX_JSON_VALUES:
        raise UnusableText(f"contains more than {MAX_JSON_VALUES:,} values")
    try:
        return orjson.loads(text)
    except ValueError as error:
        raise UnusableText(f"not JSON: {error}") from None


def parse_yaml(text: str) -> Any:
    """Parse YAML as yaml.safe_load does. Raises UnusableText, also for YAML that is too deep, too large or circular."""
    if len(text) > MAX_YAML_BYTES:
        raise UnusableText(f"larger than {_size(MAX_YAML_BYTES)}")
    try:
        loader = _Limited(text)
        try:
            root = loader.get_single_node()
            if root is None:
                return None
            _check_expanded(root)
            return loader.construct_document(root)
        finally:
            loader.dispose()
    except UnusableText:
        raise
    except yaml.YAMLError as error:
        raise UnusableText(f"is not valid YAML: {' '.join(str(error).split())}") from None
    # PyYAML lets through what int(), float() and its own dicts raise: 2024-99-99, !!bool maybe, a number of 5,000 digits.
    except (ValueError, ArithmeticError, LookupError, AttributeError, TypeError) as error:
        raise UnusableText(f"is not valid YAML: a value cannot be read: {' '.join(str(error).split())[:200]}") from None


def _size(count: int) -> str:
    return f"{count // (1024 * 1024)} MB"


class _Limited(yaml.SafeLoader):
    """A loader that counts while it reads, so that it stops at the limit and not at the end of the file."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0
        self._nodes = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        self._nodes += 1
        self._depth += 1
        if self._nodes > MAX_YAML_NODES:
            raise UnusableText(f"contains more than {MAX_YAML_NODES:,} values")
        if self._depth > MAX_YAML_DEPTH:
            raise UnusableText(f"is nested more than {MAX_YAML_DEPTH} levels deep")
        node = super().compose_node(parent, index)
        self._depth -= 1
        if isinstance(node, yaml.ScalarNode) and len(node.value) > MAX_YAML_SCALAR:
            raise UnusableText(f"contains a value of more than {MAX_YAML_SCALAR:,} characters")
        return node


def _check_expanded(root: yaml.Node) -> None:
    """Raises UnusableText when the aliases, written out, make it too large or too deep, or lead back to where they stand."""
    known: dict[int, tuple[int, int]] = {}  # of a node: its values and its levels, aliases written out
    within: set[int] = set()

    def measure(node: yaml.Node) -> tuple[int, int]:
        if isinstance(node, yaml.ScalarNode):
            return 1, 1
        key = id(node)
        if key in within:
            raise UnusableText("contains an alias that refers to itself")
        if key not in known:  # an anchor stands before its aliases, so this never goes deeper than the text is nested
            within.add(key)
            inside = [part for entry in node.value for part in (entry if isinstance(entry, tuple) else (entry,))]
            measured = [measure(part) for part in inside]
            within.remove(key)
            known[key] = 1 + sum(n for n, _ in measured), 1 + max((levels for _, levels in measured), default=0)
            if known[key][0] > MAX_YAML_NODES:
                raise UnusableText(f"contains more than {MAX_YAML_NODES:,} values once its aliases are expanded")
            if known[key][1] > MAX_YAML_DEPTH:
                raise UnusableText(f"is nested more than {MAX_YAML_DEPTH} levels deep once its aliases are expanded")
        return known[key]

    measure(root)
