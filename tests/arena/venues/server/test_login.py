"""Signing in with a password: who gets to see it, what is said when it fails, and that nothing is waited for long."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterator

import pytest
from support.gate import ASSERTION, LoginServer

from arena.venues.server.login import PASSWORD, USER, Account, LoginFailed, LoginUnreachable
from teamsets.errors import BadInput

SECRET = "c0rrect horse&battery=staple"


@pytest.fixture
def server() -> LoginServer:
    return LoginServer(SECRET)


@pytest.fixture
def address(server: LoginServer) -> Iterator[str]:
    with server.open() as address:
        yield address


def account(address: str, monkeypatch: pytest.MonkeyPatch, password: str = SECRET) -> Account:
    monkeypatch.setenv(USER, "Some One")
    monkeypatch.setenv(PASSWORD, password)
    return Account.from_environment(address)


def test_the_login_server_signs_the_challenge(
    server: LoginServer, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = account(address, monkeypatch)
    assert asyncio.run(mine.assertion("4|abc")) == ASSERTION
    assert server.forms == [{"act": "login", "name": "Some One", "pass": SECRET, "challstr": "4|abc"}]


def test_the_password_leaves_the_environment_and_shows_itself_nowhere(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = account(address, monkeypatch)
    assert PASSWORD not in os.environ
    assert mine.has_password
    assert SECRET not in repr(mine) + str(mine)


def test_a_wrong_password_is_said_without_the_password(
    server: LoginServer, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = account(address, monkeypatch, "wr0ng")
    with pytest.raises(LoginFailed, match=r"user 'Some One': .* refused the password: Wrong password: check ARENA_"):
        asyncio.run(mine.assertion("4|abc"))
    server.answer = ']{"assertion": ";;wr0ng is not it"}'
    with pytest.raises(LoginFailed) as failed:
        asyncio.run(mine.assertion("4|abc"))
    assert "wr0ng" not in str(failed.value)


@pytest.mark.parametrize("answer", ["<html>hello</html>", "]7", "]", ";"])
def test_an_answer_of_something_else_is_no_assertion(
    answer: str, server: LoginServer, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer = answer
    with pytest.raises(LoginUnreachable, match="its response is not that of a login server"):
        asyncio.run(account(address, monkeypatch).assertion("4|abc"))


@pytest.mark.parametrize("status", [302, 500])
def test_the_password_goes_to_no_other_address(
    status: int, server: LoginServer, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.status = status
    with pytest.raises(LoginUnreachable, match=f"HTTP status {status}"):
        asyncio.run(account(address, monkeypatch).assertion("4|abc"))
    assert len(server.forms) == 1


def test_a_login_server_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        mine = account(f"http://127.0.0.1:{silent.getsockname()[1]}/", monkeypatch)
        with pytest.raises(
            LoginUnreachable,
            match=r"login server http://127.0.0.1:\d+/: (no answer within 0.3 s|.*imed out|TimeoutError)",
        ):
            asyncio.run(mine.assertion("4|abc", seconds=0.3))


def test_one_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LoginUnreachable, match=r"login server http://127.0.0.1:9/: Connection refused"):
        asyncio.run(account("http://127.0.0.1:9/", monkeypatch).assertion("4|abc"))


@pytest.mark.parametrize(
    ("name", "address", "words"),
    [
        ("", "https://a.example/", "ARENA_SHOWDOWN_USER: not set"),
        ("!?", "https://a.example/", "ARENA_SHOWDOWN_USER: not set"),
        ("a,b", "https://a.example/", "ARENA_SHOWDOWN_USER: 'a,b' is not a valid user name"),
        ("a", "a.example", "--login-server a.example: not a URL"),
        ("a", "http://a.example/", "--login-server http://a.example/: the password would be sent unencrypted"),
    ],
)
def test_what_cannot_be_used_is_said(name: str, address: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(USER, name)
    monkeypatch.setenv(PASSWORD, SECRET)
    with pytest.raises(BadInput, match=words):
        Account.from_environment(address)
