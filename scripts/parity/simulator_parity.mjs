// Plays battles of random choices on Showdown and prints, for each, a hash of all that both sides saw and were asked:
// on its code as it is, or as arena/venues/simulator/fast.mjs changes it. Started by simulator_parity.py.
//
//   node simulator_parity.mjs '{"package": …, "formats": [...], "battles": n, "seed": n, "turns": n, "stock": bool}'
//
// formats: none for all formats of one or two slots a side whose teams Showdown draws; others have random teams of anything. A
// battle is ended after so many turns. A line is {format, battle, hash, turns}; instead of hash and turns it has the error that
// Showdown's code raised.

import {createHash} from 'node:crypto';
import {createRequire} from 'node:module';
import path from 'node:path';
import {speedUp} from '../../arena/venues/simulator/fast.mjs';
import {generator} from './engine_policies.mjs';
import {jointChoiceOf, teamOf} from './playing.mjs';

const options = JSON.parse(process.argv[2]);
const require = createRequire(import.meta.url);
const sim = name => require(path.join(options.package, 'dist', 'sim', name));
const {Battle} = sim('battle.js');
const {Dex} = sim('dex.js');
const {Teams} = sim('teams.js');
if (!options.stock) speedUp(options.package);

/** Any of the choices that a request lists; Showdown refuses some of them, and is then given its own default. */
function choiceFor(request, draw) {
  if (request.teamPreview) return 'default';
  const team = request.side.pokemon;
  const choices = [];
  const fainted = pokemon => pokemon.condition.endsWith(' fnt');
  const reviving = team.some(pokemon => pokemon.reviving);
  const active = request.active?.[0];
  if (!active?.trapped) {
    team.forEach((pokemon, i) => {
      if (!pokemon.active && fainted(pokemon) === reviving) choices.push(`switch ${i + 1}`);
    });
  }
  if (active) {
    const extras = ['', active.canMegaEvo && ' mega', active.canDynamax && ' dynamax', active.canTerastallize && ' terastallize'];
    active.moves.forEach((move, i) => {
      if (move.disabled) return;
      const ways = extras.filter(extra => typeof extra === 'string').map(extra => `move ${i + 1}${extra}`);
      if (active.canZMove?.[i]) ways.push(`move ${i + 1} zmove`);
      choices.push(...ways, ...ways, ...ways); // more often than switches, so that battles end
    });
  }
  return choices.length ? choices[draw(choices.length)] : 'default';
}

function play(format, number) {
  const hash = createHash('sha256');
  const told = text => hash.update(text).update('\n');
  const draw = generator(number); // of choices, which are no part of Showdown
  const seed = which => `sodium,${which.repeat(32)}${number.toString(16).padStart(32, '0')}`;
  const send = (type, data) => type === 'sideupdate' && told(String(data));
  const battle = new Battle({format, formatid: format.id, seed: seed('0'), send});
  for (const [side, which] of [['p1', '1'], ['p2', '2']]) {
    const team = format.team ? {} : {team: Teams.pack(teamOf({Dex, Teams}, {teams: 'any', format: format.id, gen: battle.gen}, draw))};
    battle.setPlayer(side, {name: side, seed: seed(which), ...team});
  }
  while (!battle.ended && battle.turn <= options.turns) {
    for (const side of battle.sides) {
      const request = side.activeRequest;
      if (!request || request.wait || side.isChoiceDone()) continue;
      told(JSON.stringify(request));
      const choice = side.active.length > 1 ? jointChoiceOf(side, request, draw) : choiceFor(request, draw);
      if (!battle.choose(side.id, choice) && !battle.choose(side.id, 'default')) battle.lose(side);
    }
  }
  told(battle.log.filter(line => !line.startsWith('|t:|')).join('\n'));
  told(battle.inputLog.join('\n'));
  told(JSON.stringify(battle.prng.getSeed()));
  const {turn} = battle;
  battle.destroy();
  return {hash: hash.digest('hex'), turns: turn};
}

const drawn = format => format.team && ['singles', 'doubles'].includes(format.gameType || 'singles');
const formats = options.formats.length ? options.formats.map(name => Dex.formats.get(name)) : Dex.formats.all().filter(drawn);
for (const format of formats) {
  for (let battle = 0; battle < options.battles; battle++) {
    let found;
    try {
      found = play(format, options.seed + battle);
    } catch (error) {
      found = {error: String(error).split('\n')[0]};
    }
    process.stdout.write(`${JSON.stringify({format: format.id, battle, ...found})}\n`);
  }
}
