// Visitors' messages in turns. Showdown puts the messages of all connections into one queue, with those of new connections at
// its end: a few programs that send without a pause keep everybody else out for minutes. Here each visitor has a queue of
// its own, and Showdown gets one message of each, round by round, when it has dealt with the last round.
//
// A connection has RATE messages a second and may save up BURST; beyond that its socket is not read, so that nothing is lost
// and nothing piles up here. Messages of the owner's own users are passed on at once.

const RATE = 100;
const BURST = 300;

/**
 * From now on, for new and known connections. stream: Showdown's, of its sockets; isOurs(socketid): whether a connection is
 * of the owner's own users. now: the time in milliseconds. Returns the function that plays one round.
 */
export function takeTurns({stream, isOurs, rate = RATE, burst = BURST, now = Date.now}) {
  const waiting = new Map(); // connection -> its messages
  const savings = new WeakMap(); // connection -> {tokens, at}
  let next = null;

  const tokensOf = connection => {
    const saved = savings.get(connection) ?? {tokens: burst, at: now()};
    const time = now();
    saved.tokens = Math.min(burst, saved.tokens + (time - saved.at) * rate / 1000);
    saved.at = time;
    savings.set(connection, saved);
    return saved;
  };

  function round() {
    next = null;
    let busy = stream.buf.length > 0;
    if (!busy) {
      for (const [connection, queue] of waiting) {
        const saved = tokensOf(connection);
        if (saved.tokens < 1) continue;
        saved.tokens -= 1;
        busy = true;
        queue.messages.shift()();
        if (queue.messages.length) continue;
        waiting.delete(connection);
        tcpOf(connection)?.resume();
      }
    }
    if (waiting.size) next = busy ? setImmediate(round) : setTimeout(round, 1000 / rate);
  }

  function put(connection, passOn) {
    const queue = waiting.get(connection);
    if (queue) {
      queue.messages.push(passOn);
    } else {
      waiting.set(connection, {messages: [passOn]});
      tcpOf(connection)?.pause();
    }
    next ??= setImmediate(round);
  }

  function limit(connection, socketid, listeners) {
    for (const listener of listeners) {
      connection.removeListener('data', listener);
      connection.on('data', message => {
        if (isOurs(socketid)) listener(message);
        else put(connection, () => listener(message));
      });
    }
    connection.once('close', () => waiting.delete(connection));
  }

  for (const [socketid, connection] of stream.sockets) limit(connection, socketid, connection.listeners('data'));
  const {onConnection} = stream;
  stream.onConnection = function (connection) {
    onConnection.call(this, connection);
    limit(connection, String(this.socketCounter), connection?.listeners('data') ?? []);
  };
  return round;
}

/** The socket under a connection: what is not read from it waits at the sender. */
function tcpOf(connection) {
  return connection._session?.recv?.connection ?? null;
}
