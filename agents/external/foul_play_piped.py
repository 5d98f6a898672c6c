"""`foul-play:piped`: foul-play as an agent like any other, without a server."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import orjson
from poke_env.data import to_id_str

from agents.battle import SeatBattle
from agents.battle.choices import Choice, listed_move
from agents.contract import OptionLimits, SinglesAgent
from agents.external.foul_play import RESIDENT, FoulPlay, command_line, launcher_command, search_options
from agents.external.foul_play_process import FoulPlayBattle, ResidentFoulPlay, residents
from agents.mechanics.spreads import spread_of
from teamsets.errors import BadInput

#: Its own name and the opponent's, as foul-play reads them: neither is part of the other.
_NAME, _OPPONENT = "foulplay", "theother"
_ROOM = ">battle-piped-1\n"


class PipedFoulPlay(SinglesAgent):
    """foul-play, the search bot by pmariglia, as an agent like any other: without a server, also as a coach.

    The same program as `foul-play`, with the same play: it samples hidden information, searches each sample for `ms`
    milliseconds, and samples among the good choices. What a websocket would deliver, protocol lines and requests, goes to
    its process, and its choice comes back. A process plays one battle; a worker searches one decision at a time.

    As a coach (`coached`, `learner.expert` of curricula) it is given the choices that are played instead of its own.

    Diagnostics of each decision: `visits`, each legal choice's share of the visits of all samples.

    Needs its checkout, Rust's cargo, and `arena agents setup foul-play`; `arena agents doctor foul-play` shows what is
    missing.

    Options: ms, milliseconds per sample, 100; parallelism, number of samples searched at once, each in a process, 1;
    threads, of each search, 1.
    """

    repeatable: ClassVar[bool] = False
    option_limits: ClassVar[OptionLimits] = dict.fromkeys(("ms", "parallelism", "threads"), (1, math.inf))

    def __init__(self, ms: int = 100, parallelism: int = 1, threads: int = 1) -> None:
        if problem := self.wrong_option(ms=ms, parallelism=parallelism, threads=threads):
            raise BadInput(f"foul-play:piped: {problem}")
        self._options = search_options(ms, parallelism, threads)
        self._command: list[str] = []  # that starts the resident process
        self._process: FoulPlayBattle | None = None
        self._sent = 0
        self._shown: dict[str, Any] | None = None  # the last request that its process has received
        self._played: str | None = None

    @classmethod
    def missing(cls, format_id: str | None = None, **options: Any) -> str:
        """Return what `foul-play` lacks."""
        return FoulPlay.missing(format_id)

    @classmethod
    def version(cls, **options: Any) -> str:
        """Return the hash of the checkout and of our code in its process."""
        program = FoulPlay.version()
        return program and program + hashlib.sha256(RESIDENT.read_bytes()).hexdigest()

    def prepare(self, format_id: str) -> None:
        """Start the resident process, if it has not started yet."""
        self._resident(format_id)

    def act(self, battle: SeatBattle) -> str:
        return self._choice(battle)

    def team_preview(self, battle: SeatBattle) -> str:
        return self._choice(battle)

    def observe_choice(self, battle: SeatBattle, choice: Choice) -> None:
        """Note the choice that is played at the current request instead of its own: `coached` calls this."""
        if self._shown is not battle.last_request:  # it was not asked, and needs the request
            self._choice(battle)
        self._played = selected_move(battle.last_request, choice)

    def finish(self, battle: SeatBattle) -> None:
        if self._process is not None:
            self._process.close()

    def _choice(self, battle: SeatBattle) -> str:
        """Give foul-play what the seat has received since the last decision, and return its choice."""
        request, gen = battle.last_request, battle.gen
        lines, self._sent = battle.lines[self._sent :], len(battle.lines)
        message = request_message(request)
        if self._process is None:
            self._process = self._start(battle.format_id)
            messages = [*first_messages(battle, lines), message]
            spreads = [spread_of(gen, entry) for entry in request["side"]["pokemon"]]
        else:
            messages, spreads = [*later_messages(lines, request), message], []
        played, self._played, self._shown = self._played, None, request
        answer, visits = self._process.choose(messages, played, spreads)
        shares = visit_shares(battle, visits)
        self.diagnostics = {"visits": shares} if shares else None
        return answer

    def _resident(self, format_id: str) -> ResidentFoulPlay:
        self._command = self._command or launcher_command(format_id, resident=True)
        return residents.get(tuple(self._command))

    def _start(self, format_id: str) -> FoulPlayBattle:
        names = {"websocket-uri": "none", "ps-username": _NAME, "bot-mode": "challenge_user"}
        bot = {**names, "user-to-challenge": _OPPONENT, "pokemon-format": format_id, **self._options}
        return self._resident(format_id).fork(command_line(bot))


def first_messages(battle: SeatBattle, lines: Sequence[str]) -> Iterator[str]:
    """Yield the messages before the first request: the room, the opponent's seat, and the lines so far.

    Raises ValueError unless the request is the battle's first: foul-play reads a battle from its beginning.
    """
    previews = "|clearpoke" in lines and not battle.last_request.get("teamPreview")
    if previews or sum(line.startswith("|turn|") for line in lines) > 1:
        raise ValueError("foul-play:piped must be asked at a battle's first decision, team preview included")
    yield f"{_ROOM}|init|battle\n|title|{_NAME} vs. {_OPPONENT}"
    yield f"{_ROOM}|player|{'p2' if battle.player_role == 'p1' else 'p1'}|{_OPPONENT}|"
    yield _ROOM + "\n".join(lines)


def later_messages(lines: Sequence[str], request: dict[str, Any]) -> Iterator[str]:
    """Yield the lines since the last decision, with a request to wait between two updates, as a websocket delivers them."""
    updates = split_updates(lines)
    waiting = request_message({"wait": True, "side": request["side"]})
    for number, update in enumerate(updates):
        if number:
            yield waiting
        yield _ROOM + "\n".join(update)


def split_updates(lines: Sequence[str]) -> list[list[str]]:
    """Split lines into Showdown's updates: one for each time that a side has chosen.

    Each begins with an empty line; the end of a turn does, too, but contains "upkeep".
    """
    parts: list[list[str]] = []
    for line in lines:
        if line == "|" or not parts:
            parts.append([])
        parts[-1].append(line)
    updates: list[list[str]] = []
    for part in parts:
        if updates and "|upkeep" in part:
            updates[-1] += part
        else:
            updates.append(part)
    return updates


def request_message(request: dict[str, Any]) -> str:
    """Return a request as the websocket delivers it. foul-play repeats its number, which counts nothing here."""
    return f"{_ROOM}|request|{orjson.dumps({'rqid': 0, **request}).decode()}"


def visit_shares(battle: SeatBattle, visits: dict[str, float]) -> dict[str, float]:
    """Return each legal choice's share of the visits, by label. visits: by foul-play's text of the choice."""
    fight = next((choice for choice in battle.legal if choice.label == "move fight"), None)
    shares: dict[str, float] = {}
    for text, share in visits.items():
        lead = text.replace("/switch ", "team ") if battle.legal[0].kind == "team" else text
        choice = fight if fight and text.startswith("/choose move ") else battle.read_answer(lead, battle.last_request)
        if choice is not None:
            shares[choice.label] = shares.get(choice.label, 0.0) + share
    total = sum(shares.values())
    return {label: round(share / total, 4) for label, share in shares.items()} if total else {}


def selected_move(request: dict[str, Any], choice: Choice) -> str:
    """Return a choice as foul-play names what it has selected: the id of a move, or "switch SPECIES"."""
    team = request["side"]["pokemon"]
    if choice.kind != "move":
        return "switch " + to_id_str(team[choice.slot - 1]["details"].partition(",")[0])
    listed = request["active"][0]["moves"][choice.slot - 1]
    if listed["id"] == "fight":  # generation 1: any of its moves
        return str(team[0]["moves"][0])
    return listed_move(listed) if listed["id"] == "hiddenpower" else str(listed["id"])
