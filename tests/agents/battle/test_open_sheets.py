"""Open team sheets: what Showdown shows of the opponent's sets is what an agent's battle holds, from the preview on."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
from dataclasses import replace

import pytest
from poke_env.data import to_id_str
from support.doubles import doubles_fixtures

from agents import new_battle
from agents.battle import SeatBattle
from agents.battle.team_sheets import parse_sheets
from arena.record import BattleRecord
from arena.venue import Rules
from arena.venues.simulator.replaying import input_log_teams, replay_all, without_requests
from arena.venues.simulator.simulator import play_all
from teamsets.errors import UnknownFormat
from teamsets.formats import get_format
from teamsets.showdown import node, package

CHAMPIONS = "gen9championsvgc2026regma"
_RULES = """
const {Dex} = require(process.argv[1] + '/dist/sim/dex.js');
console.log(JSON.stringify(Dex.formats.all().filter(f => f.effectType === 'Format').map(f => {
  let rules;
  try { rules = Dex.formats.getRuleTable(f); } catch { return null; }
  return [f.id, rules.has('openteamsheets') || rules.has('forceopenteamsheets'), rules.valueRules.get('bestof') || '1'];
}).filter(Boolean)));
"""


def played(format_id: str, number: int = 1) -> list[BattleRecord]:
    fixtures = doubles_fixtures(format_id, ("random", "random"), number, drawn=False)
    opened = [replace(fixture, open_sheets=True) for fixture in fixtures]
    return asyncio.run(play_all(opened, Rules(think_limit=60.0, max_turns=200)))


@pytest.fixture(scope="module")
def record() -> BattleRecord:
    return played(CHAMPIONS)[0]


def seat_at_preview(record: BattleRecord, role: str) -> SeatBattle:
    battle = new_battle("battle-x-1", role, role, 9, record.fixture.format, random.Random(0))
    log = record.logs[("p1", "p2").index(role)]
    request = next(index for index, line in enumerate(log) if line.startswith("|request|"))
    battle.feed(log[:request])
    battle.ask(json.loads(log[request].removeprefix("|request|")))
    return battle


def true_sets(record: BattleRecord, role: str) -> list[dict[str, object]]:
    """The sets that the simulator was given, as Showdown unpacks them."""
    packed = input_log_teams(record.input_log)[role]["team"]
    code = "const {Teams} = require(process.argv[1]); console.log(JSON.stringify(Teams.unpack(process.argv[2])))"
    done = subprocess.run([node(), "-e", code, str(package()), packed], capture_output=True, text=True, check=True)
    sets: list[dict[str, object]] = json.loads(done.stdout)
    return sets


@pytest.mark.parametrize(("role", "other"), [("p1", "p2"), ("p2", "p1")])
def test_the_opponents_sets_are_known_at_team_preview(record: BattleRecord, role: str, other: str) -> None:
    battle = seat_at_preview(record, role)
    assert battle.parse_warnings == 0
    true = {to_id_str(str(each["species"])): each for each in true_sets(record, other)}
    assert {sheet.species for sheet in battle.opponent_sheets} == true.keys() and len(true) == 6
    for sheet, mon in zip(battle.opponent_sheets, battle.opponent_team.values(), strict=True):
        own = true[sheet.species]
        assert (sheet.item, sheet.ability, sheet.nature) == tuple(
            to_id_str(str(own[key])) for key in ("item", "ability", "nature")
        )
        assert list(sheet.moves) == [to_id_str(str(move)) for move in own["moves"]]  # type: ignore[attr-defined]
        assert mon.base_species in sheet.species
        assert (mon.item or "", mon.ability, mon.nature) == (sheet.item, sheet.ability, sheet.nature)
        assert list(mon.moves) == list(sheet.moves)


def test_without_open_sheets_nothing_is_known_before_it_is_shown() -> None:
    [fixture] = doubles_fixtures(CHAMPIONS, ("random", "random"), 1, drawn=False)
    [closed] = asyncio.run(play_all([fixture], Rules(think_limit=60.0, max_turns=200)))
    battle = seat_at_preview(closed, "p1")
    assert battle.opponent_sheets == ()
    assert all(mon.item == "unknown_item" and not mon.moves for mon in battle.opponent_team.values())
    assert closed.fixture.key != replace(fixture, open_sheets=True).key


def test_a_battle_with_open_sheets_is_replayed_line_by_line(record: BattleRecord) -> None:
    assert record.input_log.count(">show-openteamsheets") == 1
    [replayed] = replay_all([record.input_log])
    assert not isinstance(replayed, Exception)
    assert [without_requests(log) for log in record.logs] == list(replayed.lines)
    assert replayed.logs == record.logs


def test_an_item_that_is_gone_and_one_that_has_changed_hands_stay_gone() -> None:
    battle = new_battle("battle-x-1", "p1", "p1", 9, "gen9vgc2025regi", random.Random(0))
    sheet = (
        "Incineroar||SafetyGoggles|Intimidate|KnockOff,FakeOut|||M|||50|,,,,,Grass]"
        "Farigiraf||Leftovers|ArmorTail|Trick|||F|||50|,,,,,Water"
    )
    battle.feed(
        [
            "|player|p1|p1||", "|player|p2|p2||", "|teamsize|p1|2", "|teamsize|p2|2", "|gametype|doubles", "|gen|9",
            "|clearpoke", "|poke|p1|Kyogre, L50|", "|poke|p1|Koraidon, L50|", "|poke|p2|Incineroar, L50, M|",
            "|poke|p2|Farigiraf, L50, F|", "|teampreview|2", f"|showteam|p2|{sheet}", "|start",
            "|switch|p1a: Kyogre|Kyogre, L50|100/100", "|switch|p1b: Koraidon|Koraidon, L50|100/100",
            "|switch|p2a: Cat|Incineroar, L50, M|100/100", "|switch|p2b: Farigiraf|Farigiraf, L50, F|100/100", "|turn|1",
        ]
    )  # fmt: skip
    cat, giraffe = battle.opponent_team["p2: Cat"], battle.opponent_team["p2: Farigiraf"]
    assert (cat.item, cat.ability, cat.tera_type.name, list(cat.moves)) == (
        "safetygoggles",
        "intimidate",
        "GRASS",
        ["knockoff", "fakeout"],
    )
    battle.feed(
        [
            "|-enditem|p2a: Cat|Safety Goggles|[from] move: Knock Off|[of] p1a: Kyogre",
            "|-item|p2b: Farigiraf|Choice Specs|[from] move: Trick",
            "|switch|p2a: Farigiraf|Farigiraf, L50, F|100/100",
            "|switch|p2b: Cat|Incineroar, L50, M|100/100",
        ]
    )
    assert cat.item is None and giraffe.item == "choicespecs"
    assert [sheet.item for sheet in battle.opponent_sheets] == ["safetygoggles", "leftovers"]
    assert battle.parse_warnings == 0


def test_a_text_that_is_no_sheet_is_a_warning_and_no_end() -> None:
    with pytest.raises(ValueError, match="12 parts"):
        parse_sheets("Incineroar||SafetyGoggles")
    battle = new_battle("battle-x-1", "p1", "p1", 9, "gen9vgc2025regi", random.Random(0))
    battle.feed(["|showteam|p2|Incineroar||SafetyGoggles"])
    assert battle.parse_warnings == 1 and battle.opponent_sheets == ()


@pytest.mark.slow
def test_the_formats_with_open_sheets_are_showdowns() -> None:
    done = subprocess.run([node(), "-e", _RULES, str(package())], capture_output=True, text=True, check=True)
    formats = json.loads(done.stdout)
    assert len(formats) > 100
    for format_id, is_open, best_of in formats:
        if best_of == "1" and format_id.startswith("gen") and get_format_or_none(format_id) is not None:
            assert get_format(format_id).open_sheets is is_open, format_id


def get_format_or_none(format_id: str) -> object:
    try:
        return get_format(format_id)
    except UnknownFormat:
        return None
