// Showdown's own server, started for the arena: `node start.mjs FOLDER`. FOLDER holds the package's links and a config
// of its own (local.py lays it out); it is removed at the end. The server plays as it always does; what is added is for its owner, who holds our
// stdin and stdout, a line of JSON a message:
//
// To the server
//   {op: 'ping', id}                                       answered by {id, pong: true}
//   {op: 'online', id, user}                               answered by {id, online: whether he is signed in, refusal: the
//                                                          server's last refusal to him}
//   {op: 'challenged', id, by, user}                       answered by {id, challenged: whether that waits for an answer}
//   {op: 'expect', id, format, seed, maxTurns, openSheets?, players: [{user, team?, seed?, patience?}, …]}
//       the next battle of these users in this format is played from this seed, with these teams, in this order of
//       sides; answered by {id, expected: true}, so that they may be paired then. patience: the seconds that a remote
//       player has for a decision; what he receives and chooses is reported, too (remote_player.mjs). One with neither
//       team nor seed keeps the team that he has brought. Without a seed of its own the battle is played from any.
//       openSheets: both team sheets are shown, as if both had accepted that
//   {op: 'lose', id, side: 'p1' | 'p2'}                    this side gives up
//   {op: 'searches', id, users, formats}                   the owner makes the ladder's matches (searches.mjs); users: his
//       own; formats: the ladder has these, also where Showdown's own has not; answered by {id, searches: true}. From then
//       on the messages of all others come in turns (turns.mjs)
//   {op: 'refuse', user, format}                           that user's search is ended
//   {op: 'popup', user, text}                              pops up at that user's
//   {op: 'forget', id}                                     it is expected no longer, or its room can be cleared away
// From the server
//   {ready: PORT}, {failed: WORDS}
//   {id, room}                                             the battle has begun there
//   {id, search: USER, format}, {id, gone: USER, format?}  see searches.mjs
//   {id, side, …}                                          of a remote player: see remote_player.mjs
//   {id, end: {winner: 'p1' | 'p2' | '', turns, turnLimit, inputLog}}
//   {id, crash: WORDS}                                     Showdown threw in it
//
// The end of stdin means that the owner is gone, whatever the way: then everything here is ended.

import {once} from 'node:events';
import {rmSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {RemotePlayers} from './remote_player.mjs';
import {dropStale, watchSearches} from './searches.mjs';
import {takeTurns} from './turns.mjs';

const folder = path.resolve(process.argv[2]);
const require = createRequire(path.join(folder, 'dist', 'server', 'index.js'));

// stdout belongs to the owner: what Showdown and its processes print goes where stderr goes.
const write = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);
const childProcess = require('child_process');
const {fork} = childProcess;
childProcess.fork = (file, args, options) => fork(file, args, {...options, stdio: ['ignore', 2, 2, 'ipc']});

function say(message) {
  write(JSON.stringify(message) + '\n');
}

/** Ends this process and those it has started: together they are a process group. */
function endAll() {
  rmSync(folder, {recursive: true, force: true});
  process.kill(-process.pid, 'SIGKILL');
}
process.stdin.on('end', endAll);
process.stdin.on('error', endAll);

const LINGER_MS = 60_000;
const expected = new Map(); // the sorted user ids and the format -> the order
const begun = new Map(); // id -> its battle
const key = (users, format) => [...users].sort().join('|') + '|' + format;

const actions = {
  ping: order => say({id: order.id, pong: true}),
  online({id, user: name}) {
    const user = Users.get(name);
    say({id, online: !!user?.connected, refusal: user?.refusal || ''});
  },
  challenged({id, by, user}) {
    say({id, challenged: !!Ladders.challenges.get(user)?.some(challenge => challenge.from === by)});
  },
  expect(order) {
    expected.set(key(order.players.map(player => player.user), order.format), order);
    say({id: order.id, expected: true});
  },
  searches({id, users, formats}) {
    for (const format of formats) Dex.formats.get(format).searchShow = true;
    Rooms.global.formatList = ''; // what visitors are sent as they come: it is listed again
    watchSearches({Ladders, User: Users.User, isExpected, users, say: message => say({id, ...message})});
    letTakeTurns(users);
    say({id, searches: true});
  },
  refuse({user: name, format}) {
    const user = Users.get(name);
    if (user) Ladders(format).cancelSearch(user);
  },
  popup({user, text}) {
    Users.get(user)?.popup(text);
  },
  lose({id, side}) {
    const battle = begun.get(id);
    battle?.forfeitPlayer(battle[side]);
  },
  forget(order) {
    for (const [name, found] of expected) if (found.id === order.id) expected.delete(name);
    dropStale(Ladders, isExpected);
    const battle = begun.get(order.id);
    begun.delete(order.id);
    // A user who is not ours may stay and look at the end.
    if (battle?.remotePlayers.limits.size) setTimeout(() => battle.room?.destroy(), LINGER_MS);
    else battle?.room?.destroy();
  },
};

let owners = null;

/** The owner's own users are served at once from now on, all others in turns. */
function letTakeTurns(users) {
  const isFirst = owners === null;
  owners = new Set(users);
  if (!isFirst) return;
  const {workerid, stream} = require('./sockets.js').PM.masterWorker;
  takeTurns({stream, isOurs: socketid => owners.has(Users.connections.get(`${workerid}-${socketid}`)?.user?.id)});
}

/** Whether a battle of these two users, or of this one with anybody, is expected. */
function isExpected(users, format) {
  if (users.length > 1) return expected.has(key(users, format));
  return [...expected.values()].some(order => order.format === format && order.players.some(({user}) => user === users[0]));
}

let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', chunk => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) {
    const order = JSON.parse(line);
    actions[order.op](order);
  }
});

/** The options of a battle that begins, as its owner has ordered them; or unchanged. */
function ordered(options) {
  const users = options.players.map(player => player.user?.id);
  const name = key(users, options.format);
  const order = expected.get(name);
  if (!order) return options;
  expected.delete(name);
  const players = order.players.map(({user, team, seed}) => {
    const player = options.players[users.indexOf(user)];
    return team || seed ? {...player, team: team || '', seed} : player;
  });
  // Who changes his name gives up: records tell users by their names.
  return {...options, players, seed: order.seed ?? options.seed, allowRenames: false, order};
}

function hook() {
  const {RoomBattle} = require('./room-battle.js');
  const {createBattle} = Rooms;
  Rooms.createBattle = options => createBattle.call(Rooms, ordered(options));

  const {addPlayer, start, receive, end} = RoomBattle.prototype;

  // Refusals come as popups. They are for programs, which do not say them to anybody.
  const {popup} = Users.Connection.prototype;
  Users.Connection.prototype.popup = function (message) {
    if (this.user) this.user.refusal = message.replace(/(\|\|)+/g, ' ').slice(0, 300);
    return popup.call(this, message);
  };

  // Showdown's simulator draws a random team from a seed if it is given one; its server never passes it on.
  RoomBattle.prototype.addPlayer = function (user, options) {
    if (!options?.seed) return addPlayer.call(this, user, options);
    const {stream} = this;
    const passOn = line => {
      const place = line.indexOf('{');
      const player = {...JSON.parse(line.slice(place)), seed: options.seed};
      return stream.write(line.slice(0, place) + JSON.stringify(player));
    };
    this.stream = {write: passOn};
    try {
      return addPlayer.call(this, user, options);
    } finally {
      this.stream = stream;
    }
  };

  RoomBattle.prototype.start = function () {
    const {order} = this.options;
    if (order) {
      begun.set(order.id, this);
      say({id: order.id, room: this.roomid});
      // Our seats have clocks of their own, and remote players have ours.
      this.timer.start = () => false;
      this.remotePlayers = new RemotePlayers(this, order, say);
    }
    const result = start.call(this);
    if (order?.openSheets) void this.stream.write('>show-openteamsheets');
    return result;
  };

  RoomBattle.prototype.receive = function (lines) {
    const {order} = this.options;
    if (lines[0] === 'error') {
      // Showdown would take no more battles at all.
      if (order) say({id: order.id, crash: lines.slice(1, 6).join(' ')});
      return undefined;
    }
    const result = receive.call(this, lines);
    this.remotePlayers?.receive(lines);
    if (order?.maxTurns && !this.turnLimit && !this.ended && this.turn > order.maxTurns) {
      this.turnLimit = true;
      this.tie();
    }
    return result;
  };

  RoomBattle.prototype.end = function (winnerName) {
    const {order} = this.options;
    if (!this.ended && order) {
      const {inputLog, logData: {turns}} = this;
      const winner = ['p1', 'p2'].find(side => winnerName && this[side].name === winnerName) || '';
      say({id: order.id, end: {winner, turns, turnLimit: !!this.turnLimit || turns > 1000, inputLog}});
      this.remotePlayers?.close();
    }
    return end.call(this, winnerName);
  };

  for (const [name, hook] of [['choose', 'chose'], ['onLeave', 'left'], ['onJoin', 'joined']]) {
    const method = RoomBattle.prototype[name];
    RoomBattle.prototype[name] = function (user, ...rest) {
      const result = method.call(this, user, ...rest);
      this.remotePlayers?.[hook](this.playerTable?.[user.id]?.slot);
      return result;
    };
  }
}

try {
  await require('./index.js').readyPromise;
  hook();
  const {server} = require('./sockets.js').PM.masterWorker.stream;
  if (!server.listening) await once(server, 'listening');
  say({ready: server.address().port});
} catch (error) {
  say({failed: error.message});
  endAll();
}
