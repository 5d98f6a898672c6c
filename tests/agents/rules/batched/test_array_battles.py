"""The rule players on arrays in real battles: legal, repeatable, and with the decisions of their counterparts."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from support.rule_matches import pair_of_fixtures, play_all

from agents import Agent, SeatBattle, known_specs, resolve
from agents.battle.choices import Choice
from agents.observation.actions import legal_actions
from agents.observation.observation import Observation, Observations, observe
from agents.rules.batched import PLAYERS

SPECS = [f"array:{name}" for name in PLAYERS]
#: The same rule on poke-env's objects.
COUNTERPARTS = {
    "max-damage": "max-damage", "type-switcher": "type-switcher", "status": "status-spreader", "set-up": "balanced",
    "revenger": "revenger", "hazards": "hazard-stacker",
}  # fmt: skip


class Comparing(Agent):
    """Asks all players at each decision, and plays what one of those on arrays has chosen."""

    observations: list[Observation]
    chosen: list[dict[str, int]]
    agreements: Counter[tuple[str, bool]]

    def start(self, battle: SeatBattle) -> None:
        self.counterparts = {name: resolve(f"heuristic:{other}").make() for name, other in COUNTERPARTS.items()}
        for agent in self.counterparts.values():
            agent.rng = random.Random(0)
        self.lead = self.rng.choice(list(PLAYERS))

    def act(self, battle: SeatBattle) -> Choice:
        actions = legal_actions(battle.last_request, battle.legal)
        seen = observe(battle)
        one = Observations.single(seen)
        chosen = {name: int(player.choose(*one)[0]) for name, player in PLAYERS.items()}
        self.observations.append(seen)
        self.chosen.append(chosen)
        if not battle.force_switch:
            for name, agent in self.counterparts.items():
                answer = agent.act(battle)
                self.agreements[name, actions[chosen[name]] == answer] += 1
        return actions[chosen[self.lead]]


@pytest.mark.parametrize("format_id", ["gen1randombattle", pytest.param("gen9randombattle", marks=pytest.mark.slow)])
def test_decisions_are_legal_and_mostly_those_of_the_counterparts(format_id: str):
    """They differ where two moves are equally good, and in what an observation leaves out."""
    made: list[Comparing] = []

    def comparing(spec: str) -> Agent:
        agent = Comparing()
        agent.observations, agent.chosen, agent.agreements = [], [], Counter()
        made.append(agent)
        return agent

    records = play_all(pair_of_fixtures("one", "two", format_id, 2), create_agent=comparing)
    assert [record.detail for record in records if record.fault is not None] == []
    observations = [seen for agent in made for seen in agent.observations]
    chosen = [actions for agent in made for actions in agent.chosen]
    assert len(observations) > 60
    many = Observations(
        *(np.stack([getattr(seen, name) for seen in observations]) for name in ("token_ids", "features", "legal"))
    )
    for name, player in PLAYERS.items():
        actions = player.choose(*many)
        assert many.legal[np.arange(len(actions)), actions].all()
        assert actions.tolist() == [one[name] for one in chosen], "one decision at a time is the same as all at once"
    agreements = sum((agent.agreements for agent in made), Counter())
    for name in COUNTERPARTS:
        same, other = agreements[name, True], agreements[name, False]
        assert same / (same + other) > (0.75 if name == "type-switcher" else 0.9), (name, same, other)


def test_players_on_arrays_are_agents_like_others():
    for spec, player in zip(SPECS, PLAYERS.values(), strict=True):
        rule, _, more = (player.__doc__ or "").partition("\n")
        assert known_specs()[spec] == rule and len(rule) > 30 and "heuristic:" in more
        source = resolve(spec)
        assert source.repeatable and source.missing("gen1ou") == "" and not source.is_external
    assert len({resolve(spec).fingerprint for spec in SPECS}) == len(SPECS)
    assert resolve("array:type-switcher?margin=2").make().margin == 2.0  # type: ignore[attr-defined]


@pytest.mark.parametrize("format_id", ["gen1randombattle", pytest.param("gen9randombattle", marks=pytest.mark.slow)])
def test_battles_are_without_faults_and_the_same_again(format_id: str):
    neighbours = zip(SPECS, [*SPECS[1:], SPECS[0]], strict=True)
    fixtures = [pair_of_fixtures(a, b, format_id, n)[0] for n, (a, b) in enumerate(neighbours)]
    records = play_all([*fixtures, *fixtures])
    once, again = records[: len(SPECS)], records[len(SPECS) :]
    assert [(record.fault, record.detail) for record in once if record.fault is not None] == []
    assert len(once) == len(SPECS) and [r.input_log for r in once] == [r.input_log for r in again]


@pytest.mark.slow
@pytest.mark.parametrize("format_id", [f"gen{gen}randombattle" for gen in range(2, 9)])
def test_players_on_arrays_play_every_generation(format_id: str):
    fixtures = [pair_of_fixtures(spec, "array:max-damage", format_id, n)[0] for n, spec in enumerate(SPECS)]
    records = play_all(fixtures)
    assert [(record.fault, record.detail) for record in records if record.fault is not None] == []
