"""An agent on somebody else's server: battles found by search and challenge, breaks, refusals, stopping, what is kept."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from urllib.parse import quote_plus

import pytest
from support.command_line import Said, start_arena
from support.gate import ASSERTION, Gate, LoginServer
from support.ladder_place import DRAWN, Place, entrant, ladder, team_of, until_begun
from support.sockets import against
from websockets.asyncio.server import ServerConnection

from arena.fixture import SEATS, FixtureTeam
from arena.record import BattleRecord, LadderRating, unpacked
from arena.remote.ladder import Ladder, Matchmaking, server_uri
from arena.remote.user_battle import Entrant, UserBattle
from arena.store import Store, rows
from arena.venues.server.client import PUBLIC_RATE_LIMIT, Client, ConnectionLimits, ConnectionLost, ServerRefused
from arena.venues.server.local import LocalServer
from arena.venues.server.login import Account
from teamsets.errors import BadInput


@pytest.fixture(scope="module")
def there() -> Iterator[Place]:
    found = Place()
    yield found
    found.close()


async def met(one: Ladder, other: Ladder, first: Entrant, second: Entrant) -> tuple[UserBattle, UserBattle]:
    found = await asyncio.gather(one.battle(first), other.battle(second))
    assert found[0] is not None and found[1] is not None
    return found[0], found[1]


def consistent(record: BattleRecord, other: BattleRecord) -> None:
    """Two records of one battle, each from its own side."""
    assert record.turns == other.turns
    assert record.winner == other.winner
    side, other_side = (next(i for i, log in enumerate(each.logs) if log) for each in (record, other))
    assert side != other_side
    for each, index in ((record, side), (other, other_side)):
        assert each.input_log == [] and each.logs[1 - index] == []
        assert {decision[0] for decision in each.decisions} == {index}
        assert each.fixture.agents[1 - index].startswith("user:")
    turns = [[x for x in each.logs[i] if x.startswith("|turn|")] for each, i in ((record, side), (other, other_side))]
    assert turns[0] == turns[1] == [f"|turn|{n}" for n in range(1, record.turns + 1)]


@pytest.mark.slow
def test_rated_battles_are_found_by_search_and_kept_from_our_side(there: Place, tmp_path: Path) -> None:
    async def play() -> list[tuple[UserBattle, UserBattle]]:
        uri = there.server.uri
        async with await Client.connect(uri, "One A") as a, await Client.connect(uri, "two") as b:
            one, two = ladder(a), ladder(b)
            await one.enter()
            return [await met(one, two, entrant("random", n), entrant("bad_agents:Uniform", n)) for n in (1, 2)]

    battles = there.run(play)
    keys = set()
    for one, two in battles:
        record, other = one.record(), two.record()
        consistent(record, other)
        assert (record.reason, record.fault) in (("win", None), ("tie", None))
        assert record.fixture.agents[SEATS.index(one.role)] == "random"
        assert one.opponent == f"user:two@{there.host}"
        assert two.opponent == f"user:onea@{there.host}"
        assert one.rating is not None
        if record.winner is not None:  # after a tie the one rated lower gains
            assert (one.rating[1] > one.rating[0]) == (record.winner == one.role)
        assert record.ladder == LadderRating(there.host, *one.rating)
        store = Store(tmp_path / "arena.duckdb")
        store.add(record.to_line("run"))
        store.ingest_journal()
        keys |= {record.fixture.key, other.fixture.key}
    assert len(keys) == 4
    stored = rows("SELECT server, elo_before, elo_after, gxe FROM ladder_ratings", tmp_path / "arena.duckdb")
    assert stored == [(there.host, *one.rating, None) for one, _ in battles if one.rating is not None]


@pytest.mark.slow
def test_a_battle_goes_on_over_connections_that_break_again_and_again(there: Place) -> None:
    gate = Gate(there.server.uri, messages=9)

    async def play() -> tuple[UserBattle, UserBattle]:
        team = team_of("gen1ou")
        first, second = (entrant("random", number, format_id="gen1ou", team=team) for number in (1, 2))
        with LoginServer("secret").open() as login:
            async with (
                gate.open() as uri,
                await Client.connect(there.server.uri, "four") as b,
                await Client.connect(uri, Account("three", login, "secret")) as a,
            ):
                return await met(ladder(a), ladder(b), first, second)

    one, two = there.run(play)
    consistent(one.record(), two.record())
    assert gate.cuts > 2
    assert gate.assertions == [ASSERTION] * len(gate.assertions)  # shown anew for each connection
    assert len(gate.assertions) >= gate.cuts  # once more than it was broken, unless that was after the battle's end


@pytest.mark.slow
def test_a_challenge_is_made_and_accepted_and_a_failing_agent_forfeits(there: Place) -> None:
    async def play() -> tuple[UserBattle, UserBattle]:
        uri = there.server.uri
        async with await Client.connect(uri, "five") as a, await Client.connect(uri, "six") as b:
            one, two = ladder(a, Matchmaking(user="six")), ladder(b, Matchmaking(accept=True))
            accepting = asyncio.ensure_future(two.battle(entrant("bad_agents:Raises")))
            await asyncio.sleep(0)
            one_battle, two_battle = await asyncio.gather(one.battle(entrant("random")), accepting)
            assert one_battle is not None and two_battle is not None
            return one_battle, two_battle

    one, two = there.run(play)
    record, failed = one.record(), two.record()
    consistent(record, failed)
    assert (failed.winner, failed.reason, failed.fault) == (one.role, "error", two.role)
    assert (record.winner, record.reason, record.fault) == (one.role, "win", None)
    assert record.detail == f"{two.role} forfeited"
    assert one.rating is None


@pytest.mark.slow
def test_stopping_ends_a_search_and_lets_a_battle_end_and_the_second_time_forfeits(there: Place) -> None:
    said: list[str] = []

    async def play() -> tuple[UserBattle | None, UserBattle, UserBattle]:
        uri = there.server.uri
        async with await Client.connect(uri, "seven") as a, await Client.connect(uri, "eight") as b:
            alone = ladder(a)
            asyncio.get_running_loop().call_later(0.3, alone.stop)
            nobody = await alone.battle(entrant("random"))
            one, two = ladder(a, said=said), ladder(b)
            playing = asyncio.ensure_future(met(one, two, entrant("bad_agents:SleepsAsync"), entrant("random", 2)))
            await until_begun(one)
            one.stop()
            one.stop()
            return nobody, *(await playing)

    nobody, one, two = there.run(play)
    assert nobody is None
    record, other = one.record(), two.record()
    assert (record.winner, record.reason, record.fault) == (None, "aborted", None)
    assert record.detail == "forfeited by Ctrl-C"
    assert (other.winner, other.reason, other.detail) == (two.role, "win", f"{one.role} forfeited")
    assert said == ["Stopping after this battle. Ctrl-C again forfeits it.", "Forfeiting."]


@pytest.mark.parametrize(
    ("matchmaking", "mine", "words"),
    [
        (Matchmaking(), entrant("random", format_id="gen9nonsense"), "format gen9nonsense is not ladderable"),
        (
            Matchmaking(),
            entrant("random", format_id="gen9ou", team=FixtureTeam("x", "x", packed="|||||||||||")),
            "Your team was rejected",
        ),
        (Matchmaking(user="nobodyatall"), entrant("random"), "The user 'nobodyatall' was not found"),
    ],
)
def test_what_the_server_refuses_is_said_in_its_words(
    matchmaking: Matchmaking, mine: Entrant, words: str, there: Place
) -> None:
    async def play() -> None:
        async with await Client.connect(there.server.uri, "nine") as client:
            with pytest.raises(ServerRefused, match=f"^{there.server.uri}: the server refused: .*{words}"):
                await ladder(client, matchmaking).battle(mine)

    there.run(play)


def test_a_rejected_challenge_and_a_name_that_is_taken_are_said(there: Place) -> None:
    async def play() -> None:
        uri = there.server.uri
        async with await Client.connect(uri, "ten") as a, await Client.connect(uri, "eleven") as b:
            b.on_challenge = lambda user, format_id: b.say(f"/reject {user}")
            with pytest.raises(ServerRefused, match="challenge to eleven: rejected the challenge"):
                await ladder(a, Matchmaking(user="eleven")).battle(entrant("random"))
            with pytest.raises(ServerRefused, match=r"user name 'Ten' was refused: .*already using the name"):
                await Client.connect(uri, "Ten")

    there.run(play)


def scripted(uri_words: list[str], what: Callable[[str], Awaitable[None]]) -> None:
    """Runs `what` with a server that says these words to a user who has connected, and then closes."""

    async def speak(socket: ServerConnection) -> None:
        for words in uri_words:
            await socket.send(words)
        if any("updateuser" in words for words in uri_words):
            await socket.wait_closed()

    against(speak, what)


def test_a_sign_in_that_fails_is_said_at_once_and_one_that_cannot_be_tried_in_a_while() -> None:
    async def sign_in(uri: str) -> None:
        wrong = r"user 'x': the login server .* refused the password: Wrong password"
        with LoginServer("right").open() as login, pytest.raises(ServerRefused, match=wrong):
            await Client.connect(uri, Account("x", login, "wrong"))
        with pytest.raises(ConnectionLost, match=r"no connection for 3 s: login server http://127.0.0.1:9/: Conn"):
            await Client.connect(uri, Account("x", "http://127.0.0.1:9/", "right"), patience=3.0)
        with pytest.raises(
            ServerRefused, match=r"user name 'x' was refused: .* \(if it wants a password, set ARENA_SHOWDOWN_PAS"
        ):
            await Client.connect(uri, "x")

    async def speak(socket: ServerConnection) -> None:
        await socket.send("|challstr|4|abc")
        async for message in socket:
            assert message == "|/trn x,0,"  # whoever has a password comes no further than the login server
            await socket.send("|nametaken|x|Your authentication token was invalid.")

    against(speak, sign_in)


def test_a_ban_is_said_at_once() -> None:
    async def sign_in(uri: str) -> None:
        with pytest.raises(
            ServerRefused, match=r"the server closed the connection: You are banned because of <3\. Bye"
        ):
            await Client.connect(uri, "someone")

    scripted(["|popup||modal||html|<p>You are banned because of &lt;3.</p>||Bye"], sign_in)


def test_a_name_that_plays_already_is_not_played_under() -> None:
    async def sign_in(uri: str) -> None:
        async with await Client.connect(uri, "someone") as client:
            entering = asyncio.ensure_future(ladder(client).enter())
            await asyncio.sleep(0)
            client.on_search([], ["battle-gen9ou-7"])
            with pytest.raises(ServerRefused, match=r"user 'someone' is in a battle already \(battle-gen9ou-7\)"):
                await entering

    scripted(["|updateuser| someone|1|102|{}"], sign_in)


@pytest.mark.slow
def test_a_connection_that_has_died_without_a_word_is_noticed() -> None:
    connections, done = 0, asyncio.Event()

    async def speak(socket: ServerConnection) -> None:
        nonlocal connections
        connections += 1
        await socket.send("|updateuser| someone|1|102|{}")
        if connections == 1:
            socket.transport.pause_reading()  # no pong will come
        await done.wait()

    async def stay(uri: str) -> None:
        back = asyncio.Event()
        async with await Client.connect(uri, "someone", limits=ConnectionLimits(check_seconds=0.05)) as client:
            client.on_return = back.set
            await back.wait()
            await asyncio.sleep(0.5)  # many looks: this one answers
        done.set()
        assert connections == 2

    against(speak, stay)


@pytest.mark.parametrize(
    ("text", "uri"),
    [
        ("sim3.psim.us", "wss://sim3.psim.us/showdown/websocket"),
        ("localhost:8000", "ws://localhost:8000/showdown/websocket"),
        ("https://a.example/", "wss://a.example/showdown/websocket"),
        ("ws://127.0.0.1:8000/showdown/websocket", "ws://127.0.0.1:8000/showdown/websocket"),
    ],
)
def test_a_server_is_named_by_its_host_or_its_address(text: str, uri: str) -> None:
    assert server_uri(text) == uri


@pytest.mark.parametrize(
    "text", ["", "ftp://a.example", "ws://u:secret@a.example", "a.example:port", "ws://a.example?p=1"]
)
def test_another_address_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(BadInput, match="--server: not a server address") as refused:
        server_uri(text)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("user", "words", "problem"),
    [
        ("", (), "ARENA_SHOWDOWN_USER: not set"),
        ("me", ("--challenge", "you", "--accept"), "--challenge you --accept: give only one of them"),
        ("me", ("--challenge", "Me"), "--challenge Me: this is the agent's own user name"),
        ("me", ("--server", "ftp://x"), "--server: not a server address"),
        ("me", ("--agent", "nobody"), "agent 'nobody': unknown"),
        ("me", ("--agent", "external?command=true"), "an external program, which `arena ladder` cannot run"),
        ("me", ("--agent", "bad_agents:RaisesWhenMade"), "cannot be created, and would forfeit every battle"),
        ("me", ("--agent", "bad_agents:RaisesWhenPreparing"), f"not ready for {DRAWN}"),
    ],
)
def test_bad_input_is_one_line(
    user: str,
    words: tuple[str, ...],
    problem: str,
    arena: Callable[..., Said],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ARENA_SHOWDOWN_USER", user)
    start = ("ladder", "--server", "localhost:9", "--agent", "random", "--battles", 1, "--format", DRAWN)
    said = arena(*start, *words, "--db", tmp_path / "arena.duckdb")
    assert said.code == 2
    assert problem in said.err and said.err.count("\n") == 1


@pytest.mark.parametrize(
    ("server", "options", "rate_limit"),
    [
        ("localhost:8000", [], None),
        ("ws://127.0.0.2:8000", [], None),
        ("[::1]:8000", [], None),
        ("sim3.example", [], PUBLIC_RATE_LIMIT),
        ("sim3.example", ["--unthrottled"], None),
    ],
)
def test_messages_to_this_machine_are_not_throttled(
    server: str,
    options: list[str],
    rate_limit: object,
    arena: Callable[..., Said],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[object] = []

    async def play(run: object, store: object, account: object, rate_limit: object, **_: object) -> bool:
        given.append(rate_limit)
        return True

    monkeypatch.setenv("ARENA_SHOWDOWN_USER", "me")
    monkeypatch.setattr("arena.commands.ladder.play", play)
    words = ("--agent", "random", "--battles", 1, "--format", DRAWN, "--db", tmp_path / "arena.duckdb")
    assert arena("ladder", "--server", server, *words, *options).code == 0
    assert given == [rate_limit]


SECRET = "hunter2/übergeheim"


@pytest.fixture(scope="module")
def command(there: Place, tmp_path_factory: pytest.TempPathFactory) -> tuple[Said, Path, list[BattleRecord]]:
    """`arena ladder` on a server with accounts, over connections that break; the folder in which it ran; and its battles as
    the other side saw them."""
    folder = tmp_path_factory.mktemp("ladder")
    gate, login = Gate(there.server.uri, messages=25), LoginServer(SECRET)
    seen: list[BattleRecord] = []

    async def play() -> Said:
        with login.open() as address:
            async with gate.open() as uri, await Client.connect(there.server.uri, "rival") as client:
                words = ["--server", uri, "--agent", "random", "--format", DRAWN, "--battles", 2, "--unthrottled"]
                secrets = {"ARENA_SHOWDOWN_USER": "Lord Helix", "ARENA_SHOWDOWN_PASSWORD": SECRET}
                process = start_arena(
                    "ladder", *words, "--login-server", address, cwd=folder, XDG_CACHE_HOME=str(folder), **secrets
                )
                ending = asyncio.ensure_future(asyncio.to_thread(process.communicate))
                try:
                    rival = ladder(client)
                    for number in (1, 2):
                        playing = asyncio.ensure_future(rival.battle(entrant("random", number)))
                        await asyncio.wait({playing, ending}, return_when=asyncio.FIRST_COMPLETED)
                        await asyncio.wait({playing}, timeout=30)  # what the rival has not read when the command ends
                        if playing.done() and (battle := playing.result()) is not None:
                            seen.append(battle.record())
                    out, err = await ending
                finally:
                    process.kill()
                return Said(process.returncode, out, err)

    return there.run(play), folder, seen


@pytest.mark.slow
def test_the_command_plays_and_keeps_its_battles(command: tuple[Said, Path, list[BattleRecord]], there: Place) -> None:
    said, folder, seen = command
    assert (said.code, said.err) == (0, "")
    db = folder / "arena.duckdb"
    kept = rows("SELECT p1, p2, octet_length(p1_log) > 20, octet_length(p2_log) > 20 FROM battles", db)
    assert len(kept) == 2
    for p1, p2, first, second in kept:
        assert {p1, p2} & {"random"}
        (user,) = {p1, p2} - {"random"}
        assert user.startswith("user:rival@127.0.0.1:")
        assert (first, second) == (p1 == "random", p2 == "random")
    # They may end in a tie: the seed is the server's. So what is kept is held against what the other side saw.
    ended = rows("SELECT winner, reason, fault, turns FROM battles ORDER BY started", db)
    assert ended == [(record.winner, record.reason, record.fault, record.turns) for record in seen]
    assert rows("SELECT kind, status FROM runs", db) == [("ladder", "finished")]
    assert "rating 1000 →" in said.out


@pytest.mark.slow
def test_the_password_is_written_nowhere(command: tuple[Said, Path, list[BattleRecord]], there: Place) -> None:
    said, folder, _ = command
    logs = [
        line
        for (log,) in rows("SELECT unnest([p1_log, p2_log, input_log]) FROM battles", folder / "arena.duckdb")
        for line in unpacked(bytes(log))
    ]
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert folder / "arena.duckdb" in files and logs
    written = {str(path): path.read_bytes() for path in files}
    written["the server's log"] = there.server.log_path.read_bytes()
    written["the logs"] = "\n".join(logs).encode()
    written["said"] = (said.out + said.err).encode()
    for where, content in written.items():
        for secret in (SECRET, quote_plus(SECRET), "hunter2", ASSERTION, "Lord Helix", "lordhelix"):
            if "server" in where and "elix" in secret:
                continue  # a server knows its users' names
            assert secret.encode() not in content, where


@pytest.mark.slow
def test_what_a_battle_seen_from_one_side_has_not_is_said(
    command: tuple[Said, Path, list[BattleRecord]], arena: Callable[..., Said]
) -> None:
    _, folder, _ = command
    db = folder / "arena.duckdb"
    watched = arena("watch", 1, "--db", db)
    assert watched.code == 0
    assert re.search(
        r"The side of user:rival@127\.0\.0\.1:\d+ is known from the public log", " ".join(watched.out.split())
    )
    replayed = arena("replay", 1, "--db", db)
    assert replayed.code == 2
    assert "so it cannot be replayed" in replayed.err
    reported = arena("report", "--db", db)
    assert "played on a server that shows our side only" in reported.out
    arena("report", "--html", folder / "report.html", "--db", db)
    assert "user:rival@127.0.0.1" in (folder / "report.html").read_text()


@pytest.mark.slow
def test_a_connection_lost_for_good_leaves_a_battle_that_is_nobodys_loss() -> None:
    limits = ConnectionLimits(reconnect_seconds=0.5)

    async def play() -> BattleRecord:
        async with await LocalServer.launch() as server:
            names = ("one", "two")
            a, b = [await Client.connect(server.uri, name, patience=60.0, limits=limits) for name in names]
            async with a, b:
                one, two = ladder(a), ladder(b)
                slow = [
                    asyncio.ensure_future(each.battle(entrant("bad_agents:SleepsAsync", n)))
                    for n, each in enumerate((one, two))
                ]
                await until_begun(one)
                server.kill()
                battle, _ = await asyncio.gather(*slow)
                assert battle is not None
                with pytest.raises(ConnectionLost, match="no connection for"):
                    await one.battle(entrant("random", 3))
                return battle.record()

    record = asyncio.run(asyncio.wait_for(play(), 120))
    assert (record.winner, record.reason, record.fault) == (None, "aborted", "venue")
