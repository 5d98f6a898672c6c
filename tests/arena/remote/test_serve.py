"""`arena serve`: visitors of all kinds meet the pool's agents; every battle is kept, whatever they do."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from poke_env.concurrency import POKE_LOOP
from poke_env.player import Player, RandomPlayer
from poke_env.ps_client.account_configuration import AccountConfiguration
from poke_env.ps_client.server_configuration import ServerConfiguration
from support.command_line import Said, processes, run_arena, start_arena, wait
from support.gate import Gate
from support.ladder_place import DRAWN, PATIENT, Place, entrant, ladder, team_of
from websockets.asyncio.client import ClientConnection, connect

from arena.battles.guard import StepGuard
from arena.fixture import FixtureTeam
from arena.record import BattleRecord
from arena.remote import lobby as lobby_module
from arena.remote.ladder import Matchmaking
from arena.remote.lobby import JOIN_SECONDS, Limits, Lobby, user_name
from arena.store import rows
from arena.venues.server.client import Client
from teamsets.loading import load_set


@pytest.fixture(scope="module")
def here() -> Iterator[Place]:
    found = Place()
    yield found
    found.close()


@asynccontextmanager
async def lobby(
    place: Place,
    *specs: str,
    patience: float = 60.0,
    formats: tuple[str, ...] = (DRAWN,),
    limits: Limits | None = None,
    join_limit: float = JOIN_SECONDS,
) -> AsyncIterator[tuple[Lobby, list[BattleRecord], list[str]]]:
    """A lobby with these agents, what it has kept, and what it has said."""
    kept: list[BattleRecord] = []
    said: list[str] = []
    teams = {f: () if "random" in f else tuple(_teams(f)) for f in formats}
    seed = uuid.uuid4().hex  # who was expected on this server by an earlier test, is so no more
    opened = Lobby(
        place.server,
        StepGuard(),
        PATIENT,
        teams,
        "competitive",
        seed,
        patience=patience,
        keep=kept.append,
        log=said.append,
        limits=limits,
        join_limit=join_limit,
    )
    await opened.open(specs)
    try:
        yield opened, kept, said
    finally:
        await opened.close()


def _teams(format_id: str) -> list[FixtureTeam]:
    return [FixtureTeam(t.id, t.name, packed=t.packed) for t in load_set("competitive", format_id).teams[:4]]


async def visit(place: Place, name: str, target: str, number: int = 1, spec: str = "random") -> str:
    """A visitor plays one battle, challenging `target`, or on the ladder when that is empty. Returns whom he met."""
    async with await Client.connect(place.server.uri, name) as client:
        battle = await ladder(client, Matchmaking(user=target)).battle(entrant(spec, number))
        assert battle is not None
        return battle.opponent


@pytest.mark.slow
def test_visitors_search_and_challenge_several_at_once_and_all_is_kept(here: Place) -> None:
    async def play() -> list[BattleRecord]:
        async with lobby(here, "random", "bad_agents:Uniform") as (opened, kept, _):
            await asyncio.gather(
                *(visit(here, f"visitor {n}", "random", n) for n in range(3)),
                *(visit(here, f"searcher {n}", "", n) for n in range(3)),
            )
            await opened.idle.wait()
            assert opened.in_progress == []
            return kept

    records = here.run(play)
    assert len(records) == 6
    assert len({record.fixture.key for record in records}) == 6
    visitors = set()
    for record in records:
        (user,) = (agent for agent in record.fixture.agents if agent.startswith("user:"))
        visitors.add(user)
        assert (record.reason, record.fault) in (("win", None), ("tie", None))
        assert all(record.logs) and record.input_log
        assert {decision[0] for decision in record.decisions} == {0, 1}
        assert record.to_line("run")
    assert visitors == {f"user:{kind}{n}" for kind in ("visitor", "searcher") for n in range(3)}
    assert {agent for record in records for agent in record.fixture.agents} > {"random", "bad_agents:Uniform"}


@pytest.mark.slow
def test_a_format_that_showdowns_ladder_has_not_can_be_searched(here: Place) -> None:
    format_id = "gen9championsvgc2026regma"

    async def play() -> list[str]:
        async with lobby(here, "random", formats=(format_id,)) as (opened, kept, _):
            async with await Client.connect(here.server.uri, "seeker") as client:
                visitor = entrant("random", format_id=format_id, team=team_of(format_id))
                battle = await ladder(client).battle(visitor)
                assert battle is not None
            await opened.idle.wait()
            return [record.fixture.format for record in kept]

    assert here.run(play) == [format_id]


@pytest.mark.slow
def test_searching_visitors_meet_everybody_in_turn_and_not_each_other(here: Place) -> None:
    async def play() -> list[str]:
        async with lobby(here, "random", "bad_agents:Uniform"):
            return [await visit(here, "brock", "", number) for number in range(4)]

    met = here.run(play)
    assert {re.sub("@.*", "", user) for user in met[:2]} == {"user:random", "user:uniform"}
    assert sorted(met[:2]) == sorted(met[2:])


@pytest.mark.slow
def test_battles_of_a_lobby_agent_go_on_over_broken_connections(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(here.server.uri, messages=60, accounts=False)  # when they have met

    async def play() -> list[BattleRecord]:
        direct = here.server.uri
        async with gate.open() as uri:
            monkeypatch.setattr(here.server, "uri", uri)
            async with lobby(here, "random") as (opened, kept, _):
                monkeypatch.setattr(here.server, "uri", direct)
                await asyncio.gather(*(visit(here, f"caller {c}", "random", n) for n, c in enumerate("abc")))
                await opened.idle.wait()
                return kept

    records = here.run(play)
    assert len(records) == 3 and {(record.reason, record.fault) for record in records} <= {("win", None), ("tie", None)}
    assert gate.cuts > 1


@pytest.mark.slow
def test_who_does_not_move_loses_by_the_clock_and_who_forfeits_loses(here: Place) -> None:
    async def play() -> list[BattleRecord]:
        async with (
            lobby(here, "random", patience=5.0) as (opened, kept, _),
            await Client.connect(here.server.uri, "stone") as still,
            await Client.connect(here.server.uri, "gone") as leaving,
            await Client.connect(here.server.uri, "quits") as quitting,
        ):
            left = asyncio.Event()
            leaving.on_battle = lambda room: left.set()  # type: ignore[func-returns-value]
            quitting.on_battle = lambda room: quitting.say("/forfeit", room)  # type: ignore[func-returns-value]
            for client in (still, leaving, quitting):
                client.use_team(None)
                client.challenge("random", DRAWN)
            await left.wait()
            await leaving.close()
            while len(kept) < 3:  # noqa: ASYNC110 (the lobby says it by no event)
                await asyncio.sleep(0.05)
            await opened.idle.wait()
            return kept

    found = {}
    for record in here.run(play):
        (user,) = (agent for agent in record.fixture.agents if agent.startswith("user:"))
        role = f"p{record.fixture.agents.index(user) + 1}"
        assert record.winner not in (None, role)
        found[user] = (record.reason, record.fault == role, (record.detail or "").replace(role, "he"))
    assert found == {
        "user:stone": ("timeout", True, "no choice within 5 s"),
        "user:gone": ("timeout", True, "no choice within 5 s: it had left"),
        "user:quits": ("win", False, "he forfeited"),
    }


def test_a_lobby_agent_that_fails_loses_and_others_go_on(here: Place) -> None:
    async def play() -> list[BattleRecord]:
        async with lobby(here, "bad_agents:Raises", "random") as (opened, kept, _):
            await asyncio.gather(visit(here, "lucky", "raises"), visit(here, "usual", "random"))
            await opened.idle.wait()
            return kept

    usual, failed = sorted(here.run(play), key=lambda record: record.reason == "error")
    assert failed.reason == "error" and (usual.reason, usual.fault) in (("win", None), ("tie", None))
    assert failed.fixture.agents[int(failed.fault == "p2")] == "bad_agents:Raises"


@pytest.mark.slow
def test_a_search_that_is_taken_back_and_a_wrong_format_leave_nothing(here: Place) -> None:
    async def play() -> tuple[list[BattleRecord], list[str]]:
        heard: list[str] = []
        async with (
            lobby(here, "random", join_limit=1.0) as (opened, kept, said),
            await Client.connect(here.server.uri, "fickle") as one,
        ):
            met = asyncio.Event()
            one.on_message = lambda user, text: heard.append(text)
            one.on_refusal = lambda words: (heard.append(words), met.set())  # type: ignore[func-returns-value]
            one.use_team(team_of("gen1ou").packed)
            one.challenge("random", "gen1ou")
            await met.wait()
            met.clear()
            one.say("/search gen1ou")
            await met.wait()
            one.say("/cancelsearch")
            one.use_team(None)
            opened._on_search({"search": "fickle", "format": DRAWN})  # he had been searching, and is no longer
            await opened.idle.wait()
            assert said == ["fickle did not come to a battle against random"]
            await visit(here, "firm", "")  # and the next one is met
            await opened.idle.wait()
            return kept, heard

    kept, heard = here.run(play)
    assert [agent for record in kept for agent in record.fixture.agents if "user" in agent] == ["user:firm"]
    assert heard.count("Only gen1randombattle is played on this server.") == 2
    assert any("rejected the challenge" in text for text in heard)


def held(opened: Lobby) -> Callable[[], None]:
    """Keeps the first agent's searches back, so that who searches waits; what is returned sends them and ends that."""
    client, kept = opened.agents[0].client, []
    say = client.say

    def hold(text: str, room: str = "") -> None:
        if text.startswith("/search"):
            kept.append(text)
        else:
            say(text, room)

    def release() -> None:
        client.say = say  # type: ignore[method-assign]
        for text in kept:
            say(text)

    client.say = hold  # type: ignore[method-assign]
    return release


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not true():  # noqa: ASYNC110 (the lobby says it by no event)
            await asyncio.sleep(0.02)


def test_visitors_who_search_and_leave_block_nobody(here: Place) -> None:
    """Each held an agent for 30 s. Here that would be an hour, so the test ends only when it is not waited for."""

    async def play() -> tuple[list[BattleRecord], list[str]]:
        async with lobby(here, "random", join_limit=3600.0) as (opened, kept, said):
            release = held(opened)
            rude = await asyncio.gather(*(Client.connect(here.server.uri, f"rude {n}") for n in range(30)))
            for client in rude:
                client.use_team(None)
                client.say(f"/search {DRAWN}")
            await until(lambda: opened._open.total() == 30)
            rude[0].say("/cancelsearch")  # the one for whom the agent waits stays, and searches no longer
            await until(lambda: opened._open.total() == 29)
            rude[1].say("/trn polite,0,")  # and the next one is somebody else now
            await until(lambda: opened._open.total() == 28)
            await asyncio.gather(*(client.close() for client in rude))
            async with asyncio.timeout(60):
                await opened.idle.wait()
            assert not opened._open and not opened._requests and not opened.agents[0].clients
            release()  # searches of the agent that come late: nobody is expected, so they end
            async with asyncio.timeout(60):
                await visit(here, "firm", "")
                await opened.idle.wait()
            assert opened.agents[0].battles == 1
            return kept, said

    kept, said = here.run(play)
    assert sorted(said) == sorted(f"rude{n} did not come to a battle against random" for n in range(30))
    assert ["user:firm" in record.fixture.agents for record in kept] == [True]


@pytest.mark.parametrize(("visitor", "words"), [("Eager", f"/challenge random, {DRAWN}"), ("Keen", f"/search {DRAWN}")])
def test_a_visitor_gets_another_battle_as_soon_as_one_has_begun(
    here: Place, monkeypatch: pytest.MonkeyPatch, visitor: str, words: str
) -> None:
    class LateEvent(asyncio.Event):
        """As on a busy machine: the task that waits runs later than the callbacks of further messages."""

        def set(self) -> None:
            asyncio.get_running_loop().call_later(0.5, super().set)

    class Late(lobby_module.BattleClient):
        def __init__(self, client: Client) -> None:
            super().__init__(client)
            self.begun = LateEvent()

    monkeypatch.setattr(lobby_module, "BattleClient", Late)
    rooms: list[str] = []

    async def play() -> None:
        async with lobby(here, "random"), await Client.connect(here.server.uri, visitor) as eager:

            def begun(room: str) -> None:
                rooms.append(room)
                if len(rooms) == 1:
                    eager.say(words)

            eager.on_battle = begun
            eager.say(words)
            await until(lambda: len(rooms) > 1)

    here.run(play)
    assert len(set(rooms)) == 2


@pytest.mark.slow
def test_flooding_programs_do_not_keep_others_out(here: Place) -> None:
    """A newcomer signs in and plays while others, who send without a pause, have not been answered their last message."""
    answered: list[int] = []

    async def flood(number: int) -> None:
        async with connect(here.server.uri, max_size=None) as socket:
            await socket.send(f"|/trn flood{number},0,")
            reading = asyncio.ensure_future(read(socket, number))
            for _ in range(2000):
                await socket.send(f"|/search {DRAWN}\n/cancelsearch\n/cmd userdetails flood{number}")
            await socket.send("|/cmd rooms")
            await reading

    async def read(socket: ClientConnection, number: int) -> None:
        async for message in socket:
            if "|queryresponse|rooms|" in str(message):
                answered.append(number)
                return

    async def play() -> str:
        async with lobby(here, "random"):
            flooding = [asyncio.ensure_future(flood(number)) for number in range(10)]
            await asyncio.sleep(1.0)
            met = await visit(here, "newcomer", "random")
            assert answered == []
            for each in flooding:
                each.cancel()
            await asyncio.gather(*flooding, return_exceptions=True)
            return met

    assert here.run(play).startswith("user:random@")


def test_limits_are_kept_and_named(here: Place) -> None:
    async def play() -> dict[str, list[str]]:
        heard: dict[str, list[str]] = {}
        async with lobby(here, "random", limits=Limits(visitor=1, total=2), join_limit=3600.0) as (opened, _, _):
            held(opened)
            clients = [await Client.connect(here.server.uri, name) for name in ("greedy", "second", "third")]
            searching: list[list[str]] = []
            for client in clients:
                heard[client.user] = []
                client.on_refusal = heard[client.user].append
                client.use_team(None)
            greedy, second, third = clients
            greedy.say(f"/search {DRAWN}")
            await until(lambda: opened._open.total() == 1)
            greedy.challenge("random", DRAWN)
            await until(lambda: len(heard["greedy"]) >= 1)
            second.say(f"/search {DRAWN}")
            await until(lambda: opened._open.total() == 2)
            third.on_search = lambda formats, rooms: searching.append(formats)
            third.say(f"/search {DRAWN}")
            await until(lambda: len(heard["third"]) == 1 and searching[-1:] == [[]])
            await second.close()  # a place becomes free
            await until(lambda: opened._open.total() == 1)
            third.say(f"/search {DRAWN}")
            await until(lambda: opened._open.total() == 2)
            for client in (greedy, third):
                await client.close()
            async with asyncio.timeout(60):
                await opened.idle.wait()
        return heard

    heard = here.run(play)
    assert heard["greedy"][0] == (
        "You have 1 open battles and requests. The limit is 1 per visitor: please finish one first."
    )
    assert heard["third"] == ["2 battles and requests are open on this server. The limit is 2: please try again later."]
    assert heard["second"] == []


@pytest.mark.parametrize(
    ("spec", "taken", "name"),
    [
        ("heuristic:max-damage", set(), "max-damage"),
        ("random", set(), "random"),
        ("search:mcts?ms=100", set(), "mcts ms 100"),
        ("heuristic:max-damage?risk=0.2", {"maxdamage"}, "max-damage risk 0"),
        ("poke-env:SimpleHeuristicsPlayer", {"simpleheuristicspl"}, "SimpleHeuristics 2"),
        ("x:7", set(), "agent 7"),
    ],
)
def test_lobby_agents_have_short_names_of_their_own(spec: str, taken: set[str], name: str) -> None:
    assert user_name(spec, taken) == name


# the command


class Opened:
    """`arena serve` as a process of its own, and poke-env players that visit it."""

    def __init__(self, *words: Any, **environment: str) -> None:
        self.process = start_arena("serve", "--port", 0, *words, **environment)
        assert self.process.stdout is not None
        self.lines: list[str] = []
        self.uri = ""
        for line in self.process.stdout:
            self.lines.append(line)
            if found := re.search(r"ws://\S+/showdown/websocket", line):
                self.uri = found[0]
            if line.startswith("Ctrl-C stops the server"):
                return
        raise AssertionError(f"it did not open: {self.process.communicate()}")

    def player(self, name: str, format_id: str, team: str | None = None) -> Player:
        return RandomPlayer(
            account_configuration=AccountConfiguration(name, None),
            battle_format=format_id,
            server_configuration=ServerConfiguration(self.uri, ""),
            team=team,
        )

    def idler(self) -> Any:
        """Somebody called Slow, in a battle found on the ladder, who moves only in its first turn; the future of its end.

        Returns in the second turn: the agent has moved, so that the battle is in progress for the command, too.
        """
        slow = self.player("Slow", DRAWN)
        move = slow.choose_move
        slow.choose_move = lambda battle: move(battle) if battle.turn < 2 else asyncio.sleep(600)  # type: ignore[assignment,method-assign]
        visit = asyncio.run_coroutine_threadsafe(slow.ladder(1), POKE_LOOP)
        wait(lambda: any(battle.turn > 1 for battle in slow.battles.values()))
        return visit

    def ended(self, number: signal.Signals) -> Said:
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        return Said(self.process.returncode, out, err)


def in_poke_loop(*coroutines: Any) -> None:
    for waiting in [asyncio.run_coroutine_threadsafe(each, POKE_LOOP) for each in coroutines]:
        waiting.result(180)


@pytest.fixture
def mark() -> Iterator[str]:
    mark = uuid.uuid4().hex
    yield mark
    try:
        wait(lambda: not processes(mark))
    finally:
        for pid in processes(mark):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
def test_poke_env_players_visit_the_command_and_ratings_are_shown(
    tmp_path: Path, mark: str, arena: Callable[..., Said]
) -> None:
    db = tmp_path / "arena.duckdb"
    formats = ("--format", "gen1ou", "--format", DRAWN)
    assert (
        run_arena("evaluate", "random", "heuristic:max-damage", "--format", DRAWN, "--battles", 4, "--db", db).code == 0
    )
    opened = Opened("--agents", "random", "heuristic:max-damage", *formats, "--db", db, MARK=mark)
    team = load_set("competitive", "gen1ou").teams[0]
    searching, challenging = opened.player("Ash", DRAWN), opened.player("Misty", "gen1ou", team.export)
    in_poke_loop(searching.ladder(3), challenging.send_challenges("max-damage", 2))
    in_poke_loop(searching.ps_client._stop_listening(), challenging.ps_client._stop_listening())
    said = opened.ended(signal.SIGINT)
    assert (said.code, said.err) == (0, "")
    assert "user:ash" in said.out and "user:misty" in said.out and "Elo with 95% intervals" in said.out
    assert searching.n_finished_battles == 3 and challenging.n_finished_battles == 2
    found = rows(
        "SELECT agent, opponent, format, team_set, outcome, seat, battle_id FROM results "
        "WHERE agent LIKE 'user:%' ORDER BY battle_id",
        db,
    )
    assert sorted((agent, f, t) for agent, _, f, t, *_ in found) == sorted(
        [("user:ash", DRAWN, "drawn")] * 3 + [("user:misty", "gen1ou", "competitive")] * 2
    )
    wins = sum(outcome == "win" for agent, _, _, _, outcome, *_ in found if agent == "user:ash")
    assert wins == searching.n_won_battles
    teams = "SELECT DISTINCT t.packed FROM results JOIN teams t USING (team_id) WHERE agent = 'user:misty'"
    assert len(rows(teams, db)) == 1
    assert rows("SELECT kind, status FROM runs ORDER BY started", db)[1] == ("serve", "finished")
    assert rows("SELECT count(*) FROM evidence", db) == [(4,)]  # what the agents played before counts
    for battle_id in (found[0][6], found[-1][6]):
        assert arena("replay", battle_id, "--db", db).code == 0
        assert arena("watch", battle_id, "--db", db).code == 0
    reported = arena("report", "--db", db)
    assert reported.code == 0 and "user:NAME is a remote player who signed in under that name" in reported.out


@pytest.mark.slow
def test_poke_env_players_visit_doubles(tmp_path: Path, mark: str) -> None:
    db = tmp_path / "arena.duckdb"
    drawn, champions = "gen9randomdoublesbattle", "gen9championsvgc2026regma"
    opened = Opened("random", "--format", drawn, "--format", champions, "--db", db, MARK=mark)
    team = load_set("competitive", champions).teams[0]
    searching, challenging = opened.player("Ash", drawn), opened.player("Misty", champions, team.export)
    in_poke_loop(searching.ladder(2), challenging.send_challenges("random", 1))
    in_poke_loop(challenging.ladder(1))
    in_poke_loop(searching.ps_client._stop_listening(), challenging.ps_client._stop_listening())
    said = opened.ended(signal.SIGINT)
    assert (said.code, said.err) == (0, "")
    assert searching.n_finished_battles == challenging.n_finished_battles == 2
    found = rows("SELECT format, fault, reason FROM battles ORDER BY format", db)
    assert [format_id for format_id, *_ in found] == [champions] * 2 + [drawn] * 2
    assert {(fault, reason) for _, fault, reason in found} <= {(None, "win"), (None, "tie")}


@pytest.mark.slow
def test_a_killed_server_loses_no_finished_battle_and_leaves_no_process(tmp_path: Path, mark: str) -> None:
    db = tmp_path / "arena.duckdb"
    opened = Opened("random", "--format", DRAWN, "--db", db, MARK=mark)
    assert len(processes(mark)) >= 3  # ours, the server's, and that of its battles
    in_poke_loop(opened.player("Ash", DRAWN).send_challenges("random", 2))
    visit = opened.idler()
    opened.ended(signal.SIGKILL)
    visit.cancel()
    said = run_arena("sql", "SELECT p1, p2, reason FROM battles", "--csv", "--db", db)
    assert said.out.count("user:ash") == 2 and "user:slow" not in said.out


@pytest.mark.slow
def test_ctrl_c_lets_a_battle_end_and_a_second_one_drops_it(tmp_path: Path, mark: str) -> None:
    db = tmp_path / "arena.duckdb"
    opened = Opened("random", "--format", DRAWN, "--db", db, MARK=mark)
    visit = opened.idler()
    opened.process.send_signal(signal.SIGINT)
    assert opened.process.stdout is not None
    assert (
        opened.process.stdout.readline()
        == "No new battles are started. Waiting for 1 in progress; Ctrl-C again aborts them.\n"
    )
    with pytest.raises(subprocess.TimeoutExpired):
        opened.process.wait(1)
    said = opened.ended(signal.SIGINT)
    visit.cancel()
    assert (said.code, said.err) == (130, "")
    assert "No battles were played." in said.out
    assert rows("SELECT status FROM runs", db) == [("stopped",)]


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.0.2.1"])
def test_an_address_that_others_reach_is_refused_unless_that_is_wanted(
    address: str, arena: Callable[..., Said]
) -> None:
    said = arena("serve", "random", "--host", address)
    assert said.code == 2
    assert said.err == (
        f"arena: --host {address}: other machines could connect, and the server has no passwords: add --public to allow "
        "that\n"
    )


def test_other_bad_input_is_one_line(arena: Callable[..., Said]) -> None:
    for words, problem in [
        (("--agents",), "--agents: no agent follows"),
        (("random", "--host", "here"), "--host here: not an IP address"),
        (("nobody",), "agent 'nobody': unknown"),
        (("external?command=true",), "agent 'external?command=true': an external program"),
        (("user:ash",), "agent 'user:ash': user:NAME labels a remote player"),
    ]:
        said = arena("serve", *words, "--db", os.devnull + "-not")
        assert said.code == 2 and problem in said.err and said.err.count("\n") == 1, said
