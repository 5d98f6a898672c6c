"""Sign-in with an account: the login server receives the password, the Showdown server the login server's assertion.

A Showdown server never receives a password. It sends a challenge (`|challstr|`), the login server signs it for the right
password, and the Showdown server checks the signature. The password is held in one object, which passes it to the login
server only: not to logs, exceptions, the database or child processes.
"""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import dataclass, field
from urllib.parse import urlencode, urlsplit

from poke_env.data import to_id_str

from agents.http import BadAnswer, post
from arena.validation import is_loopback
from teamsets.errors import ArenaError, BadInput

USER, PASSWORD = "ARENA_SHOWDOWN_USER", "ARENA_SHOWDOWN_PASSWORD"
#: The login server of Showdown's public servers, which most other servers use as well.
PUBLIC_LOGIN = "https://play.pokemonshowdown.com/action.php"
#: Time limit for the login server, in seconds.
LOGIN_SECONDS = 15.0
_MOST_BYTES = 100_000


class LoginFailed(BadInput):
    """The login server responded without an assertion; a retry would not help."""


class LoginUnreachable(ArenaError, OSError):
    """The login server did not respond in time, or not as expected; a retry may help."""


@dataclass(frozen=True)
class Account:
    """A name on a Showdown server, and its password if it has one. address: of the login server."""

    name: str
    address: str = PUBLIC_LOGIN
    _password: str = field(default="", repr=False)

    @classmethod
    def from_environment(cls, address: str = PUBLIC_LOGIN) -> Account:
        """Read ARENA_SHOWDOWN_USER and, if set, ARENA_SHOWDOWN_PASSWORD. Raises BadInput.

        The password is removed from the environment, so that child processes do not inherit it.
        """
        password = os.environ.pop(PASSWORD, "")
        name = os.environ.get(USER, "").strip()
        if not to_id_str(name):
            raise BadInput(
                f"{USER}: not set: set it to your user name on the server (and {PASSWORD}, if it has a password)"
            )
        if "," in name or "|" in name:
            raise BadInput(f"{USER}: '{name}' is not a valid user name: it must not contain a comma or a bar")
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadInput(f"--login-server {address}: not a URL: write e.g. {PUBLIC_LOGIN}")
        if password and parts.scheme == "http" and not is_loopback(parts.hostname):
            raise BadInput(f"--login-server {address}: the password would be sent unencrypted: use https")
        return cls(name, address, password)

    @property
    def has_password(self) -> bool:
        return bool(self._password)

    async def assertion(self, challstr: str, *, seconds: float = LOGIN_SECONDS) -> str:
        """Return the assertion for a server's challenge. Raises LoginFailed, LoginUnreachable.

        seconds: time limit for the login server.
        """
        form = {"act": "login", "name": self.name, "pass": self._password, "challstr": challstr}
        try:
            async with asyncio.timeout(seconds):
                text = await _post(self.address, form)
        except TimeoutError:
            raise LoginUnreachable(f"login server {self.address}: no answer within {seconds:g} s") from None
        return self._read(text)

    def _read(self, text: str) -> str:
        """Return the assertion in a response ("]" and JSON)."""
        try:
            reply = json.loads(text.removeprefix("]"))
            assertion = reply.get("assertion") or ""
            good = reply.get("actionsuccess", True) and isinstance(assertion, str)
        except (ValueError, AttributeError):
            # The text itself is not repeated: an unknown page may contain anything.
            raise LoginUnreachable(f"login server {self.address}: its response is not that of a login server") from None
        if good and assertion and not assertion.startswith(";"):
            return str(assertion)
        why = self._harmless(assertion.lstrip(";").strip() if isinstance(assertion, str) else "")
        raise LoginFailed(
            f"user '{self.name}': the login server {self.address} refused the password"
            + (f": {why}" if why else "")
            + f": check {USER} and {PASSWORD}"
        )

    def _harmless(self, text: str) -> str:
        """Return an untrusted message as one line, with the password removed."""
        return " ".join(text.replace(self._password, "…").split())[:200].rstrip(". ")


async def _post(address: str, form: dict[str, str]) -> str:
    """Post a form, and return the response. A redirect is refused: the password is sent only where the user said."""
    headers = {"Content-Type": "application/x-www-form-urlencoded", "User-Agent": "battle-arena"}
    try:
        response = await post(address, headers, urlencode(form).encode(), max_body=_MOST_BYTES, proxies=True)
    except OSError as error:
        detail = os.strerror(error.errno or 0) if isinstance(error, ConnectionError) else error.strerror or error
        raise LoginUnreachable(f"login server {address}: {detail}") from None
    except (BadAnswer, ImportError) as error:  # httpx lacks a package for a proxy of the environment, and says which
        raise LoginUnreachable(f"login server {address}: {error}") from None
    except Exception as error:  # its message and traceback may contain the form: only its type is reported
        raise LoginUnreachable(f"login server {address}: {type(error).__name__}") from None
    if response.status // 100 != 2:
        raise LoginUnreachable(f"login server {address}: HTTP status {response.status}")
    return response.body.decode("utf-8", "replace")
