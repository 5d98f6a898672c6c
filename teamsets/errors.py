"""The project's exceptions, all of them: who raises each, and who catches it. A test compares this with the code.

An ArenaError that nobody catches ends `arena` and `train` with its message as one line on stderr and the exit code 1, or 2
for BadInput and MissingTool: the user can fix these. From Python, `except ArenaError` catches everything that the project
raises on purpose. `+ NAME`: a second base class. Anything else that is raised is a bug and ends with a traceback.

    ArenaError                  teamsets.errors: base of all that a user may see
    ├── BadInput                teamsets.errors: the user's input cannot be used: exit code 2
    │   ├── BadTeam             teamsets.errors: a team that Showdown's validator rejects; a file without a team
    │   ├── UnknownFormat       teamsets.errors: a format that does not exist, or is not played here
    │   ├── UnusableText        teamsets.reading: + ValueError: a file's content; readers add the file's name
    │   ├── NoSuchModule        agents.importing: MODULE of MODULE:NAME; the registry adds the spec
    │   ├── UnknownAgent        agents.registry: a spec that names no agent, or an option that it does not have
    │   ├── UnusableReplay      arena.replays.reading: a replay; importers catch it and count it by its reason
    │   ├── DamagedLog          arena.record: a log in the database; reports show the battle as damaged
    │   ├── LoginFailed         arena.venues.server.login: the login server rejected the account
    │   ├── BadDatabase         arena.store.database: not a battle database, or written by a newer version
    │   │   ├── OlderSchema     arena.store.database: written by an earlier version, and opened for reading
    │   │   └── BeingPlayed     arena.store.database: another process writes to it; readers catch it and go on
    │   ├── BadConfig           training.runs.config_reader: a setting that is missing, unknown or out of range
    │   └── BadData             training.data.shards: a dataset that is missing, damaged or made for another version
    ├── MissingTool             teamsets.errors: node, npm, torch or a build is not installed: exit code 2
    │   └── CompilerMissing     agents.engine.gen9.library: no C++ compiler was found, or it failed
    ├── ServerFailed            agents.serving.client: a model's server; in a battle it is the agent's failure
    ├── SlotsFull               agents.policy.serve: the inference server has no slot left; sent to the client
    ├── EngineUnusable          agents.engine.compiled: called in a process that was forked after the engine's first call
    ├── EngineFailed            agents.search.poke_engine.engine: poke-engine's process; the search plays without it
    ├── FoulPlayFailed          agents.external.foul_play_process: foul-play's process has ended, or gave no answer
    ├── VenueFailed             arena.venue: base of a venue's failures: counted for neither agent, played again
    │   ├── SimulatorCrashed    arena.venue: Showdown's own code raised in a battle
    │   ├── HostDied            arena.venues.simulator.host: the Node process of a worker ended
    │   ├── ServerDied          arena.venues.server.local: our Showdown server ended or does not answer
    │   ├── ConnectionLost      arena.venues.server.client: no connection to a server, after all retries
    │   │   └── ServerRefused   arena.venues.server.client: + BadInput: the server rejected the user or a request
    │   └── BattleGone          arena.remote.user_battle: the battle's room is gone; kept without a result
    ├── NotOnEngine             arena.venue: the engine refuses or gives up a battle: it is played on Showdown
    ├── VenuesDiffer            arena.venue: a battle differs between engine and Showdown: ends the run
    ├── LoginUnreachable        arena.venues.server.login: + OSError: no answer from the login server; the client retries
    ├── ProcessEnded            arena.venues.isolation.agent_process: an agent process ended: the agent's failure
    ├── AgentTimeout            arena.venues.isolation.agent_process: an agent process did not answer in time: the same
    ├── WorkersFailed           arena.workers.coordinator: workers end as soon as they start
    ├── BattlesStopped          training.runs.evaluation: Ctrl-C during the battles of a curriculum or an ablation
    ├── PushFailed              training.archive.pushing: the hub did not take a checkpoint
    ├── TrainingFailed          training.runs.state: training cannot continue; names the last good checkpoint
    └── DiskFull                training.runs.state: no space for a checkpoint; the trainer makes it a TrainingFailed

Raised and caught inside one part, never seen by a user:

    Exception
    ├── BadMessage              arena.venues.server.messages: a server's message cannot be read: as a lost connection
    ├── BadAnswer               agents.http: no HTTP answer, or it is cut off; the request is sent again
    ├── AskSeparately           arena.venues.engine.batches: a call for several agents failed: each decides by itself
    ├── ReplayDiffers           training.preferences.playing: a stored battle is replayed otherwise; counted
    └── Fault                   arena.battles.seat: the agent failed (timeout, illegal, error): it loses the battle
    ValueError
    └── DiagnosticsTooLarge     arena.battles.diagnostics: diagnostics over their limits; dropped, with the reason
    BaseException
    └── TimeUp                  arena.battles.guard: raised in an agent's code when its time is up; becomes a Fault
"""

from __future__ import annotations

import re
from collections.abc import Sequence


class ArenaError(Exception):
    """Base of everything that this project raises on purpose."""


class BadInput(ArenaError):
    """What the user gave cannot be used. The message is one line: the input, what is wrong, the mend."""


class BadTeam(BadInput):
    """A team that Showdown's validator refuses, or a file that holds no team.

    reasons: of a set, one line for each refused team; else empty.
    """

    def __init__(self, message: str, reasons: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.reasons = tuple(reasons)


class UnknownFormat(BadInput):
    """A format that Showdown does not know, or that is not played here."""


class MissingTool(ArenaError):
    """Node or the simulator's package is not there. The message says how to get it."""


def last_error(text: str) -> str:
    """Return why a process ended, from what it wrote to stderr: its last line, at most 300 characters; "" without any.

    Node ends an uncaught error's stack with a line of its version, so there it is the line with the error.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if lines and lines[-1].startswith("Node.js v"):
        lines = [line for line in lines if re.match(r"\w*Error\b", line)] or lines
    return lines[-1][:300] if lines else ""
