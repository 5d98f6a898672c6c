"""Best-of-three rooms of somebody else's server: all battles of a series are played, over breaks and faults."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.gate import Gate, LoginServer
from support.ladder_place import Place, entrant, ladder, team_of, until_begun

from arena.remote.ladder import Ladder, Matchmaking
from arena.remote.series_room import SeriesRoom
from arena.remote.user_battle import Entrant, UserBattle
from arena.store import Store, rows
from arena.venues.server.client import Client
from arena.venues.server.login import Account
from arena.venues.server.messages import format_of, series_format_of
from arena.venues.server.translate import Translator

#: Its series are found by a search, too.
BATTLES = "gen9championsvgc2026regmb"


@pytest.fixture(scope="module")
def there() -> Iterator[Place]:
    found = Place()
    yield found
    found.close()


def of_series(spec: str, game: int, number: int = 1) -> Entrant:
    first = entrant(spec, number, format_id=BATTLES, team=team_of(BATTLES))
    return replace(first, seed=f"{first.seed}/{game}", best_of=3, game=game, series_seed=first.seed)


async def play_series(one: Ladder, spec: str) -> list[UserBattle]:
    battle, found = await one.battle(of_series(spec, 1)), []
    while battle is not None:
        found.append(battle)
        battle = await one.next_game(of_series(spec, len(found) + 1))
    return found


async def meet(one: Ladder, other: Ladder, first: str, second: str) -> list[tuple[UserBattle, UserBattle]]:
    return list(zip(*await asyncio.gather(play_series(one, first), play_series(other, second)), strict=True))


def winners(battles: list[tuple[UserBattle, UserBattle]]) -> list[str | None]:
    """Who won each battle, by the side of the first ladder, checked from both sides."""
    found = []
    for one, other in battles:
        record, theirs = one.record(), other.record()
        assert record.winner == theirs.winner and record.turns == theirs.turns
        found.append(None if record.winner is None else "one" if record.winner == one.role else "other")
    return found


@pytest.mark.slow
def test_all_battles_of_a_rated_series_are_played_and_stored_as_one(there: Place, tmp_path: Path) -> None:
    async def play() -> tuple[list[tuple[UserBattle, UserBattle]], list[str]]:
        uri = there.server.uri
        async with await Client.connect(uri, "series one") as a, await Client.connect(uri, "series two") as b:
            one, two = ladder(a), ladder(b)
            battles = await meet(one, two, "random", "heuristic:max-damage")
            await one.enter()  # in no room any more
            return battles, [battle.room for battle, _ in battles]

    battles, rooms = there.run(play)
    assert len(set(rooms)) == len(battles) in (2, 3)
    assert {format_of(room) for room in rooms} == {f"{BATTLES}bo3"}
    found = winners(battles)
    assert max(found.count("one"), found.count("other")) == 2
    assert found.count(found[-1]) == 2, "none after it was decided"
    assert [one.rating is not None for one, _ in battles] == [False] * (len(battles) - 1) + [True]
    store = Store(tmp_path / "arena.duckdb")
    for one, _ in battles:
        record = one.record()
        assert record.parse_warnings == 0
        assert sum(line.startswith("|showteam|") for log in record.logs for line in log) == 2
        assert not [line for log in record.logs for line in log if line.startswith("||") or "tempnotify" in line]
        store.add(record.to_line("run"))
    store.ingest_journal()
    [(score, battles_played, outcome)] = rows(
        "SELECT score::DOUBLE, battles, outcome FROM series_results WHERE agent = 'random'", tmp_path / "arena.duckdb"
    )
    assert battles_played == len(battles)
    assert (score, outcome) == ((1, "win") if found.count("one") == 2 else (0, "loss"))
    assert rows("SELECT DISTINCT format, best_of, open_sheets FROM battles", tmp_path / "arena.duckdb") == [
        (BATTLES, 3, True)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["random", "bad_agents:Raises"])
def test_a_series_goes_on_over_connections_that_break_and_an_agents_fault_costs_a_battle(
    there: Place, spec: str
) -> None:
    gate = Gate(there.server.uri, messages=9 if spec == "random" else 5)

    async def play() -> list[tuple[UserBattle, UserBattle]]:
        with LoginServer("secret").open() as login:
            async with (
                gate.open() as uri,
                await Client.connect(uri, Account("series three", login, "secret")) as a,
                await Client.connect(there.server.uri, "series four") as b,
            ):
                one, two = ladder(a, Matchmaking(accept=True)), ladder(b, Matchmaking(user="seriesthree"))
                return await meet(one, two, "heuristic:max-damage", spec)

    battles = there.run(play)
    found = winners(battles)
    assert gate.cuts > 1
    if spec == "bad_agents:Raises":
        assert found == ["one", "one"]
        assert [other.record().reason for _, other in battles] == ["error", "error"]
    else:
        assert max(found.count("one"), found.count("other")) == 2


@pytest.mark.slow
def test_stopping_lets_a_series_end_and_the_second_time_forfeits_all_of_it(there: Place) -> None:
    lines: list[str] = []

    async def play() -> list[tuple[UserBattle, UserBattle]]:
        uri = there.server.uri
        async with await Client.connect(uri, "series five") as a, await Client.connect(uri, "series six") as b:
            one, two = ladder(a, Matchmaking(user="seriessix"), lines), ladder(b, Matchmaking(accept=True))
            playing = asyncio.ensure_future(meet(one, two, "bad_agents:SleepsAsync", "random"))
            await until_begun(one)
            one.stop()
            one.stop()
            return await playing

    [(one, other)] = there.run(play)
    assert (one.record().reason, one.record().detail) == ("aborted", "forfeited by Ctrl-C")
    assert (other.record().winner, other.record().reason) == (other.role, "win")
    assert lines == ["Stopping after this series. Ctrl-C again forfeits it.", "Forfeiting."]


class Heard:
    """A client that keeps what is sent."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []

    def say(self, text: str, room: str = "") -> None:
        self.sent.append((room, text))


ASKED = '|c|~|/uhtml controls,<button class="button notifying" name="send" value="/msgroom R,/confirmready">I\'m ready!'
ANSWERED = '|c|~|/uhtml controls,<button class="button" disabled> I\'m ready!</button> waiting for opponent...'


def test_a_series_room_is_answered_once_and_when_we_are_ready() -> None:
    async def play() -> None:
        client = Heard()
        room = SeriesRoom(client, "R")  # type: ignore[arg-type]
        room.receive([ASKED])
        assert client.sent == []
        await asyncio.wait_for(room.settled(), 60)
        room.be_ready()
        room.receive([ANSWERED])
        room.be_ready()
        assert client.sent == [("R", "/confirmready")]
        room.begin()
        room.be_ready()
        room.receive(["|init|battle", ASKED])  # asked later, after a reconnection
        assert len(client.sent) == 2
        room.receive(["|win|somebody"])
        assert room.over.done()

    asyncio.run(play())


def test_rooms_of_series_and_what_they_add_to_a_battle_are_told_from_battles() -> None:
    assert series_format_of("game-bestof3-gen9championsvgc2026regmabo3-7") == "gen9championsvgc2026regmabo3"
    assert series_format_of("battle-gen9championsvgc2026regmabo3-8") == series_format_of("game-trivia") == ""
    translator = Translator()
    for line in ("||somebody is ready for game 2.", "|tempnotify|choice|Next game|It's time", "|tempnotifyoff|choice"):
        assert translator.line(line) is None
    assert translator.line("|") == "|"
