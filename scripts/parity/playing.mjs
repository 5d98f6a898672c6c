// How the parity scripts' players get their teams and choose: the policies of engine_policies.mjs, with Mega Evolution, Z-Moves,
// Dynamax and Terastallization at random. All draws come from the battle's own generator.

import {choose} from './engine_policies.mjs';
import {anyTeam} from './any_teams.mjs';

export const EXTRAS = [['canMegaEvo', 'mega'], ['canMegaEvoX', 'megax'], ['canMegaEvoY', 'megay'], ['canUltraBurst', 'ultra'],
  ['canDynamax', 'dynamax'], ['canTerastallize', 'terastallize']];

export const hex = (roll, digits) => Array.from({length: digits}, () => roll(16).toString(16)).join('');

/** A team of a battle: `options.teams` is "any" or a random-battle format's own. */
export function teamOf({Dex, Teams}, options, roll) {
  if (options.teams === 'any') return anyTeam(Dex.mod(`gen${options.gen}`), roll);
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
