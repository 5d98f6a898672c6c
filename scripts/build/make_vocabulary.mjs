// Writes agents/observation/vocabulary.json: every species, move, ability and item of Showdown, by id, each at its place for good.
//
//     node scripts/build/make_vocabulary.mjs
//
// Words that the file has keep their places; new ones come behind them, so that older checkpoints can still be read.

import {readFileSync, existsSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';

const {Dex} = createRequire(import.meta.url)('pokemon-showdown');
const file = new URL('../../agents/observation/vocabulary.json', import.meta.url);
const before = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};

const words = {};
for (const kind of ['species', 'moves', 'abilities', 'items']) {
  const known = before[kind] || [];
  const all = Dex[kind].all().filter(thing => thing.exists && thing.num > 0 && thing.isNonstandard !== 'Custom');
  const found = all.map(thing => thing.id).filter(id => !known.includes(id));
  words[kind] = [...known, ...[...new Set(found)].sort()];
}
writeFileSync(file, JSON.stringify(words, null, 0).replaceAll('],"', '],\n"') + '\n');
