"""Messages of visitors come in turns: who sends without a pause keeps nobody else out, and loses nothing."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from arena.venues.server import local
from teamsets.showdown import node

TURNS = Path(local.__file__).with_name("turns.mjs")
SCRIPT = """
import {EventEmitter} from 'node:events';
import {takeTurns} from %s;
let time = 0;
class Connection extends EventEmitter {
  constructor() {
    super();
    this.paused = false;
    this._session = {recv: {connection: {pause: () => { this.paused = true; }, resume: () => { this.paused = false; }}}};
  }
}
const stream = {buf: [], sockets: new Map(), socketCounter: 0, onConnection(connection) {
  this.sockets.set(String(++this.socketCounter), connection);
  const id = this.socketCounter;
  connection.on('data', message => this.buf.push([id, message]));
}};
const open = () => { const connection = new Connection(); stream.onConnection(connection); return connection; };
const flooding = [open(), open()];
const round = takeTurns({stream, isOurs: id => id === '3', rate: 10, burst: 5, now: () => time});
const ours = open();
const said = [];
function rounds(number) {
  for (let k = 0; k < number; k++) { round(); said.push(...stream.buf.splice(0)); }
}
%s
console.log(JSON.stringify({said, paused: flooding.map(each => each.paused)}));
process.exit(0);
"""


def played(body: str) -> dict[str, Any]:
    """What Showdown gets ([connection, message]) when `body` is run, and which flooding connections are not read."""
    script = SCRIPT % (json.dumps(TURNS.as_uri()), body)
    done = subprocess.run(
        [node(), "--input-type=module", "-e", script], capture_output=True, text=True, check=True, timeout=60
    )
    return dict(json.loads(done.stdout))


def test_a_newcomers_message_waits_for_one_of_each_other_connection() -> None:
    told = played("""
        for (let k = 0; k < 1000; k++) for (const each of flooding) each.emit('data', k);
        rounds(1);
        const newcomer = open();
        newcomer.emit('data', 'hello');
        rounds(1);
    """)
    assert told["said"] == [[1, 0], [2, 0], [1, 1], [2, 1], [4, "hello"]]
    assert told["paused"] == [True, True]


def test_a_round_waits_until_the_last_one_is_dealt_with() -> None:
    told = played("""
        for (let k = 0; k < 3; k++) flooding[0].emit('data', k);
        round(); round(); round();
        said.push(...stream.buf.splice(0));
    """)
    assert told["said"] == [[1, 0]]


def test_a_connection_has_a_rate_and_loses_nothing() -> None:
    told = played("""
        for (let k = 0; k < 8; k++) flooding[0].emit('data', k);
        rounds(20);
        const before = said.length;
        time += 100; rounds(3);
        time += 10000; rounds(5);
        said.push(before);
    """)
    assert told["said"] == [*([1, k] for k in range(8)), 5]
    assert told["paused"] == [False, False]


def test_the_owners_own_users_do_not_wait_and_who_has_left_is_forgotten() -> None:
    told = played("""
        for (let k = 0; k < 9; k++) ours.emit('data', k);
        flooding[0].emit('data', 'x');
        flooding[0].emit('close');
        rounds(3);
    """)
    assert told["said"] == [[3, k] for k in range(9)]
