"""The quicker reading of lines and requests (in agents/battle) leaves the same state as poke-env's own, to the last
attribute, after every line: in battles of every generation, and for lines that poke-env cannot read."""

from __future__ import annotations

import inspect
import random
from collections.abc import Iterator

import orjson
import pytest
from poke_env.battle.battle import Battle
from poke_env.battle.pokemon import Pokemon
from poke_env.data import GenData
from support.battle_state import snapshot
from support.real_battles import FORMATS
from support.uncorrected import UncorrectedBattle

from agents.battle.quick_battle import QuickBattle, QuickReading
from agents.battle.quick_poke_env import slow_down, speed_up
from arena.fixture import SEATS
from arena.record import BattleRecord
from teamsets.formats import get_format


class StockBattle(UncorrectedBattle):
    """A seat's battle whose lines poke-env's own code reads."""


for _name in (*vars(QuickReading), *vars(QuickBattle)):
    if not _name.startswith("__"):
        setattr(StockBattle, _name, inspect.getattr_static(Battle, _name))


@pytest.fixture(autouse=True)
def quick_again() -> Iterator[None]:
    yield
    speed_up()


class Both:
    """Feeds a quick and a stock battle the same; after each line all that they hold must be the same."""

    def __init__(self, role: str, format_id: str) -> None:
        gen = get_format(format_id).gen
        self.quick, self.stock = (
            kind("battle-x-1", role, role, gen, format_id, random.Random(0))
            for kind in (UncorrectedBattle, StockBattle)
        )

    def feed(self, line: str) -> None:
        if line.startswith("|request|"):
            text = line.removeprefix("|request|")
            self.quick.ask(orjson.loads(text))
            orders = [order.message for order in self.quick.valid_orders]
            slow_down()
            self.stock.ask(orjson.loads(text))
            assert orders == [order.message for order in self.stock.valid_orders]
        else:
            self.quick.feed([line])
            slow_down()
            self.stock.feed([line])
        theirs = snapshot(self.stock)
        speed_up()
        assert snapshot(self.quick) == theirs, line
        assert len(self.quick._replay_data) == len(self.stock._replay_data)
        assert self.quick._replay_data[-1:] == self.stock._replay_data[-1:]


@pytest.mark.slow
@pytest.mark.parametrize("format_id", FORMATS)
def test_every_line_and_request_of_real_battles_leaves_the_same_state(
    real_battles: dict[str, list[BattleRecord]], format_id: str
) -> None:
    record = max(real_battles[format_id], key=lambda record: record.turns)
    for role, log in zip(SEATS, record.logs, strict=True):
        both = Both(role, format_id)
        for line in log:
            both.feed(line)
        assert both.quick.finished and len(both.quick._replay_data) > 100


START = [
    "|player|p1|p1||",
    "|player|p2|p2||",
    "|teamsize|p1|2",
    "|teamsize|p2|3",
    "|switch|p1a: Vileplume|Vileplume, L80, F|250/250",
    "|switch|p2a: Absol|Absol, L80, M|100/100",
    "|turn|1",
]


@pytest.mark.parametrize(
    "lines",
    [
        ["|switch|p1a: Vileplume", "|switch|p2a: Nobody|Nothing|100/100", "|drag|p2a: Slowbro|Slowbro, L80|80/100 tox"],
        ["|-damage|p2a: Absol|0 fnt", "|-damage|p2a: Absol", "|-damage|p2a: Absol|a/b", "|-damage|p2a: Absol|5 par"],
        ["|-damage|p2a: Absol|50/100 par brn", "|-damage|p2a: Absol|50/100 odd", "|-damage|p2a: Absol|"],
        ["|-damage|p2a: Absol|88/100|[from] item: Rocky Helmet|[of] p1a: Vileplume", "|-heal|p2a: Absol|90/100 slp"],
        [
            "|-start|p2a: Absol|move: Yawn|[of] p1a: Vileplume",
            "|-heal|p2a: Absol|90/100 slp",
            "|turn|2",
            "|turn|x",
            "|turn",
        ],
        ["|-heal|p2a: Absol|94/100|[from] item: Leftovers", "|-heal|p1a: Vileplume|5/250", "|-heal|p1a: Vileplume"],
        ["|move|p2a: Absol|Sucker Punch|p1a: Vileplume", "|move|p2a: Absol|Sucker Punch|p1a: Vileplume|[miss]"],
        ["|move|p1a: Vileplume|Minimize|p1a: Vileplume", "|move|p1a: Vileplume|Metronome|p1a: Vileplume"],
        ["|move|p1a: Vileplume|Protect|p1a: Vileplume", "|move|p1a: Vileplume|Hidden Power|p2a: Absol", "|turn|2"],
        [
            "|move|p1a: Vileplume|Protect||[still]",
            "|move|p1a: Vileplume",
            "|move|p2a: Absol|No Such Move|p1a: Vileplume",
        ],
        ["|-activate|p2a: Absol|ability: Dancer", "|move|p2a: Absol|Swords Dance|p2a: Absol", "|turn|2"],
        [
            "|-ability|p1a: Vileplume|Pressure",
            "|move|p2a: Absol|Night Slash|p1a: Vileplume",
            "|-ability|p1a: Vileplume|x",
        ],
        [
            "|-start|p1a: Vileplume|Charge",
            "|move|p1a: Vileplume|Thunder Shock|p2a: Absol",
            "|-start|p2a: Absol|confusion",
        ],
        [
            "|-boost|p2a: Absol|atk|2",
            "|-unboost|p2a: Absol|atk|x",
            "|-unboost|p2a: Absol|odd|1",
            "|-boost|p2a: Absol|atk",
        ],
        ["|-status|p2a: Absol|tox", "|turn|2", "|-status|p2a: Absol|odd", "|-status|p2a: Absol", "|faint|p2a: Absol"],
        [
            "|-transform|p2a: Absol|p1a: Vileplume",
            "|switch|p2a: Slowbro|Slowbro, L80|9/100",
            "|-start|p1a: Vileplume|Mimic|Surf",
        ],
        [
            "|-ability|p1a: Vileplume|Regenerator",
            "|-damage|p1a: Vileplume|10/250",
            "|switch|p1a: Muk|Muk|1/9",
            "|win|p1",
        ],
        ["|-mustrecharge|p2a: Absol", "|move|p2a: Absol|Bite|p1a: Vileplume", "|tie", "|win|p2"],
    ],
    ids=lambda lines: lines[0],
)
@pytest.mark.parametrize("role", SEATS)
@pytest.mark.parametrize("format_id", ["gen1ou", "gen9ou"])
def test_unusual_and_broken_lines_leave_the_same_state_and_are_counted_alike(
    format_id: str, role: str, lines: list[str]
) -> None:
    both = Both(role, format_id)
    for line in [*START, *lines]:
        both.feed(line)


def test_speeding_up_and_slowing_down_replace_and_restore_poke_envs_methods() -> None:
    assert Pokemon.moved.__module__ == "agents.battle.quick_poke_env"
    slow_down()
    assert Pokemon.moved.__module__ == "poke_env.battle.pokemon"
    assert GenData._learnset_for_generation.__module__ == "poke_env.data.gen_data"


@pytest.mark.parametrize("gen", [3, 9])
def test_learnsets_are_the_same(gen: int) -> None:
    data = GenData.from_gen(gen)
    species = sorted(data.pokedex)[::40]
    quick = [data._learnset_for_generation(name, gen) for name in species]
    slow_down()
    assert quick == [data._learnset_for_generation(name, gen) for name in species]
    assert sum(map(len, quick)) > 300
