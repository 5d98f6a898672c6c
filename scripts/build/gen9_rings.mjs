// Counts what a generation-9 engine must know for some teams: species, moves, abilities, items and conditions, and the functions
// that Showdown's data has for them, by event. What is listed is what agents/engine/gen9 has to have a handler for.
//
//     node scripts/build/gen9_rings.mjs FOLDER [FOLDER...]          # a table, and the handlers of each event
//     node scripts/build/gen9_rings.mjs --json FOLDER [FOLDER...]   # the lists of ids, and each function's place
//
// FOLDER: of .txt files, a team each, as Showdown exports it: teamsets/competitive/gen9ou teamsets/verdict/gen9ou …

import {readdirSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join} from 'node:path';

const {Dex, Teams, toID} = createRequire(import.meta.url)('pokemon-showdown');
const dex = Dex.mod('gen9');
const folders = process.argv.slice(2).filter(argument => argument !== '--json');
if (!folders.length) throw new Error('give at least one folder of teams, such as teamsets/competitive/gen9ou');

const used = {species: new Set(), moves: new Set(), abilities: new Set(), items: new Set(), conditions: new Set()};
let teams = 0;
for (const folder of folders) {
  for (const file of readdirSync(folder).filter(name => name.endsWith('.txt'))) {
    teams++;
    for (const set of Teams.import(readFileSync(join(folder, file), 'utf8'))) {
      const species = dex.species.get(set.species);
      used.species.add(species.id);
      if (set.ability) used.abilities.add(toID(set.ability));
      if (set.item) used.items.add(toID(set.item));
      for (const move of set.moves) used.moves.add(toID(move));
      // Formes that it takes in battle have abilities of their own.
      for (const forme of species.otherFormes || []) {
        const other = dex.species.get(forme);
        if (other.battleOnly || /Tera$|Crowned/.test(forme)) for (const ability of Object.values(other.abilities)) used.abilities.add(toID(ability));
      }
    }
  }
}
used.moves.add('struggle');

// Conditions that moves, abilities, items and other conditions name: in their data, and in the text of their functions.
const table = {species: 'Species', moves: 'Moves', abilities: 'Abilities', items: 'Items', conditions: 'Conditions'};
const isCondition = id => dex.conditions.get(id).exists;
function note(thing) {
  const text = JSON.stringify(thing, (key, value) => typeof value === 'function' ? value.toString() : value) || '';
  // Only what is set, not what is asked for: addVolatile("x"), trySetStatus("x"), volatileStatus: "x" and so on.
  const setting = /(?:addVolatile|trySetStatus|setStatus|setWeather|setTerrain|addSideCondition|addSlotCondition|addPseudoWeather)\(\\*"([a-zA-Z ]+)|"(?:volatileStatus|status|weather|terrain|sideCondition|slotCondition|pseudoWeather)":"([a-zA-Z ]+)"/g;
  for (const [, called, given] of text.matchAll(setting)) {
    const id = toID(called || given);
    if (!isCondition(id) || used.conditions.has(id)) continue;
    used.conditions.add(id);
    note(dex.data.Conditions[id] || dex.data.Moves[id]?.condition || {});
  }
}
for (const kind of ['moves', 'abilities', 'items']) for (const id of used[kind]) note(dex.data[table[kind]][id]);
for (const id of ['stall', 'choicelock', 'flinch', 'trapped', 'confusion']) { // set by Showdown's own code
  used.conditions.add(id);
  note(dex.data.Conditions[id] || {});
}

const handlers = []; // {kind, id, callback, lines}
function collect(kind, id, thing) {
  for (const [key, value] of Object.entries(thing || {})) {
    if (typeof value === 'function') handlers.push({kind, id, callback: key, lines: value.toString().split('\n').length});
    else if (/^on[A-Z]/.test(key) && !/(Order|Priority|SubOrder)$/.test(key)) handlers.push({kind, id, callback: key, lines: 1});
  }
}
for (const kind of ['moves', 'abilities', 'items']) {
  for (const id of used[kind]) {
    const thing = dex.data[table[kind]][id];
    if (!thing) throw new Error(`${kind} ${id}: Showdown's generation 9 does not have it`);
    collect(kind, id, thing);
    for (const part of ['self', 'secondary', 'ability']) collect(kind, id, thing[part]);
  }
}
for (const id of used.conditions) collect('conditions', id, dex.data.Conditions[id] || dex.data.Moves[id]?.condition || dex.data.Abilities[id]?.condition || dex.data.Items[id]?.condition);

if (process.argv.includes('--json')) {
  console.log(JSON.stringify({teams, ...Object.fromEntries(Object.entries(used).map(([kind, ids]) => [kind, [...ids].sort()])), handlers}));
} else {
  console.log(`${teams} teams`);
  console.log('kind        ids  with functions  functions  lines');
  for (const kind of Object.keys(used)) {
    const of = handlers.filter(handler => handler.kind === kind);
    const lines = of.reduce((sum, handler) => sum + handler.lines, 0);
    console.log(`${kind.padEnd(10)} ${String(used[kind].size).padStart(4)} ${String(new Set(of.map(h => h.id)).size).padStart(15)} ${String(of.length).padStart(10)} ${String(lines).padStart(6)}`);
  }
  const events = new Map();
  for (const {callback} of handlers) events.set(callback, (events.get(callback) || 0) + 1);
  console.log(`${handlers.length} functions of ${events.size} callbacks:`);
  console.log([...events].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([name, count]) => `${name} ${count}`).join(', '));
}
