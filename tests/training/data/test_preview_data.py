"""Team previews of stored battles as decisions in data: their choice, their targets, and data read without them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from support.made_logs import sides as peoples_sides

from agents.observation.actions import FIRST_LEADS, SWITCHES
from agents.observation.columns import PokemonFeature, at_preview
from agents.observation.decisions import decisions_of
from agents.observation.observation import OURS
from arena.record import unpacked
from training.data.from_store import StoredSide, selected, sides
from training.data.shards import Dataset, DatasetWriter, all_trajectories, digest, opened
from training.data.targets import Target
from training.data.trajectory import COLUMNS, MISSING, Trajectory, build_trajectory, decision_points


def side_of(played: Path, place: int = 0) -> StoredSide:
    return list(sides(played, selected(played, "format = 'gen9ou'")))[place]


def built(side: StoredSide, choices: Sequence[str | None], diagnostics: Any = ()) -> Trajectory | None:
    return build_trajectory(side.seat, "gen9ou", unpacked(side.log), choices, 1.0, {"format": "gen9ou"}, diagnostics)


def action_of_lead(side: StoredSide, order: str) -> int:
    """The action of the lead that an order names."""
    battle = next(decision_points(side.seat, "gen9ou", unpacked(side.log)))
    lead = int(order.removeprefix("team ")[0])
    return next(action for action, choice in decisions_of(battle).actions.items() if choice.slot == lead)


def test_the_preview_is_the_first_decision_and_its_action_is_the_lead(played: Path) -> None:
    leads = set()
    for place in range(4):
        side = side_of(played, place)
        made = built(side, side.choices)
        assert made is not None and len(made) == len(side.choices)
        assert at_preview(made.features).tolist() == [True] + [False] * (len(made) - 1)
        assert np.flatnonzero(made.legal[0]).tolist() == [FIRST_LEADS, *SWITCHES]
        assert made.actions[0] == action_of_lead(side, side.choices[0])
        leads.add(side.choices[0])
    assert len(leads) > 1


def test_an_order_counts_as_its_lead_and_so_does_what_a_coach_orders(played: Path) -> None:
    side = side_of(played)
    other = [f"team {lead}{''.join(d for d in '654321' if d != lead)}" for lead in "25"]
    diagnostics = [{"coach": other[1], "probabilities": {other[1]: 1.0}}, *[None] * (len(side.choices) - 1)]
    made = built(side, [other[0], *side.choices[1:]], diagnostics)
    assert made is not None
    assert made.actions[0] == action_of_lead(side, other[0]) and made.targets[0] == Target.EXPERT
    assert made.target_policy[0].argmax() == action_of_lead(side, other[1]) != made.actions[0]


def test_a_side_of_which_the_lead_alone_is_known_is_left_out(played: Path) -> None:
    side = side_of(played)
    lead, *others = side.choices
    assert built(side, [lead, *[None] * len(others)]) is None
    made = built(side, [None, *others])
    assert made is not None and made.actions[0] == MISSING and len(made) == len(side.choices)


def test_a_dataset_is_read_without_its_previews(dataset: Dataset, tmp_path: Path) -> None:
    """Of gen1ou and gen9ou, in several shards."""
    whole, without = list(all_trajectories(dataset)), dataset.without_previews()
    shorter = list(all_trajectories(without))
    assert dataset.previews and without.without_previews() is without and digest(without) != digest(dataset)
    counted = [int(at_preview(one.features[0])) for one in whole]
    assert 0 < sum(counted) < len(whole) and [*np.concatenate(dataset.previews)] == counted
    assert without.decisions == dataset.decisions - sum(counted) == sum(map(len, shorter))
    assert without.trajectories == dataset.trajectories
    for one, other, count in zip(whole, shorter, counted, strict=True):
        assert all(np.array_equal(getattr(one, n)[count:], getattr(other, n), equal_nan=n == "values") for n in COLUMNS)
    with DatasetWriter(tmp_path / "without", {}) as writer:
        for one in shorter:
            writer.add(one)
    plain = opened(tmp_path / "without")
    assert '"previews"' in (dataset.folder / "dataset.json").read_text()
    assert plain.previews == () and plain.without_previews() is plain
    assert '"previews"' not in (plain.folder / "dataset.json").read_text()


def test_of_peoples_battles_the_lead_is_known() -> None:
    """The replay shows both teams, and who comes in first."""
    teams = {"p1": ("Garchomp", "Blissey", "Corviknight"), "p2": ("Dragapult", "Toxapex", "Kingambit")}
    lines = [
        "|clearpoke",
        *(f"|poke|{role}|{name}, M|" for role, team in teams.items() for name in team),
        "|teampreview",
    ]
    lines += [
        "|",
        "|start",
        "|switch|p1a: Corviknight|Corviknight, M|100/100",
        "|switch|p2a: Dragapult|Dragapult, M|100/100",
    ]
    lines += [
        "|turn|1",
        "|",
        "|move|p2a: Dragapult|U-turn|p1a: Corviknight",
        "|move|p1a: Corviknight|Roost|p1a: Corviknight",
    ]
    of_both = peoples_sides("\n".join([*lines, "|turn|2"]), 9)
    leads = []
    for role, side in zip(teams, of_both, strict=True):
        made = build_trajectory(role, "gen9ou", side.lines, side.choices, 1.0, {"format": "gen9ou"})
        assert made is not None and at_preview(made.features[0]) and made.actions[0] != MISSING
        assert made.features[0, OURS[0] : OURS[0] + 3, PokemonFeature.ACTIVE].tolist() == [0, 0, 0]
        leads.append(side.choices[0])
    assert leads == ["team 312", "team 123"]
