// Which branches of the rules battles reach: how often a move of each effect was used at a target in each state.
//
//     node scripts/parity/engine_coverage.mjs      # the branches, as JSON: effect, state, why it cannot be reached (or null)
//
// The oracle counts them in stock Showdown: the state is that of the target (for a move at its user: of the user) when
// useMove is called, after all that may stop a move. A move counts under each of its effects and each state of its target.

import {pathToFileURL} from 'node:url';

const TWO_TURN = ['razorwind', 'solarbeam', 'skullbash', 'skyattack'], HIDING = ['dig', 'fly'];
const ids = (...names) => move => names.includes(move.id);
const gives = volatile => move => move.self?.volatileStatus === volatile;
const status = name => move => move.status === name;
const boosts = by => move => move.category === 'Status' && by(Object.values(move.boosts || {})[0] || 0);
const secondary = test => move => !!move.secondary && test(move.secondary);

// Effects: name, which moves have it, and `phase` where the first use (0) and those it locks its user into (1) are two.
// `chance`: it counts when the secondary effect happens, not at each use.
const EFFECTS = [
  {name: 'damage by the formula', of: m => m.category !== 'Status' && !m.damage && !m.damageCallback && !m.ohko && m.id !== 'bide'},
  {name: 'high critical-hit ratio', of: m => m.critRatio === 2},
  {name: 'never misses (Swift)', of: ids('swift')},
  {name: 'moves first (Quick Attack)', of: ids('quickattack')},
  {name: 'fixed damage', of: m => typeof m.damage === 'number'},
  {name: 'damage of the level', of: m => m.damage === 'level'},
  {name: 'Psywave', of: ids('psywave')},
  {name: 'Super Fang', of: ids('superfang')},
  {name: 'Counter', of: ids('counter')},
  {name: 'one-hit KO', of: m => !!m.ohko},
  {name: 'two hits', of: m => m.multihit === 2},
  {name: 'two to five hits', of: m => Array.isArray(m.multihit)},
  {name: 'drain', of: m => !!m.drain && m.id !== 'dreameater'},
  {name: 'Dream Eater', of: ids('dreameater')},
  {name: 'recoil', of: m => !!m.recoil && m.id !== 'struggle'},
  {name: 'Struggle', of: ids('struggle')},
  {name: 'crash (jump kicks)', of: ids('jumpkick', 'highjumpkick')},
  {name: 'self-destruct', of: m => !!m.selfdestruct},
  {name: 'two turns, charging', of: ids(...TWO_TURN), phase: 0},
  {name: 'two turns, striking', of: ids(...TWO_TURN), phase: 1},
  {name: 'Dig and Fly, hiding', of: ids(...HIDING), phase: 0},
  {name: 'Dig and Fly, striking', of: ids(...HIDING), phase: 1},
  {name: 'trapping, first turn', of: gives('partialtrappinglock'), phase: 0},
  {name: 'trapping, later turns', of: gives('partialtrappinglock'), phase: 1},
  {name: 'recharge (Hyper Beam)', of: gives('mustrecharge')},
  {name: 'thrashing, first turn', of: gives('lockedmove'), phase: 0},
  {name: 'thrashing, later turns', of: gives('lockedmove'), phase: 1},
  {name: 'Bide, storing', of: ids('bide'), phase: 0},
  {name: 'Bide, unleashing', of: ids('bide'), phase: 1},
  {name: 'Rage, first turn', of: gives('rage'), phase: 0},
  {name: 'Rage, later turns', of: gives('rage'), phase: 1},
  {name: 'sleep', of: status('slp')},
  {name: 'paralysis', of: status('par')},
  {name: 'poison', of: status('psn')},
  {name: 'bad poison (Toxic)', of: status('tox')},
  {name: 'confusion', of: m => m.volatileStatus === 'confusion'},
  {name: 'Leech Seed', of: ids('leechseed')},
  {name: 'Disable', of: ids('disable')},
  {name: 'lowers a stat', of: boosts(by => by < 0)},
  {name: 'raises a stat by one', of: boosts(by => by === 1)},
  {name: 'raises a stat by two', of: boosts(by => by === 2)},
  {name: 'chance: burn', of: secondary(s => s.status === 'brn'), chance: true},
  {name: 'chance: freeze', of: secondary(s => s.status === 'frz'), chance: true},
  {name: 'chance: paralysis', of: secondary(s => s.status === 'par'), chance: true},
  {name: 'chance: poison', of: secondary(s => s.status === 'psn'), chance: true},
  {name: 'chance: flinch', of: secondary(s => s.volatileStatus === 'flinch'), chance: true},
  {name: 'chance: confusion', of: secondary(s => s.volatileStatus === 'confusion'), chance: true},
  {name: 'chance: lowers a stat', of: secondary(s => !!s.boosts), chance: true},
  {name: 'Reflect', of: ids('reflect')},
  {name: 'Light Screen', of: ids('lightscreen')},
  {name: 'Mist', of: ids('mist')},
  {name: 'Haze', of: ids('haze')},
  {name: 'Focus Energy', of: ids('focusenergy')},
  {name: 'Substitute', of: ids('substitute')},
  {name: 'Transform', of: ids('transform')},
  {name: 'Mimic', of: ids('mimic')},
  {name: 'Metronome', of: ids('metronome')},
  {name: 'Mirror Move', of: ids('mirrormove')},
  {name: 'Conversion', of: ids('conversion')},
  {name: 'Recover, Soft-Boiled', of: ids('recover', 'softboiled')},
  {name: 'Rest', of: ids('rest')},
  {name: 'nothing (Splash, Teleport, Roar, Whirlwind)', of: ids('splash', 'teleport', 'roar', 'whirlwind')},
  {name: 'called by Metronome', of: () => false, caller: 'metronome'},
  {name: 'called by Mirror Move', of: () => false, caller: 'mirrormove'},
];

const has = volatile => mon => !!mon.volatiles[volatile];
const sick = name => mon => mon.status === name;
const changed = test => mon => { for (const stat in mon.boosts) if (test(mon.boosts[stat])) return true; return false; };
const isEmpty = volatiles => { for (const _ in volatiles) return false; return true; };

// States of the target. The column's short name, what it means, and the test.
const STATES = [
  ['plain', 'no status, condition, changed stat', mon => !mon.status && !mon.transformed && isEmpty(mon.volatiles) && !changed(by => by)(mon)],
  ['full', 'at full HP', mon => mon.hp === mon.maxhp],
  ['sub', 'behind a substitute', has('substitute')],
  ['slp', 'asleep', sick('slp')],
  ['frz', 'frozen', sick('frz')],
  ['par', 'paralysed', sick('par')],
  ['brn', 'burnt', sick('brn')],
  ['psn', 'poisoned', sick('psn')],
  ['tox', 'badly poisoned', sick('tox')],
  ['hid', 'invulnerable (Dig, Fly)', has('invulnerability')],
  ['chg', 'charging a two-turn move, not invulnerable', mon => !!mon.volatiles.twoturnmove && !mon.volatiles.invulnerability],
  ['rch', 'must recharge', has('mustrecharge')],
  ['trp', 'trapped', has('partiallytrapped')],
  ['tpg', 'trapping', has('partialtrappinglock')],
  ['cnf', 'confused', has('confusion')],
  ['rag', 'raging', has('rage')],
  ['bid', 'biding', has('bide')],
  ['thr', 'thrashing', has('lockedmove')],
  ['sed', 'seeded', has('leechseed')],
  ['dis', 'has a disabled move', has('disable')],
  ['ref', 'behind Reflect or Light Screen', mon => !!mon.volatiles.reflect || !!mon.volatiles.lightscreen],
  ['mst', 'behind Mist', has('mist')],
  ['foc', 'focused', has('focusenergy')],
  ['up', 'a stat raised', changed(by => by > 0)],
  ['dwn', 'a stat lowered', changed(by => by < 0)],
  ['tfm', 'transformed', mon => mon.transformed],
  ['imm', 'of a type that the move’s does not affect', (mon, move) => !mon.battle.dex.getImmunity(move.type, mon.types)],
  ['typ', 'of the move’s own type', (mon, move) => mon.hasType(move.type)],
  ['fnt', 'fainted', mon => mon.fainted || !mon.hp],
];
const ALL = STATES.length; // the column of every use

const OWN = /^(raises|Bide, storing|Reflect|Light Screen|Mist|Focus Energy|Substitute|Metronome|Mirror Move|Recover|Rest)/;
const ANY = /./, TRAPS = /^(trapping, later turns|damage by the formula)$/;

// What cannot be: effects, states, the reason. A branch that is listed here and reached is reported as an error.
const IMPOSSIBLE = [
  {effects: ANY, states: ['fnt'], why: 'a turn of generation 1 ends as soon as a Pokémon faints'},
  {effects: OWN, states: ['slp', 'frz', 'trp', 'rch', 'bid'], why: 'the user itself is the target, and in this state it does not move'},
  {effects: OWN, states: ['chg', 'tpg', 'rag', 'thr'], why: 'the user itself is the target, and in this state it is locked into another move'},
  {effects: {test: name => !TRAPS.test(name)}, states: ['trp'], why: 'only its trapper can attack a trapped Pokémon, by the trapping move'},
  {effects: ANY, states: ['tpg'], why: 'what a Pokémon traps does not move'},
  {effects: /^trapping, later turns$/, states: ['plain'], why: 'the target is trapped'},
  {effects: /^trapping, later turns$/, states: ['rch'], why: 'the first turn took the need to recharge away'},
  {effects: /^chance/, states: ['sub'], why: 'a substitute takes the secondary effect, too (confusion comes by a rule of the substitute)'},
  {effects: /^chance/, states: ['hid', 'imm'], why: 'the move does not hit'},
  {effects: /^chance: (burn|freeze|paralysis)$/, states: ['typ'], why: 'a Pokémon of the move’s type is spared'},
  {effects: /^(Psywave|drain|Dream Eater|poison|bad poison|Leech Seed|Reflect|Light Screen|Mist|Haze|Mirror Move|Rest)/, states: ['imm'],
    why: 'every type is affected by the types of these moves'},
  {effects: /^Bide/, states: ['imm', 'typ'], why: 'Bide has no type'},
];

export function branches() {
  return EFFECTS.flatMap(effect => STATES.map(([state, meaning]) => {
    const rule = IMPOSSIBLE.find(({effects, states}) => effects.test(effect.name) && states.includes(state));
    return {effect: effect.name, state, meaning, chance: !!effect.chance, impossible: rule ? rule.why : null};
  }));
}

const [USED, HIT, HAPPENED] = [0, 1, 2]; // what is counted of a use: it, its hits, its secondary effect
const STAGES = 3, COLUMNS = ALL + 1;
const ONGOING = ['twoturnmove', 'partialtrappinglock', 'lockedmove', 'rage'];

// Counts over all battles that it watches.
export class Coverage {
  constructor(dex) {
    this.dex = dex;
    this.rows = new Map(); // "move phase" or a caller -> offset of its counts
    this.numbers = [];
    this.row = this.bits = 0;
  }

  // Wraps useMove and moveHit of a battle.
  watch(battle) {
    const {actions} = battle, {useMove, moveHit} = actions;
    actions.useMove = (move, user, options) => {
      const dexMove = this.dex.moves.get(move.id || move);
      // Haze is counted by the state of the foe, whom it cures.
      const target = dexMove.target === 'self' && dexMove.id !== 'haze' ? user : user.side.foe.active[0];
      const phase = ONGOING.some(volatile => user.volatiles[volatile]) ? 1 : 0;
      const caller = !options && battle.effect?.id;
      this.begin(`${dexMove.id} ${phase}`, dexMove, target);
      if (caller === 'metronome' || caller === 'mirrormove') this.add(this.rowOf(caller), USED);
      return useMove.call(actions, move, user, options);
    };
    actions.moveHit = (target, user, move, data, isSecondary, isSelf) => {
      if (move.id === 'bide' && data && !isSecondary && !isSelf) this.begin('bide 1', move, target);
      if (isSecondary) this.add(this.row, HAPPENED);
      else if (!isSelf && !(move.hit > 1)) this.add(this.row, HIT);
      return moveHit.call(actions, target, user, move, data, isSecondary, isSelf);
    };
  }

  rowOf(name) {
    if (!this.rows.has(name)) {
      this.rows.set(name, this.numbers.length);
      for (let k = 0; k < STAGES * COLUMNS; k++) this.numbers.push(0);
    }
    return this.rows.get(name);
  }

  begin(name, move, target) {
    this.row = this.rowOf(name);
    this.bits = 0;
    for (let state = 0; state < ALL; state++) if (STATES[state][2](target, move)) this.bits |= 1 << state;
    this.add(this.row, USED);
  }

  add(row, stage) {
    const base = row + stage * COLUMNS;
    this.numbers[base + ALL]++;
    for (let bits = this.bits; bits; bits &= bits - 1) this.numbers[base + 31 - Math.clz32(bits & -bits)]++;
  }

  // moves: id -> [uses, hits]; branches: "effect|state" -> [uses, hits (of a chance: times that it happened)].
  counts() {
    const moves = {}, reached = {};
    const put = (into, key, uses, hits) => { if (uses) into[key] = [(into[key]?.[0] || 0) + uses, (into[key]?.[1] || 0) + hits]; };
    for (const [name, row] of this.rows) {
      const [id, phase] = name.split(' '), move = this.dex.moves.get(id);
      const at = (stage, column) => this.numbers[row + stage * COLUMNS + column];
      if (phase !== undefined) put(moves, id, at(USED, ALL), at(HIT, ALL));
      for (const effect of EFFECTS) {
        const matches = phase === undefined ? effect.caller === id : effect.of(move) && (effect.phase ?? +phase) === +phase;
        if (!matches) continue;
        STATES.forEach(([state], column) => put(reached, `${effect.name}|${state}`, at(USED, column), at(effect.chance ? HAPPENED : HIT, column)));
      }
    }
    return {moves, branches: reached};
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) console.log(JSON.stringify(branches()));
