// Writes agents/engine/gen1/gen1.json: species, moves and type chart of generation 1, from Showdown's own Dex.
//
//     node scripts/build/make_engine_data.mjs            # write the file
//     node scripts/build/make_engine_data.mjs --print    # print it instead: tests/agents/engine compares

import {writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';

const require = createRequire(import.meta.url);
const {Dex} = require('pokemon-showdown');
const dex = Dex.mod('gen1');
const TYPES = ['Normal', 'Fighting', 'Flying', 'Poison', 'Ground', 'Rock', 'Bug', 'Ghost', 'Fire', 'Water', 'Grass', 'Electric',
  'Psychic', 'Ice', 'Dragon'];
const STATS = ['atk', 'def', 'spa', 'spd', 'spe', 'accuracy', 'evasion'];
const real = thing => thing.exists && thing.gen <= 1 && (!thing.isNonstandard || thing.isNonstandard === 'Unobtainable');
const byNumber = (a, b) => a.num - b.num;
const boosts = changes => Object.entries(changes || {}).map(([stat, by]) => [STATS.indexOf(stat), by]);

const species = dex.species.all().filter(s => real(s) && s.num > 0 && s.num <= 151 && !s.forme).sort(byNumber).map(s => ({
  id: s.id, num: s.num, types: s.types.map(type => TYPES.indexOf(type)),
  stats: ['hp', 'atk', 'def', 'spa', 'spd', 'spe'].map(stat => s.baseStats[stat]),
}));

const moves = dex.moves.all().filter(m => real(m) && m.num > 0).sort(byNumber).map(m => ({
  id: m.id, num: m.num, type: m.type === '???' ? TYPES.length : TYPES.indexOf(m.type), category: m.category,
  power: m.basePower, accuracy: m.accuracy === true ? 0 : m.accuracy, pp: m.pp, noPpUps: !!m.noPPBoosts, priority: m.priority,
  crit: m.critRatio, self: m.target === 'self', ignoresImmunity: m.ignoreImmunity === true,
  status: m.status || '', volatile: m.volatileStatus || '', boosts: boosts(m.boosts),
  selfVolatile: m.self?.volatileStatus || '', fixed: m.damage === 'level' ? -1 : m.damage || 0,
  multihit: Array.isArray(m.multihit) ? 5 : m.multihit || 0, drain: m.drain || null, recoil: m.recoil || null,
  ohko: !!m.ohko, selfdestruct: !!m.selfdestruct, metronome: !!m.flags.metronome,
  secondary: m.secondary ? {
    chance: m.secondary.chance, status: m.secondary.status || '', volatile: m.secondary.volatileStatus || '',
    boosts: boosts(m.secondary.boosts),
  } : null,
}));

// Rows: the attacking type; columns: the defender's. 0 immune, 1 resisted, 2 neutral, 3 super effective.
const chart = TYPES.map(attack => TYPES.map(defence =>
  dex.getImmunity(attack, [defence]) ? 2 + dex.getEffectiveness(attack, defence) : 0));

const data = {version: require('pokemon-showdown/package.json').version, types: TYPES, species, moves, chart};
const lines = Object.entries(data).map(([key, value]) => ` ${JSON.stringify(key)}: ` + (Array.isArray(value) && typeof value[0] === 'object'
  ? '[\n' + value.map(row => '  ' + JSON.stringify(row)).join(',\n') + '\n ]' : JSON.stringify(value)));
const text = '{\n' + lines.join(',\n') + '\n}\n';
if (process.argv.includes('--print')) process.stdout.write(text);
else writeFileSync(new URL('../../agents/engine/gen1/gen1.json', import.meta.url), text);
