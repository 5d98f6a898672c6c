"""The quick simulator against Showdown's own code: equal battles, differences found, and the shapes that make it quick."""

from __future__ import annotations

import json
import subprocess

import pytest
from support.command_line import PROJECT
from support.scripts import script

from teamsets.showdown import node, package

#: Any move, ability and item of a generation, on any Pokémon; and teams that people would play.
FORMATS = [f"gen{gen}hackmonscup" for gen in (1, 7, 8, 9)] + [
    "gen2randombattle",
    "gen4randombattle",
    "gen9challengecup6v6",
]
OPTIONS = {"battles": 6, "seed": 11, "turns": 60, "formats": FORMATS}


@pytest.mark.slow
def test_random_battles_with_any_move_and_ability_are_equal() -> None:
    stock, found, unrepeatable = script("simulator_parity.py").differing(OPTIONS)
    assert (found, unrepeatable) == ([], [])
    assert [(format_id, number) for format_id in FORMATS for number in range(6)] == list(stock)
    assert sum(line["turns"] for line in stock.values()) > 1000


def test_a_difference_is_found_and_a_format_that_differs_from_itself_proves_nothing(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    parity = script("simulator_parity.py")
    plays = iter(range(100))

    def play(options: dict[str, object], stock: bool) -> dict[tuple[str, int], dict[str, object]]:
        now = next(plays)
        battles = {(name, number): {"turns": 5, "hash": "same"} for name in "abc" for number in range(2)}
        battles["a", 1]["hash"] = f"quick or not: {stock}"
        battles["b", 0]["hash"] = f"never the same: {now}"
        return battles

    monkeypatch.setattr(parity, "play", play)
    monkeypatch.setattr("sys.argv", ["simulator_parity.py", "--seed", "7"])
    with pytest.raises(SystemExit) as ended:
        parity.main()
    assert ended.value.code == 1
    assert capsys.readouterr().out.splitlines() == [
        "b: not even two plays on Showdown's own code are equal",
        "a, battle 1 (--seed 8 --battles 1): not equal",
        "4 battles of 2 formats: 1 differ (30 turns; 0 battles ended by an error of Showdown's own)",
    ]


_SHAPES = """
import {{createRequire}} from 'node:module';
import {{speedUp}} from '{fast}';
const require = createRequire(import.meta.url);
const {{Dex}} = require('{package}/dist/sim/dex.js');
speedUp('{package}');
const answer = {{}};
for (const mod of ['gen9', 'gen1']) {{
  const dex = Dex.mod(mod);
  const active = dex.moves.all().map(move => dex.getActiveMove(move));
  const [moves, abilities, items, species] = [dex.moves, dex.abilities, dex.items, dex.species].map(table => table.all());
  const kinds = {{moves, abilities, items, species, active}};
  for (const [kind, entries] of Object.entries(kinds)) {{
    const shapes = [];
    for (const entry of entries) if (!shapes.some(other => %HaveSameMap(other, entry))) shapes.push(entry);
    answer[mod + ' ' + kind] = shapes.length;
  }}
}}
console.log(JSON.stringify(answer));
"""


@pytest.mark.slow
def test_entries_of_a_kind_have_a_few_shapes_at_most() -> None:
    code = _SHAPES.format(fast=PROJECT / "arena" / "simulator" / "fast.mjs", package=package())
    command = [node(), "--allow-natives-syntax", "--input-type=module", "-e", code]
    found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    assert {"gen9 moves", "gen1 moves", "gen9 active", "gen9 abilities", "gen9 species"} <= found.keys()
    # V8 reads up to four shapes without a lookup; Showdown's own moves have 202.
    assert {kind: count for kind, count in found.items() if count > 4} == {}
