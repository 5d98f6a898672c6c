// Plays gen9ou battles on stock Pokémon Showdown and prints, for each decision, the state, the legal choices and the choices.
//
//     echo '{"first": 0, "seed": 1, "policy": "random", "teams": [["Azumarill||…", "…"], …], "layout": {…}}' | node scripts/parity/gen9_oracle.mjs
//
// A line of JSON for each battle; teams: two packed ones for each. With "log": true also the log and every random draw with its
// call site, and after each decision what was written since the last; without "state": true a hash in place of each state; with "only": N the battles before N are played (a policy may
// remember them) and not printed. With "scripts": [{"seed": "gen5,…", "turns": [["protect", "switch heatran"], …]}, …], one for
// each battle, both sides choose what stands there (see `scripted`), then as many turns as "after" says by the policy; a line then
// says which turns could not be ("other"). layout: of gen9_state.py. A last line, {"unread": […]}, if anything, names what
// Showdown keeps and nothing reads.

import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {speedUp} from '../../arena/venues/simulator/fast.mjs';
import {choose, generator, POLICIES} from './engine_policies.mjs';
import {StateReader} from './gen9_state.mjs';
import {drawsOf, hex} from './playing.mjs';

const options = JSON.parse(readFileSync(0, 'utf8'));
const {Battle, Dex} = createRequire(import.meta.url)(options.package || 'pokemon-showdown');
if (options.simulator === 'fast') speedUp(options.package);
const MAX_TURNS = options.policy === 'endless' || options.scripts ? 1001 : 300;
const dex = Dex.mod('gen9');
const reader = new StateReader(options.layout);

// As `hashes` in gen9_state.py.
function hash(words) {
  let total = 0;
  for (let place = 0; place < words.length; place++) {
    if (!words[place]) continue;
    let mixed = Math.imul(words[place] ^ Math.imul(place + 1, 2654435761), 2246822519);
    mixed = Math.imul(mixed ^ mixed >>> 15, 3266489917);
    total += (mixed ^ mixed >>> 13) >>> 0;
  }
  return total % 2 ** 32;
}

// What Showdown accepts: its request, without what it hides there until it is chosen (trapping, disabled moves).
function legalOf(side) {
  const request = side.activeRequest;
  if (!request || request.wait) return 0;
  const mon = side.active[0];
  let legal = 0;
  if (request.active) {
    const {moves, canTerastallize} = request.active[0], own = mon.getMoves();
    moves.forEach((move, slot) => { if (!move.disabled && !('pp' in move && own[slot]?.id === move.id && own[slot].disabled)) legal |= 1 << slot; });
    if (canTerastallize) legal |= legal << 4;
  }
  if (request.forceSwitch || !mon.trapped) {
    side.pokemon.forEach((mon, position) => { if (position && !mon.fainted) legal |= 128 << position; });
  }
  return legal;
}

// Besides the policies of engine_policies.mjs: tera terastallizes at once, where the others do so at random; stall mostly takes
// moves that do no damage; endless switches as long as it can.
const OWN = {tera: 'random', stall: 'rare', endless: 'random'};

function action(legal, roll, side) {
  const {policy} = options, {moveSlots} = side.active[0];
  if (policy === 'endless' && legal >> 8) legal &= ~255;
  if (policy === 'stall' && roll(8)) {
    const harmless = moveSlots.reduce((bits, slot, n) => bits | (dex.moves.get(slot.id).category === 'Status') << n, 0);
    if (legal & harmless) legal &= harmless | harmless << 4 | ~255;
  }
  const chosen = choose(OWN[policy] || policy, legal & 15 | legal >> 8 << 4, roll, side);
  if (chosen >= 4) return chosen + 4;
  return legal >> 4 & 15 && (policy === 'tera' || !roll(6)) ? chosen + 4 : chosen;
}

// A scripted choice as an action, -1 where it cannot be made: a move's id, with " tera" where its user terastallizes, "switch" with
// a species, "send" with one where a switch is asked for, or "." for a side that is not asked.
function scripted(text, legal, side) {
  const [what, extra] = text.split(' ');
  if (what === '.') return legal ? -1 : 0;
  const switching = what === (side.activeRequest?.forceSwitch ? 'send' : 'switch');
  const place = switching ?
    side.pokemon.findIndex((mon, n) => n && !mon.fainted && dex.species.get(mon.set.species).id === extra) :
    side.activeRequest?.active?.[0].moves.findIndex(move => move.id === what) ?? -1;
  const choice = switching ? place + 7 : place + (extra ? 4 : 0);
  return place >= 0 && legal >> choice & 1 ? choice : -1;
}

// The actions of both sides by the next turn of a script. What cannot be is replaced by the first that can; a switch that
// only chance has made necessary uses up no turn.
function byScript(script, battle, legal) {
  const wanted = battle.sides.map((side, i) => scripted(script.turns[0][i], legal[i], side));
  if (wanted.includes(-1)) {
    script.other.push(`turn ${battle.turn}: ${script.turns[0].join(' / ')}`);
    if (battle.requestState === 'switch') return legal.map(mask => mask ? 31 - Math.clz32(mask & -mask) : 0);
  }
  script.turns.shift();
  return wanted.map((choice, i) => choice < 0 && legal[i] ? 31 - Math.clz32(legal[i] & -legal[i]) : Math.max(choice, 0));
}

const words = choice => choice >= 8 ? `switch ${choice - 6}` : `move ${choice % 4 + 1}${choice >= 4 ? ' terastallize' : ''}`;

function play(index) {
  const script = options.scripts && {other: [], after: options.after || 0, ...options.scripts[index - options.first]};
  const roll = generator(script ? parseInt(script.seed.slice(5, 13), 16) : options.seed * 1000003 + index);
  const seed = script ? script.seed : `gen5,${hex(roll, 16)}`;
  const teams = options.teams[index - options.first];
  const battle = new Battle({formatid: 'gen9ou', seed, strictChoices: true});
  battle.setPlayer('p1', {name: 'p1', team: teams[0]});
  battle.setPlayer('p2', {name: 'p2', team: teams[1]});
  for (const side of battle.sides) side.team = side.pokemon.map((mon, place) => Object.assign(mon, {place}));
  const decisions = [], draws = options.log && drawsOf(battle, () => decisions.length);
  reader.note(battle);
  // The preview: the team as it is, or with another lead.
  const orders = battle.sides.map(side => {
    const places = [...side.team.keys()], lead = !script && roll(2) ? roll(places.length) : 0;
    return [lead, ...places.filter(place => place !== lead)];
  });
  battle.makeChoices(...orders.map(order => `team ${order.map(place => place + 1).join('')}`));
  let end = 'limit', written = 0;
  for (;;) {
    const state = reader.words(battle), legal = battle.sides.map(legalOf);
    const over = battle.ended || battle.turn > MAX_TURNS || script?.turns.length === 0 && !script.after--;
    const choices = over ? [0, 0] : script?.turns.length ? byScript(script, battle, legal) :
      legal.map((mask, i) => mask ? action(mask, roll, battle.sides[i]) : 0);
    const lines = battle.log.slice(written).filter(line => !line.startsWith('|t:|'));
    written = battle.log.length;
    const hashed = (hash(state) + hash(Buffer.from(lines.join('\n')))) % 2 ** 32;
    decisions.push([options.state ? [...state] : hashed, ...legal, ...choices, ...options.log ? [lines] : []]);
    if (over) {
      if (battle.ended) end = battle.winner || 'tie';
      break;
    }
    battle.sides.forEach((side, i) => {
      if (legal[i] && !side.choose(words(choices[i]))) throw new Error(`refused: ${words(choices[i])}: ${side.choice.error}`);
    });
    battle.commitChoices();
  }
  const line = {index, seed, orders, decisions, end};
  if (script) line.other = [...script.other, ...script.turns.map(turn => `not reached: ${turn.join(' / ')}`)];
  if (options.log) Object.assign(line, {log: battle.log, draws, inputLog: battle.inputLog});
  if (options.only === undefined || index === options.only) process.stdout.write(JSON.stringify(line) + '\n');
}

const policies = [...POLICIES, ...Object.keys(OWN)];
if (!policies.includes(options.policy)) throw new Error(`policy ${options.policy}: one of ${policies.join(', ')}`);
for (let n = 0; n < options.teams.length; n++) play(options.first + n);
if (reader.unread.size) process.stdout.write(JSON.stringify({unread: [...reader.unread]}) + '\n');
