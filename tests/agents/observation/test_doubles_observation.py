"""What a model sees and may do in doubles, slot by slot and pick by pick, against the requests of real battles."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from support.command_line import PROJECT
from support.doubles import doubles_fixtures
from support.rule_matches import play_all

from agents import Agent, SeatBattle
from agents.battle.choices import Choice
from agents.battle.joint_choices import slot_choices
from agents.observation.columns import FIELD, PokemonId
from agents.observation.columns import PokemonFeature as SinglesFeature
from agents.observation.decisions import decisions_of
from agents.observation.doubles.actions import ALLY, FOE_A, FOE_B, MOVES, PASS, POKEMON, SPECIAL, slot_actions
from agents.observation.doubles.columns import FieldFeature, MoveFeature, PokemonFeature
from agents.observation.layout import DOUBLES
from agents.observation.observation import Observation
from agents.observation.vocabulary import vocabulary
from teamsets.formats import DOUBLES_FORMATS

QUICK = "gen9championsvgc2026regma"
FORMATS = [pytest.param(one, marks=() if one == QUICK else pytest.mark.slow) for one in DOUBLES_FORMATS]
SCRIPT = PROJECT / "scripts" / "parity" / "doubles_decisions.py"
Kept = tuple[Observation, dict[int, Choice], int, dict[str, Any], "int | None", SeatBattle]


class Watcher(Agent):
    """Decides slot by slot at random. Keeps what it saw, could do and did, and the labels of its choices."""

    kept: ClassVar[list[Kept]] = []
    choices: ClassVar[list[Choice]] = []

    def act(self, battle: SeatBattle) -> Choice:
        turn = decisions_of(battle)
        labels = []
        while turn.actions:
            action = self.rng.choice(sorted(turn.actions))
            slot = turn.slot  # type: ignore[attr-defined]
            self.kept.append((turn.observe(), turn.actions, action, battle.last_request, slot, battle))
            labels.append(turn.actions[action].label)
            turn.take(action)
        assert list(turn.parts_of(turn.choice.label)) == labels
        self.choices.append(turn.choice)
        return turn.choice

    team_preview = act


@cache
def played(format_id: str) -> list[Kept]:
    Watcher.kept, Watcher.choices = [], []
    for record in play_all(doubles_fixtures(format_id, ("one", "two"), 2), 60, create_agent=lambda _: Watcher()):
        assert record.fault is None, record.detail
    assert all(choice.kind == "joint" or len(choice.label) > len("team 12") for choice in Watcher.choices)
    return Watcher.kept


def species(entry: dict[str, Any]) -> int:
    name = entry["details"].split(",")[0].lower()
    return vocabulary().region("species")["".join(filter(str.isalnum, name))]


@pytest.mark.parametrize("format_id", FORMATS)
def test_every_action_is_about_its_token_and_every_token_shows_what_the_request_says(format_id: str) -> None:
    kept = played(format_id)
    assert len(kept) > 40
    for seen, actions, _, request, slot, _ in kept:
        team = request["side"]["pokemon"]
        assert seen.token_ids.shape == (DOUBLES.tokens, DOUBLES.ids) and seen.legal.shape == (DOUBLES.actions,)
        assert np.isfinite(seen.features).all() and set(np.flatnonzero(seen.legal)) == set(actions)
        assert seen.features[FIELD, FieldFeature.PREVIEW] == (slot is None)
        for action, choice in actions.items():
            if action in POKEMON:
                token = DOUBLES.ours[0] + action - POKEMON[0]
                assert seen.token_ids[token, PokemonId.SPECIES] == species(team[choice.slot - 1])
                hp, _, most = team[choice.slot - 1]["condition"].split(" ")[0].partition("/")
                assert seen.features[token, SinglesFeature.HP] == pytest.approx(int(hp) / int(most or 1))
            elif action != PASS:
                assert slot is not None
                place, aim = divmod(action - (SPECIAL[0] if action in SPECIAL else 0), 4)
                listed = request["active"][slot]["moves"][choice.slot - 1]
                token = DOUBLES.moves[place]
                name = "hiddenpower" if listed["id"].startswith("hiddenpower") else listed["id"]
                assert seen.token_ids[token, 0] == vocabulary().region("moves")[name]
                assert aim == {0: 0, 1: FOE_A, 2: FOE_B, -1 - slot: 0, slot - 2: ALLY}[choice.target]
                assert (action in SPECIAL) == bool(choice.extra)


def test_the_second_slot_sees_what_the_first_one_has_chosen() -> None:
    kinds = set()
    kept = played("gen9doublesou")
    for (_, _, action, request, slot, battle), (seen, _, _, other, second, its_battle) in pairwise(kept):
        if not (slot == 0 and second == 1 and other is request and battle is its_battle):
            continue
        ally, moves = seen.features[DOUBLES.ours[1]], seen.features[DOUBLES.moves[4] : DOUBLES.moves[-1] + 1]
        foes = seen.features[DOUBLES.theirs[0] : DOUBLES.theirs[0] + 2, PokemonFeature.AIMED_AT]
        assert (
            seen.features[FIELD, FieldFeature.OTHER_HAS_CHOSEN] == seen.features[FIELD, FieldFeature.SECOND_SLOT] == 1
        )
        assert ally[PokemonFeature.SWITCHES] == (action in POKEMON) and ally[PokemonFeature.PASSES] == (action == PASS)
        if action in POKEMON:
            comes = seen.features[DOUBLES.ours[0] : DOUBLES.ours[-1] + 1, PokemonFeature.COMES_IN]
            assert comes.sum() == 1 and not comes[:2].any()
        elif action != PASS:
            place, aim = divmod(action - (SPECIAL[0] if action in SPECIAL else 0), 4)
            assert moves[:, MoveFeature.CHOSEN].tolist() == [number == place for number in range(4)]
            assert ally[PokemonFeature.USES_MECHANIC] == (action in SPECIAL)
            assert foes.tolist() == [aim == FOE_A, aim == FOE_B]
            assert seen.features[DOUBLES.ours[0], PokemonFeature.AIMED_AT] == (aim == ALLY)
        kinds.add("own" if action in POKEMON else "pass" if action == PASS else ("move", action in SPECIAL))
    assert {"own", ("move", False), ("move", True)} <= kinds


def test_at_team_preview_each_pick_is_a_decision_of_the_four_that_are_brought() -> None:
    kept = [one for one in played(QUICK) if one[4] is None]
    assert len(kept) == 2 * 2 * 4
    for number, (seen, actions, *_) in enumerate(kept):
        pick = number % 4
        assert len(actions) == 6 - pick
        ours = seen.features[DOUBLES.ours[0] : DOUBLES.ours[-1] + 1]
        assert sorted(ours[:, PokemonFeature.PICK][ours[:, PokemonFeature.COMES_IN] > 0]) == pytest.approx(
            [(place + 1) / 6 for place in range(pick)]
        )


def test_estimates_are_of_each_foe_and_of_the_ally() -> None:
    """A fainted foe has none. What a Pokémon deals to the second foe is what that one takes of it."""
    seen_second = seen_ally = 0
    for seen, _, _, request, slot, _ in played(QUICK):
        if slot is None or request.get("forceSwitch"):
            continue
        first, second = (seen.features[DOUBLES.theirs[0] + place] for place in (0, 1))
        ours = seen.features[DOUBLES.ours[0]]
        for foe, known, dealt in (
            (first, SinglesFeature.ESTIMATED, SinglesFeature.DEALT),
            (second, PokemonFeature.SECOND_ESTIMATED, PokemonFeature.SECOND_DEALT),
        ):
            assert ours[known] == (foe[SinglesFeature.HP] > 0)
            assert not ours[known] or ours[dealt] == pytest.approx(foe[SinglesFeature.TAKEN])
        moves = seen.features[DOUBLES.moves[0] : DOUBLES.moves[4]]
        seen_second += int((moves[:, MoveFeature.SECOND_DAMAGE] > 0).sum())
        seen_ally += int((moves[:, MoveFeature.ALLY_DAMAGE] > 0).sum())
    assert seen_second > 20 and seen_ally > 20


def test_the_last_that_can_come_in_leaves_the_other_slot_to_pass() -> None:
    slots = slot_choices(
        {
            "forceSwitch": [True, True],
            "side": {
                "pokemon": [
                    {"ident": f"p1: {name}", "details": name, "condition": condition, "active": place < 2}
                    for place, (name, condition) in enumerate(
                        [("Abra", "0 fnt"), ("Onix", "0 fnt"), ("Muk", "0 fnt"), ("Mew", "9/9")]
                    )
                ]
            },
        }
    )
    team = [{"ident": f"p1: {name}"} for name in ("Abra", "Onix", "Muk", "Mew")]
    request = {"side": {"pokemon": team}}
    first = slot_actions(request, 0, slots.first)
    assert set(first) == {POKEMON[2], PASS}  # Mew is before Muk in the order of the idents
    after_pass = [choice for choice in slots.second if slots.admit(first[PASS], choice)]
    after_mew = [choice for choice in slots.second if slots.admit(first[POKEMON[2]], choice)]
    assert set(slot_actions(request, 1, after_pass)) == {POKEMON[2]} and set(slot_actions(request, 1, after_mew)) == {
        PASS
    }


def test_a_move_at_oneself_has_no_target_and_extras_have_actions_of_their_own() -> None:
    request = {
        "active": [{"moves": [{"id": "tackle"}, {"id": "acupressure"}]}] * 2,
        "side": {"pokemon": [{"ident": "p1: A"}, {"ident": "p1: B"}]},
    }
    moves = [
        Choice("", "1", "move", 1, target=2), Choice("", "2", "move", 1, "mega", 1), Choice("", "3", "move", 2, target=-2),
        Choice("", "4", "move", 2, target=-1),
    ]  # fmt: skip
    found = {action: choice.wire for action, choice in slot_actions(request, 1, moves).items()}
    assert found == {MOVES[4 + FOE_B]: "1", SPECIAL[4 + FOE_A]: "2", MOVES[0]: "3", MOVES[ALLY]: "4"}


@pytest.mark.slow
@pytest.mark.parametrize("format_id", DOUBLES_FORMATS)
def test_no_decision_by_the_mask_is_refused_and_every_legal_choice_can_be_reached(
    format_id: str, tmp_path: Path
) -> None:
    """A slice of scripts/parity/doubles_decisions.py: 20 battles, of one format on stock Showdown."""
    out, simulator = tmp_path / "out.jsonl", "stock" if format_id == "gen9doublesou" else "fast"
    options = ["--formats", format_id, "--decisions", "1", "--every", "40", "--out", str(out), "--simulator", simulator]
    done = subprocess.run([sys.executable, str(SCRIPT), *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    line = json.loads(out.read_text())
    assert line["battles"] == 20 and line["decisions"] > 500 and line["compared"] > 5 and line["differences"] == 0
