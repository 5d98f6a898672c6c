"""Who may read the dashboard: this machine's browsers; from elsewhere whoever has the token.

On the loopback the `Host` of a request must be a name of this machine, so that no page of another site can read the
dashboard through a name that it lets point here. With a token every request must carry it: once as `?token=…`, from then on
as a cookie, or as `Authorization: Bearer …`. Addresses and cookies have it percent-encoded.
"""

from __future__ import annotations

import secrets
from urllib.parse import parse_qsl, quote, unquote, urlencode

from starlette.datastructures import URL
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.validation import is_loopback

COOKIE = "arena-dashboard"
_HEADERS = {
    b"content-security-policy": b"default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    b"connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-resource-policy": b"same-origin",
}


def encoded(token: str) -> str:
    """Return a token as it is written in an address and in the cookie: percent-encoded, which keeps letters and digits."""
    return quote(token, safe="")


class Guard:
    """Lets requests through that may read, answers the others, and sets security headers. token: None on the loopback."""

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_HEADERS.items()]
            await send(message)

        refused = self._refused(HTTPConnection(scope))
        await (refused or self._app)(scope, receive, send_guarded)

    def _refused(self, request: HTTPConnection) -> Response | None:
        """The answer to a request that is not let through as it is."""
        if request.scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("The dashboard is read-only.\n", 405)
        if self._token is None:
            if is_loopback(request.url.hostname or ""):
                return None
            return PlainTextResponse("Open the dashboard as http://localhost: it was started for this machine.\n", 421)
        given = request.query_params.get("token")
        if given is not None and self._fits(given):
            return self._let_in(request.url)
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        # A header's bytes are read as Latin-1; programs send the token as UTF-8.
        sent = bearer.encode("latin-1").decode("utf-8", "replace")
        if self._fits(unquote(request.cookies.get(COOKIE, ""))) or (scheme.lower() == "bearer" and self._fits(sent)):
            return None
        return PlainTextResponse("The token is missing or wrong: open the URL that `arena dashboard` printed.\n", 401)

    def _fits(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), str(self._token).encode())

    def _let_in(self, url: URL) -> Response:
        """To the same page without the token in its address, which browsers keep and show; a cookie has it from then on."""
        others = [(key, value) for key, value in parse_qsl(url.query) if key != "token"]
        response = RedirectResponse("/" + url.path.lstrip("/") + (f"?{urlencode(others)}" if others else ""), 303)
        response.set_cookie(COOKIE, encoded(str(self._token)), httponly=True, samesite="strict")
        return response
