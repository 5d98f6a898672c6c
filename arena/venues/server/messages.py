"""Reading a Showdown server's messages: what is not as the protocol has it is a BadMessage, never another error."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson


class BadMessage(Exception):
    """A message of the server cannot be read. Its text is not repeated: it may contain the user's name or signature."""


@contextmanager
def parsing(kind: str) -> Iterator[None]:
    """Context in which a message is taken apart: errors of its form are raised as BadMessage. kind: e.g. "|request|"."""
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise BadMessage(f"the server sent a malformed {kind} message") from error


def text_of(frame: str | bytes) -> str:
    """Return the text of a websocket message. Raises BadMessage for a binary one."""
    if isinstance(frame, bytes):
        raise BadMessage("the server sent a binary message")
    return frame


def searches(text: str) -> tuple[list[str], list[str]]:
    """Return the searched formats and the user's battle rooms in the JSON of an `|updatesearch|` message."""
    with parsing("|updatesearch|"):
        content = orjson.loads(text)
        formats, rooms = content["searching"], content["games"] or {}
        if not isinstance(formats, list) or not isinstance(rooms, dict) or not all(isinstance(f, str) for f in formats):
            raise ValueError
        return formats, list(rooms)


def request_of(text: str) -> dict[str, Any] | None:
    """Return the request in the JSON of a `|request|` line; None if it is empty."""
    with parsing("|request|"):
        request = orjson.loads(text or "null")
        if request is None:
            return None
        if not isinstance(request["rqid"], int) or request["side"]["id"] not in ("p1", "p2"):
            raise ValueError
        if not all(isinstance(pokemon["condition"], str) for pokemon in request["side"]["pokemon"]):
            raise ValueError
        return dict(request)


def format_of(room: str) -> str:
    """Return the format in the id of a battle's room ("battle-gen9ou-7"); "" if it is not a battle's."""
    parts = room.split("-")
    return parts[1] if parts[0] == "battle" and len(parts) > 2 else ""


def series_format_of(room: str) -> str:
    """Return the format in the id of a series' room ("game-bestof3-gen9championsvgc2026regmabo3-7"); "" if it is none."""
    parts = room.split("-")
    return parts[2] if parts[0] == "game" and parts[1:2] and parts[1].startswith("bestof") and len(parts) > 3 else ""


def plain_text(text: str) -> str:
    """Convert a popup's HTML to one line of text."""
    text = re.sub(r"^(\|(modal|html)\|)+", "", text)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).replace("||", " ").split())
