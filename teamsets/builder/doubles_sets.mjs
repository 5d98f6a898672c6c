// What a format of doubles has of Showdown's own sets for random doubles: a line of JSON for a format without published sets.
//
//     ARENA_SHOWDOWN=node_modules/pokemon-showdown node teamsets/builder/doubles_sets.mjs gen9championsvgc2026regma
//
// {species: [{species, base, level, role, moves, attacks, abilities, teraTypes, stones, speed}, …], items, statPoints}. `moves` are
// those of the set that the format has, `attacks` says of each "Physical", "Special" or "Status", `stones` are Mega Stones of
// the species. statPoints: the format has 66 points of at most 32 a stat in place of EVs.

import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';

const folder = process.env.ARENA_SHOWDOWN;
const {Dex} = createRequire(import.meta.url)(folder);
const format = Dex.formats.get(process.argv[2]);
const dex = Dex.forFormat(format);
const sets = JSON.parse(fs.readFileSync(path.join(folder, 'dist', 'data', 'random-battles', 'gen9', 'doubles-sets.json'), 'utf8'));
const has = thing => thing.exists && thing.gen <= dex.gen && !thing.isNonstandard;

const items = dex.items.all().filter(item => has(item)).map(item => item.name);
const stonesOf = species => dex.items.all().filter(item => has(item) && item.megaStone?.[species.name]).map(item => item.name);
const found = [];
for (const [id, {level, sets: variants}] of Object.entries(sets)) {
  const species = dex.species.get(id);
  if (!has(species) || species.battleOnly || species.requiredItems?.length) continue;
  for (const {role, movepool, abilities, teraTypes} of variants) {
    const moves = movepool.map(name => dex.moves.get(name)).filter(has);
    if (moves.length < 4) continue;
    found.push({
      species: species.name, base: species.baseSpecies, level, role, moves: moves.map(move => move.name),
      attacks: Object.fromEntries(moves.map(move => [move.name, move.category])), abilities, teraTypes,
      stones: stonesOf(species), speed: species.baseStats.spe,
    });
  }
}
process.stdout.write(JSON.stringify({sets: found, items, statPoints: dex.currentMod.startsWith('champions')}));
