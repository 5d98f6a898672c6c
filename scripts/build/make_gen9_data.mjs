// Writes what the generation-9 engine plays, from Showdown's own Dex: tables of C++ (agents/engine/gen9/src/data.h, enums.h)
// and what Python needs to read a team (agents/engine/gen9/gen9.json).
//
//     node scripts/build/make_gen9_data.mjs            # write the files
//     node scripts/build/make_gen9_data.mjs --print    # print them instead, as JSON: tests/agents/engine compares
//
// RING names what is played. Whatever a move, ability or item of Showdown's has as a function is not in the tables: it is
// a handler in moves.cpp, abilities.cpp, items.cpp or conditions.cpp.

import {writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';

const require = createRequire(import.meta.url);
const {Dex} = require('pokemon-showdown');
const dex = Dex.mod('gen9');

const RING = {
  species: ['azumarill', 'clefable', 'conkeldurr', 'dragonite', 'garchomp', 'incineroar', 'landorustherian', 'pelipper', 'rotomwash', 'toxapex'],
  abilities: ['drizzle', 'guts', 'hugepower', 'intimidate', 'levitate', 'magicguard', 'multiscale', 'regenerator', 'roughskin'],
  items: ['choiceband', 'damprock', 'heavydutyboots', 'leftovers', 'lifeorb'],
  conditions: ['brn', 'par', 'flinch', 'protect', 'stall', 'choicelock', 'raindance', 'stealthrock'],
  moves: ['airslash', 'aquajet', 'calmmind', 'dragonclaw', 'dragondance', 'drainpunch', 'earthquake', 'extremespeed', 'flareblitz', 'hydropump',
    'knockoff', 'liquidation', 'machpunch', 'moonblast', 'playrough', 'protect', 'raindance', 'recover', 'softboiled', 'stealthrock', 'struggle',
    'surf', 'swordsdance', 'thunderbolt', 'uturn', 'willowisp'],
};
const TYPES = dex.types.all().filter(type => !type.isNonstandard).map(type => type.name);
const STATS = ['atk', 'def', 'spa', 'spd', 'spe', 'accuracy', 'evasion'];
const FLAGS = ['contact', 'protect', 'heal', 'punch'];
const TARGETS = ['normal', 'any', 'self', 'all', 'foeSide', 'allAdjacent', 'randomNormal'];
// JavaScript's names of conditions that are also C++'s or a move's stay: each kind has a namespace of its own.
const toId = name => name.toLowerCase().replace(/[^a-z0-9]/g, '');

let number = 0, written = 0;
const numbered = (kind, ids) => `namespace ${kind} {\nenum : int32_t {${ids.map(id => `\n    ${id} = ${++number},`).join('')}\n};\n}\n`;
const fields = pairs => pairs.filter(([, value]) => value !== undefined && value !== 0 && value !== '' && value !== false)
  .map(([name, value]) => `.${name} = ${value === true ? 'true' : value}`).join(', ');
const listed = (kind, id) => {
  const known = toId(id || '');
  if (!known) return undefined;
  if (!RING[kind + 's'].includes(known)) throw new Error(`${kind} ${known} is not in the ring`);
  return `${kind}::${known}`;
};
const boosts = by => by && `{${STATS.map(stat => by[stat] || 0).join(', ')}}`;

function hit(data) {
  return fields([
    ['chance', data.chance], ['boosts', boosts(data.boosts)], ['status', listed('condition', data.status)],
    ['volatileStatus', listed('condition', data.volatileStatus)], ['sideCondition', listed('condition', data.sideCondition)],
    ['weather', listed('condition', data.weather)], ['heal', data.heal && `{${data.heal}}`], ['selfSwitch', !!data.selfSwitch],
  ]);
}

function move(id) {
  const m = dex.moves.get(id), effect = hit({...m, chance: 0}), secondary = m.secondary && hit(m.secondary);
  return `    {${fields([
    ['id', `move::${id}`], ['type', `Type::${m.type}`], ['category', `Category::${m.category}`], ['target', `Target::${m.target}`],
    ['basePower', m.basePower], ['accuracy', m.accuracy === true ? 'TRUE' : m.accuracy], ['pp', m.noPPBoosts ? m.pp : m.pp * 8 / 5],
    ['priority', m.priority], ['critRatio', m.critRatio],
    ['flags', FLAGS.filter(flag => m.flags[flag]).map(flag => `Flag::${flag}`).join(' | ')],
    ['drain', m.drain && `{${m.drain}}`], ['recoil', m.recoil && `{${m.recoil}}`], ['struggleRecoil', !!m.struggleRecoil],
    ['hit', effect && `{${effect}}`], ['secondary', secondary && `{${secondary}}`],
  ])}},`;
}

function species(id) {
  const s = dex.species.get(id);
  return `    {{${s.types.map(type => `Type::${type}`).join(', ')}${s.types.length > 1 ? '' : ', Type::none'}}}, // ${id}`;
}

function effect(kind, id) {
  const it = kind === 'move' ? dex.moves.get(id) : kind === 'ability' ? dex.abilities.get(id) : kind === 'item' ? dex.items.get(id) : dex.conditions.get(id);
  const type = {move: 'Move', ability: 'Ability', item: 'Item'}[kind] || it.effectType;
  return `    {"${id}", EffectType::${type}, ${kind === 'condition' && it.duration || 0}, ${!!(kind === 'ability' && it.flags.breakable)}, ${!!it.isChoice}},`;
}

const kinds = [['ability', 'abilities'], ['item', 'items'], ['condition', 'conditions'], ['move', 'moves']];
const natures = [...dex.natures.all()].sort((a, b) => a.id < b.id ? -1 : 1);
const text = `// Made by scripts/build/make_gen9_data.mjs from pokemon-showdown ${require('pokemon-showdown/package.json').version}: do not edit.

#pragma once

${kinds.map(([kind, list]) => numbered(kind, RING[list])).join('')}
constexpr int FIRST_MOVE = move::${RING.moves[0]};

// By number; 0 is no effect.
constexpr EffectData EFFECTS[] = {
    {"", EffectType::None, 0, false, false},
${kinds.flatMap(([kind, list]) => RING[list].map(id => effect(kind, id))).join('\n')}
};

constexpr MoveData MOVES[] = {
${RING.moves.map(move).join('\n')}
};

constexpr SpeciesData SPECIES[] = {
${RING.species.map(species).join('\n')}
};

// Rows: the attacking type; columns: the defender's. 1 super effective, -1 resisted, 0 neutral; 2 immune.
constexpr int8_t CHART[${TYPES.length}][${TYPES.length}] = {
${TYPES.map(attack => `    {${TYPES.map(defence => dex.getImmunity(attack, [defence]) ? dex.getEffectiveness(attack, defence) : 2).join(', ')}},`).join('\n')}
};
`;
const enums = `// Made by scripts/build/make_gen9_data.mjs: do not edit.

#pragma once

#include <cstdint>

namespace Type {
enum : int32_t { none = -1, ${TYPES.join(', ')}, COUNT, unknown = COUNT };
}
namespace Target {
enum : int32_t { ${TARGETS.join(', ')} };
}
namespace Flag {
enum : int32_t { ${FLAGS.map((flag, bit) => `${flag} = 1 << ${bit}`).join(', ')} };
}
`;
const json = {
  types: TYPES,
  species: RING.species.map(id => ({id, name: dex.species.get(id).name, gender: dex.species.get(id).gender, stats: ['hp', 'atk', 'def', 'spa', 'spd', 'spe'].map(stat => dex.species.get(id).baseStats[stat])})),
  numbers: Object.fromEntries(kinds.map(([kind, list]) => [list, Object.fromEntries(RING[list].map(id => [id, ++written]))])),
  pp: Object.fromEntries(RING.moves.map(id => [id, dex.moves.get(id)]).map(([id, m]) => [id, m.noPPBoosts ? m.pp : m.pp * 8 / 5])),
  natures: Object.fromEntries(natures.map(n => [n.id, [n.plus ? STATS.indexOf(n.plus) : -1, n.minus ? STATS.indexOf(n.minus) : -1]])),
};
const lines = Object.entries(json).map(([key, value]) => ` ${JSON.stringify(key)}: ${JSON.stringify(value)}`);
const files = {'src/data.h': text, 'src/enums.h': enums, 'gen9.json': `{\n${lines.join(',\n')}\n}\n`};
if (process.argv.includes('--print')) process.stdout.write(JSON.stringify(files));
else for (const [file, content] of Object.entries(files)) writeFileSync(new URL(`../../agents/engine/gen9/${file}`, import.meta.url), content);
