"""Battles of the generation-9 engine behind the messages of a simulator's host (arena/venues/simulator/host.mjs).

Whoever plays on a host plays on this one: the messages are the same, line by line. There is no process: what is sent during
an iteration of the event loop is played at its end, all battles together.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from agents.engine.checks import seed_words
from agents.engine.gen9.choices import ILLEGAL, action_of, team_order, words_of
from agents.engine.gen9.engine import TIE, UNDECIDED, Engine, records
from agents.engine.gen9.log import for_seat, opening
from agents.engine.gen9.requests import Request, Team, request
from arena.fixture import SEATS
from arena.processes.child import Listeners, Message
from arena.venue import NotOnEngine
from arena.venues.simulator.replaying import input_log_teams
from teamsets.errors import BadInput

_ROWS = 64  # at first
_MAX_TURNS = 1000


class EngineHost(Listeners):
    """A host. dead: never set; there is no process that could end."""

    def __init__(self, threads: int = 1) -> None:
        super().__init__()
        self.dead: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._engine = Engine(_ROWS, threads)
        self._free = list(range(_ROWS))
        self._battles: dict[int, _Battle] = {}
        self._orders: list[Message] = []

    def send(self, message: Message) -> None:
        """Queue an order: start, choose, lose, reseed or stop."""
        if not self._orders:
            asyncio.get_running_loop().call_soon(self._play)
        self._orders.append(message)

    async def ask(self, message: Message) -> Message:
        """A battle played again from its input log: {"views": […], "end"}. Raises NotOnEngine for one of other teams."""
        return self._replayed(message["inputLog"])

    def _replayed(self, log: Sequence[str]) -> Message:
        options = input_log_teams(log)
        order = {"format": options["formatid"], "seed": options["seed"], **{role: options[role] for role in SEATS}}
        try:
            words = self._engine.previewed([(order["p1"]["team"], order["p2"]["team"])], [order["seed"]])
        except (BadInput, KeyError) as error:
            raise NotOnEngine(str(error)) from None
        battle = _Battle(0, words[0], order)
        views = [battle.report()]
        for line in log:
            name, _, rest = line[1:].partition(" ")
            if name in SEATS:
                battle.choose({name: rest})
                if battle.begins:
                    self._begin([battle])
                elif battle.ready:
                    self._step([battle])
            elif name == "forcelose":
                battle.lose(rest)
            elif name == "forcetie":
                battle.tie()
            elif name == "reseed":
                battle.reseed(rest)
            views.append(battle.report())
        if battle.row is not None:
            self._free.append(battle.row)
        seen = [view for view in views if any(view[role]["log"] or "ask" in view[role] for role in SEATS)]
        return {"views": seen, "end": views[-1].get("end")}

    def kill(self) -> None:
        """Nothing: there is no process."""

    async def close(self) -> None:
        """Nothing: there is no process."""

    def _play(self) -> None:
        orders, self._orders = self._orders, []
        replies = [message for order in orders if (message := self._handled(order))]
        touched = dict.fromkeys(order["id"] for order in orders)
        battles = [self._battles[number] for number in touched if number in self._battles]
        self._begin([battle for battle in battles if battle.begins])
        self._step([battle for battle in battles if battle.ready])
        for reply in (*replies, *(battle.report() for battle in battles)):
            if "end" in reply:
                self._drop(reply["id"])
            self.deliver(reply)

    def _handled(self, order: Message) -> Message | None:
        """Take an order in. Returns a message if it is refused."""
        number = order["id"]
        if order["op"] == "start":
            try:
                words = self._engine.previewed([(order["p1"]["team"], order["p2"]["team"])], [order["seed"]])
            except BadInput as error:
                return {"id": number, "refused": str(error)}
            self._battles[number] = _Battle(number, words[0], order)
            return None
        battle = self._battles.get(number)
        if battle is None:
            return None  # it ended while the order was on its way
        if order["op"] == "choose":
            battle.choose({role: order[role] for role in SEATS if role in order})
        elif order["op"] == "lose":
            battle.lose(order["side"])
        elif order["op"] == "reseed":
            battle.reseed(order["seed"])
        else:
            self._drop(number)
        return None

    def _drop(self, number: int) -> None:
        battle = self._battles.pop(number, None)
        if battle is not None and battle.row is not None:
            self._free.append(battle.row)

    def _begin(self, battles: Sequence[_Battle]) -> None:
        if not battles:
            return
        while len(self._free) < len(battles):
            old = len(self._engine.words)
            self._engine.words = np.concatenate([self._engine.words, np.zeros_like(self._engine.words)])
            self._free += range(old, 2 * old)
            for battle in self._battles.values():
                battle.look_at(self._engine)
        rows = [self._free.pop() for _ in battles]
        for row in rows:
            self._engine.record(row)
        orders = [battle.orders() for battle in battles]
        teams, seeds = [battle.teams for battle in battles], [battle.seed for battle in battles]
        self._engine.reset(teams, seeds, rows, orders, np.stack([battle.previewed for battle in battles]))
        for battle, row in zip(battles, rows, strict=True):
            battle.row = row
            battle.look_at(self._engine)
        self._told(battles)

    def _step(self, battles: Sequence[_Battle]) -> None:
        if not battles:
            return
        rows = np.array([battle.row for battle in battles], np.int64)
        actions = np.zeros((len(battles), *Engine.shape), np.int32)
        actions[:, :, 0] = [battle.actions() for battle in battles]
        self._engine.step(actions, rows)
        self._told(battles)

    def _told(self, battles: Sequence[_Battle]) -> None:
        """Hand the battles what the engine has written, and what it asks now."""
        rows = np.array([battle.row for battle in battles], np.int64)
        legal, locked = (found[:, :, 0].tolist() for found in (self._engine.legal(rows), self._engine.locked(rows)))
        for battle, row, *asks in zip(battles, rows.tolist(), legal, locked, strict=True):
            lines = self._engine.lines(row)
            battle.played(lines[lines.index("|teampreview") + 1 :] if "|teampreview" in lines else lines, *asks)


class _Battle:
    """A battle, and what its two sides were told. row: of the engine, after the preview. previewed: its words before."""

    def __init__(self, number: int, words: NDArray[np.int32], order: Message) -> None:
        self.number = number
        self.teams, self.seed = (str(order["p1"]["team"]), str(order["p2"]["team"])), str(order["seed"])
        self.row: int | None = None
        self.previewed = words
        self._record = records(words[None])[0]
        self._shown = [Team(packed, seat) for seat, packed in enumerate(self.teams)]
        self._max_turns = order.get("maxTurns") or _MAX_TURNS
        self._turn_limit = False
        self._choices: dict[str, Any] = {}
        self._errors: dict[str, str] = {}
        self._unsent: dict[str, Request] = {}  # requests that a side has not been told
        self._told: dict[str, dict[str, Request]] = {role: {} for role in SEATS}
        self._asked: dict[str, Request] = {}  # what the sides were asked last, and have to answer
        self._legal, self._locked = [0, 0], [0, 0]
        self._end = ""
        start = orjson.dumps({"formatid": order["format"], "seed": order["seed"]}).decode()
        self._input_log = [f">start {start}"]
        for role in SEATS:
            self._input_log.append(f">player {role} {orjson.dumps(order[role]).decode()}")
        self._lines: list[list[str]] = [[], []]
        self._tell(opening(words, SEATS))
        for seat, role in enumerate(SEATS):
            side = self._shown[seat].request(self._record["sides"][seat])
            self._asked[role] = self._unsent[role] = {"teamPreview": True, "side": side}

    @property
    def begins(self) -> bool:
        """Whether both sides have chosen at the preview, and the battle has not begun."""
        return self.row is None and len(self._choices) == 2 and not self._end

    @property
    def ready(self) -> bool:
        """Whether everyone who was asked has chosen."""
        return (
            self.row is not None
            and not self._end
            and bool(self._choices)
            and self._choices.keys() >= self._asked.keys()
        )

    def look_at(self, engine: Engine) -> None:
        """Follow the engine's words, which have moved, or into which the battle has."""
        if self.row is not None:
            self._record = records(engine.words)[self.row]

    def _tell(self, lines: Iterable[str]) -> None:
        """Hand lines to both sides."""
        written = list(lines)
        for seat, told in enumerate(self._lines):
            told += for_seat(written, seat)

    def choose(self, choices: dict[str, str]) -> None:
        """Take in what sides choose. A choice that is refused becomes an error for its side, which is asked again."""
        for role, choice in choices.items():
            if self.row is None:
                order = team_order(choice, int(self._record["sides"][SEATS.index(role)]["size"]))
                if order is None:
                    self._refuse(role, f"[Invalid choice] Can't choose for Team Preview: {choice}")
                else:
                    self._choices[role] = order
            else:
                self._choose(role, choice)

    def _choose(self, role: str, choice: str) -> None:
        seat = SEATS.index(role)
        action = action_of(self._record["sides"][seat], self._legal[seat], choice)
        if action != ILLEGAL:
            self._choices[role] = action
            return
        shown = self._asked.get(role)
        known = shown is None or not self._reveal(seat, choice, shown)
        self._refuse(
            role, f"[{'Invalid' if known else 'Unavailable'} choice] Can't {choice.partition(' ')[0]}: {choice}"
        )

    def _reveal(self, seat: int, choice: str, asked: Request) -> bool:
        """Change a request that hides why a choice is not legal, as Showdown does. Returns whether it has changed."""
        side = self._record["sides"][seat]
        kind, _, rest = choice.partition(" ")
        active = asked["active"][0] if "active" in asked else {}
        trapped = side["pokemon"]["trapped"][(side["order"][0] - 1) % 6]
        changed = False
        if kind == "switch" and active and trapped and _able(asked, rest):
            changed = active.pop("maybeTrapped", False) or not active.get("trapped")
            active["trapped"] = True
        elif kind == "move" and active:
            name = rest.partition(" ")[0]
            for slot, move in enumerate(active["moves"], 1):
                usable = self._legal[seat] >> (slot - 1) & 1 or "pp" not in move
                if name in (str(slot), move["id"]) and not usable and "disabledSource" not in move:
                    changed = True
                    move["disabled"], move["disabledSource"] = True, ""
        if changed:
            asked["update"] = True
        return changed

    def _refuse(self, role: str, error: str) -> None:
        self._errors[role] = error
        if role in self._asked:
            self._unsent[role] = self._asked[role]

    def orders(self) -> tuple[Sequence[int], Sequence[int]]:
        """What both sides chose at the preview; it is written into the input log."""
        chosen: list[Sequence[int]] = []
        for role in SEATS:
            order = self._choices[role]
            self._input_log.append(f">{role} team {', '.join(str(place + 1) for place in order)}")
            chosen.append(order)
        self._choices = {}
        return chosen[0], chosen[1]

    def actions(self) -> list[int]:
        """Both sides' actions; what they chose is written into the input log."""
        for seat, role in enumerate(SEATS):
            if role in self._choices:
                words = words_of(self._record["sides"][seat], self._choices[role], self._locked[seat])
                self._input_log.append(f">{role} {words}")
        found = [self._choices.get(role, 0) for role in SEATS]
        self._choices = {}
        return found

    def played(self, lines: Sequence[str], legal: list[int], locked: list[int]) -> None:
        """Take in what the engine has written, and both sides' legal actions and moves that they must go on with."""
        self._tell(lines)
        if self._record["winner"] != UNDECIDED:
            winner = int(self._record["winner"])
            self._end = "tie" if winner == TIE else SEATS[winner]
            self._turn_limit = int(self._record["turn"]) > _MAX_TURNS
            return
        if self._record["turn"] > self._max_turns:
            self.tie()
            return
        self._legal, self._locked = legal, locked
        self._asked = {}
        for seat, role in enumerate(SEATS):
            asked = self._request(seat)
            if asked is not None:
                self._asked[role] = self._unsent[role] = asked
        if len(self._asked) == 1:
            for asked in self._asked.values():
                asked["noCancel"] = True

    def _request(self, seat: int) -> Request | None:
        return request(self._record["sides"][seat], self._shown[seat], self._locked[seat])

    def _finish(self, winner: str) -> None:
        """End the battle, as Showdown's `win` does."""
        self._end = winner
        self._tell(["|", "|tie" if winner == "tie" else f"|win|{winner}"])

    def tie(self) -> None:
        """The limit of turns is reached."""
        if not self._end:
            self._turn_limit = True
            self._input_log.append(">forcetie")
            self._finish("tie")

    def lose(self, role: str) -> None:
        """A side gives up."""
        self._input_log.append(f">forcelose {role}")
        if not self._end:
            self._finish(SEATS[1 - SEATS.index(role)])

    def reseed(self, seed: str) -> None:
        """Other random numbers from now on."""
        self._input_log.append(f">reseed {seed}")
        self._record["seed"] = seed_words(seed)

    def report(self) -> Message:
        """All that the sides were not told yet."""
        message: Message = {"id": self.number}
        for seat, role in enumerate(SEATS):
            view: dict[str, Any] = {"log": "\n".join(self._lines[seat])}
            self._lines[seat] = []
            asked = self._unsent.pop(role, None)
            if asked is not None and not self._end:
                view["ask"] = self._abridged(role, asked)
            if role in self._errors:
                view["error"] = self._errors.pop(role)
            message[role] = view
        if self._end:
            message["end"] = {
                "winner": "" if self._end == "tie" else self._end,
                "turns": int(self._record["turn"]),
                "turnLimit": self._turn_limit,
                "inputLog": self._input_log,
            }
        return message

    def _abridged(self, role: str, asked: Request) -> Request:
        """The request, with the name alone for each Pokémon whose entry is as the side knows it."""
        told = self._told[role]
        pokemon = []
        for entry in asked["side"]["pokemon"]:
            last = told.get(entry["ident"])
            pokemon.append(entry["ident"] if last is entry or last == entry else entry)
            told[entry["ident"]] = entry
        return {**asked, "side": {**asked["side"], "pokemon": pokemon}}


def _able(asked: Request, place: str) -> bool:
    """Whether a Pokémon on the bench could come in from this place of the team."""
    team = asked["side"]["pokemon"]
    return place.isdecimal() and 2 <= int(place) <= len(team) and team[int(place) - 1]["condition"] != "0 fnt"
