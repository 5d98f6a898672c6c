"""Objects of a battle have one shape a kind in a host, and nothing that Showdown puts into them is lost."""

import json
import re
import subprocess

from teamsets.showdown import PROJECT, node, package

_HOST = PROJECT / "arena" / "simulator"

_BATTLES = """
import {{createRequire}} from 'node:module';
import {{speedUp}} from '{fast}';
const require = createRequire(import.meta.url);
const sim = name => require('{package}/dist/sim/' + name);
const {{Battle}} = sim('battle.js'), {{Teams}} = sim('teams.js'), {{PRNG}} = sim('prng.js');
speedUp('{package}');
const kinds = {{pokemon: [], actions: [], handlers: [], active: []}};
const counts = {{pokemon: 0, actions: 0, handlers: 0, active: 0}};
const note = (kind, objects) => {{
  for (const object of objects) {{
    counts[kind] += 1;
    if (!kinds[kind].some(other => %HaveSameMap(other, object))) kinds[kind].push(object);
  }}
}};
const {{runAction, findEventHandlers}} = Battle.prototype;
Battle.prototype.runAction = function (action) {{
  note('actions', [action, ...this.queue.list]);
  if (action.move) note('active', [action.move]);
  return runAction.call(this, action);
}};
Battle.prototype.findEventHandlers = function (...words) {{
  const found = findEventHandlers.apply(this, words);
  note('handlers', found);
  return found;
}};
for (let number = 1; number <= 10; number++) {{
  const prng = new PRNG([number, 2, 3, 4]);
  const battle = new Battle({{formatid: 'gen9randombattle', seed: [number, 1, 1, 1]}});
  for (const side of ['p1', 'p2']) {{
    const team = Teams.getGenerator('gen9randombattle', [number, side === 'p1' ? 1 : 2, 0, 0]).getTeam();
    battle.setPlayer(side, {{name: side, team}});
  }}
  while (!battle.ended) for (const side of battle.sides) if (!battle.ended && !side.isChoiceDone()) {{
    const kinds = prng.sample([['move 1', 'move 2', 'move 3 terastallize'], ['switch 2', 'switch 4', 'switch 6']]);
    if (!battle.choose(side.id, prng.sample(kinds))) battle.choose(side.id, 'default');
  }}
  note('pokemon', battle.sides.flatMap(side => side.pokemon));
}}
const shapes = Object.fromEntries(Object.entries(kinds).map(([kind, objects]) => [kind, objects.length]));
console.log(JSON.stringify({{shapes, counts}}));
"""


def test_objects_of_a_kind_have_one_shape() -> None:
    code = _BATTLES.format(fast=_HOST / "fast.mjs", package=package())
    command = [node(), "--allow-natives-syntax", "--input-type=module", "-e", code]
    found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    assert min(found["counts"].values()) > 100
    # Pokémon: with and without `terastallized`, which Showdown deletes when one faints.
    assert found["shapes"] == {"pokemon": 2, "actions": 1, "handlers": 1, "active": 1}


def test_handlers_keep_all_that_showdown_makes_them_from() -> None:
    kept = re.search(r"class Handler \{\s+constructor\(\{(.*?)\}\)", (_HOST / "objects.mjs").read_text())
    assert kept
    made = set()
    for script in [*package().glob("dist/sim/*.js"), *package().glob("dist/data/**/*.js")]:
        for literal in re.findall(r"\.resolvePriority\(\{(.*?)\n\s*\}, ", script.read_text(), re.S):
            made |= {re.match(r"\s*(\w+)", line)[1] for line in re.split(r",\n", literal)}  # type: ignore[index]
    assert {"effect", "callback"} < made
    assert made - set(kept[1].split(", ")) == set()
