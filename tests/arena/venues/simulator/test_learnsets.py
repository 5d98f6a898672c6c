"""A host loads learnsets only when it is asked for them, and they are Showdown's then."""

import json
import subprocess

import pytest

from teamsets.showdown import PROJECT, node, package

_COMPARED = """
import {createRequire} from 'node:module';
import {speedUp} from '@fast';
const require = createRequire(import.meta.url);
const anew = () => {
  for (const file of Object.keys(require.cache)) delete require.cache[file];
  return require('@package/dist/sim/dex.js').Dex;
};
const loaded = () => Object.keys(require.cache).filter(file => file.endsWith('learnsets.js')).length;
const stock = anew(), mods = @mods ?? Object.keys(stock.dexes);
const theirs = mods.map(mod => JSON.stringify(stock.mod(mod).data.Learnsets));
const quick = anew();
speedUp('@package');
const {Battle} = require('@package/dist/sim/battle.js');
for (const formatid of ['gen1randombattle', 'gen9randombattle']) {
  const battle = new Battle({formatid, seed: [1, 2, 3, 4]});
  for (const side of ['p1', 'p2']) battle.setPlayer(side, {name: side});
  while (!battle.ended) for (const side of battle.sides) if (!battle.ended) battle.choose(side.id, 'default');
}
const inBattles = loaded();
const different = mods.filter((mod, at) => JSON.stringify(quick.mod(mod).data.Learnsets) !== theirs[at]);
console.log(JSON.stringify({inBattles, mods: mods.length, different, afterwards: loaded()}));
"""


@pytest.mark.parametrize(
    ("mods", "number"),
    [  # the last changes learnsets of its own while it is loaded
        pytest.param(["gen2", "gen1", "woomod"], 3, id="some"),
        pytest.param(None, 40, id="all", marks=pytest.mark.slow),
    ],
)
def test_no_battle_loads_them_and_who_asks_gets_showdowns(mods: list[str] | None, number: int) -> None:
    code = _COMPARED.replace("@fast", str(PROJECT / "arena" / "venues" / "simulator" / "fast.mjs"))
    code = code.replace("@package", str(package())).replace("@mods", json.dumps(mods))
    command = [node(), "--input-type=module", "-e", code]
    found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    assert found["inBattles"] == 0 and found["different"] == []
    assert found["mods"] >= number and found["afterwards"] > 1
