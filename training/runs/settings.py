"""Settings by dotted keys: overrides from the command line (`--set KEY=VALUE`), and what differs from an earlier start."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import zip_longest
from typing import Any, NamedTuple

import yaml

from teamsets.errors import BadInput
from teamsets.reading import UnusableText, parse_yaml

#: Characters of a value that a message shows.
_MAX_SHOWN = 60


class Change(NamedTuple):
    """A setting to override. key: dotted, with list indices: `stages.0.battles`. value: parsed as YAML."""

    key: str
    value: Any


def parsed(argument: str) -> Change:
    """Parse KEY=VALUE; an empty VALUE is the empty string. Raises BadInput."""
    key, sign, text = argument.partition("=")
    key = key.strip()
    if not sign or not key:
        raise BadInput(f"--set {argument}: must be KEY=VALUE, for example optimizer.learning_rate=0.0005")
    try:
        return Change(key, parse_yaml(text) if text.strip() else "")
    except UnusableText as error:
        raise BadInput(f"--set {argument}: the value {error}: write YAML, for example 0.001, true or [1, 2]") from None


def changed(settings: Any, changes: Sequence[Change], name: str) -> Any:
    """Return a copy of settings with changes. name: of the file, for errors. Raises BadInput for a key that is not there."""
    settings = copy.deepcopy(settings)
    for key, value in changes:
        try:
            put(settings, key, value)
        except LookupError:
            raise BadInput(f"--set {key}: {name} has no such key{key_hint(settings, key)}") from None
    return settings


def named(name: str, changes: Sequence[Change]) -> str:
    """Return the name of a configuration with these changes, for error messages."""
    return " --set ".join([name, *(change.key for change in changes)])


def put(settings: Any, key: str, value: Any) -> None:
    """Set an existing dotted key in place; numbers are list indices. Raises LookupError."""
    parent, (*path, last) = settings, key.split(".")
    for name in path:
        parent = _item(parent, name)
    _item(parent, last)
    parent[int(last) if isinstance(parent, list) else last] = copy.deepcopy(value)


class Difference(NamedTuple):
    """A setting that has changed. key: dotted, as `--set` takes it. before, now: None for a missing setting."""

    key: str
    before: Any
    now: Any

    def __str__(self) -> str:
        return f"{self.key} {_short(self.before)}, now {_short(self.now)}"


def differences(before: Any, now: Any, free: Sequence[str] = ()) -> list[Difference]:
    """Return what differs between the settings of an earlier start and those of this one, sorted by key.

    before, now: JSON-serializable. free: keys that may change, with everything below them.
    """
    differing = [each for each in _differing(before, now, "") if not _is_below(each.key, free)]
    return sorted(differing, key=lambda each: each.key)


def other_settings(differing: Sequence[Difference], verb: str = "started") -> str:
    """Return the middle of an error message that names what differs. verb: what was done with the earlier settings."""
    return f"was {verb} with other settings ({'; '.join(map(str, differing))})"


def _is_below(key: str, keys: Sequence[str]) -> bool:
    return any(key == parent or key.startswith(f"{parent}.") for parent in keys)


def _differing(before: Any, now: Any, key: str) -> Iterator[Difference]:
    if isinstance(before, dict) and isinstance(now, dict):
        for name in {**before, **now}:
            yield from _differing(before.get(name), now.get(name), f"{key}.{name}" if key else str(name))
    elif _holds_sections(before) and _holds_sections(now):
        for index, (one, other) in enumerate(zip_longest(before, now)):
            yield from _differing(one, other, f"{key}.{index}")
    elif before != now:
        yield Difference(key, before, now)


def _holds_sections(value: Any) -> bool:
    """Return whether a value is a list whose items have settings of their own; any other list is one setting."""
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _short(value: Any) -> str:
    text = flow(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]} …"


def _item(parent: Any, name: str) -> Any:
    """Return the item of a dict by key, or of a list by index."""
    try:
        return parent[int(name) if isinstance(parent, list) else name]
    except (ValueError, TypeError):
        raise LookupError(name) from None


def _keys(settings: Any, prefix: str = "") -> Iterator[str]:
    """Yield all dotted keys of settings."""
    items: Any = ()
    if isinstance(settings, dict | list):
        items = settings.items() if isinstance(settings, dict) else enumerate(settings)
    for name, value in items:
        yield f"{prefix}{name}"
        yield from _keys(value, f"{prefix}{name}.")


def key_hint(settings: Any, key: str) -> str:
    """Return the end of an error message about a key that is not there: keys which end in `key`, or else similar ones."""
    known = list(_keys(settings))
    ending = [candidate for candidate in known if candidate.endswith(f".{key}")][:3]
    lasts = {candidate.rsplit(".", 1)[-1]: candidate for candidate in reversed(known)}
    near = ending or get_close_matches(key, known, 2, 0.75)
    near = near or [lasts[candidate] for candidate in get_close_matches(key.rsplit(".", 1)[-1], lasts, 2, 0.75)]
    return f": did you mean {' or '.join(near)}?" if near else f": it has {', '.join(k for k in known if '.' not in k)}"


def in_text(text: str, changes: Sequence[Change]) -> str:
    """Return the text of a YAML file with changes of keys that it has; comments and formatting are preserved."""
    for key, value in changes:
        node = _node(yaml.compose(text), key)
        start, end = node.start_mark.index, node.end_mark.index
        old = text[start:end]
        space = old[len(old.rstrip()) :]  # a list over several lines ends where the next key begins
        text = text[:start] + flow(value) + space + text[end:]
    return text


def _node(node: Any, key: str) -> Any:
    """Return the YAML node of an existing dotted key."""
    for name in key.split("."):
        if isinstance(node, yaml.SequenceNode):
            node = node.value[int(name)]
        else:
            node = next(value for head, value in node.value if head.value == name)
    return node


def flow(value: Any) -> str:
    """Format a value as YAML on one line."""
    return yaml.safe_dump(value, default_flow_style=True, width=10**9).strip().removesuffix("...").strip()
