"""People's battles of doubles as training data: a sample that Showdown plays here, with open team sheets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from poke_env.data import to_id_str
from support.command_line import Said
from support.scripts import script

from agents.mechanics.set_sampling import SampledPokemon, draw_set
from agents.observation.layout import layout_of_format
from arena.replays.reading import UnusableReplay, public_battle
from arena.replays.reconstruction import reconstruct
from arena.replays.team_sets import gather
from teamsets.loading import load_set
from training.data.replay_import import Filters, replay_trajectories
from training.data.trajectory import decision_points

FORMAT = "gen9championsvgc2026regma"
BATTLES = 3
parity = script("parity/replay_parity.py")


@pytest.fixture(scope="module")
def played() -> list[dict[str, Any]]:
    teams = [team.packed for team in load_set("competitive", FORMAT).teams]
    options = {
        "gen": 9,
        "format": FORMAT,
        "seed": 11,
        "first": 0,
        "battles": BATTLES,
        "policy": "random",
        "packed": teams,
    }
    return list(parity.oracle(options, parity.ORACLE))


@pytest.fixture(scope="module")
def folder(played: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("replays")
    for battle in played:
        (path / f"{FORMAT}-{battle['index'] + 1}.log").write_text("\n".join(battle["log"]), "utf-8")
    return path


def _truth(played: list[dict[str, Any]], role: str, name: str) -> Iterator[str]:
    """The moves that a side chose in a battle, half by half, as the simulator has them."""
    battle = played[int(name.rpartition("-")[2]) - 1]
    for asked in battle["asked"]:
        if asked["role"] == role and asked["choice"] and not asked["choice"].startswith("team"):
            yield from asked["choice"].split(", ")


def test_both_points_of_view_become_trajectories_of_doubles(played: list[dict[str, Any]], folder: Path) -> None:
    refused: Counter[str] = Counter()
    trajectories = list(replay_trajectories(folder, Filters(), refused))
    assert len(trajectories) == 2 * BATTLES and not refused
    for one in trajectories:
        known = one.actions >= 0
        assert one.layout == layout_of_format(FORMAT) and one.layout.slots == 2
        assert known.mean() > 0.6 and one.legal[np.flatnonzero(known), one.actions[known]].all()


def test_a_side_sees_its_own_team_and_the_sheets(played: list[dict[str, Any]]) -> None:
    battle = public_battle("\n".join(played[0]["log"]), f"{FORMAT}-1")
    for side in reconstruct(battle):
        own = next(asked["ask"]["side"]["pokemon"] for asked in played[0]["asked"] if asked["role"] == side.role)
        assert [member.moves for member in side.team] == [tuple(member["moves"]) for member in own]
        assert [member.item for member in side.team] == [member["item"] for member in own]
        for view in decision_points(side.role, FORMAT, side.lines):
            assert view.parse_warnings == 0 and len(view.opponent_sheets) == 6  # at team preview as well
        chosen = Counter(half for half in _truth(played, side.role, battle.id))
        said = Counter(
            half for each in side.choices[1:] for half in (each or "").split(", ") if half.startswith("move ")
        )
        assert sum(said.values()) > 5 and not {half for half in said if half not in chosen} - _empty_targets(said)


def _empty_targets(said: Counter[str]) -> set[str]:
    """Choices with a target: random play names empty slots as well, which a log does not tell from the other."""
    return {half for half in said if half.endswith(("+1", "+2"))}


def test_what_cannot_be_read_is_refused_with_a_reason(played: list[dict[str, Any]]) -> None:
    log = "\n".join(played[0]["log"])
    with pytest.raises(UnusableReplay, match="without open team sheets"):
        public_battle(log.replace("|showteam|p2|", "|other|p2|"), "x")
    sheet = next(line for line in played[0]["log"] if line.startswith("|showteam|p1"))
    species, ability = sheet.split("|")[3], sheet.split("|")[6]
    commanded = sheet.replace(f"|{species}|", "|Dondozo|", 1).replace(f"|{ability}|", "|Commander|", 1)
    for changed, reason in (
        (sheet.replace(f"|{ability}|", "|Illusion|", 1), "Illusion"),
        (commanded, "Commander"),
        (sheet.rsplit("]", 1)[0] + "]", "cannot be read"),
    ):
        with pytest.raises(UnusableReplay, match=reason):
            reconstruct(public_battle(log.replace(sheet, changed), "x"))


def test_the_teams_of_the_sheets_become_a_team_set(
    arena: Callable[..., Said], played: list[dict[str, Any]], folder: Path, tmp_path: Path
) -> None:
    """All of a sheet, also of a team of which fewer than four came in; each team once."""
    lines = [line for battle in played for line in battle["log"]]
    packed = [line.split("|", 3)[3] for line in lines if line.startswith("|showteam|")]
    for log in folder.iterdir():  # each battle ends in its first turn
        begun, _, _ = log.read_text("utf-8").partition("\n|turn|2")
        (tmp_path / log.name).write_text(begun + "\n|win|Player 1", "utf-8")
    said = arena("teams", "from-replays", tmp_path, "--set", "human", "--out", tmp_path / "human")
    assert said.code == 0, said.err
    teams = load_set(str(tmp_path / "human"), FORMAT).teams
    assert f"{len(teams)} teams written to" in said.out
    assert {_of_a_sheet(team.packed) for team in teams} == {_of_a_sheet(sheet) for sheet in packed}


def test_a_sheet_that_several_battles_show_is_one_team(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stat points, which it does not show, are drawn anew for each battle of a series."""
    drawn_points = iter(range(1, 33))

    def draw(*arguments: Any) -> SampledPokemon:
        return replace(draw_set(*arguments), evs=(next(drawn_points) if arguments[2] == first else 1, 0, 0, 0, 0, 0))

    log = next(folder.iterdir()).read_text("utf-8")
    packed = [line.split("|", 3)[3] for line in log.split("\n") if line.startswith("|showteam|")]
    sheets, first = {_of_a_sheet(sheet) for sheet in packed}, to_id_str(packed[0].split("|")[0])
    begun, _, _ = log.partition("\n|turn|2")
    for number in range(3):
        (tmp_path / f"{FORMAT}-{number + 1}.log").write_text(f"{begun}\n|-message|{number}\n|win|Player 1", "utf-8")
    monkeypatch.setattr("arena.replays.doubles.sheets.draw_set", draw)
    done = gather(tmp_path, tmp_path / "human")
    assert next(drawn_points) > 3 and not done.refused
    assert (len(done.paths), done.doubled) == (len(sheets), 6 - len(sheets))


def _of_a_sheet(packed: str) -> tuple[tuple[str, ...], ...]:
    """Species, item, ability, moves and nature of each, in the order of their names."""
    return tuple(sorted((*each.split("|")[0:1], *each.split("|")[2:6]) for each in packed.split("]")))
