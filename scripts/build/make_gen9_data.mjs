// Writes what the generation-9 engine knows, from Showdown's own Dex: tables of C++ (agents/engine/gen9/src/data.h, enums.h,
// shown/species.h) and what Python needs to read a team (agents/engine/gen9/gen9.json).
//
//     node scripts/build/make_gen9_data.mjs            # write the files
//     node scripts/build/make_gen9_data.mjs --print    # print them instead, as JSON: tests/agents/engine compares
//
// gen9_rings.json names the ids (gen9_rings.mjs). Whatever a move, ability or item of Showdown's has as a function is not in
// the tables: it is a handler in moves*.cpp, abilities*.cpp, items*.cpp or conditions*.cpp. gen9.json lists those functions:
// what has a function without a handler is refused (agents/engine/gen9/played.py).

import {readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {closure, conditionsOf, dex, functionsOf, ordersOf} from './gen9_rings.mjs';

const rings = Object.values(JSON.parse(readFileSync(new URL('gen9_rings.json', import.meta.url), 'utf8')));
const union = kind => [...new Set(rings.flatMap(ring => ring[kind]))].sort();
const RING = {species: union('species'), abilities: union('abilities'), items: union('items'), moves: union('moves')};
RING.conditions = closure(RING);
// Names without data: effects of Showdown's own code, and moves that only a lock or an accident uses.
const EFFECTS_OF_THE_SIMULATOR = ['drain', 'mindblownrecoil', 'recoil', 'strugglerecoil'];
const MOVES_OF_THE_SIMULATOR = ['confused', 'recharge'];
// A move that charges first, or cannot be used twice in a row, puts a volatile of its own name on its user; Sparkling Aria puts
// one on its targets.
const VOLATILES_OF_MOVES = RING.moves.filter(id => {
  const m = dex.moves.get(id);
  return m.flags.cantusetwice || m.flags.charge || (m.secondaries || []).some(secondary => secondary.volatileStatus === id);
});
RING.conditions = [...new Set([...RING.conditions, ...EFFECTS_OF_THE_SIMULATOR, ...VOLATILES_OF_MOVES])].sort();
RING.moves = [...RING.moves, ...MOVES_OF_THE_SIMULATOR].sort();

const TYPES = dex.types.all().filter(type => !type.isNonstandard).map(type => type.name);
const STATS = ['atk', 'def', 'spa', 'spd', 'spe', 'accuracy', 'evasion'];
const IN_USE = dex.moves.all().filter(move => !move.isNonstandard);
const FLAGS = [...new Set(IN_USE.flatMap(move => Object.keys(move.flags)))].sort();
const TARGETS = [...new Set(['normal', 'any', ...IN_USE.map(move => move.target)])];
const ABILITY_FLAGS = ['breakable', 'cantsuppress', 'failroleplay', 'failskillswap', 'noentrain', 'noreceiver', 'notrace', 'notransform'];
const IS = [...ABILITY_FLAGS, 'suppressWeather', 'affectsFainted', 'noCopy', 'isChoice', 'isBerry', 'isGem', 'ignoreKlutz'];
const IMMUNITIES = [...new Set(dex.types.all().flatMap(type => Object.keys(type.damageTaken).filter(name => !dex.types.isName(name) && type.damageTaken[name] === 3)))].sort();
const toId = name => name.toLowerCase().replace(/[^a-z0-9]/g, '');

// Showdown's id as a name of C++, where some are reserved.
const named = id => ['static'].includes(id) ? `${id}_` : id;

let number = 0, written = 0;
const numbered = (kind, ids) => `namespace ${kind} {\nenum : int32_t {${ids.map(id => `\n    ${named(id)} = ${++number},`).join('')}\n};\n}\n`;
const fields = pairs => pairs.filter(([, value]) => value !== undefined && value !== null && value !== 0 && value !== '' && value !== false)
  .map(([name, value]) => `.${name} = ${value === true ? 'true' : value}`).join(', ');
const PLURALS = {ability: 'abilities', item: 'items', condition: 'conditions', move: 'moves'};
const listed = (kind, id) => {
  const known = toId(id || '');
  if (!known) return undefined;
  if (!RING[PLURALS[kind]].includes(known)) throw new Error(`${kind} ${known} is not in the ring`);
  return `${kind}::${named(known)}`;
};
const boosts = by => by && `{${STATS.map(stat => by[stat] || 0).join(', ')}}`;
const pair = given => given && (Array.isArray(given) ? `{${given[0]}, ${given[1]}}` : `{${given}, ${given}}`);
const stat = name => name && `Stat::${name} + 1`;

// What a move, its self or its secondary does. self: the name of another of these.
function hit(data, self) {
  return fields([
    ['chance', data.chance], ['boosts', boosts(data.boosts)], ['status', listed('condition', data.status)],
    ['volatileStatus', listed('condition', data.volatileStatus)], ['sideCondition', listed('condition', data.sideCondition)],
    ['slotCondition', listed('condition', data.slotCondition)], ['weather', listed('condition', data.weather)],
    ['terrain', listed('condition', data.terrain)], ['pseudoWeather', listed('condition', data.pseudoWeather)],
    ['heal', pair(data.heal)], ['selfSwitch', data.selfSwitch && `SelfSwitch::${data.selfSwitch === true ? 'yes' : data.selfSwitch}`],
    ['forceSwitch', !!data.forceSwitch], ['selfdestruct', data.selfdestruct && `Selfdestruct::${data.selfdestruct}`],
    ['onHit', typeof data.onHit === 'function'], ['self', self && `&${self}`],
  ]);
}

// The tables that a move's own entry points to.
function partsOf(id) {
  const m = dex.moves.get(id), parts = [];
  const part = (name, data) => data && parts.push(`constexpr HitEffect ${name}_${id} = {${hit(data)}};`);
  part('SELF', m.self);
  part('SELF_BOOST', m.selfBoost);
  (m.secondaries || []).forEach((secondary, n) => part(`SELF_OF_SECONDARY_${n}`, secondary.self));
  return parts;
}

function move(id) {
  if (MOVES_OF_THE_SIMULATOR.includes(id)) return `    {.id = move::${id}, .category = Category::Physical},`;
  const m = dex.moves.get(id), effect = hit({...m, chance: 0}, m.self && `SELF_${id}`);
  const secondaries = (m.secondaries || []).map((secondary, n) => `{${hit(secondary, secondary.self && `SELF_OF_SECONDARY_${n}_${id}`)}}`);
  if (secondaries.length > 2) throw new Error(`${id} has ${secondaries.length} secondaries`);
  return `    {${fields([
    ['id', `move::${id}`], ['type', `Type::${m.type}`], ['category', `Category::${m.category}`], ['target', `Target::${m.target}`],
    ['basePower', m.basePower], ['accuracy', m.accuracy === true ? 'TRUE' : m.accuracy], ['pp', m.noPPBoosts ? m.pp : m.pp * 8 / 5], ['basePP', m.pp],
    ['priority', m.priority], ['critRatio', m.critRatio],
    ['flags', FLAGS.filter(flag => m.flags[flag]).map(flag => `Flag::${flag}`).join(' | ')],
    ['drain', pair(m.drain)], ['recoil', pair(m.recoil)], ['multihit', pair(m.multihit)],
    ['struggleRecoil', !!m.struggleRecoil], ['mindBlownRecoil', !!m.mindBlownRecoil], ['chloroblastRecoil', !!m.chloroblastRecoil],
    ['hasCrashDamage', !!m.hasCrashDamage], ['multiaccuracy', !!m.multiaccuracy], ['willCrit', m.willCrit === undefined ? undefined : m.willCrit ? 'TRUE' : 'FALSE'],
    ['ohko', m.ohko && (m.ohko === true ? 'TRUE' : `Type::${m.ohko}`)], ['damage', m.damage === 'level' ? 'DAMAGE_IS_LEVEL' : m.damage],
    ['ignoreImmunity', m.ignoreImmunity === true ? 'ALL_TYPES' : Object.keys(m.ignoreImmunity || {}).map(type => `1 << Type::${type}`).join(' | ')],
    ['overrideOffensiveStat', stat(m.overrideOffensiveStat)], ['overrideDefensiveStat', stat(m.overrideDefensiveStat)],
    ['overrideOffensivePokemon', m.overrideOffensivePokemon === 'target'], ['overrideDefensivePokemon', m.overrideDefensivePokemon === 'source'],
    ...['thawsTarget', 'ignoreAccuracy', 'ignoreEvasion', 'ignoreDefensive', 'ignoreOffensive', 'ignoreNegativeOffensive', 'ignorePositiveDefensive',
      'ignoreAbility', 'infiltrates', 'breaksProtect', 'stealsBoosts', 'tracksTarget', 'smartTarget', 'sleepUsable', 'callsMove', 'alwaysHit',
      'forceSTAB', 'hasSheerForce', 'hasSheerForceBoost', 'stallingMove'].map(name => [name, !!m[name]]),
    ['condition', RING.conditions.includes(id) ? `condition::${id}` : undefined],
    ['nonGhostTarget', m.nonGhostTarget && `Target::${m.nonGhostTarget} + 1`], ['pressureTarget', m.pressureTarget && `Target::${m.pressureTarget} + 1`],
    ['hit', effect && `{${effect}}`], ['selfBoost', m.selfBoost && `&SELF_BOOST_${id}`],
    ['secondaries', secondaries.length && `{${secondaries.join(', ')}}`], ['secondaryCount', secondaries.length],
  ])}},`;
}

function species(id) {
  const s = dex.species.get(id);
  const types = s.types.map(type => `Type::${type}`).join(', ') + (s.types.length > 1 ? '' : ', Type::none');
  const stats = ['hp', 'atk', 'def', 'spa', 'spd', 'spe'].map(name => s.baseStats[name]).join(', ');
  const ability = toId(s.abilities[0]);
  return `    {${fields([
    ['name', `"${s.name}"`], ['types', `{${types}}`], ['baseStats', `{${stats}}`], ['weighthg', s.weighthg], ['nfe', s.nfe], ['paradox', s.tags.includes('Paradox')],
    ['magnetic', Object.values(s.abilities).includes('Magnet Pull')],
    ['baseSpecies', `species::${RING.species.includes(toId(s.baseSpecies)) ? toId(s.baseSpecies) : id}`],
    ['ability', RING.abilities.includes(ability) ? `ability::${named(ability)}` : undefined],
  ])}},`;
}

const get = {ability: dex.abilities, item: dex.items, condition: dex.conditions, move: dex.moves};
function effect(kind, id) {
  const it = get[kind].get(id);
  const type = id === 'confused' ? 'Move' : {move: 'Move', ability: 'Ability', item: 'Item'}[kind] || it.effectType;
  const flags = IS.filter(name => kind === 'ability' && ABILITY_FLAGS.includes(name) ? it.flags[name] : kind !== 'move' && it[name]).map(name => `Is::${name}`).join(' | ');
  // When the duration of what has no residual function is counted.
  const residual = ['onResidual', 'onSideResidual', 'onFieldResidual'].find(name => it[name + 'Order'] && !it[name]);
  return `    {${fields([
    ['name', `"${it.name || id}"`], ['type', `EffectType::${type}`], ['duration', kind === 'condition' && it.duration || 0],
    ['residualOrder', residual && it[residual + 'Order']], ['residualSubOrder', residual && it[residual + 'SubOrder']], ['flags', flags],
    ['boosts', kind === 'item' && boosts(it.boosts)],
  ])}},`;
}

const kinds = [['ability', 'abilities'], ['item', 'items'], ['condition', 'conditions'], ['move', 'moves']];
const natures = [...dex.natures.all()].sort((a, b) => a.id < b.id ? -1 : 1);
const text = `// Made by scripts/build/make_gen9_data.mjs from pokemon-showdown ${createRequire(import.meta.url)('pokemon-showdown/package.json').version}: do not edit.

#pragma once

${kinds.map(([kind, list]) => numbered(kind, RING[list])).join('')}namespace species {
enum : int32_t {${RING.species.map((id, n) => `\n    ${id} = ${n},`).join('')}
};
}

constexpr int FIRST_ITEM = item::${RING.items[0]}, FIRST_CONDITION = condition::${RING.conditions[0]}, FIRST_MOVE = move::${RING.moves[0]};

// By number; 0 is no effect.
constexpr EffectData EFFECTS[] = {
    {},
${kinds.flatMap(([kind, list]) => RING[list].map(id => effect(kind, id))).join('\n')}
};

${RING.moves.flatMap(partsOf).join('\n')}

constexpr MoveData MOVES[] = {
${RING.moves.map(move).join('\n')}
};

constexpr SpeciesData SPECIES[] = {
${RING.species.map(species).join('\n')}
};

constexpr const char* TYPE_NAMES[] = {${[...TYPES, '???'].map(type => `"${type}"`).join(', ')}};

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
// Of moves.
namespace Flag {
enum : int64_t {
${FLAGS.map((flag, bit) => `    ${flag} = int64_t(1) << ${bit},`).join('\n')}
};
}
// Types that are immune to what is not a type, as bits.
namespace Immune {
enum : int32_t {
${IMMUNITIES.map(name => `    ${name} = ${dex.types.all().filter(type => type.damageTaken[name] === 3).map(type => `1 << Type::${type.name}`).join(' | ')},`).join('\n')}
};
}
// Of other effects.
namespace Is {
enum : int32_t {
${IS.map((flag, bit) => `    ${flag} = 1 << ${bit},`).join('\n')}
};
}
`;
// What poke-env makes of a species' abilities (Pokemon._update_from_pokedex).
const FORMES_WITH_AN_ABILITY = /^Mega|^(Primal|Stellar|Terastal)$|-Tera$/;
const shown = `// Made by scripts/build/make_gen9_data.mjs: do not edit.

#pragma once

// Of a species, by its number: whether it has one possible ability, and whether it is a forme whose ability is a matter of that forme.
struct ShownSpecies {
    bool oneAbility, abilityOfForme;
};

constexpr ShownSpecies SHOWN_SPECIES[] = {
${RING.species.map(id => dex.species.get(id)).map(s => `    {${Object.keys(s.abilities).length === 1}, ${FORMES_WITH_AN_ABILITY.test(s.forme)}},  // ${s.name}`).join('\n')}
};
`;
const perKind = (kind, of) => Object.fromEntries(RING[kind].map(id => [id, of(kind, id)]).filter(([, found]) => Object.keys(found).length));
// What Showdown writes of a format before the team preview, and what the preview shows of a species.
const {Battle} = createRequire(import.meta.url)('pokemon-showdown');
const begun = new Battle({formatid: 'gen9ou'});
for (const player of ['p1', 'p2']) begun.setPlayer(player, {name: player, team: 'Clefable||leftovers|magicguard|moonblast|Modest|||||||'});
const writtenAtStart = begun.log.filter(line => /^.(gen|tier|rule).|^.rated/.test(line));
const speciesRevealed = begun.ruleTable.has('speciesrevealclause');
function preview(name) {
  const shown = (['Greninja-Bond', 'Rockruff-Dusk'].includes(name) ? dex.species.get(name).baseSpecies : name).replace(/(Zacian|Zamazenta)(?!-Crowned)/g, '$1-*');
  return speciesRevealed ? shown : shown.replace(/(Greninja|Gourgeist|Pumpkaboo|Xerneas|Silvally|Urshifu|Dudunsparce)(-[a-zA-Z?-]+)?/g, '$1-*');
}

const json = {
  types: TYPES,
  rules: writtenAtStart,
  species: RING.species.map(id => ({
    id, name: dex.species.get(id).name, gender: dex.species.get(id).gender, stats: ['hp', 'atk', 'def', 'spa', 'spd', 'spe'].map(name => dex.species.get(id).baseStats[name]),
    battleOnly: !!dex.species.get(id).battleOnly, preview: preview(dex.species.get(id).name), base: dex.species.get(id).baseSpecies,
  })),
  moves: Object.fromEntries(RING.moves.map(id => dex.moves.get(id)).map((m, n) => [RING.moves[n], [m.name || RING.moves[n], m.target || 'self', m.nonGhostTarget || '']])),
  items: Object.fromEntries(RING.items.map(id => [id, dex.items.get(id).name])),
  numbers: Object.fromEntries(kinds.map(([, list]) => [list, Object.fromEntries(RING[list].map(id => [id, ++written]))])),
  pp: Object.fromEntries(RING.moves.filter(id => !MOVES_OF_THE_SIMULATOR.includes(id)).map(id => [id, dex.moves.get(id)]).map(([id, m]) => [id, m.noPPBoosts ? m.pp : m.pp * 8 / 5])),
  natures: Object.fromEntries(natures.map(n => [n.id, [n.plus ? STATS.indexOf(n.plus) : -1, n.minus ? STATS.indexOf(n.minus) : -1]])),
  functions: Object.fromEntries(kinds.map(([, list]) => [list, perKind(list, functionsOf)])),
  orders: Object.fromEntries(kinds.map(([, list]) => [list, perKind(list, ordersOf)])),
  conditions: Object.fromEntries(kinds.map(([, list]) => [list, perKind(list, conditionsOf)])),
};
const lines = Object.entries(json).map(([key, value]) => ` ${JSON.stringify(key)}: ${JSON.stringify(value)}`);
const files = {'src/data.h': text, 'src/enums.h': enums, 'src/shown/species.h': shown, 'gen9.json': `{\n${lines.join(',\n')}\n}\n`};
if (process.argv.includes('--print')) process.stdout.write(JSON.stringify(files));
else for (const [file, content] of Object.entries(files)) writeFileSync(new URL(`../../agents/engine/gen9/${file}`, import.meta.url), content);
