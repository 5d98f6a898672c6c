// Plays battles on stock Pokémon Showdown and prints, for each decision, what each seat received and the simulator's state.
//
//     node scripts/parity/state_oracle.mjs '{"gen": 4, "format": "gen4randombattle", "first": 0, "battles": 10, "seed": 1,
//                                           "policy": "random", "teams": "random-battle"}'
//
// A line of JSON for each battle: {index, names, end, decisions: [{truth, p1: {lines, ask, accepted}, p2}]}. `ask` is the
// request if that seat must choose, `accepted` the choices that the simulator accepts (null where it does not say which).
// Policies are those of engine_policies.mjs, with Mega Evolution, Z-Moves, Dynamax and Terastallization at random.

import {createRequire} from 'node:module';
import {generator, POLICIES} from './engine_policies.mjs';
import {choiceOf, EXTRAS, hex, jointChoiceOf, teamOf} from './playing.mjs';
import {snapshot, watch, watchMoves} from './state_truth.mjs';

const options = JSON.parse(process.argv[2]);
if (!POLICIES.includes(options.policy)) throw new Error(`policy ${options.policy}: one of ${POLICIES.join(', ')}`);
const {Battle, Dex, Teams} = createRequire(import.meta.url)(options.package || 'pokemon-showdown');
const SIDES = ['p1', 'p2'];
const MAX_TURNS = options.maxTurns || 150;

/** The new lines of the log, as each side sees them. */
function split(log, from) {
  const seen = {p1: [], p2: []};
  for (let i = from; i < log.length; i++) {
    const line = log[i];
    if (line.startsWith('|split|')) {
      for (const side of SIDES) {
        const text = log[i + (line === `|split|${side}` ? 1 : 2)];
        if (text) seen[side].push(text);
      }
      i += 2;
    } else if (!line.startsWith('|t:|')) {
      for (const side of SIDES) seen[side].push(line);
    }
  }
  return seen;
}

/** All choices that the simulator accepts, by trying them; null where trying one would tell the seat something. */
function accepted(side, request) {
  if (request.teamPreview || side.active.length > 1) return null; // of two slots: joint_choices.mjs
  const active = request.active?.[0];
  if (active && (active.maybeTrapped || active.maybeDisabled || active.maybeLocked)) return null;
  const tried = side.pokemon.map((_, position) => `switch ${position + 1}`);
  for (let slot = 1; slot <= (active?.moves.length || 0); slot++) {
    const extras = EXTRAS.filter(([flag]) => active[flag]).map(([, word]) => ` ${word}`); // it ignores those that it did not offer
    if (active.canZMove) extras.push(' zmove');
    for (const extra of ['', ...extras]) tried.push(`move ${slot}${extra}`);
  }
  const flags = side.active.map(mon => mon.switchFlag); // Revival Blessing's choice changes them at once
  return tried.filter(words => {
    const fine = side.choose(words);
    side.active.forEach((mon, place) => { mon.switchFlag = flags[place]; });
    side.clearChoice();
    side.choice.error = '';
    return fine;
  });
}

function play(index) {
  const roll = generator(options.seed * 1000003 + index);
  const battle = new Battle({formatid: options.format, seed: `gen5,${hex(roll, 16)}`, strictChoices: false, send: () => {}});
  const teams = [teamOf({Dex, Teams}, options, roll), teamOf({Dex, Teams}, options, roll)];
  watch(battle);
  SIDES.forEach((side, i) => battle.setPlayer(side, {name: `Player ${i + 1}`, team: Teams.pack(teams[i])}));
  watchMoves(battle);
  if (options.openSheets) battle.showOpenTeamSheets();
  const decisions = [];
  let position = 0;
  let end = 'limit';
  for (;;) {
    const seen = split(battle.log, position);
    position = battle.sentLogPos = battle.log.length;
    const decision = {truth: snapshot(battle)};
    const chosen = {};
    for (const side of battle.sides) {
      const request = battle.ended || side.activeRequest?.wait ? null : side.activeRequest;
      decision[side.id] = {lines: seen[side.id], ask: request, accepted: request && accepted(side, request)};
      const choose = () => (side.active.length > 1 ? jointChoiceOf(side, request, roll) : choiceOf(options.policy, side, request, roll));
      if (request) chosen[side.id] = choose();
    }
    decisions.push(JSON.stringify(decision)); // at once: the simulator goes on with the same objects
    if (battle.ended) { end = battle.winner || 'tie'; break; }
    if (battle.turn > MAX_TURNS) break;
    for (const side of battle.sides) {
      if (chosen[side.id] && !side.choose(chosen[side.id]) && !side.choose('default')) throw new Error(side.choice.error);
    }
    try {
      battle.commitChoices();
    } catch (error) { // of two slots a combination that nobody plays breaks the simulator itself
      if (battle.gameType === 'singles') throw error;
      end = 'broken';
      break;
    }
  }
  process.stdout.write(`{"index":${index},"end":${JSON.stringify(end)},"decisions":[${decisions.join(',')}]}\n`);
  battle.destroy();
}

for (let index = options.first || 0; index < (options.first || 0) + options.battles; index++) play(index);
