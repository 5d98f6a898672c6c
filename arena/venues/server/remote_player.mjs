// What remote players (users who are not ours) receive and choose in a battle, for the owner of the server (start.mjs has the rest):
//
//   {id, side, lines: […]}          one message of the battle to this side, as its connection gets it
//   {id, side, chose: WORDS, ms}    its choice for the last request, so long after that was put
//   {id, side, here: true | false}  it has come, or come back; its last connection has left
//   {id, side, late: SECONDS}       it has not chosen within its limit; sent once

const LOOK_MS = 500;

export class RemotePlayers {
  constructor(battle, order, say) {
    this.battle = battle;
    this.say = (side, message) => say({id: order.id, side, ...message});
    this.limits = new Map(); // side -> the seconds for a decision
    this.since = new Map(); // side -> when its decision was asked for
    this.late = new Set();
    order.players.forEach(({patience}, index) => {
      if (patience) this.limits.set(`p${index + 1}`, patience);
    });
    if (this.limits.size) this.watch = setInterval(() => this.look(), LOOK_MS);
  }

  /** What the simulator has sent, after the server has dealt with it. */
  receive([kind, ...lines]) {
    if (kind === 'update') {
      for (const side of this.limits.keys()) this.say(side, {lines: seenBy(side, lines)});
    } else if (kind === 'sideupdate' && this.limits.has(lines[0])) {
      this.receiveForSide(lines[0], lines[1]);
    }
  }

  receiveForSide(side, line) {
    if (!line.startsWith('|request|')) {
      this.say(side, {lines: [line]});
      return;
    }
    const {request} = this.battle[side].request; // with the number that the server has given it
    const {update} = JSON.parse(request);
    // A request that is put again after a refusal ("trapped") gives no new time.
    if (!update) this.since.set(side, Date.now());
    this.say(side, {lines: ['|request|' + request]});
  }

  chose(side) {
    if (!this.limits.has(side)) return;
    const {isWait, choice} = this.battle[side].request;
    if (isWait === true && choice) this.say(side, {chose: choice, ms: Date.now() - this.since.get(side)});
  }

  joined(side) {
    if (this.limits.has(side)) this.say(side, {here: true});
  }

  left(side) {
    if (this.limits.has(side)) this.say(side, {here: false});
  }

  /** A look now and then, and no alarm at the limit: a choice may be taken back after it. */
  look() {
    for (const [side, limit] of this.limits) {
      const {request} = this.battle[side];
      if (request.isWait !== false || this.late.has(side)) continue;
      if (Date.now() - this.since.get(side) > limit * 1000) {
        this.late.add(side);
        this.say(side, {late: limit});
      }
    }
  }

  close() {
    clearInterval(this.watch);
  }
}

/** The lines of an update that one side sees. */
function seenBy(side, lines) {
  const seen = [];
  for (let i = 0; i < lines.length; i++) {
    if (!lines[i].startsWith('|split|')) {
      seen.push(lines[i]);
      continue;
    }
    const line = lines[i] === '|split|' + side ? lines[i + 1] : lines[i + 2];
    if (line) seen.push(line);
    i += 2;
  }
  return seen;
}
