"""One HTTP request on the running event loop: cancelled at once, and read within limits. Only what `remote.py` needs.

The standard library's client blocks a thread, which outlives the decision that it was for.
"""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

#: The largest answer that is read, and the longest line of its head, in bytes.
MAX_BODY = 4 << 20
_MAX_HEAD = 64 << 10


class BadAnswer(Exception):
    """What came back is no HTTP answer, or it is cut off or too large."""


@dataclass(frozen=True)
class Response:
    """An answer. headers: with names in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


def checked_url(url: str) -> SplitResult:
    """Return the parts of an http or https URL. Raises ValueError with what is wrong."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be a URL like http://127.0.0.1:8080/v1")
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError(
            "must have no user, password or query: the key is read from an environment variable (key=NAME)"
        )
    _ = parts.port  # raises ValueError if it is none
    return parts


async def post(url: SplitResult, path: str, headers: dict[str, str], body: bytes) -> Response:
    """Send a POST and return its answer. Raises OSError, BadAnswer. It has no time limit of its own."""
    secure = ssl.create_default_context() if url.scheme == "https" else None
    port = url.port or (443 if secure else 80)
    reader, writer = await asyncio.open_connection(url.hostname, port, ssl=secure, limit=_MAX_HEAD)
    try:
        head = [
            f"POST {url.path.rstrip('/')}{path} HTTP/1.1",
            f"Host: {url.netloc}",
            "Connection: close",
            f"Content-Length: {len(body)}",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        writer.write(("\r\n".join(head) + "\r\n\r\n").encode() + body)
        await writer.drain()
        return await _read(reader)
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError, UnicodeError) as error:
        raise BadAnswer(f"the answer cannot be read ({type(error).__name__})") from None
    finally:
        writer.transport.abort()


async def _read(reader: asyncio.StreamReader) -> Response:
    status = await _line(reader)
    status_parts = status.split(" ", 2)
    if len(status_parts) < 2 or not status_parts[0].startswith("HTTP/") or not status_parts[1].isdecimal():
        raise BadAnswer("no HTTP answer: its first line is no status")  # not quoted: it may hold a part of the key
    headers: dict[str, str] = {}
    while line := await _line(reader):
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
        if len(headers) > 200:
            raise BadAnswer("more than 200 headers")
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = await _chunks(reader)
    elif "content-length" in headers:
        body = await reader.readexactly(_limited(int(headers["content-length"])))
    else:
        body = await reader.read(MAX_BODY + 1)
        while len(body) <= MAX_BODY and (more := await reader.read(MAX_BODY + 1 - len(body))):
            body += more
        _limited(len(body))
    return Response(int(status_parts[1]), headers, body)


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while size := int((await _line(reader)).partition(";")[0], 16):
        _limited(len(body) + size)
        body += await reader.readexactly(size)
        await reader.readexactly(2)
    return body


def _limited(size: int) -> int:
    if not 0 <= size <= MAX_BODY:
        raise BadAnswer(f"an answer of {size:,} bytes")
    return size


async def _line(reader: asyncio.StreamReader) -> str:
    return (await reader.readuntil(b"\n")).decode("latin-1").rstrip("\r\n")
