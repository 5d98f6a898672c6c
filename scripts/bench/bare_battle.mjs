// Plays random battles on Showdown's Battle, with nothing around it, for some seconds. Prints turns, choices, battles, seconds and
// seconds of CPU.
//
//     node scripts/bench/bare_battle.mjs SECONDS SEED PACKAGE              # gen1randombattle
//     node scripts/bench/bare_battle.mjs SECONDS SEED PACKAGE gen9ou SETS  # teams of six of SETS, a JSON list of packed sets

import {createRequire} from 'node:module';

const [seconds, seed, folder, format = 'gen1randombattle', sets] = process.argv.slice(2);
const {Battle, Teams} = createRequire(import.meta.url)(folder);
let x = Number(seed) * 2654435761 >>> 0 || 1;
const roll = n => { x ^= x << 13; x >>>= 0; x ^= x >>> 17; x ^= x << 5; x >>>= 0; return Math.floor(x / 2 ** 32 * n); };
const hex = () => Array.from({length: 16}, () => roll(16).toString(16)).join('');
const drawn = () => {
  const left = JSON.parse(sets);
  return Array.from({length: 6}, () => left.splice(roll(left.length), 1)[0]).join(']');
};
const teams = Array.from({length: 64}, () => sets ? drawn() : Teams.pack(Teams.getGenerator(format, `gen5,${hex()}`).getTeam()));

function choice(side) {
  const request = side.activeRequest, options = [];
  if (request.active) {
    request.active[0].moves.forEach((move, slot) => { if (!move.disabled) options.push(`move ${slot + 1}`); });
    if (request.active[0].canTerastallize) options.push(...options.map(move => `${move} terastallize`));
  }
  if (request.forceSwitch || !request.active[0].trapped) {
    side.pokemon.forEach((mon, position) => { if (position && !mon.fainted) options.push(`switch ${position + 1}`); });
  }
  return options[roll(options.length)];
}

let turns = 0, choices = 0, battles = 0;
const play = () => {
  const battle = new Battle({formatid: format, seed: `gen5,${hex()}`});
  for (const side of ['p1', 'p2']) battle.setPlayer(side, {name: side, team: teams[roll(64)]});
  if (battle.requestState === 'teampreview') battle.makeChoices('default', 'default');
  while (!battle.ended) {
    for (const side of battle.sides) {
      if (side.activeRequest.wait) continue;
      side.choose(choice(side));
      choices++;
    }
    battle.commitChoices();
  }
  turns += battle.turn;
  battles++;
};
play(); // the first battle loads the Dex
turns = choices = battles = 0;
const started = performance.now(), used = process.cpuUsage();
while (performance.now() - started < seconds * 1000) play();
const {user, system} = process.cpuUsage(used);
console.log(JSON.stringify({turns, choices, battles, seconds: (performance.now() - started) / 1000, cpu: (user + system) / 1e6}));
