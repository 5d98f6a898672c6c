"""A request's limits, against a server that sends whatever bytes a test writes."""

from __future__ import annotations

import asyncio
import contextlib
import socket

import pytest

from agents.http import BadAnswer, Response, post

HEAD = b"HTTP/1.1 200 OK\r\n"


def answered(*parts: bytes, path: str = "/v1", **limits: int | bool) -> Response:
    """The answer to a POST to a server that sends some bytes and closes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"BODY")
        with contextlib.suppress(ConnectionError):
            for part in parts:
                writer.write(part)
                await writer.drain()
        writer.close()

    async def ask() -> Response:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            url = f"http://127.0.0.1:{port}{path}"
            return await post(url, {"Authorization": "Bearer key-é"}, b"BODY", **limits)  # type: ignore[arg-type]

    return asyncio.run(ask())


def test_an_answer_ends_with_its_length_its_chunks_or_its_connection() -> None:
    assert answered(HEAD + b"Content-Length: 3\r\n\r\nabcd").body == b"abc"
    assert answered(HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n").body == b"abc"
    assert answered(HEAD + b"Retry-After: 7\r\n\r\n", b"abc") == Response(200, {"retry-after": "7"}, b"abc")


@pytest.mark.parametrize(
    "parts",
    [
        (),
        (b"key-key-key\r\n\r\n",),
        (HEAD + b"Content-Length: 5\r\n\r\nabc",),
        (HEAD + b"Content-Length: key\r\n\r\nabc",),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nkey\r\nabc",),
        (HEAD + b"a: key\r\n" * 100_000 + b"\r\n",),
    ],
)
def test_an_answer_that_cannot_be_read_is_not_quoted(parts: tuple[bytes, ...]) -> None:
    with pytest.raises(BadAnswer, match=r"the answer cannot be read \(\w+\)$"):
        answered(*parts)


def test_a_large_answer_is_not_read_to_its_end() -> None:
    for head in (b"\r\n", b"Content-Length: 3000000000\r\n\r\n"):
        with pytest.raises(BadAnswer, match="an answer of more than 1,000 bytes"):
            answered(HEAD + head, *[b"x" * 65536] * 200, max_body=1000)


def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    moved = answered(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n")
    assert (moved.status, moved.headers["location"]) == (302, "http://127.0.0.1:9/")


def test_only_who_asks_for_it_uses_the_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert answered(HEAD + b"\r\nabc").body == b"abc"
    with pytest.raises(ConnectionRefusedError):
        answered(HEAD + b"\r\nabc", proxies=True)


def test_a_server_that_is_not_there_is_an_error_of_the_system() -> None:
    for host in ("127.0.0.1", "localhost"):
        with pytest.raises(ConnectionRefusedError, match="Connect call failed"):
            asyncio.run(post(f"http://{host}:9/", {}, b""))
    with pytest.raises(BadAnswer, match="InvalidURL"):
        asyncio.run(post("http://127.0.0.1:9/\x07", {}, b""))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(BadAnswer, match="LocalProtocolError"):
            asyncio.run(post(url.replace("https", "http"), {"Authorization": "two\r\nlines"}, b""))
        with pytest.raises(TimeoutError):
            asyncio.run(asyncio.wait_for(post(url, {}, b""), 0.2))
    with pytest.raises(OSError, match=r"WRONG_VERSION_NUMBER|record layer"):
        asyncio.run(_plain_answer_to_tls())


async def _plain_answer_to_tls() -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"\r\n")
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        await post(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/", {}, b"")
