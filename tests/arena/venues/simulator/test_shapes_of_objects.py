"""In a host objects of a battle have one shape a kind, entries of the Dex a few; and nothing of theirs is lost."""

import json
import re
import subprocess
from typing import Any

import pytest

from teamsets.showdown import PROJECT, node, package

_HOST = PROJECT / "arena" / "venues" / "simulator"

#: note(kind, objects) counts objects, and an example of each shape in `kinds`.
_COUNTING = """
import {createRequire} from 'node:module';
import {speedUp} from '@fast';
const require = createRequire(import.meta.url);
const sim = name => require('@package/dist/sim/' + name);
const kinds = {}, counts = {};
const note = (kind, objects) => {
  const found = (kinds[kind] ??= []);
  counts[kind] = (counts[kind] ?? 0) + objects.length;
  for (const object of objects) if (!found.some(other => %HaveSameMap(other, object))) found.push(object);
};
"""

_ANSWER = """
const shapes = Object.fromEntries(Object.entries(kinds).map(([kind, objects]) => [kind, objects.length]));
console.log(JSON.stringify({shapes, counts}));
"""

_BATTLES = """
const {Battle} = sim('battle.js'), {Teams} = sim('teams.js'), {PRNG} = sim('prng.js');
speedUp('@package');
const {runAction, findEventHandlers} = Battle.prototype;
Battle.prototype.runAction = function (action) {
  note('actions', [action, ...this.queue.list]);
  if (action.move) note('active', [action.move]);
  return runAction.call(this, action);
};
Battle.prototype.findEventHandlers = function (...words) {
  const found = findEventHandlers.apply(this, words);
  note('handlers', found);
  return found;
};
for (let number = 1; number <= 10; number++) {
  const prng = new PRNG([number, 2, 3, 4]);
  const battle = new Battle({formatid: 'gen9randombattle', seed: [number, 1, 1, 1]});
  for (const side of ['p1', 'p2']) {
    const team = Teams.getGenerator('gen9randombattle', [number, side === 'p1' ? 1 : 2, 0, 0]).getTeam();
    battle.setPlayer(side, {name: side, team});
  }
  while (!battle.ended) for (const side of battle.sides) if (!battle.ended && !side.isChoiceDone()) {
    const kinds = prng.sample([['move 1', 'move 2', 'move 3 terastallize'], ['switch 2', 'switch 4', 'switch 6']]);
    if (!battle.choose(side.id, prng.sample(kinds))) battle.choose(side.id, 'default');
  }
  note('pokemon', battle.sides.flatMap(side => side.pokemon));
}
"""

_ENTRIES = """
const {Dex} = sim('dex.js');
speedUp('@package');
for (const mod of ['gen9', 'gen1']) {
  const dex = Dex.mod(mod);
  for (const kind of ['moves', 'abilities', 'items', 'species']) note(`${mod} ${kind}`, dex[kind].all());
  note(`${mod} active`, dex.moves.all().map(move => dex.getActiveMove(move)));
}
"""


def counted(code: str) -> tuple[dict[str, int], dict[str, int]]:
    """What a script has noted in a process with the quick simulator: kind -> number of shapes; kind -> number of objects."""
    code = (_COUNTING + code + _ANSWER).replace("@fast", str(_HOST / "fast.mjs")).replace("@package", str(package()))
    command = [node(), "--allow-natives-syntax", "--input-type=module", "-e", code]
    found: dict[str, Any] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    return found["shapes"], found["counts"]


@pytest.mark.slow
def test_objects_of_a_kind_have_one_shape() -> None:
    shapes, counts = counted(_BATTLES)
    assert min(counts.values()) > 100
    # Pokémon: with and without `terastallized`, which Showdown deletes when one faints.
    assert shapes == {"pokemon": 2, "actions": 1, "handlers": 1, "active": 1}


@pytest.mark.slow
def test_entries_of_a_kind_have_a_few_shapes_at_most() -> None:
    shapes, _ = counted(_ENTRIES)
    assert {"gen9 moves", "gen1 moves", "gen9 active", "gen9 abilities", "gen9 species"} <= shapes.keys()
    # V8 reads up to four shapes without a lookup; Showdown's own moves have 202.
    assert {kind: count for kind, count in shapes.items() if count > 4} == {}


def test_handlers_keep_all_that_showdown_makes_them_from() -> None:
    kept = re.search(r"class Handler \{\s+constructor\(\{(.*?)\}\)", (_HOST / "objects.mjs").read_text())
    assert kept
    made = set()
    for script in [*package().glob("dist/sim/*.js"), *package().glob("dist/data/**/*.js")]:
        for literal in re.findall(r"\.resolvePriority\(\{(.*?)\n\s*\}, ", script.read_text(), re.S):
            made |= {re.match(r"\s*(\w+)", line)[1] for line in re.split(r",\n", literal)}  # type: ignore[index]
    assert {"effect", "callback"} < made
    assert made - set(kept[1].split(", ")) == set()
