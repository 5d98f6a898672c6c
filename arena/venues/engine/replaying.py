"""Replays stored battles on the engine, many at once, by their stored choices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agents.battle.choices import Choice
from agents.engine.gen1.engine import Engine
from agents.engine.gen1.layout import STUCK, UNDECIDED
from arena.fixture import SEATS
from arena.venue import NotOnEngine
from arena.venues.engine.requests import QuestionBuilder, SeatQuestion, describe_rows, engine_action, members_of
from arena.venues.engine.stored import StoredResult
from arena.venues.simulator.replaying import BattleReplay, ReplayedDecision, ReplayedSide
from teamsets.errors import BadInput


class _EngineReplay:
    """A battle being replayed: what each seat was asked, and the input log as Showdown would note it."""

    def __init__(self, battle: StoredResult, teams: tuple[str, str]) -> None:
        self.battle = battle
        self.sides = (ReplayedSide(), ReplayedSide())
        self.question_builders = [
            QuestionBuilder(role, members_of(role, packed)) for role, packed in zip(SEATS, teams, strict=True)
        ]
        self.input_log = [line for line in battle.input_log if line.startswith((">start ", ">player "))]
        self.winner, self.turn, self.over, self.limit = "", 0, False, False

    def actions(self, result: list[int], parts: list[list[int]]) -> list[int] | None:
        """Both seats' stored actions at this state (see `describe_rows`); None at its end. Raises NotOnEngine."""
        winner, self.turn = result
        if winner == STUCK:
            return None
        if winner != UNDECIDED:
            self.over, self.winner = True, SEATS[winner] if winner < len(SEATS) else ""
            return None
        chosen: dict[int, tuple[SeatQuestion, Choice]] = {}
        missing = False
        for index, (builder, side, kept, part) in enumerate(
            zip(self.question_builders, self.sides, self.battle.decisions, parts, strict=True)
        ):
            question = builder.ask(part)
            if question is None:
                continue
            number = len(side.decisions)
            side.decisions.append(ReplayedDecision(self.turn, question.labels))
            choice = _choice_labelled(question, kept[number].choice) if number < len(kept) else None
            if choice is None:
                missing = True
            else:
                chosen[index] = question, choice
        if missing:
            self._forced()
            return None
        both = [0, 0]
        for index, (question, choice) in chosen.items():
            self.input_log.append(f">{SEATS[index]} {question.noted[choice.wire]}")
            both[index] = engine_action(choice)
        return both

    def _forced(self) -> None:
        """End it as it was ended: an agent failed, or the run's limit of turns was reached."""
        last = self.battle.input_log[-1]
        if last.startswith(">forcelose "):
            self.over, self.winner = True, SEATS[1 - SEATS.index(last[-2:])]
        elif last == ">forcetie":
            self.over = self.limit = True
            for side in self.sides:  # nobody was asked any more
                if side.decisions and side.decisions[-1].turn == self.turn:
                    side.decisions.pop()
        if self.over:
            self.input_log.append(last)

    def replay(self) -> BattleReplay:
        """The whole battle, as Showdown's replays are."""
        end = {"winner": self.winner, "turns": self.turn, "turnLimit": self.limit, "inputLog": self.input_log}
        return BattleReplay(self.sides, end if self.over else None)


def _choice_labelled(question: SeatQuestion, label: str) -> Choice | None:
    return next((choice for choice in question.legal if choice.label == label), None)


def replay_on_engine(
    battles: Sequence[StoredResult], teams: Sequence[tuple[str, str]]
) -> list[BattleReplay | NotOnEngine]:
    """Replay battles on the engine, with NotOnEngine in the place of one that it cannot play. teams: packed."""
    battle_replays = [_EngineReplay(battle, pair) for battle, pair in zip(battles, teams, strict=True)]
    replays: dict[int, BattleReplay | NotOnEngine] = {}
    engine = Engine(len(battle_replays))
    playing = []
    for row, (battle_replay, pair) in enumerate(zip(battle_replays, teams, strict=True)):
        try:
            engine.reset([pair], [battle_replay.battle.seed], [row])
            playing.append(row)
        except (BadInput, ValueError) as error:
            replays[row] = NotOnEngine(str(error))
    while playing:
        results, parts = describe_rows(engine.words[playing])
        continuing, actions = [], []
        for row, result, part in zip(playing, results, parts, strict=True):
            try:
                both = battle_replays[row].actions(result, part)
            except NotOnEngine as error:
                replays[row] = error
                continue
            if both is None:
                replays[row] = battle_replays[row].replay()
            else:
                continuing.append(row)
                actions.append(both)
        if continuing:
            part_of = engine.fork(continuing)
            part_of.step(np.array(actions, np.int32))
            engine.words[continuing] = part_of.words
        playing = continuing
    return [replays[row] for row in range(len(battle_replays))]
