// How the parity scripts' players get their teams and choose: the policies of engine_policies.mjs, with Mega Evolution, Z-Moves,
// Dynamax and Terastallization at random. All draws come from the battle's own generator.

import {choose} from './engine_policies.mjs';
import {anyTeam} from './any_teams.mjs';

export const EXTRAS = [['canMegaEvo', 'mega'], ['canMegaEvoX', 'megax'], ['canMegaEvoY', 'megay'], ['canUltraBurst', 'ultra'],
  ['canDynamax', 'dynamax'], ['canTerastallize', 'terastallize']];

export const hex = (roll, digits) => Array.from({length: digits}, () => roll(16).toString(16)).join('');

/** A team of a battle: one of `options.packed`, or as `options.teams` says: "any", or a random-battle format's own. */
export function teamOf({Dex, Teams}, options, roll) {
  if (options.packed) return Teams.unpack(options.packed[roll(options.packed.length)]);
  if (options.teams === 'any') {
    const doubles = Dex.formats.get(options.format).gameType === 'doubles';
    let team = [];
    while (team.length < (doubles ? 2 : 1)) team = anyTeam(Dex.mod(`gen${options.gen}`), roll); // with one Showdown's doubles break
    return team;
  }
  return Teams.getGenerator(options.format, `gen5,${hex(roll, 16)}`).getTeam();
}

/** Actions as engine_policies.mjs numbers them: bits 0-3 moves, 4 and up the bench. */
export function legalOf(side, request) {
  let legal = 0;
  if (request.active) request.active[0].moves.forEach((move, slot) => { if (!move.disabled) legal |= 1 << slot; });
  const reviving = !!request.side.pokemon[0].reviving;
  if (request.forceSwitch || (request.active && !request.active[0].trapped)) {
    side.pokemon.forEach((mon, position) => { if (position && mon.fainted === reviving) legal |= 8 << position; });
  }
  return legal;
}

const TARGETS = ['', '', ' +1', ' +2', ' -1', ' -2'];

/** A choice of two slots at random that the simulator accepts, or its default. */
export function jointChoiceOf(side, request, roll) {
  if (request.teamPreview) {
    const order = side.pokemon.map((_, position) => position + 1);
    for (let last = order.length - 1; last > 0; last--) {
      const other = roll(last + 1);
      [order[last], order[other]] = [order[other], order[last]];
    }
    return `team ${order.slice(0, request.maxChosenTeamSize || order.length).join('')}`;
  }
  const half = slot => {
    if (request.forceSwitch ? !request.forceSwitch[slot] : !roll(40)) return 'pass';
    if (request.forceSwitch || !roll(5)) return roll(12) ? `switch ${1 + roll(side.pokemon.length)}` : 'pass';
    const extras = request.active[slot] ? EXTRAS.filter(([flag]) => request.active[slot][flag]).map(([, word]) => ` ${word}`) : [];
    if (request.active[slot]?.canZMove) extras.push(' zmove');
    const extra = extras.length && !roll(4) ? extras[roll(extras.length)] : '';
    return `move ${1 + roll(4)}${TARGETS[roll(TARGETS.length)]}${extra}`;
  };
  for (let tries = 0; tries < 300; tries++) {
    const flags = side.active.map(mon => mon?.switchFlag); // Revival Blessing's choice changes them at once
    const choice = `${half(0)}, ${half(1)}`;
    const fine = side.choose(choice) && side.isChoiceDone();
    side.active.forEach((mon, place) => { if (mon) mon.switchFlag = flags[place]; });
    side.clearChoice();
    if (fine) return choice;
    if (side.activeRequest.update) delete side.activeRequest.update;
  }
  return 'default';
}

/** A choice for a request, in the simulator's words. */
export function choiceOf(policy, side, request, roll) {
  if (request.teamPreview) {
    const order = side.pokemon.map((_, position) => position + 1);
    const lead = roll(order.length);
    return `team ${[order[lead], ...order.filter((_, position) => position !== lead)].join('')}`;
  }
  const action = choose(policy, legalOf(side, request), roll, side);
  if (action >= 4) return `switch ${action - 2}`;
  const active = request.active[0];
  const extras = EXTRAS.filter(([flag]) => active[flag]).map(([, word]) => word);
  if (active.canZMove?.[action]) extras.push('zmove');
  const extra = extras.length && !roll(4) ? ` ${extras[roll(extras.length)]}` : '';
  return `move ${action + 1}${extra}`;
}

/** Notes each random draw of a battle, with its call site and the decision before which it is made (`decision()`). */
export function drawsOf(battle, decision) {
  const draws = [], rng = battle.prng.rng, next = rng.next.bind(rng);
  rng.next = () => {
    const stack = new Error().stack.split('\n').slice(2, 10).map(line => (line.match(/at (?:\w+\.)?([\w.<>]+)/) || [])[1]);
    draws.push(`${decision()} ${stack.join(' < ')}`);
    return next();
  };
  return draws;
}
