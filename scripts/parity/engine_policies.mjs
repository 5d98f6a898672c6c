// How the oracle's players choose. All draws come from the battle's own generator, so that a seed names a battle.
//
// random: switches in 15 of 100 choices; switcher: in 50; rare: in 10, and takes the move that this process used least;
// rules: a rule player (heals, statuses, boosts, the strongest attack, a better Pokémon where this one stands badly).

const OFTEN = {random: 15, switcher: 50, rare: 10};
export const POLICIES = [...Object.keys(OFTEN), 'rules'];

const heals = move => move.category === 'Status' && !!move.flags.heal;
const timesUsed = new Map(); // for the policy `rare`, over all battles of this process

// Choices and teams have their own generator: xorshift, one for each battle.
export function generator(seed) {
  let x = (seed * 2654435761 >>> 0) || 1;
  const next = () => { x ^= x << 13; x >>>= 0; x ^= x >>> 17; x ^= x << 5; x >>>= 0; return x; };
  for (let i = 0; i < 8; i++) next();
  return n => Math.floor(next() / 2 ** 32 * n);
}

// A legal action of a side (bits of `legal`: 0-3 moves, 4-8 the bench), 0 where it has none.
export function choose(policy, legal, roll, side) {
  const actions = [];
  for (let action = 0; action < 9; action++) if (legal >> action & 1) actions.push(action);
  if (!actions.length) return 0;
  const moves = actions.filter(action => action < 4), switches = actions.filter(action => action >= 4);
  if (policy === 'rules') return byRules(moves, switches, roll, side);
  if (!moves.length || !switches.length) return actions[roll(actions.length)];
  if (roll(100) < OFTEN[policy]) return switches[roll(switches.length)];
  if (policy !== 'rare') return moves[roll(moves.length)];
  const slots = side.active[0].moveSlots, times = action => timesUsed.get(slots[action]?.id) || 0;
  const action = moves.reduce((least, other) => times(other) < times(least) ? other : least);
  timesUsed.set(slots[action]?.id, times(action) + 1);
  return action;
}

function byRules(moves, switches, roll, side) {
  const user = side.active[0], foe = side.foe.active[0];
  const bestSwitch = () => best(switches, action => matchup(side.pokemon[action - 3], foe), roll);
  if (!moves.length) return bestSwitch();
  if (moves.length > 1 && roll(16) === 0) return moves[roll(moves.length)]; // so that its battles differ
  const standing = matchup(user, foe);
  if (switches.length && user.hp * 3 > user.maxhp && !user.status && roll(4)) {
    const action = bestSwitch();
    if (standing < 0.6 && matchup(side.pokemon[action - 3], foe) > 2 * standing) return action;
  }
  if (moves.length === 1) return moves[0]; // also "Fight" and "Recharge", which are no moves of the Dex
  const listed = side.activeRequest.active[0].moves;
  return best(moves, action => worth(side.battle.dex.moves.get(listed[action].id), user, foe, roll), roll);
}

// The action that is worth most; the first after a random place among equals.
function best(actions, value, roll) {
  const start = roll(actions.length);
  let found = -1, most = -Infinity;
  for (let k = 0; k < actions.length; k++) {
    const action = actions[(start + k) % actions.length], worth = value(action);
    if (worth > most) [found, most] = [action, worth];
  }
  return found;
}

// Type effectiveness of a move's or Pokémon's type: 0 where it is immune.
function effect(dex, type, foe) {
  return dex.getImmunity(type, foe.types) ? 2 ** dex.getEffectiveness(type, foe.types) : 0;
}

// How well a Pokémon stands against another: what its types do to it over what the other's do to it, times its HP.
function matchup(mon, foe) {
  const dex = mon.battle.dex;
  const strongest = (from, to) => Math.max(...from.types.map(type => effect(dex, type, to)));
  return (strongest(mon, foe) + 0.25) / (strongest(foe, mon) + 0.25) * (0.25 + mon.hp / mon.maxhp);
}

// Expected damage in units of base power; what does none is put on the same scale.
function worth(move, user, foe, roll) {
  const health = user.hp / user.maxhp, dex = user.battle.dex, hits = move.accuracy === true ? 1 : move.accuracy / 100;
  if (heals(move)) return health < 0.45 ? 400 : 0;
  if (move.category === 'Status') return statusWorth(move, user, foe, roll, health) * hits;
  if (move.selfdestruct) return health < 0.3 ? 300 * effect(dex, move.type, foe) : 1;
  if (move.id === 'dreameater' && foe.status !== 'slp') return 0;
  if (move.ohko) return foe.getStat('spe') > user.getStat('spe') ? 0 : 100 * hits;
  if (move.id === 'counter') return 30;
  const power = move.damage || move.damageCallback ? 70 : move.basePower * (Array.isArray(move.multihit) ? 3 : move.multihit || 1);
  return power * effect(dex, move.type, foe) * (user.hasType(move.type) ? 1.5 : 1) * hits;
}

function statusWorth(move, user, foe, roll, health) {
  const now = roll(4); // sometimes only
  if (move.status) return foe.status || foe.volatiles.substitute ? 0 : move.status === 'slp' ? 300 : now ? 150 : 0;
  if (move.volatileStatus === 'confusion') return foe.volatiles.confusion ? 0 : now ? 110 : 0;
  if (move.volatileStatus === 'leechseed') return foe.volatiles.leechseed || foe.hasType('Grass') ? 0 : now ? 120 : 0;
  if (move.target === 'self' && (move.volatileStatus || move.boosts)) {
    const there = user.volatiles[move.volatileStatus] || Object.keys(move.boosts || {}).some(stat => user.boosts[stat] > 1);
    return there || health < 0.5 ? 0 : now > 1 ? 130 : 0;
  }
  return now ? 20 : 140; // Disable, Haze, Mimic, Metronome, Mirror Move, Transform, drops, what does nothing
}
