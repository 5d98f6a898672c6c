"""One battle on the engine: its row, its seats, its input log, and its end."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson

from agents import Choice
from agents.engine.gen1.layout import STUCK, UNDECIDED
from arena.battles.guard import StepGuard
from arena.battles.seat import Fault
from arena.battles.session import BattleSession, player_options
from arena.fixture import SEATS, Fixture
from arena.venue import NotOnEngine, Rules, VenuesDiffer
from arena.venues.engine.requests import QuestionBuilder, engine_action, members_of
from arena.venues.engine.seat import EngineSeat

#: Showdown's own limit, after which it ends a battle as a tie.
_TURN_LIMIT = 1000


class EngineBattle(BattleSession):
    """A fixture in a row of the engine.

    teams: packed, of both seats. row: its place in the engine. ask_separately: not in a batch with others. over: its end,
    as `BattleSession.record` takes it, or NotOnEngine or AskSeparately. choices: of the seats that were asked and have
    decided.
    """

    venue = "engine"
    seat_class = EngineSeat
    seats: dict[str, EngineSeat]  # type: ignore[assignment]

    def __init__(
        self,
        fixture: Fixture,
        guard: StepGuard,
        serial: int,
        rules: Rules,
        teams: tuple[str, str],
        row: int,
        *,
        ask_separately: bool = False,
    ) -> None:
        tag = f"battle-{fixture.format}-{serial}"
        super().__init__(fixture, guard, serial, tag=tag, think_limit=rules.think_limit)
        self.row, self.ask_separately, self.max_turns = row, ask_separately, rules.max_turns
        self.over: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.choices: dict[str, Choice] = {}
        self.failed: dict[str, Fault] = {}
        self.waiting_roles: set[str] = set()  # roles that have not answered yet
        self.answered_at_once: set[str] = set()  # roles that answered in the step in which they were asked
        self.turn = 0
        self.input_log = opening_lines(fixture)
        self._question_builders = [
            QuestionBuilder(role, members_of(role, packed)) for role, packed in zip(SEATS, teams, strict=True)
        ]

    def advance(self, result: list[int], parts: list[list[int]]) -> list[EngineSeat]:
        """Process its state after a step (see `describe_rows`). Returns the seats to be asked; none if it is over."""
        winner, self.turn = result
        if self.faults:  # of an agent that could not be created
            self.failed = dict(self.faults)
            self.settle()
            return []
        if winner == STUCK:
            raise NotOnEngine("Showdown itself fails in this battle")
        if winner != UNDECIDED:
            self.end(SEATS[winner] if winner < len(SEATS) else "", turn_limit=self.turn > _TURN_LIMIT)
            return []
        if self.turn > self.max_turns:
            self.input_log.append(">forcetie")
            self.end("", turn_limit=True)
            return []
        posed = []
        for role, builder, part in zip(SEATS, self._question_builders, parts, strict=True):
            question = builder.ask(part)
            if question is not None:
                self.seats[role].pose(question, self.turn)
                posed.append(self.seats[role])
                self.waiting_roles.add(role)
        if not posed:
            raise self.differs(f"turn {self.turn}: the engine asks nobody")
        return posed

    def differs(self, difference: str) -> VenuesDiffer:
        """Return the error for a battle that Showdown plays in another way."""
        fixture = self.fixture
        return VenuesDiffer(
            f"the engine and Showdown differ in {fixture.format}, fixture {fixture.key}, seed {fixture.seed}, "
            f"{fixture.agents[0]} against {fixture.agents[1]}: {difference}"
        )

    def record_choice(self, seat: EngineSeat, choice: Choice | Fault, *, at_once: bool = False) -> bool:
        """Note a seat's choice or failure. Returns whether the battle can be stepped. at_once: not by a coroutine."""
        self.waiting_roles.discard(seat.role)
        if at_once:
            self.answered_at_once.add(seat.role)
        if isinstance(choice, Fault):
            self.failed[seat.role] = choice
        else:
            self.choices[seat.role] = choice
        if self.waiting_roles or self.over.done():
            return False
        return self.settle()

    def settle(self) -> bool:
        """Return whether all who were asked have chosen. The first of those that failed loses.

        As in the simulator: those that answer at once come first, p1 before p2, and nobody is asked after a failure.
        """
        if not self.failed:
            return True
        loser = min(self.failed, key=lambda role: (role not in self.answered_at_once, role))
        other = SEATS[1 - SEATS.index(loser)]
        asked_later = other == SEATS[1] or other not in self.answered_at_once
        if loser in self.answered_at_once and asked_later and other in self.choices:
            self.seats[other].drop_last_decision()
        self.fault = (loser, self.failed[loser])
        self.input_log.append(f">forcelose {loser}")
        self.end(other)
        return False

    def actions(self) -> list[int]:
        """Return both seats' actions for the engine, and note their choices in the input log."""
        both = [0, 0]
        for index, role in enumerate(SEATS):
            choice = self.choices.get(role)
            if choice is not None:
                question = self.seats[role].question
                assert question is not None
                both[index] = engine_action(choice)
                self.input_log.append(f">{role} {question.noted[choice.wire]}")
        self.choices = {}
        self.answered_at_once = set()
        return both

    def end(self, winner: str, *, turn_limit: bool = False) -> None:
        """Set its end."""
        for seat in self.seats.values():
            if seat.reads_battle:  # what `finish` may look at
                if winner:
                    seat.battle.won_by(winner)
                else:
                    seat.battle.tied()
            seat.battle.turn = self.turn
        if not self.over.done():
            self.over.set_result(
                {"winner": winner, "turns": self.turn, "turnLimit": turn_limit, "inputLog": self.input_log}
            )

    def break_off(self, error: Exception) -> None:
        """End it without a result."""
        if not self.over.done():
            self.over.set_exception(error)


def opening_lines(fixture: Fixture) -> list[str]:
    """Return the lines with which Showdown's input log of a fixture begins."""
    start = {"formatid": fixture.format, "seed": fixture.seed}
    return [
        f">start {orjson.dumps(start).decode()}",
        *(f">player {role} {orjson.dumps(options).decode()}" for role, options in player_options(fixture).items()),
    ]
