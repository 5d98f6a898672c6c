// Plays battles on stock Pokémon Showdown and prints, for each decision, a hash of the state, the legal actions and the choices.
//
//     echo '{"first": 0, "battles": 100, "seed": 1, "policy": "random", "teams": "any"}' | node scripts/parity/engine_oracle.mjs
//
// A line of JSON for each battle. With "state": true each decision has its whole state instead of the hash; with "only": N the
// battles before N are played (a policy may remember them) and not printed; with "coverage": true a last line counts the
// branches that were reached (engine_coverage.mjs). Policies: engine_policies.mjs.

import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {speedUp} from '../../arena/venues/simulator/fast.mjs';
import {Coverage} from './engine_coverage.mjs';
import {choose, generator, POLICIES} from './engine_policies.mjs';
import {drawsOf, hex} from './playing.mjs';

const options = JSON.parse(readFileSync(0, 'utf8'));
if (!POLICIES.includes(options.policy)) throw new Error(`policy ${options.policy}: one of ${POLICIES.join(', ')}`);
const {Battle, Dex, Teams} = createRequire(import.meta.url)(options.package || 'pokemon-showdown');
if (options.simulator === 'fast') speedUp(options.package);
const dex = Dex.mod('gen1');
const MAX_TURNS = options.maxTurns || 400;
const coverage = options.coverage ? new Coverage(dex) : null;

const TYPES = ['Normal', 'Fighting', 'Flying', 'Poison', 'Ground', 'Rock', 'Bug', 'Ghost', 'Fire', 'Water', 'Grass', 'Electric',
  'Psychic', 'Ice', 'Dragon'];
const STATUSES = ['', 'brn', 'par', 'slp', 'frz', 'psn', 'tox'];
const STATS = ['atk', 'def', 'spa', 'spd', 'spe'];
const SPECIES = dex.species.all().filter(s => s.num > 0 && s.num <= 151 && !s.forme && !s.isNonstandard);
const MOVES = dex.moves.all().filter(m => m.gen <= 1 && m.num > 0 && m.num < 165 && (!m.isNonstandard || m.isNonstandard === 'Unobtainable'));
const SPECIAL = {'': 0, nomove: 166, cannotmove: 167};
const number = id => id in SPECIAL ? SPECIAL[id] : dex.moves.get(id).num;
const numberOf = move => !move ? 0 : move.id === 'fissure' && move.basePower ? 166 : number(move.id);

function anyTeam(roll) {
  const size = roll(10) ? 6 : 1 + roll(6);
  return Array.from({length: size}, (_, k) => {
    const moves = new Set();
    const count = roll(8) ? 4 : 1 + roll(4);
    while (moves.size < count) moves.add(MOVES[roll(MOVES.length)].id);
    const level = roll(3) ? 100 : 1 + roll(100);
    const evs = roll(2) ? 252 : 0;
    return {name: `n${k}`, species: SPECIES[roll(SPECIES.length)].name, moves: [...moves], level, nature: '', ability: 'No Ability', item: '',
      evs: {hp: evs, atk: evs, def: evs, spa: evs, spd: evs, spe: evs}, ivs: {hp: 30, atk: 30, def: 30, spa: 30, spd: 30, spe: 30}};
  });
}

function teamOf(roll) {
  if (Array.isArray(options.teams)) return Teams.unpack(options.teams[roll(options.teams.length)]);
  return options.teams === 'any' ? anyTeam(roll) : Teams.getGenerator('gen1randombattle', `gen5,${hex(roll, 16)}`).getTeam();
}

function stateOf(battle) {
  const words = [...battle.prng.getSeed().split(',').map(Number), battle.turn, battle.lastDamage];
  for (const side of battle.sides) {
    words.push(side.pokemonLeft, number(side.lastSelectedMove), side.lastSelectedMoveSlot, number(side.lastEnemySelectedMove),
      numberOf(side.lastEnemyMove), +!!side.faintedThisTurn);
    for (const mon of side.pokemon) words.push(mon.place);
    const mon = side.active[0], v = mon.volatiles, place = x => x ? x.place : 0;
    words.push(mon.species.num, TYPES.indexOf(mon.types[0]), mon.types.length > 1 ? TYPES.indexOf(mon.types[1]) : -1);
    for (const stat of STATS) words.push(mon.storedStats[stat], mon.modifiedStats[stat], mon.boosts[stat]);
    words.push(mon.speed, mon.boosts.accuracy, mon.boosts.evasion, mon.moveSlots.length, +mon.transformed, numberOf(mon.lastMove));
    for (const slot of mon.moveSlots) words.push(number(slot.id), slot.pp);
    words.push(v.bide ? v.bide.time : 0, v.bide ? v.bide.damage : 0, v.twoturnmove ? number(v.twoturnmove.move) : 0,
      +!!v.invulnerability, v.partiallytrapped?.duration || 0, v.partiallytrapped ? place(v.partiallytrapped.source) : 0,
      +!!v.partiallytrapped?.maybeLocked, v.fakepartiallytrapped?.duration || 0, place(v.fakepartiallytrapped?.counterpart),
      v.partialtrappinglock?.duration || 0, v.partialtrappinglock?.totalDuration || 0, v.partialtrappinglock?.damage || 0,
      place(v.partialtrappinglock?.locked), +!!v.mustrecharge, v.lockedmove ? v.lockedmove.time : 0, v.lockedmove ? v.lockedmove.accuracy : 0,
      +!!v.rage, v.rage ? v.rage.accuracy : 0, v.confusion ? v.confusion.time : 0, v.disable ? v.disable.time : 0,
      v.disable ? v.disable.slotIndex : 0, +!!v.flinch, +!!v.focusenergy, +!!v.leechseed, +!!v.lightscreen, +!!v.reflect, +!!v.mist,
      v.residualdmg ? 1 + v.residualdmg.counter : 0, v.substitute ? v.substitute.hp : 0);
    for (const mon of side.team) {
      words.push(mon.hp, mon.maxhp, mon.fainted ? 7 : STATUSES.indexOf(mon.status), mon.status === 'slp' && !mon.fainted ? mon.statusState.time : 0,
        +!!mon.subFainted, ...STATS.map(stat => mon.baseStoredStats[stat]), ...mon.baseMoveSlots.map(slot => slot.pp));
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
  if (request.active) request.active[0].moves.forEach((move, slot) => { if (!move.disabled) legal |= 1 << slot; });
  if (request.forceSwitch || !request.active[0].trapped) {
    side.pokemon.forEach((mon, position) => { if (position && !mon.fainted) legal |= 8 << position; });
  }
  return legal;
}

function play(index) {
  const roll = generator(options.seed * 1000003 + index);
  const seed = `gen5,${hex(roll, 16)}`;
  const teams = [teamOf(roll), teamOf(roll)];
  const battle = new Battle({formatid: options.format || 'gen1ou', seed, strictChoices: false});
  const packed = teams.map(team => Teams.pack(team));
  battle.setPlayer('p1', {name: 'p1', team: packed[0]});
  battle.setPlayer('p2', {name: 'p2', team: packed[1]});
  for (const side of battle.sides) side.team = side.pokemon.map((mon, place) => Object.assign(mon, {place}));
  coverage?.watch(battle);
  const decisions = [], draws = options.log && drawsOf(battle, () => decisions.length);
  let end = 'limit';
  for (;;) {
    const state = stateOf(battle);
    const legal = battle.sides.map(legalOf);
    const actions = battle.ended || battle.turn > MAX_TURNS ? [0, 0] : legal.map((mask, i) => choose(options.policy, mask, roll, battle.sides[i]));
    decisions.push([options.state ? state : hash(state), ...legal, ...actions]);
    if (battle.ended) { end = battle.winner || 'tie'; break; }
    if (battle.turn > MAX_TURNS) break;
    try {
      battle.sides.forEach((side, i) => {
        if (!legal[i]) return;
        const words = actions[i] < 4 ? `move ${actions[i] + 1}` : `switch ${actions[i] - 2}`;
        if (!side.choose(words)) throw new Error(`refused: ${words}: ${side.choice.error}`);
      });
      battle.commitChoices();
    } catch (error) { end = `stuck: ${error.message}`; break; }
  }
  const line = {index, seed, teams: packed, decisions, end};
  if (options.log) Object.assign(line, {log: battle.log, draws});
  if (options.only === undefined || index === options.only) process.stdout.write(JSON.stringify(line) + '\n');
}

for (let index = options.first || 0; index < (options.first || 0) + options.battles; index++) play(index);
if (coverage) process.stdout.write(JSON.stringify({coverage: coverage.counts()}) + '\n');
