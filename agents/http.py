"""One HTTP request on the running event loop: cancelled at once, and read within limits. For `agents/llm` and the login.

httpx is imported with the first request: it takes half a second, and few commands send one.
"""

from __future__ import annotations

import functools
import ssl
from collections.abc import Mapping
from dataclasses import dataclass


class BadAnswer(Exception):
    """What came back is no HTTP answer, or it is cut off or too large."""


@dataclass(frozen=True)
class Response:
    """An answer. headers: found in upper and lower case alike."""

    status: int
    headers: Mapping[str, str]
    body: bytes


async def post(
    url: str, headers: Mapping[str, str], body: bytes, *, max_body: int = 4 << 20, proxies: bool = False
) -> Response:
    """Send a POST. As `request`."""
    return await request("POST", url, headers, body, max_body=max_body, proxies=proxies)


async def request(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes = b"",
    *,
    max_body: int = 4 << 20,
    proxies: bool = False,
) -> Response:
    """Send a request on a connection of its own and return the answer, also if it is a redirect: none is followed.

    It has no time limit of its own. max_body: the largest answer that is read, in bytes. proxies: use those that the
    environment names. Raises OSError, and BadAnswer, which quotes nothing of the answer: it may repeat a key.
    """
    import httpx

    received = b""
    try:
        # Not compressed, so that an answer is as large as it arrives.
        sent = httpx.Headers({**headers, "Accept-Encoding": "identity"}, encoding="utf-8")
        async with (
            httpx.AsyncClient(verify=_tls(), trust_env=proxies, timeout=None) as client,
            client.stream(method, url, headers=sent, content=body) as answer,
        ):
            async for part in answer.aiter_raw():
                received += part
                if len(received) > max_body:
                    raise BadAnswer(f"an answer of more than {max_body:,} bytes")
    except (httpx.ProtocolError, httpx.InvalidURL, UnicodeError) as error:
        raise BadAnswer(f"the answer cannot be read ({type(error).__name__})") from None
    except httpx.TransportError as error:
        raise _system_error(error) from None
    return Response(answer.status_code, answer.headers, received)


@functools.cache
def _tls() -> ssl.SSLContext:
    """The certificates that this system trusts, not those that httpx brings."""
    return ssl.create_default_context()


def _system_error(error: BaseException) -> OSError:
    """Return what the system reported, which httpx keeps only as a cause. Of several addresses: for the first."""
    cause: BaseException | None = error
    while cause is not None and not (isinstance(cause, OSError) and cause.errno is not None):
        cause = cause.exceptions[0] if isinstance(cause, BaseExceptionGroup) else cause.__cause__ or cause.__context__
    return cause if isinstance(cause, OSError) else OSError(str(error) or type(error).__name__)
