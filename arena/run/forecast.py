"""How long a run will take, before it is played: from the costs of stored battles, and of a few that are played for it."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from arena.run.costs import BattleCost, battle_costs
from arena.run.tournament import EvaluateSettings, Run, play_into

#: With fewer stored battles in a format an agent is measured.
_LEAST = 4
#: So many agents are measured together, so many battles each pairing.
_TOGETHER, _MEASURED_BATTLES = 5, 4

Pairing = tuple[str, str]


@dataclass(frozen=True)
class Forecast:
    """The size of a run. battles: None where a time limit decides; of series, the most that they can take. stored: of them,
    played already.

    seconds: for those that are left, None where nothing is left or nothing is known. measured: battles that were played for
    it now; from_store: stored ones that it rests on.
    """

    agents: int
    pairings: int
    battles: int | None
    stored: int
    seconds: float | None
    measured: int
    from_store: int

    @property
    def left(self) -> int | None:
        return None if self.battles is None else max(0, self.battles - self.stored)


def forecast(run: Run, db: Path, workers: int | None) -> Forecast:
    """Estimate how long the rest of a run takes; plays a few battles of the agents that have none, which are not stored.

    workers: of those battles. Stored battles count as their runs played them.
    """
    plan, settings = run.plan, run.settings
    by_format = {format_id: battle_costs(db, format_id) for format_id in plan.formats}
    from_store = sum(map(len, by_format.values()))
    measured = 0
    for format_id, costs in by_format.items():
        lacking = _lacking(plan.agents, costs)
        if lacking:
            played = _measure(settings, format_id, lacking, workers)
            measured += len(played)
            costs += played
    planned = settings.budget if settings.schedule == "adaptive" else len(plan)
    battles = None if planned is None else planned * settings.best_of
    stored = len(run.results)
    each = [
        cost for format_id, _ in plan.pools for cost in _predicted(plan.pairings, by_format[format_id]).values()
    ]  # a pairing on each team set of its format
    seconds = None if battles is None or not each else max(0, battles - stored) * float(np.mean(each))
    return Forecast(len(plan.agents), len(plan.pairings), battles, stored, seconds, measured, from_store)


def _lacking(agents: Iterable[str], costs: Iterable[BattleCost]) -> list[str]:
    counts: dict[str, int] = defaultdict(int)
    for cost in costs:
        counts[cost.p1] += 1
        counts[cost.p2] += 1
    return [agent for agent in agents if counts[agent] < _LEAST]


def _measure(settings: EvaluateSettings, format_id: str, lacking: list[str], workers: int | None) -> list[BattleCost]:
    """Play some battles in databases of their own, a few agents at a time; return the costs of the later half of them.

    In the first ones workers start, agents load and compile.
    """
    costs: list[BattleCost] = []
    others = [agent for agent in settings.agents if agent not in lacking]
    for start in range(0, len(lacking), _TOGETHER):
        players = lacking[start : start + _TOGETHER]
        if len(players) == 1:
            players = [*players, [*others, *lacking][0]]
        some = {"agents": tuple(players), "formats": (format_id,), "anchor": None, "challengers": (), "minutes": 1.0}
        more = {
            "schedule": "round-robin",
            "battles": _MEASURED_BATTLES,
            "budget": None,
            "best_of": 1,
            "team_sets": settings.team_sets[:1],
        }
        with tempfile.TemporaryDirectory() as folder:
            db = Path(folder, "arena.duckdb")
            played = play_into(db, settings.model_copy(update={**some, **more}), workers=workers)
            costs += battle_costs(db, format_id, max(1, played.progress.done // 2))
    return costs


def _predicted(pairings: list[Pairing], costs: Iterable[BattleCost]) -> dict[Pairing, float]:
    """The mean cost of each pairing's battles; of one that was never played, the sum of what its two agents cost.

    The agents' costs are fitted to those of all battles by least squares: cost = a + b.
    """
    by_pairing: dict[Pairing, list[float]] = defaultdict(list)
    for cost in costs:
        first, second = sorted((cost.p1, cost.p2))
        by_pairing[first, second].append(cost.seconds)
    agents = sorted({agent for pairing in by_pairing for agent in pairing})
    if not agents:
        return {}
    rows, means = np.zeros((len(by_pairing), len(agents))), np.zeros(len(by_pairing))
    for row, ((first, second), seconds) in enumerate(by_pairing.items()):
        weight = np.sqrt(len(seconds))
        rows[row, agents.index(first)] += weight
        rows[row, agents.index(second)] += weight
        means[row] = weight * np.mean(seconds)
    fitted = dict(zip(agents, np.linalg.lstsq(rows, means, rcond=None)[0].tolist(), strict=True))
    predicted = {}
    for pairing in pairings:
        first, second = sorted(pairing)
        known = by_pairing.get((first, second))
        if known:
            predicted[pairing] = float(np.mean(known))
        elif first in fitted and second in fitted:
            predicted[pairing] = max(0.0, fitted[first] + fitted[second])
    return predicted
