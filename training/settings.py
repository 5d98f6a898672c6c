"""`--set KEY=VALUE`: settings of a configuration changed from the command line, before it is checked."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import yaml

from teamsets.errors import BadInput
from teamsets.reading import Refused, parse_yaml


class Change(NamedTuple):
    """A setting to change. key: with dots, a number for an item of a list: `stages.0.battles`. value: as YAML reads it."""

    key: str
    value: Any


def parsed(word: str) -> Change:
    """KEY=VALUE; nothing after the sign is the empty text. Raises BadInput."""
    key, sign, text = word.partition("=")
    key = key.strip()
    if not sign or not key:
        raise BadInput(f"--set {word}: must be KEY=VALUE, for example optimizer.learning_rate=0.0005")
    try:
        return Change(key, parse_yaml(text) if text.strip() else "")
    except Refused as error:
        raise BadInput(f"--set {word}: the value {error}: write YAML, for example 0.001, true or [1, 2]") from None


def changed(told: Any, changes: Sequence[Change], name: str) -> Any:
    """What a configuration file holds, with changes. name: of the file. Raises BadInput for a key that it does not have."""
    told = copy.deepcopy(told)
    for key, value in changes:
        try:
            put(told, key, value)
        except LookupError:
            raise BadInput(f"--set {key}: {name} has no such key{_meant(key, list(_keys(told)))}") from None
    return told


def named(name: str, changes: Sequence[Change]) -> str:
    """What to call a configuration with these changes in an error message."""
    return " --set ".join([name, *(change.key for change in changes)])


def put(told: Any, key: str, value: Any) -> None:
    """Sets a dotted key that is there already; numbers are places in lists. Raises LookupError."""
    place, (*way, last) = told, key.split(".")
    for name in way:
        place = _inside(place, name)
    _inside(place, last)
    place[int(last) if isinstance(place, list) else last] = copy.deepcopy(value)


def _inside(place: Any, name: str) -> Any:
    """What lies under a name in settings, or under a number in a list of them."""
    try:
        return place[int(name) if isinstance(place, list) else name]
    except (ValueError, TypeError):
        raise LookupError(name) from None


def _keys(told: Any, before: str = "") -> Iterator[str]:
    """Every dotted key of settings."""
    items: Any = told.items() if isinstance(told, dict) else enumerate(told) if isinstance(told, list) else ()
    for name, value in items:
        yield f"{before}{name}"
        yield from _keys(value, f"{before}{name}.")


def _meant(key: str, known: list[str]) -> str:
    """Keys that end in it, else those that look like it."""
    ending = [one for one in known if one.endswith(f".{key}")][:3]
    lasts = {one.rsplit(".", 1)[-1]: one for one in reversed(known)}
    near = ending or get_close_matches(key, known, 2, 0.75)
    near = near or [lasts[one] for one in get_close_matches(key.rsplit(".", 1)[-1], lasts, 2, 0.75)]
    return f": did you mean {' or '.join(near)}?" if near else f": it has {', '.join(k for k in known if '.' not in k)}"


def in_text(text: str, changes: Sequence[Change]) -> str:
    """The text of a YAML file with changes of keys that it has; comments and everything else stay as they are."""
    for key, value in changes:
        node = _node(yaml.compose(text), key)
        start, end = node.start_mark.index, node.end_mark.index
        old = text[start:end]
        space = old[len(old.rstrip()) :]  # a list over several lines ends where the next key begins
        text = text[:start] + flow(value) + space + text[end:]
    return text


def _node(node: Any, key: str) -> Any:
    """The node of a dotted key that is there."""
    for name in key.split("."):
        if isinstance(node, yaml.SequenceNode):
            node = node.value[int(name)]
        else:
            node = next(value for head, value in node.value if head.value == name)
    return node


def flow(value: Any) -> str:
    """A value as YAML on one line."""
    return yaml.safe_dump(value, default_flow_style=True, width=10**9).strip().removesuffix("...").strip()
