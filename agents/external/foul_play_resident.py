"""Runs in foul-play's own environment: `python foul_play_resident.py COPY ENGINE`, with a socket as stdin.

It has foul-play's code in memory and forks a process for each battle, which plays over a socket of its own
(agents/external/foul_play_process.py is the other end). COPY, ENGINE: as in foul_play_launch.py.

foul-play's play is not changed. Its messages come from the socket instead of a websocket, and its choices go there. It takes
natures and EVs of its team from a file of the team, and infers from the move that it has selected. Both come from the socket
as well: what is known of the team is the request, and as a coach it sees another agent's choices played.
"""

import contextlib
import ctypes
import gc
import json
import os
import queue
import select
import signal
import socket
import sys
import threading
import traceback

from foul_play_launch import import_foul_play, run, translate_fight

#: From Linux's prctl.h: get a signal when the parent dies.
_SIGNAL_AT_PARENTS_DEATH = 1


class _Channel:
    """The socket of one battle. In, a line of JSON for each decision; out, {"choice": text, "visits"} for each.

    messages: those of the decision that foul-play has not read yet. spreads: [nature, EVs] of the Pokémon in the order of
    the first request. played: the move that was played instead of the one that foul-play has selected; None: its own.
    visits: choice as text -> share of the visits of the last search.
    """

    def __init__(self, connection):
        self._connection = connection
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.messages, self.spreads, self.played, self.visits = [], [], None, {}
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        """Queue the lines. When the battle is over, or its owner has died, end this process with all that it has started."""
        try:
            for line in self._connection.makefile("rb"):
                self._lines.put(line)
        finally:
            os.killpg(0, signal.SIGKILL)

    async def receive(self):
        if not self.messages:
            order = json.loads(self._lines.get())
            self.messages, self.played = order["messages"], order["played"]
            self.spreads = order.get("spreads", [])
        return self.messages.pop(0)

    async def send(self, text):
        visits, self.visits = self.visits, {}
        self._connection.sendall(json.dumps({"choice": text, "visits": visits}).encode() + b"\n")


def _connect(main, client_class, channel):
    """Replace foul-play's websocket by a channel."""
    import fp.battle.state
    import fp.run_battle

    async def create(cls, username, password, address):
        client = cls()
        client.username = username
        return client

    async def login(client):
        return client.username

    async def receive_message(client):
        return await channel.receive()

    async def send_message(client, room, message_list):
        if message_list[0].startswith(("/choose ", "/switch ", "/team ")):  # no challenge, greeting or timer
            await channel.send(message_list[0].partition("|")[0])

    client_class.create, client_class.login = classmethod(create), login
    client_class.receive_message, client_class.send_message = receive_message, send_message
    translate_fight(client_class)
    main.load_team = lambda name: ("null", None, "")
    initialize = fp.battle.state.Battler.initialize_first_turn_user_from_json
    update = fp.run_battle.async_update_battle

    def initialize_first_turn_user_from_json(self, request_json):
        initialize(self, request_json)
        mons = ([] if self.active is None else [self.active]) + self.reserve
        for mon, (nature, evs) in zip(sorted(mons, key=lambda mon: mon.index), channel.spreads, strict=True):
            mon.nature, mon.evs = nature, tuple(evs)

    async def async_update_battle(battle, message):
        if channel.played is not None:  # set before foul-play infers from the lines that show what came of it
            battle.user.last_selected_move = battle.user.last_selected_move._replace(move=channel.played)
            channel.played = None
        return await update(battle, message)

    fp.battle.state.Battler.initialize_first_turn_user_from_json = initialize_first_turn_user_from_json
    fp.run_battle.async_update_battle = async_update_battle


def _keep_visits(channel):
    """Keep the visits behind each choice, by which foul-play chooses among the good ones."""
    import fp.modes.base
    import fp.search.main

    select, format_text = fp.search.main.select_move_from_mcts_results, fp.modes.base.format_decision
    shares: dict[str, float] = {}

    def select_move_from_mcts_results(results):
        shares.clear()
        for result, chance, _ in results:
            for option in result.side_one:
                share = chance * option.visits / result.total_visits
                shares[option.move_choice] = shares.get(option.move_choice, 0.0) + share
        return select(results)

    def format_decision(battle, decision):
        for choice, share in shares.items():
            with contextlib.suppress(ValueError, AttributeError):  # a choice of the engine that is none of the request
                text = format_text(battle, choice)[0]
                channel.visits[text] = channel.visits.get(text, 0.0) + share
        return format_text(battle, decision)

    fp.search.main.select_move_from_mcts_results = select_move_from_mcts_results
    fp.modes.base.format_decision = format_decision


def _die_with_parent(*_):
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SIGNAL_AT_PARENTS_DEATH, signal.SIGKILL)


def _play_on_channel(foul_play, connection, log, options):
    """Play one battle, in a process of its own. Its output goes to the log."""
    status = 1
    main, client_class = foul_play
    try:
        for stream in (1, 2):
            os.dup2(log, stream)
        os.close(log)
        os.register_at_fork(after_in_child=_die_with_parent)  # foul-play searches in processes that it forks
        channel = _Channel(connection)
        _connect(main, client_class, channel)
        _keep_visits(channel)
        run(main, options)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


class _Resident:
    """Forks a process for each battle. foul_play: what `import_foul_play` returns. control: the socket to the owner.

    In, a line of JSON for each battle: {"options": [OPTION of foul-play, ...]} with two descriptors, the battle's socket and
    its log. Out, on the battle's socket: {"pid": number} before all that foul-play sends, and {"ended": status} when it has
    ended (negative: the signal that ended it). Ends when the owner closes the control socket, or dies.
    """

    def __init__(self, foul_play, control):
        self.foul_play, self.control = foul_play, control
        self.connections = {}  # process -> the battle's socket
        self.woken, self.wake = socket.socketpair()
        for end in (self.woken, self.wake):
            end.setblocking(False)
        signal.set_wakeup_fd(self.wake.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self):
        gc.collect()
        gc.freeze()  # the garbage collector would touch, and so copy, every shared page
        self.control.sendall(b"ready\n")
        while True:
            ready, _, _ = select.select([self.control, self.woken], [], [])
            if self.woken in ready:
                self.woken.recv(4096)
                self.reap()
            if self.control in ready:
                data, descriptors, _, _ = socket.recv_fds(self.control, 1 << 16, 2)
                if not data:
                    return
                self.fork(json.loads(data)["options"], *descriptors)

    def fork(self, options, channel, log):
        connection = socket.socket(fileno=channel)
        owner = os.getpid()
        pid = os.fork()
        if pid == 0:
            os.setsid()
            _die_with_parent()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for end in (self.control, self.woken, self.wake, *self.connections.values()):
                end.close()
            if os.getppid() == owner:
                _play_on_channel(self.foul_play, connection, log, options)
            os._exit(1)
        os.close(log)
        self.connections[pid] = connection
        self.send(pid, {"pid": pid})

    def send(self, pid, message):
        with contextlib.suppress(OSError):  # the battle is over
            self.connections[pid].sendall(json.dumps(message).encode() + b"\n")

    def reap(self):
        while self.connections:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            self.send(pid, {"ended": os.waitstatus_to_exitcode(status)})
            self.connections.pop(pid).close()


def _main():
    control = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    _Resident(import_foul_play(*sys.argv[1:]), control).serve()


if __name__ == "__main__":
    _main()
