"""Stored battles brought back to their decisions, on the engine or on Showdown, and forked there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from agents import Agent
from agents.battle import SeatBattle, SeatDoubleBattle
from agents.battle.choices import legal_choices
from agents.engine import FORMATS, HOSTED_FORMATS
from agents.observation.actions import ACTIONS, legal_actions
from arena.fixture import SEATS, SHOW_SHEETS, Fixture, FixtureTeam, digest
from arena.venue import NotOnEngine
from arena.venues.engine.availability import check_engine
from arena.venues.engine.stored import stored_results
from arena.venues.simulator.replaying import input_log_teams
from arena.venues.simulator.reproduction import StoredDecision
from teamsets.drawn import drawn_teams
from teamsets.errors import ArenaError, BadInput, MissingTool
from teamsets.formats import get_format
from training.envs.venue import Battles, Ints, Pair, check_engine_format
from training.preferences.choices import DoublesChoices, SeatChoices, SinglesChoices

#: The row in which a stored battle is replayed.
LEADER = 0


@dataclass(frozen=True)
class ForkedSide:
    """A stored battle. fixture: as it was played. choices: of both seats, each with its index.

    previews: the choices at team preview of singles, which are not among the choices; in doubles they are, as decisions.
    """

    battle: int
    fixture: Fixture
    previews: tuple[str | None, str | None]
    choices: tuple[list[tuple[int, StoredDecision]], list[tuple[int, StoredDecision]]]


class Forks(Protocol):
    """A place where a stored battle is replayed in row LEADER and forked into other rows."""

    @property
    def battles(self) -> Battles:
        """The rows."""

    def begin(self, stored: ForkedSide) -> None:
        """Start the stored battle in row LEADER."""

    def choices(self, seat: int) -> SeatChoices:
        """Return what a seat of LEADER may choose. Raises NotOnEngine where the engine cannot tell."""

    def fork(self, rows: Ints, seeds: Sequence[str], agents: Sequence[Pair]) -> None:
        """Make these rows copies of LEADER, with random numbers of other seeds. agents: of their seats."""

    def close(self) -> None:
        """End what was started."""


class EngineForks:
    """Forks on the engine: copies of rows."""

    def __init__(self, rows: int, format_id: str) -> None:
        check_engine("forks on the engine")
        from training.envs.engine_battles import EngineBattles

        self.battles = EngineBattles(rows, format_id)

    def begin(self, stored: ForkedSide) -> None:
        from arena.venues.engine.requests import QuestionBuilder, members_of

        self.battles.begin(_rows(1), [stored.fixture], [(None, None)])
        packed = [str(team.packed) for team in stored.fixture.teams]
        self._question_builders = [
            QuestionBuilder(role, members_of(role, text)) for role, text in zip(SEATS, packed, strict=True)
        ]

    def choices(self, seat: int) -> SinglesChoices:
        from arena.venues.engine.requests import describe_rows

        _, parts = describe_rows(self.battles.engine.words[LEADER : LEADER + 1])
        question = self._question_builders[seat].ask(parts[0][seat])
        by_action = {} if question is None else question.by_action
        return SinglesChoices({choice.label: action for action, choice in by_action.items()})

    def fork(self, rows: Ints, seeds: Sequence[str], agents: Sequence[Pair]) -> None:
        self.battles.copy(rows * 0 + LEADER, rows, seeds, agents)

    def close(self) -> None:
        self.battles.close()


class Gen9Forks:
    """Forks on the generation-9 engine: copies of rows, for players that act in batches."""

    def __init__(self, rows: int, format_id: str) -> None:
        from training.envs.gen9_battles import Gen9Battles

        self.battles = Gen9Battles(rows, format_id)

    def begin(self, stored: ForkedSide) -> None:
        from agents.engine.gen9.choices import team_order
        from agents.engine.gen9.requests import Team

        first, second = (str(team.packed) for team in stored.fixture.teams)
        lead, other = (
            team_order(preview or "default", text.count("]") + 1) or ()
            for preview, text in zip(stored.previews, (first, second), strict=True)
        )
        try:
            self.battles.begin(_rows(1), [stored.fixture], [(None, None)])
            self.battles.engine.reset([(first, second)], [stored.fixture.seed], [LEADER], orders=[(lead, other)])
        except BadInput as error:
            raise NotOnEngine(str(error)) from None
        self._teams = Team(first, 0), Team(second, 1)

    def choices(self, seat: int) -> SinglesChoices:
        from agents.engine.gen9.engine import records
        from agents.engine.gen9.requests import request

        engine, leader = self.battles.engine, _rows(1)
        side = records(engine.words)[LEADER]["sides"][seat]
        asked = request(side, self._teams[seat], int(engine.locked(leader)[0, seat, 0]))
        if asked is None:
            return SinglesChoices({})
        (mask,) = self.battles.masks(leader, leader + seat)
        actions = legal_actions(asked, legal_choices(asked))
        return SinglesChoices({choice.label: action for action, choice in actions.items() if mask[action]})

    def fork(self, rows: Ints, seeds: Sequence[str], agents: Sequence[Pair]) -> None:
        self.battles.copy(rows * 0 + LEADER, rows, seeds)

    def close(self) -> None:
        self.battles.close()


class ReplayedForks:
    """Forks in any format for any player: each copy is played again from its start (ShowdownBattles.copy).

    engine: on the generation-9 engine, behind Showdown's messages.
    """

    def __init__(self, rows: int, format_id: str, engine: bool) -> None:
        from training.envs.hosted_battles import HostedBattles
        from training.envs.showdown_battles import ShowdownBattles

        played = get_format(format_id).id
        self.battles = HostedBattles(rows, played) if engine else ShowdownBattles(rows, played)

    def begin(self, stored: ForkedSide) -> None:
        first, second = stored.previews
        self.battles.begin(_rows(1), [stored.fixture], [(_Preview(first), _Preview(second))])

    def choices(self, seat: int) -> SeatChoices:
        leader = self.battles.rows[LEADER]
        assert leader is not None, "begin comes first"
        battle = leader.seats[seat].battle
        if isinstance(battle, SeatDoubleBattle):
            return DoublesChoices(battle)
        return SinglesChoices({choice.label: ACTIONS + k for k, choice in enumerate(battle.legal)})

    def fork(self, rows: Ints, seeds: Sequence[str], agents: Sequence[Pair]) -> None:
        self.battles.copy(rows * 0 + LEADER, rows, seeds, agents)

    def close(self) -> None:
        self.battles.close()


class _Preview(Agent):
    """Answers the team preview as it was answered."""

    reads_battle = False

    def __init__(self, order: str | None) -> None:
        self._order = order

    def team_preview(self, battle: SeatBattle) -> str | None:
        return self._order


def forks_of(format_id: str, rows: int, *, engine: bool, in_batches: bool) -> Forks:
    """Return the place for a format's battles. engine: on its engine. in_batches: whether the player acts so."""
    if engine and format_id in HOSTED_FORMATS and in_batches:
        return Gen9Forks(rows, format_id)
    if engine and format_id not in HOSTED_FORMATS:
        return EngineForks(rows, format_id)
    return ReplayedForks(rows, format_id, engine)


def venues_of(format_id: str, venue: str) -> tuple[bool, ...]:
    """Return where battles are forked, the first that can: True for the engine. venue: `engine`, `showdown` or `auto`.

    Raises UnknownFormat for a format that no engine plays.
    """
    if venue == "engine":
        check_engine_format(format_id)
    if venue == "auto" and format_id in HOSTED_FORMATS:
        try:
            check_engine("forks", [format_id])
        except MissingTool:
            return (False,)
        return True, False  # the engine does not play every team
    return (venue == "engine" or (venue == "auto" and format_id in FORMATS),)


def stored_battles(db: Path, battles: Sequence[int], formats: Sequence[str]) -> list[ForkedSide | str]:
    """Return stored battles for `Forks.begin`, with the reason in the place of one that cannot be replayed.

    formats: of each battle.
    """
    loaded: list[ForkedSide | str] = []
    by_id = {battle.battle_id: battle for battle in stored_results(db, battles)}
    for number, format_id in zip(battles, formats, strict=True):
        battle = by_id[number]
        try:
            options = input_log_teams(battle.input_log)
        except ArenaError as error:
            loaded.append(str(error))
            continue
        drawn = [role for role in SEATS if "team" not in options[role]]
        texts = (
            dict(zip(drawn, drawn_teams(format_id, [options[role]["seed"] for role in drawn]), strict=True))
            if drawn
            else {}
        )
        first, second = (_team(format_id, options[role], texts.get(role)) for role in SEATS)
        shown = SHOW_SHEETS in battle.input_log
        fixture = Fixture(format_id, ("", ""), (first, second), str(options["seed"]), "", "", open_sheets=shown)
        ordered = [list(enumerate(side)) for side in battle.decisions]
        if get_format(format_id).doubles:
            loaded.append(ForkedSide(number, fixture, (None, None), (ordered[0], ordered[1])))
            continue
        previews = [next((d.choice for _, d in side if d.choice.startswith("team ")), None) for side in ordered]
        mine, theirs = ([(i, d) for i, d in side if not d.choice.startswith("team ")] for side in ordered)
        loaded.append(ForkedSide(number, fixture, (previews[0], previews[1]), (mine, theirs)))
    return loaded


def _team(format_id: str, options: dict[str, str], drawn: str | None) -> FixtureTeam:
    packed = options.get("team", drawn)
    return FixtureTeam(digest([format_id, packed]), "", packed=packed)


def _rows(count: int) -> Ints:
    import numpy as np

    return np.arange(count, dtype=np.int64)
