"""Team preview of singles as a decision: what is seen, which actions there are, and what they choose."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.rule_matches import play_all

from agents import Agent
from agents.batched import BatchedAgent
from agents.battle import SeatBattle
from agents.battle.choices import legal_choices
from agents.observation.actions import FIRST_LEADS, SWITCHES, legal_actions
from agents.observation.columns import PokemonFeature, SideFeature, at_preview, turns
from agents.observation.decisions import SinglesDecisions, decisions_of
from agents.observation.observation import OUR_MOVES, OURS, THEIRS, Observation, Observations, unlike
from agents.observation.vocabulary import vocabulary
from arena.fixture import Fixture
from arena.record import BattleRecord
from arena.run.entrants import load_pools
from arena.schedules.plan import Plan, round_robin

KNOWN, ACTIVE = PokemonFeature.KNOWN, PokemonFeature.ACTIVE


def fixture_of(format_id: str) -> Fixture:
    return next(iter(round_robin(Plan(("one", "two"), load_pools((format_id,))[0], 2, 0))))


class FirstChoice(Agent):
    def act(self, battle: SeatBattle) -> Any:
        return battle.legal[0]


class Watcher(Agent):
    """Plays the first legal choice, and keeps what is seen at its team preview and at its first two decisions."""

    kept: list[tuple[Observation, dict[str, Any], SinglesDecisions, list[str]]]

    def team_preview(self, battle: SeatBattle) -> None:
        self.act(battle)

    def act(self, battle: SeatBattle) -> Any:
        turn = decisions_of(battle)
        assert isinstance(turn, SinglesDecisions)
        if len(self.kept) < 2:
            theirs = [mon.species for mon in battle.teampreview_opponent_team]
            self.kept.append((turn.observe(), battle.last_request, turn, theirs))
        return battle.legal[0]


@pytest.mark.parametrize("format_id", ["gen9ou", pytest.param("gen5ou", marks=pytest.mark.slow)])
def test_both_teams_are_seen_and_who_leads_is_the_action(format_id: str) -> None:
    agent = Watcher()
    agent.kept = []
    (record,) = play_all([fixture_of(format_id)], 3, lambda spec: agent if spec == "one" else FirstChoice())
    assert record.fault is None, record.detail
    (seen, request, turn, theirs), (then, *_) = agent.kept
    team, species = request["side"]["pokemon"], vocabulary().region("species")
    assert at_preview(seen.features) and turns(seen.features[None]) == 0 and not at_preview(then.features)
    assert turn.is_preview and np.flatnonzero(seen.legal).tolist() == [FIRST_LEADS, *SWITCHES] == sorted(turn.actions)
    assert (seen.features[OURS[0] : THEIRS[-1] + 1, KNOWN] == 1).all()
    assert not seen.features[OURS[0] : THEIRS[-1] + 1, ACTIVE].any() and then.features[OURS[0], ACTIVE] == 1
    assert not seen.features[OURS[0] : THEIRS[-1] + 1, PokemonFeature.ESTIMATED].any()
    assert seen.token_ids[THEIRS[0] : THEIRS[-1] + 1, 0].tolist() == [species[name] for name in theirs]
    assert seen.features[2, SideFeature.KNOWN] == 0 and then.features[2, SideFeature.KNOWN] > 0
    assert (seen.token_ids[OUR_MOVES[0]] == seen.token_ids[OURS[0]]).all()
    assert (seen.features[OUR_MOVES[0]] == seen.features[OURS[0]]).all()
    assert not seen.token_ids[OUR_MOVES[1] :].any()
    for action, choice in turn.actions.items():
        token = OURS[0] if action == FIRST_LEADS else OURS[1 + action - SWITCHES[0]]
        own = team[choice.slot - 1]["details"].split(",")[0]
        name = "".join(letter for letter in own.lower() if letter.isalnum())
        assert seen.token_ids[token, 0] in (species[name], species[name.partition("-")[0]])
        assert choice.label.startswith(f"team {choice.slot}")


def request_of(count: int) -> dict[str, Any]:
    names = ["Weavile", "Blissey", "Ditto"][:count]
    team = [
        {"ident": f"p1: {name}", "details": name, "condition": "1/1", "active": place == 0}
        for place, name in enumerate(names)
    ]
    return {"teamPreview": True, "side": {"pokemon": team}}


def test_the_actions_are_those_of_a_team_of_any_size() -> None:
    """The first by action 0, the others in the order of their names."""
    labels = {a: choice.label for a, choice in legal_actions(request_of(3), legal_choices(request_of(3))).items()}
    assert labels == {0: "team 123", 4: "team 213", 5: "team 312"}
    assert {a: c.label for a, c in legal_actions(request_of(1), legal_choices(request_of(1))).items()} == {0: "team 1"}


def test_an_order_is_the_choice_of_its_lead() -> None:
    battle: Any = type("Battle", (), {"last_request": request_of(3), "legal": legal_choices(request_of(3))})()
    turn = SinglesDecisions(battle)
    assert turn.parts_of("team 321") == turn.parts_of("team 312") == ["team 312"]
    assert turn.parts_of("team 9") == []
    turn.take(5)
    assert turn.choice.label == "team 312" and not turn.actions


class LastLeads(BatchedAgent):
    """Has the last of the legal actions at each decision."""

    decides_previews = True

    @classmethod
    def act_many(cls, agents: Any, observations: Observations) -> Any:
        for agent in agents:
            agent.diagnostics = {"probabilities": {int(np.flatnonzero(observations.legal[0])[-1]): 1.0}}
        return observations.legal.shape[1] - 1 - observations.legal[:, ::-1].argmax(axis=1)


class LastOfItsOrder(LastLeads):
    """The same, but its team keeps its order."""

    decides_previews = False


def played(kind: type[Agent]) -> tuple[BattleRecord, tuple[Any, ...]]:
    (record,) = play_all([fixture_of("gen9ou")], 2, lambda spec: kind() if spec == "one" else FirstChoice())
    assert record.fault is None, record.detail
    return record, next(row for row in record.decisions if row[0] == record.fixture.agents.index("one"))


def test_an_agent_in_batches_chooses_its_lead_if_it_says_so() -> None:
    record, (_, _, turn, legal, choice, _, diagnostics) = played(LastLeads)
    names = [member.split("|")[0] or member.split("|")[1] for member in str(record.fixture.teams[0].packed).split("]")]
    last = 1 + names.index(max(names[1:]))
    assert turn == 0 and choice == next(label for label in legal if label.startswith(f"team {last}"))
    assert diagnostics == {"probabilities": {choice: 1.0}}
    _, (_, _, _, _, choice, _, diagnostics) = played(LastOfItsOrder)
    assert choice == "team 123456" and diagnostics is None


def test_only_the_decision_of_turn_0_is_the_preview() -> None:
    """A lead that leaves at once is replaced in turn 0, too."""
    features = np.zeros((3, 19, 56), np.float32)
    features[:, 0, 1], features[1, 0, 3], features[2, 0, 1] = 1, 1, 0.5
    assert at_preview(features).tolist() == [True, False, False]


def test_what_was_made_before_previews_were_seen_is_read_on() -> None:
    assert not unlike(6) and not unlike(6, 9) and unlike(1, 9)
