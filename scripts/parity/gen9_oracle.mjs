// Plays gen9ou battles on stock Pokémon Showdown and prints, for each decision, the state, the legal choices and the choices.
//
//     echo '{"first": 0, "seed": 1, "policy": "random", "teams": [["Azumarill||…", "…"], …], "numbers": {…}}' | node scripts/parity/gen9_oracle.mjs
//
// A line of JSON for each battle; teams: two packed ones for each. With "log": true also the log and every random draw with its
// call site; without "state": true a hash in place of each state; with "only": N the battles before N are played (a policy may
// remember them) and not printed. numbers: those of agents/engine/gen9/gen9.json.

import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {choose, generator, POLICIES} from './engine_policies.mjs';
import {hex} from './playing.mjs';

const options = JSON.parse(readFileSync(0, 'utf8'));
const {Battle, Dex} = createRequire(import.meta.url)(options.package || 'pokemon-showdown');
const dex = Dex.mod('gen9');
const MAX_TURNS = options.maxTurns || 300;
const TYPES = dex.types.all().filter(type => !type.isNonstandard).map(type => type.name);
const SLOTS = {volatiles: 16, conditions: 8, moves: 4, team: 6, mon: 13};
const {abilities, items, conditions} = options.numbers;
void abilities;

const padded = (words, length) => [...words, ...Array(length - words.length).fill(0)];

// In the order of `canonical` in gen9_parity.py.
function stateOf(battle) {
  const {weather, weatherState} = battle.field;
  const words = [...battle.prng.getSeed().split(',').map(Number), battle.turn, battle.effectOrder, conditions[weather] || 0, weather ? weatherState.duration : 0];
  for (const side of battle.sides) {
    const mon = side.active[0], volatiles = Object.values(mon.volatiles);
    words.push(side.pokemonLeft, ...padded(side.pokemon.map(p => p.place + 1), SLOTS.team),
      ...padded(Object.keys(side.sideConditions).map(id => conditions[id]), SLOTS.conditions), ...Object.values(mon.boosts),
      ...padded(volatiles.map(v => conditions[v.id]), SLOTS.volatiles), ...padded(volatiles.map(v => v.duration || 0), SLOTS.volatiles),
      ...padded(volatiles.map(v => v.counter || 0), SLOTS.volatiles));
    for (let place = 0; place < SLOTS.team; place++) {
      const p = side.team[place];
      if (!p) words.push(...Array(SLOTS.mon).fill(0));
      else words.push(p.hp, p.maxhp, p.fainted ? 0 : conditions[p.status] || 0, items[p.item] || 0, p.terastallized ? 1 + TYPES.indexOf(p.terastallized) : 0,
        +p.fainted, p.isActive ? p.speed : 0, p.abilityState.effectOrder, p.itemState.effectOrder, ...padded(p.moveSlots.map(slot => slot.pp), SLOTS.moves));
    }
  }
  return words;
}

function hash(words) {
  let h = 2166136261;
  for (const word of words) h = Math.imul(h ^ word, 16777619) >>> 0;
  return h;
}

function legalOf(side) {
  const request = side.activeRequest;
  if (!request || request.wait) return 0;
  let legal = 0;
  if (request.active) {
    request.active[0].moves.forEach((move, slot) => { if (!move.disabled) legal |= 1 << slot; });
    if (request.active[0].canTerastallize) legal |= legal << 4;
  }
  if (request.forceSwitch || !request.active[0].trapped) {
    side.pokemon.forEach((mon, position) => { if (position && !mon.fainted) legal |= 128 << position; });
  }
  return legal;
}

// Policies and bits of engine_policies.mjs, and `tera`, which terastallizes at once where the others do so at random.
function action(legal, roll, side) {
  const chosen = choose(options.policy === 'tera' ? 'random' : options.policy, legal & 15 | legal >> 8 << 4, roll, side);
  if (chosen >= 4) return chosen + 4;
  return legal >> 4 & 15 && (options.policy === 'tera' || !roll(6)) ? chosen + 4 : chosen;
}

const words = choice => choice >= 8 ? `switch ${choice - 6}` : `move ${choice % 4 + 1}${choice >= 4 ? ' terastallize' : ''}`;

function play(index) {
  const roll = generator(options.seed * 1000003 + index);
  const seed = `gen5,${hex(roll, 16)}`;
  const teams = options.teams[index - options.first];
  const battle = new Battle({formatid: 'gen9ou', seed, strictChoices: true});
  battle.setPlayer('p1', {name: 'p1', team: teams[0]});
  battle.setPlayer('p2', {name: 'p2', team: teams[1]});
  for (const side of battle.sides) side.team = side.pokemon.map((mon, place) => Object.assign(mon, {place}));
  const draws = [], decisions = [];
  if (options.log) {
    const rng = battle.prng.rng, next = rng.next.bind(rng);
    rng.next = () => {
      const stack = new Error().stack.split('\n').slice(2, 10).map(line => (line.match(/at (?:\w+\.)?([\w.<>]+)/) || [])[1]);
      draws.push(`${decisions.length} ${stack.join(' < ')}`);
      return next();
    };
  }
  battle.makeChoices('default', 'default'); // the preview: the team as it is
  let end = 'limit';
  for (;;) {
    const state = stateOf(battle), legal = battle.sides.map(legalOf);
    const over = battle.ended || battle.turn > MAX_TURNS;
    const choices = legal.map((mask, i) => over || !mask ? 0 : action(mask, roll, battle.sides[i]));
    decisions.push([options.state ? state : hash(state), ...legal, ...choices]);
    if (over) {
      if (battle.ended) end = battle.winner || 'tie';
      break;
    }
    battle.sides.forEach((side, i) => {
      if (legal[i] && !side.choose(words(choices[i]))) throw new Error(`refused: ${words(choices[i])}: ${side.choice.error}`);
    });
    battle.commitChoices();
  }
  const line = {index, seed, decisions, end};
  if (options.log) Object.assign(line, {log: battle.log, draws});
  if (options.only === undefined || index === options.only) process.stdout.write(JSON.stringify(line) + '\n');
}

if (![...POLICIES, 'tera'].includes(options.policy)) throw new Error(`policy ${options.policy}: one of ${POLICIES.join(', ')}, tera`);
for (let n = 0; n < options.teams.length; n++) play(options.first + n);
