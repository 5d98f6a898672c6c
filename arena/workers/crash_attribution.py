"""Decides which agent is charged when a worker ends with battles in it. Pure: without processes and clocks.

The step in which a worker died is a hint but no proof: a thread of the other agent may have ended the process. So a battle
is charged to an agent only after it was replayed solo, as the only battle of a new worker, and that worker ended, too. Then

1. an agent that has been convicted in this run is charged; else
2. the only agent in it that can be the cause; else
3. each of the two plays a trial, solo, against `HARMLESS`, with the same teams and seed: an agent that ends that worker as
   well is convicted (its other battles wait for that before they have trials of their own); else the battle is played
   solo a second time, and if that worker ends as well:
4. the agent in whose step the worker ended both times; else
5. the agent that undecided battles against two different opponents have in common; else neither: the battle is aborted, and
   its record names both.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace

from arena.fixture import SEATS, Fixture
from arena.record import BattleRecord

#: The opponent in a trial: a built-in agent that cannot end a worker.
HARMLESS = "random"
#: A battle in which no agent runs in the worker is aborted after so many deaths of its solo workers.
MAX_SOLO_DEATHS = 3


@dataclass(frozen=True)
class End:
    """How a worker ended. kind: fault of its agent, "timeout" or "error". seat: 0 or 1, whose step was running."""

    kind: str
    message: str
    seat: int | None = None


@dataclass(frozen=True)
class AgentLoses:
    """The end of a battle: this seat loses. seat: None if no agent can be charged."""

    serial: int
    fixture: Fixture
    seat: int | None
    end: End

    def record(self, started: float) -> BattleRecord:
        """Return the record of the battle. started: Unix time."""
        if self.seat is None:
            both = " or ".join(self.fixture.agents)
            detail = f"alone in a worker, either {both} ended it, and it is not clear who: {self.end.message}"
            return BattleRecord(self.fixture, None, "aborted", "venue", detail, started=started)
        winner, loser = SEATS[1 - self.seat], SEATS[self.seat]
        detail = f"{self.end.message} (and again when it was played alone)"
        return BattleRecord(self.fixture, winner, self.end.kind, loser, detail, started=started)


@dataclass(frozen=True)
class PlaySolo:
    """A battle to be played solo. trial: its number, if it only determines which agent is charged with battle `serial`."""

    serial: int
    fixture: Fixture
    trial: int | None = None


@dataclass(frozen=True)
class WorkersBroken:
    """Workers end regardless of who plays: no agent is charged. message: how the last one ended."""

    message: str


Ruling = AgentLoses | PlaySolo | WorkersBroken


@dataclass
class _Trial:
    """One of a battle's trials. suspect: its seat, or None. end: how its worker ended, once it is over; None: it lived."""

    suspect: int | None
    fixture: Fixture
    over: bool = False
    end: End | None = None


@dataclass
class _Case:
    """One battle whose solo worker ended. begun: whether its trials are played, or were."""

    serial: int
    fixture: Fixture
    ends: list[End] = field(default_factory=list)
    trials: list[_Trial] | None = None
    begun: bool = False

    @property
    def on_trial(self) -> bool:
        return self.begun and not all(trial.over for trial in self.trials or ())


class CrashAttribution:
    """Collects how solo workers ended, and decides which agent is charged."""

    def __init__(self) -> None:
        self.convicted: set[str] = set()
        self._cases: dict[int, _Case] = {}
        self._undecided: dict[int, _Case] = {}

    def must_play_solo(self, fixture: Fixture) -> bool:
        """Return whether an agent in it has been convicted: its battles are played solo, to protect the others."""
        return bool(self._convicted_seats(fixture))

    def handle_solo_end(self, serial: int, fixture: Fixture, end: End) -> list[Ruling]:
        """Handle the end of the worker that played only this battle."""
        case = self._cases.setdefault(serial, _Case(serial, fixture))
        case.ends.append(end)
        return self._decide(case)

    def handle_solo_finish(self, serial: int) -> None:
        """Handle a battle that was finished this time: no agent is charged."""
        self._cases.pop(serial, None)

    def handle_trial_end(self, serial: int, number: int, end: End | None) -> list[Ruling]:
        """Handle the end of a trial for battle `serial`. end: how its worker ended; None: the trial was finished."""
        case = self._cases[serial]
        assert case.trials
        case.trials[number].over, case.trials[number].end = True, end
        rulings = self._decide(case)
        if serial not in self._cases or not case.on_trial:
            waiting = [other for other in self._cases.values() if other.trials and not other.begun]
            rulings += [ruling for other in waiting for ruling in self._decide(other)]
        return rulings

    def abort_undecided(self) -> list[Ruling]:
        """Decide the undecided cases: no further battle can."""
        cases, self._undecided = list(self._undecided.values()), {}
        return [AgentLoses(case.serial, case.fixture, None, case.ends[-1]) for case in cases]

    def _suspects(self, fixture: Fixture) -> list[int]:
        played_here = zip(fixture.agents, fixture.external_seats, strict=True)
        return [seat for seat, (spec, is_external) in enumerate(played_here) if spec != HARMLESS and not is_external]

    def _convicted_seats(self, fixture: Fixture) -> list[int]:
        return [seat for seat, spec in enumerate(fixture.agents) if spec in self.convicted]

    def _decide(self, case: _Case) -> list[Ruling]:
        convicted, suspects = self._convicted_seats(case.fixture), self._suspects(case.fixture)
        if len(convicted) == 1:
            return self._charge(case, convicted[0])
        if not suspects:
            return self._replay(case) if len(case.ends) < MAX_SOLO_DEATHS else self._charge(case, None)
        if case.trials is None:
            case.trials = self._trials(case, suspects)
        if case.trials and not case.begun:
            if self._on_trial(case.fixture):
                return []  # `handle_trial_end` rules on it later
            case.begun = True
            return [PlaySolo(case.serial, trial.fixture, number) for number, trial in enumerate(case.trials)]
        for trial in case.trials:
            if not trial.over:
                return []
            if trial.end is not None:
                return (
                    [WorkersBroken(trial.end.message)] if trial.suspect is None else self._convict(case, trial.suspect)
                )
        if len(suspects) == 1:
            return self._convict(case, suspects[0])
        if len(case.ends) < 2:
            return self._replay(case)
        seats = {end.seat for end in case.ends}
        if len(seats) == 1 and None not in seats:
            return self._charge(case, case.ends[-1].seat)
        return self._compare(case)

    def _on_trial(self, fixture: Fixture) -> bool:
        """Return whether an agent of this battle is in another one that has trials now."""
        return any(
            case.on_trial and case.fixture.agents[seat] in fixture.agents
            for case in self._cases.values()
            for seat in self._suspects(case.fixture)
        )

    def _trials(self, case: _Case, suspects: list[int]) -> list[_Trial]:
        """Return the trials. The first has no suspect, unless the worker ended in a step: the cause may be neither agent."""
        seat = case.ends[-1].seat
        harmless = replace(case.fixture, agents=(HARMLESS, HARMLESS), external_seats=(False, False))
        trials = [_Trial(None, harmless)] if seat is None else []
        if len(suspects) == 2:
            for suspect in sorted(suspects, key=lambda other: other != seat):
                agents = [HARMLESS, HARMLESS]
                agents[suspect] = case.fixture.agents[suspect]
                trials.append(_Trial(suspect, replace(harmless, agents=(agents[0], agents[1]))))
        return trials

    def _replay(self, case: _Case) -> list[Ruling]:
        return [PlaySolo(case.serial, case.fixture)]

    def _charge(self, case: _Case, seat: int | None) -> list[Ruling]:
        self._cases.pop(case.serial, None)
        return [AgentLoses(case.serial, case.fixture, seat, case.ends[-1])]

    def _convict(self, case: _Case, seat: int) -> list[Ruling]:
        self.convicted.add(case.fixture.agents[seat])
        rulings = self._charge(case, seat)
        for other in list(self._undecided.values()):
            convicted = self._convicted_seats(other.fixture)
            if len(convicted) == 1:
                del self._undecided[other.serial]
                rulings += self._charge(other, convicted[0])
        return rulings

    def _compare(self, case: _Case) -> list[Ruling]:
        """Charge the agent that undecided battles against different opponents have in common, if trials are inconclusive."""
        del self._cases[case.serial]
        self._undecided[case.serial] = case
        opponents: dict[str, set[str]] = defaultdict(set)
        for other in self._undecided.values():
            first, second = other.fixture.agents
            opponents[first].add(second)
            opponents[second].add(first)
        shared = [seat for seat, spec in enumerate(case.fixture.agents) if len(opponents[spec]) > 1]
        if len(shared) != 1:
            return []
        del self._undecided[case.serial]
        return self._convict(case, shared[0])
