// Which species, moves, abilities and items a generation-9 engine must know for some teams, and the functions that Showdown's
// data has for them, by event. What is listed is what agents/engine/gen9 has to have a handler for.
//
//     node scripts/build/gen9_rings.mjs SOURCE [SOURCE...]          # a table, and the handlers of each event
//     node scripts/build/gen9_rings.mjs --json SOURCE [SOURCE...]   # the ids alone
//
// scripts/build/gen9_rings.json is of these: "ring1" of teamsets/competitive/gen9ou, teamsets/verdict/gen9ou and other people's
// teams, "ring2" of the same and of Smogon's sets, "ring3" of gen9ou, "first" of the ten sets in scripts/parity/gen9_parity.py.
//
// SOURCE: a folder of .txt files, a team each, as Showdown exports it (teamsets/competitive/gen9ou), or Smogon's sets of a tier
// as JSON (the PyPI package localsets: localsets/smogon_data/gen9ou.json), or a format: all that its rules allow (gen9ou).

import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';

const {Dex, Teams, toID} = createRequire(import.meta.url)('pokemon-showdown');
export const dex = Dex.mod('gen9');

const TABLES = {moves: 'Moves', abilities: 'Abilities', items: 'Items', conditions: 'Conditions'};
// Conditions and moves that Showdown's own code sets or makes a Pokémon use.
const OF_THE_SIMULATOR = ['stall', 'choicelock', 'flinch', 'trapped', 'trapper', 'confusion', 'twoturnmove', 'lockedmove', 'mustrecharge', 'futuremove'];
const MOVES_OF_THE_SIMULATOR = ['struggle'];

// What Showdown's data holds for an effect: an ability, item, move, or a condition of any of them.
export function dataOf(kind, id) {
  if (kind !== 'conditions') return dex.data[TABLES[kind]][id];
  return dex.data.Conditions[id] || dex.data.Moves[id]?.condition || dex.data.Abilities[id]?.condition || dex.data.Items[id]?.condition;
}

// The names of an effect's functions (and constants in place of functions), those of a move's parts as "self.onHit".
export function functionsOf(kind, id) {
  const found = [];
  const collect = (thing, prefix) => {
    for (const [key, value] of Object.entries(thing || {})) {
      const ofOrder = /(Order|Priority|SubOrder)$/.test(key) && key !== 'onFractionalPriority';
      if (typeof value === 'function' || (/^on[A-Z]/.test(key) && !ofOrder)) found.push(prefix + key);
    }
  };
  const data = dataOf(kind, id) || {};
  collect(data, '');
  if (kind === 'moves') {
    collect(data.self, 'self.');
    for (const secondary of data.secondaries || [data.secondary]) collect(secondary, 'secondary.');
    for (const secondary of data.secondaries || [data.secondary]) collect(secondary?.self, 'secondary.self.');
  }
  return [...new Set(found)];
}

// [order, priority, subOrder] of those of an effect's functions that state any. What an ability or item does when it starts, it
// does when its Pokémon switches in, in the order that is stated for that.
export function ordersOf(kind, id) {
  const data = dataOf(kind, id) || {}, orders = {};
  for (const callback of functionsOf(kind, id)) {
    const starts = callback === 'onStart' && ['abilities', 'items'].includes(kind) && !data.onSwitchIn && !data.onAnySwitchIn;
    const name = starts ? 'onSwitchIn' : callback;
    const order = ['Order', 'Priority', 'SubOrder'].map(key => data[name + key] || 0);
    if (order.some(Boolean)) orders[callback] = order;
  }
  return orders;
}

// The conditions that an effect sets, as its data and the text of its functions name them, and its own.
export function conditionsOf(kind, id) {
  const data = dataOf(kind, id) || {};
  const text = JSON.stringify(kind === 'conditions' ? data : {...data, condition: undefined}, (key, value) => typeof value === 'function' ? value.toString() : value) || '';
  // Only what is set, not what is asked for: addVolatile("x"), trySetStatus("x"), volatileStatus: "x" and so on.
  const setting = /(?:addVolatile|trySetStatus|setStatus|setWeather|setTerrain|addSideCondition|addSlotCondition|addPseudoWeather)\((?:[\w.]+, )?\\*"([a-zA-Z ]+)|"(?:volatileStatus|status|weather|terrain|sideCondition|slotCondition|pseudoWeather)":"([a-zA-Z ]+)"/g;
  const found = new Set([...text.matchAll(setting)].map(([, called, given]) => toID(called || given)).filter(name => dataOf('conditions', name)));
  if (kind !== 'conditions' && data.condition) found.add(id);
  return [...found];
}

// The formes that a species takes in battle, by itself or by terastallizing.
export function formesOf(id) {
  const species = dex.species.get(id);
  const formes = (dex.species.get(species.baseSpecies).otherFormes || []).map(forme => dex.species.get(forme));
  const here = formes.filter(forme => !forme.isNonstandard && [forme.battleOnly].flat().includes(species.name) && (!forme.requiredItem || forme.name.endsWith('-Tera')));
  if (species.name === 'Terapagos') here.push(dex.species.get('Terapagos-Terastal'), dex.species.get('Terapagos-Stellar'));
  return [...new Set(here.map(forme => forme.id))];
}

// The conditions of all of these, and of those conditions.
export function closure(used) {
  const conditions = new Set();
  const note = (kind, id) => {
    for (const condition of conditionsOf(kind, id)) {
      if (conditions.has(condition)) continue;
      conditions.add(condition);
      note('conditions', condition);
    }
  };
  for (const kind of ['moves', 'abilities', 'items']) for (const id of used[kind]) note(kind, id);
  for (const id of OF_THE_SIMULATOR) {
    conditions.add(id);
    note('conditions', id);
  }
  return [...conditions].sort();
}

// All that a format's rules allow; of species that look otherwise alone (Gastrodon-East) the first.
function allowedIn(format) {
  const rules = Dex.formats.getRuleTable(Dex.formats.get(format, true));
  const allowed = (kind, all) => all.filter(it => !it.isNonstandard && !rules.isBanned(`${kind}:${it.id}`));
  const species = dex.species.all().filter(it => !it.isNonstandard && !rules.isBannedSpecies(it));
  const abilities = new Set(species.flatMap(it => Object.values(it.abilities).map(toID)));
  const sleepAllowed = !rules.has('sleepmovesclause'), ohkoAllowed = !rules.has('ohkoclause');
  return {
    species: species.map(it => it.id),
    moves: allowed('move', dex.moves.all()).filter(it => (it.status !== 'slp' || sleepAllowed) && (!it.ohko || ohkoAllowed)).map(it => it.id),
    abilities: allowed('ability', dex.abilities.all()).map(it => it.id).filter(id => abilities.has(id)),
    items: allowed('item', dex.items.all()).map(it => it.id),
  };
}

function idsOf(sources) {
  const used = {species: new Set(), moves: new Set(MOVES_OF_THE_SIMULATOR), abilities: new Set(), items: new Set()};
  let teams = 0;
  const add = set => {
    const species = dex.species.get(set.species);
    const formes = formesOf(species.id);
    for (const id of [species.id, ...formes]) used.species.add(id);
    for (const id of formes) for (const ability of Object.values(dex.species.get(id).abilities)) used.abilities.add(toID(ability));
    // Smogon leaves out the ability where it sees but one choice: all that the species may have.
    for (const ability of set.ability ? [set.ability].flat() : Object.values(species.abilities)) used.abilities.add(toID(ability));
    for (const item of [set.item].flat()) if (item) used.items.add(toID(item));
    for (const move of set.moves.flat()) used.moves.add(toID(move));
  };
  for (const source of sources) {
    if (source.endsWith('.json')) {
      for (const [species, sets] of Object.entries(JSON.parse(readFileSync(source, 'utf8')))) for (const set of Object.values(sets)) add({species, ...set});
      continue;
    }
    if (!existsSync(source)) {
      for (const [kind, ids] of Object.entries(allowedIn(source))) for (const id of ids) used[kind].add(id);
      continue;
    }
    for (const file of readdirSync(source).filter(name => name.endsWith('.txt'))) {
      teams++;
      for (const set of Teams.import(readFileSync(join(source, file), 'utf8'))) add(set);
    }
  }
  for (const kind of ['moves', 'abilities', 'items']) {
    for (const id of used[kind]) if (!dataOf(kind, id)) throw new Error(`${kind} ${id}: Showdown's generation 9 does not have it`);
  }
  return {teams, ...Object.fromEntries(Object.entries(used).map(([kind, ids]) => [kind, [...ids].sort()]))};
}

function table(ring) {
  const used = {...ring, conditions: closure(ring)}, events = new Map();
  console.log(`${ring.teams} teams`);
  console.log('kind        ids  with functions  functions');
  console.log(`species    ${String(used.species.length).padStart(4)}`);
  for (const kind of ['moves', 'abilities', 'items', 'conditions']) {
    const functions = used[kind].map(id => functionsOf(kind, id));
    for (const callback of functions.flat()) events.set(callback, (events.get(callback) || 0) + 1);
    console.log(`${kind.padEnd(10)} ${String(used[kind].length).padStart(4)} ${String(functions.filter(of => of.length).length).padStart(15)} ${String(functions.flat().length).padStart(10)}`);
  }
  console.log(`${[...events.values()].reduce((sum, count) => sum + count, 0)} functions of ${events.size} callbacks:`);
  console.log([...events].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([name, count]) => `${name} ${count}`).join(', '));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const sources = process.argv.slice(2).filter(argument => argument !== '--json');
  if (!sources.length) throw new Error('give at least one folder of teams, such as teamsets/competitive/gen9ou');
  const ring = idsOf(sources);
  if (process.argv.includes('--json')) console.log(JSON.stringify(ring));
  else table(ring);
}
