// Plays doubles on stock Pokémon Showdown and holds the joint choices that Python lists against what Showdown accepts.
//
//     python scripts/parity/joint_choices.py --format gen9randomdoublesbattle --battles 100 --seed 1
//
// Started by that script. For each request a line of JSON goes out and a line with the listed choices comes back. Each of them
// must be accepted and complete, and whatever else Showdown accepts, of choices put together at random, must do the same as
// one of them. A refusal that reveals what the request could not know ("Unavailable") counts apart. The last line has the counts.

import {createRequire} from 'node:module';
import {createInterface} from 'node:readline';
import {speedUp} from '../../arena/venues/simulator/fast.mjs';
import {generator} from './engine_policies.mjs';
import {decidingTeam} from './any_teams.mjs';
import {hex} from './playing.mjs';

const options = JSON.parse(process.argv[2]);
const {Battle, Dex, Teams} = createRequire(import.meta.url)(options.package);
if (options.simulator === 'fast') speedUp(options.package);
const answers = createInterface({input: process.stdin})[Symbol.asyncIterator]();
const counts = {battles: 0, decisions: 0, listed: 0, unavailable: 0, refused: 0, tried: 0, accepted: 0, same: 0, missing: 0, broken: 0, kinds: {}};
const EVENTS = ['', '', '', ' mega', ' megax', ' megay', ' ultra', ' zmove', ' dynamax', ' terastallize'];
const TARGETS = ['', '', ' +1', ' +2', ' -1', ' -2'];

/** What a choice does, or null where Showdown refuses it or waits for more. The side is as before when this returns. */
function meaning(side, choice) {
  const flags = side.active.map(mon => mon?.switchFlag);
  side.clearChoice();
  const actions = side.choose(choice) && side.isChoiceDone() ? side.choice.actions : null;
  side.active.forEach((mon, place) => { if (mon) mon.switchFlag = flags[place]; }); // to revive one takes it away
  side.clearChoice();
  return actions && JSON.stringify(actions.map(({choice: kind, pokemon, target, targetLoc, moveid, mega, megax, megay, zmove, maxMove, terastallize}) =>
    [kind, side.pokemon.indexOf(pokemon), side.pokemon.indexOf(target), targetLoc || 0, moveid, mega, megax, megay, zmove, maxMove, terastallize]));
}

/** A choice of one slot that may or may not be legal. */
function anything(roll, side) {
  const kind = roll(8);
  if (kind === 0) return 'pass';
  if (kind < 3) return `switch ${1 + roll(side.pokemon.length)}`;
  return `move ${1 + roll(4)}${TARGETS[roll(TARGETS.length)]}${EVENTS[roll(EVENTS.length)]}`;
}

function report(battle, side, request, what, choice) {
  process.stdout.write(JSON.stringify({different: {battle, side: side.id, what, choice, request}}) + '\n');
}

/** Holds one request's listed choices against Showdown. Returns one that it accepts. */
async function compare(index, side, roll) {
  for (;;) {
    const request = JSON.parse(JSON.stringify(side.activeRequest));
    process.stdout.write(JSON.stringify({request}) + '\n');
    const listed = JSON.parse((await answers.next()).value);
    const known = new Set(), accepted = [];
    let again = false;
    for (const choice of listed) {
      const means = meaning(side, choice);
      if (means !== null) {
        known.add(means);
        accepted.push(choice);
      } else if (side.activeRequest.update) { // it was refused for what only Showdown knew, and the request says so now
        delete side.activeRequest.update;
        counts.unavailable++;
        again = true;
        break;
      } else {
        counts.refused++;
        report(index, side, request, 'listed and refused', choice);
      }
    }
    if (again) continue;
    counts.decisions++;
    counts.listed += listed.length;
    const replaced = request.forceSwitch?.filter(Boolean).length;
    let kind = request.teamPreview ? 'preview' : replaced ? `replace ${replaced}` : 'move';
    if (replaced && listed.some(choice => choice.includes('pass') && replaced === 2)) kind += ', one left';
    if (request.side.pokemon.some(mon => mon.reviving)) kind = 'revive';
    if (request.side.pokemon.some(mon => mon.commanding)) kind += ', commanding';
    counts.kinds[kind] = (counts.kinds[kind] || 0) + 1;
    counts.same += listed.length - known.size; // what only Showdown knows, a lock say, can make several one
    if (!request.teamPreview || request.maxChosenTeamSize < side.pokemon.length) {
      for (let n = 0; n < options.tries; n++) {
        const size = request.maxChosenTeamSize || side.pokemon.length;
        const order = side.pokemon.map((_, k) => k + 1).sort(() => roll(3) - 1).slice(0, size);
        const choice = request.teamPreview ? `team ${order.join('')}` : `${anything(roll, side)}, ${anything(roll, side)}`;
        counts.tried++;
        const means = meaning(side, choice);
        if (side.activeRequest.update) delete side.activeRequest.update;
        if (means === null) continue;
        counts.accepted++;
        if (!known.has(means)) {
          counts.missing++;
          report(index, side, request, 'accepted and not listed', choice);
        }
      }
    }
    return accepted[roll(accepted.length)];
  }
}

function teamOf(roll) {
  if (options.teams === 'any') return decidingTeam(Dex.forFormat(options.format), roll);
  const team = Teams.getGenerator(options.teams, `gen5,${hex(roll, 16)}`).getTeam();
  return roll(8) ? team : team.slice(0, 2 + roll(team.length - 1)); // with one Pokémon Showdown's doubles break
}

for (let index = options.first; index < options.first + options.battles; index++) {
  const roll = generator(options.seed * 1000003 + index);
  const battle = new Battle({formatid: options.format, seed: `gen5,${hex(roll, 16)}`, strictChoices: false});
  for (const id of ['p1', 'p2']) battle.setPlayer(id, {name: id, team: Teams.pack(teamOf(roll))});
  while (!battle.ended && battle.turn < 150) {
    for (const side of battle.sides) {
      if (!side.activeRequest || side.activeRequest.wait) continue;
      const choice = await compare(index, side, roll);
      side.choose(choice);
    }
    if (!battle.allChoicesDone()) throw new Error(`battle ${index}, turn ${battle.turn}: a choice is missing`);
    try {
      battle.commitChoices();
    } catch { // a combination that nobody plays has broken the simulator itself
      counts.broken++;
      break;
    }
  }
  counts.battles++;
}
process.stdout.write(JSON.stringify({counts}) + '\n');
process.exit(0);
