// Plays battles on stock Pokémon Showdown and prints each as a replay has it, with what its players truly were asked and chose.
//
//     node scripts/parity/replay_oracle.mjs '{"gen": 4, "format": "gen4randombattle", "first": 0, "battles": 10, "seed": 1,
//                                            "policy": "random", "teams": "random-battle"}'
//
// A line of JSON for each battle: {index, log, asked: [{role, at, ask, choice}]}. `log`: the lines for spectators. `at`: how many
// of them stood there when the side was asked; `foes`, in doubles: which of the other side's slots had a Pokémon then; `ask`: its request, the last one where the simulator refused a choice; `choice`:
// what was chosen, in the simulator's words, null where the battle ended first. One battle in ten ends by a forfeit.

import {createRequire} from 'node:module';
import {generator, POLICIES} from './engine_policies.mjs';
import {choiceOf, hex, jointChoiceOf, teamOf} from './playing.mjs';

const options = JSON.parse(process.argv[2]);
if (!POLICIES.includes(options.policy)) throw new Error(`policy ${options.policy}: one of ${POLICIES.join(', ')}`);
const {Battle, Dex, Teams} = createRequire(import.meta.url)(options.package || 'pokemon-showdown');
const SIDES = ['p1', 'p2'];
const MAX_TURNS = options.maxTurns || 150;
const TRIES = 20;

/** Adds the lines that spectators are sent of what has been logged since `from`; returns where the log ends. */
function publish(log, from, lines) {
  for (let i = from; i < log.length; i++) {
    if (log[i].startsWith('|split|')) {
      if (log[i + 2]) lines.push(log[i + 2]);
      i += 2;
    } else {
      lines.push(log[i]);
    }
  }
  return log.length;
}

/** Make a choice for a side, again where the simulator refuses one because of what it did not show. */
function decide(side, roll) {
  for (let tries = 0; tries < TRIES; tries++) {
    const choice = (side.active.length > 1 ? jointChoiceOf(side, side.activeRequest, roll)
      : choiceOf(options.policy, side, side.activeRequest, roll));
    if (!side.choose(choice)) continue;
    if (side.active.length === 1 || side.activeRequest.teamPreview) return {ask: side.activeRequest, choice};
    return {ask: side.activeRequest, choice: side.getChoice(), foes: side.foe.active.map(mon => !mon.fainted)};
  }
  throw new Error(side.choice.error);
}

function play(index) {
  const roll = generator(options.seed * 1000003 + index);
  const battle = new Battle({formatid: options.format, seed: `gen5,${hex(roll, 16)}`, strictChoices: false, send: () => {}});
  const teams = [teamOf({Dex, Teams}, options, roll), teamOf({Dex, Teams}, options, roll)];
  SIDES.forEach((side, i) => battle.setPlayer(side, {name: `Player ${i + 1}`, team: Teams.pack(teams[i])}));
  if (battle.gameType === 'doubles') battle.showOpenTeamSheets();
  const forfeitAt = roll(10) ? Infinity : 1 + roll(20);
  const asked = [], lines = [];
  let read = 0;
  while (!battle.ended) {
    read = publish(battle.log, read, lines);
    const deciding = battle.sides.filter(side => side.activeRequest && !side.activeRequest.wait);
    const at = lines.length;
    const over = battle.turn >= forfeitAt || battle.turn > MAX_TURNS;
    // A request as text at once: the simulator goes on with the same objects.
    for (const side of deciding) {
      const decision = over ? {ask: side.activeRequest, choice: null} : decide(side, roll);
      asked.push(JSON.stringify({role: side.id, at, ...decision}));
    }
    if (!over) {
      battle.commitChoices();
    } else if (battle.turn >= forfeitAt) {
      battle.add('-message', 'Player 2 forfeited.');
      battle.forceWin('p1');
    } else {
      battle.tie();
    }
  }
  publish(battle.log, read, lines);
  process.stdout.write(`{"index":${index},"log":${JSON.stringify(lines)},"asked":[${asked.join(',')}]}\n`);
  battle.destroy();
}

for (let index = options.first || 0; index < (options.first || 0) + options.battles; index++) play(index);
