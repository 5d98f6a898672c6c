// One process that holds many Showdown battles at once, driven over pipes.
//
// In, one JSON object a line:
//   {op:"start", id, format, seed, maxTurns, openSheets?, p1:{name, team|seed}, p2:{…}}   a battle; team packed, or a seed to
//                                    draw one; openSheets: show both team sheets, as if both sides had accepted that
//   {op:"choose", id, p1?, p2?}      choices in Showdown's words ("move 2", "switch 3", "team 312456")
//   {op:"lose", id, side}            that side has lost (a forfeit: time, fault)
//   {op:"reseed", id, seed}          other random numbers from now on, for a battle that is played on in another way
//   {op:"stop", id}                  forget the battle
//   {op:"replay", id, inputLog, views?}   play a finished battle again from its input log; views: with what each side saw
//   {op:"team", id, format, seed}    draw a team
//   {op:"version", id}
// Out, one JSON object a line:
//   {id, p1:{log, ask, error}, p2:{…}}   what each side sees since the last time; `ask` is Showdown's request, only when
//                                        that side must choose; `error` is Showdown's refusal of its last choice.
//                                        In its list side.pokemon a name instead of an entry means: as last time
//   … the same with end:{winner, turns, turnLimit, inputLog}   the last message of a battle; winner "p1", "p2" or ""
//   {id, views:[{p1, p2}, …], end?}  a replay with views: those that the battle's messages had, one after another
//   {id, team}                       packed
//   {id, refused}                    it could not start: whose fault is in the words
//   {id, crash}                      the simulator itself threw
//
// Showdown's `Battle` is driven directly: no BattleStream, and each line of the log is looked at once.

import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {StringDecoder} from 'node:string_decoder';
import v8 from 'node:v8';
import {speedUp} from './fast.mjs';

// V8 compiles a hot function with fewer others inside it (its own limit: 920 bytes). A third of what a process spends on its
// first hundred battles is compiling, much of it of functions that are soon thrown away. Later battles take as long as with
// V8's own limit (docs/experiments.md). A version of V8 without the flag says so on stderr and goes on.
v8.setFlagsFromString('--max-inlined-bytecode-size-cumulative=120');

const require = createRequire(import.meta.url);
const sim = path.join(process.argv[2], 'dist', 'sim');
const {Battle} = require(path.join(sim, 'battle.js'));
const {Dex} = require(path.join(sim, 'dex.js'));
const {PRNG} = require(path.join(sim, 'prng.js'));
const {Teams} = require(path.join(sim, 'teams.js'));
if (process.argv[3] !== 'stock') speedUp(process.argv[2]); // `stock`: Showdown untouched, to compare with

const SIDES = ['p1', 'p2'];
const SHOW_SHEETS = '>show-openteamsheets';
const battles = new Map();
let out = [];

/** One battle and what it still has to tell its two sides. */
class Table {
  constructor(id, maxTurns) {
    this.id = id;
    this.maxTurns = maxTurns;
    this.position = 0;
    this.errors = {};
    this.asked = {};
    this.told = {p1: new Map(), p2: new Map()}; // Pokémon -> {entry, text} of its entry in the last request
    this.turnLimit = false;
  }

  begin(format, seed, players) {
    this.battle = new Battle({format, formatid: format.id, seed, send: (type, data) => this.hear(type, data)});
    for (const side of SIDES) if (players[side]) this.battle.setPlayer(side, players[side]);
  }

  /** As Showdown's `>show-openteamsheets`, which its input log lacks. */
  showSheets() {
    this.battle.showOpenTeamSheets();
    this.battle.inputLog.push(SHOW_SHEETS);
  }

  /** Showdown speaks here only to refuse a choice; updates are read from the log, requests from the sides. */
  hear(type, data) {
    if (type !== 'sideupdate') return;
    const side = data.slice(0, 2);
    if (data.startsWith('|error|', 3)) this.errors[side] = data.slice(10);
  }

  choose(choices) {
    for (const side of SIDES) {
      if (choices[side] === undefined) continue;
      if (!this.battle.choose(side, choices[side])) this.asked[side] = null; // refused: ask again
    }
    this.checkTurns();
  }

  /** As Showdown's `>reseed`, but without its line in the log: a fork's log is that of a battle. */
  reseed(seed) {
    this.battle.prng = new PRNG(seed);
    this.battle.inputLog.push(`>reseed ${seed}`);
  }

  checkTurns() {
    if (this.battle.turn > 1000) this.turnLimit = true; // Showdown's own limit has ended it
    if (this.battle.ended || this.battle.turn <= this.maxTurns) return;
    this.turnLimit = true;
    this.battle.inputLog.push('>forcetie');
    this.battle.tie();
  }

  /** Everything since the last call, split for the two sides in one pass. */
  report() {
    const {log} = this.battle;
    const p1 = [];
    const p2 = [];
    for (let i = this.position; i < log.length; i++) {
      const line = log[i];
      if (line.charCodeAt(1) === 115 && line.startsWith('|split|')) {
        const mine = line === '|split|p1';
        const secret = log[i + 1];
        const shared = log[i + 2];
        i += 2;
        const first = mine ? secret : shared;
        const second = mine ? shared : secret;
        if (first && !isButton(first)) p1.push(first);
        if (second && !isButton(second)) p2.push(second);
      } else if (!line.startsWith('|t:|') && !isButton(line)) { // the clock: the only line that differs between two plays
        p1.push(line);
        p2.push(line);
      }
    }
    this.position = log.length;
    this.battle.sentLogPos = log.length;
    const message = {id: this.id, p1: this.view('p1', p1), p2: this.view('p2', p2)};
    if (this.battle.ended) {
      const {winner} = this.battle;
      message.end = {
        winner: winner ? SIDES.find(side => this.battle[side].name === winner) : '',
        turns: this.battle.turn,
        turnLimit: this.turnLimit,
        inputLog: this.battle.inputLog,
      };
    }
    return message;
  }

  view(side, lines) {
    const view = {log: lines.join('\n')};
    const request = this.battle[side].activeRequest;
    if (request && !request.wait && this.asked[side] !== request) {
      view.ask = this.abridged(side, request);
      this.asked[side] = request;
    }
    if (this.errors[side]) {
      view.error = this.errors[side];
      delete this.errors[side];
    }
    return view;
  }

  /** The request, with the name alone for each Pokémon whose entry is as it was: most of a request repeats the last. */
  abridged(side, request) {
    const told = this.told[side];
    const pokemon = request.side.pokemon.map(entry => {
      const last = told.get(entry.ident);
      if (last?.entry === entry) return entry.ident;
      const text = JSON.stringify(entry);
      told.set(entry.ident, {entry, text});
      return last?.text === text ? entry.ident : entry;
    });
    return {...request, side: {...request.side, pokemon}};
  }
}

/** Whether a line has a button for the client (open team sheets), as no line of a battle has. */
const isButton = line => line.startsWith('|uhtml');

function send(message) {
  out.push(JSON.stringify(message));
}

/** A format of two sides that Showdown knows, or the words of a refusal. */
function findFormat(name) {
  const format = Dex.formats.get(name);
  if (!format.exists || format.effectType !== 'Format') return [null, `format '${name}' is not known to the simulator`];
  if (!['singles', 'doubles'].includes(format.gameType || 'singles')) {
    return [null, `format '${name}' is ${format.gameType}: singles and doubles only`];
  }
  return [format, ''];
}

function start(order) {
  const [format, refusal] = findFormat(order.format);
  if (!format) return send({id: order.id, refused: refusal});
  const table = new Table(order.id, order.maxTurns || 1000);
  battles.set(order.id, table);
  table.begin(format, order.seed, {p1: order.p1, p2: order.p2});
  if (order.openSheets) table.showSheets();
  send(table.report());
}

function drawTeam(order) {
  const [format, refusal] = findFormat(order.format);
  if (!format) return send({id: order.id, refused: refusal});
  send({id: order.id, team: Teams.pack(Teams.getGenerator(format, order.seed).getTeam({name: '', seed: order.seed}))});
}

/** Whoever is locked into a move that another one called (Metronome) cannot name it: the request does not list it. */
function chooseAgain(table, side, choice) {
  if (table.battle.choose(side, choice)) return;
  delete table.errors[side];
  if (choice.startsWith('move ')) table.battle.choose(side, 'move 1');
}

/** Plays an input log to its end; the answer is like a battle's, in one message, or with the views of all messages. */
function replay(order) {
  const table = new Table(order.id, Infinity);
  const views = [];
  for (const [place, line] of order.inputLog.entries()) {
    const [type, ...words] = line.slice(1).split(' ');
    const rest = words.join(' ');
    if (type === 'start') {
      const options = JSON.parse(rest);
      table.begin(Dex.formats.get(options.formatid), options.seed, {});
    } else if (type === 'player') {
      table.battle.setPlayer(words[0], JSON.parse(words.slice(1).join(' ')));
    } else if (type === 'p1' || type === 'p2') {
      chooseAgain(table, type, rest);
    } else if (type === 'reseed') {
      table.reseed(rest);
    } else if (line === SHOW_SHEETS) {
      table.showSheets();
    } else if (type === 'forcelose') {
      table.battle.lose(rest);
      table.battle.inputLog.push(line);
    } else if (type === 'forcetie') {
      table.turnLimit = true;
      table.battle.inputLog.push(line);
      table.battle.tie();
    } else if (!type.startsWith('version')) {
      throw new Error(`input log: unknown command '${line}'`);
    }
    // A tie at the limit of turns and the team sheets come before anybody is asked.
    const unasked = ['>forcetie', SHOW_SHEETS].includes(order.inputLog[place + 1]);
    if (order.views && table.battle?.started && !unasked) views.push(table.report());
  }
  if (!order.views) return send(table.report());
  const seen = views.filter(({p1, p2}) => p1.log || p2.log || p1.ask || p2.ask);
  send({id: order.id, views: seen.map(({p1, p2}) => ({p1, p2})), end: views.at(-1)?.end});
}

function handle(order) {
  if (order.op === 'start') return start(order);
  if (order.op === 'replay') return replay(order);
  if (order.op === 'team') return drawTeam(order);
  if (order.op === 'version') return send({id: order.id, version: process.version});
  const table = battles.get(order.id);
  if (!table) return; // it ended while the order was on its way
  if (order.op === 'choose') {
    table.choose(order);
    send(table.report());
  } else if (order.op === 'reseed') {
    table.reseed(order.seed);
    send(table.report());
  } else if (order.op === 'lose') {
    table.battle.inputLog.push(`>forcelose ${order.side}`);
    table.battle.lose(order.side);
    send(table.report());
  }
  if (order.op === 'stop' || table.battle.ended) {
    battles.delete(order.id);
    table.battle.destroy();
  }
}

function handleLine(line) {
  const order = JSON.parse(line);
  try {
    handle(order);
  } catch (error) {
    battles.delete(order.id);
    send({id: order.id, crash: String(error?.stack || error)});
  }
}

/** Writes everything that is to be told, in one write for many battles. */
function tell() {
  let rest = Buffer.from(out.join('\n') + '\n');
  out = [];
  try {
    while (rest.length) rest = rest.subarray(fs.writeSync(1, rest));
  } catch (error) {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0); // whoever drives this is gone
  }
}

// Orders are all that happens here, so they are waited for and read without Node's event loop and streams, which take
// up to a tenth of a host's processor time (docs/experiments.md).
const chunk = Buffer.allocUnsafe(1 << 16);
const decoder = new StringDecoder('utf8');
let begun = ''; // a line whose end has not arrived
for (let bytes; (bytes = fs.readSync(0, chunk)); ) {
  const lines = (begun + decoder.write(chunk.subarray(0, bytes))).split('\n');
  begun = lines.pop();
  for (const line of lines) if (line) handleLine(line);
  if (out.length) tell();
}
