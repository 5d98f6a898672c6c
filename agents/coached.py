"""`coached?learner=SPEC&coach=SPEC`: plays the learner, and labels its decisions with the coach's actions (DAgger)."""

from __future__ import annotations

import functools
import inspect
import random
from typing import Any, ClassVar
from urllib.parse import parse_qsl, quote

from agents.battle import SeatBattle, SeatDoubleBattle
from agents.battle.choices import Choice
from agents.contract import Agent, Answer, OptionLimits
from agents.registry import AgentSource, resolve
from teamsets.errors import BadInput

_USE = "coached?learner=SPEC&coach=SPEC, with %26 for each & inside a SPEC"


class Coached(Agent):
    """Plays the learner's choices; the coach is queried at each decision, and its diagnostics are stored with the choice.

    This is dataset aggregation (DAgger): the coach labels the states that the learner itself reaches, which do not occur in
    the coach's own battles. `train` uses the coach's target policy for these decisions, and its `win_probability` as a value
    target.

    Stored with each decision: the coach's diagnostics (`visits` or `probabilities`, `win_probability` …; probability 1 for
    its choice if it has none), `coach`, the coach's choice (null: nothing legal), and `learner`, the learner's diagnostics.

    A coach that must know which choices are played has a method `observe_choice(battle, choice)`. It is called with each of
    them, also at a team preview that the coach does not label.

    Options: learner and coach, agent specs, with %26 for each & inside of them; lead, the probability that the coach's
    choice is played instead of the learner's, 0.
    """

    repeatable: ClassVar[bool] = False
    option_limits: ClassVar[OptionLimits] = {"lead": (0, 1)}

    def __init__(self, learner: str = "", coach: str = "", lead: float = 0.0) -> None:
        if not learner or not coach:
            raise BadInput(f"coached: learner and coach are required: {_USE}")
        if problem := self.wrong_option(lead=lead):
            raise BadInput(f"coached: {problem}")
        self.lead = lead
        self.learner, self.coach = _source(learner).make(), _source(coach).make()

    @classmethod
    def repeats(cls, **options: Any) -> bool:
        """Return whether both are repeatable."""
        return all(source.repeatable for source in _both(options))

    @classmethod
    def version(cls, **options: Any) -> str:
        """Return the fingerprints of both."""
        return " ".join(source.fingerprint for source in _both(options))

    @classmethod
    def missing(cls, format_id: str | None = None, **options: Any) -> str:
        """Return what either of them lacks."""
        both = _both(options)
        if not both:
            return f"learner and coach are required: {_USE}"
        for source in both:
            if source.is_external:
                return (
                    f"{source.spec} is an external program, which cannot be used as learner or coach: "
                    "name another agent, e.g. foul-play:piped"
                )
        return next((problem for source in both if (problem := source.missing(format_id))), "")

    def prepare(self, format_id: str) -> None:
        self.learner.prepare(format_id)
        self.coach.prepare(format_id)

    def start(self, battle: SeatBattle) -> None:
        # Separate generators, so that the learner's play does not depend on the coach.
        self.learner.rng, self.coach.rng = (random.Random(self.rng.getrandbits(64)) for _ in range(2))
        self.learner.start(battle)
        self.coach.start(battle)

    async def team_preview(self, battle: SeatBattle) -> Answer | None:
        """A decision like any other, which the coach labels, in doubles and for a learner that `decides_previews`."""
        answer = await _awaited(self.learner.team_preview(battle))
        if not (isinstance(battle, SeatDoubleBattle) or getattr(self.learner, "decides_previews", False)):
            self._show_coach(battle, battle.legal[0] if answer is None else answer)
            return answer
        coach_answer = await _awaited(self.coach.team_preview(battle))
        return self._labelled(battle, answer, "default" if coach_answer is None else coach_answer)

    async def act(self, battle: SeatBattle) -> Answer:
        answer = await _awaited(self.learner.act(battle))
        return self._labelled(battle, answer, await _awaited(self.coach.act(battle)))

    def _labelled(self, battle: SeatBattle, answer: Any, coach_answer: Any) -> Any:
        """Return the answer that is played, and set the diagnostics. coach_answer: what the coach answered."""
        label = battle.read_answer(coach_answer, battle.last_request)
        self.diagnostics = _diagnostics(self.learner, self.coach, label)
        led = self.lead > 0 and self.rng.random() < self.lead
        played = label if led and label is not None else answer
        self._show_coach(battle, played)
        return played

    def _show_coach(self, battle: SeatBattle, answer: Any) -> None:
        """Call the coach's `observe_choice`, if it has one and the answer is a legal choice: only these are played."""
        observe = getattr(self.coach, "observe_choice", None)
        if observe is not None and (choice := battle.read_answer(answer, battle.last_request)) is not None:
            observe(battle, choice)

    def finish(self, battle: SeatBattle) -> None:
        self.learner.finish(battle)
        self.coach.finish(battle)


def coached_spec(learner: str, coach: str, lead: float = 0.0) -> str:
    """Returns the spec of a learner whose decisions a coach labels."""
    plain, led = (quote(spec, safe=":/?=,.@") for spec in (learner, coach)), f"&lead={lead}" if lead else ""
    return "coached?learner={}&coach={}".format(*plain) + led


def coached_parts(spec: str) -> dict[str, str]:
    """Return the inverse of `coached_spec`: {"learner": spec, "coach": spec}; empty for the spec of any other agent."""
    family, _, query = spec.partition("?")
    options = dict(parse_qsl(query)) if family == "coached" else {}
    return {name: options[name] for name in ("learner", "coach") if name in options}


def _diagnostics(learner: Agent, coach: Agent, choice: Choice | None) -> dict[str, Any]:
    diagnostics = dict(coach.diagnostics or {})
    diagnostics["coach"] = None if choice is None else choice.label
    if choice is not None and "visits" not in diagnostics:
        diagnostics.setdefault("probabilities", {choice.label: 1.0})
    if learner.diagnostics is not None:
        diagnostics["learner"] = learner.diagnostics
    learner.diagnostics = coach.diagnostics = None
    return diagnostics


async def _awaited(answer: Any) -> Any:
    return await answer if inspect.isawaitable(answer) else answer


def _both(options: dict[str, Any]) -> list[AgentSource]:
    specs = options.get("learner"), options.get("coach")
    return [_source(spec) for spec in specs if spec] if all(specs) else []


#: Cached because resolving a spec for its fingerprint takes milliseconds.
_source = functools.lru_cache(maxsize=64)(resolve)
