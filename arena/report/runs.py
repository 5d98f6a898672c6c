"""The settings of a run: the command that repeats it, and notes on its interpretation."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import orjson

from arena.options import EvaluateOptions, MatchOptions, OneBattleOptions, declared, default
from arena.report.counts import SourceOfBattles
from arena.report.numbers import counted, counted_minutes, result_unit
from arena.report.summary_types import AgentOfRun, FormatSummary, RunSummary
from arena.store import DEFAULT, TIME_LIMIT, BadDatabase, rows, writer_lock
from arena.venue import Rules
from teamsets.errors import BadInput
from teamsets.formats import series_format

#: Kind of a run -> the options of its command; of a match where it is another.
_OPTIONS = {"battle": OneBattleOptions, "evaluate": EvaluateOptions}
#: Kinds of runs that play with remote players; they cannot be resumed.
_WITH_REMOTE_PLAYERS = ("ladder", "serve")
#: Parts of the stored settings that a report shows in places of their own.
_SHOWN_ELSEWHERE = ("agents", "formats", "team_sets", "team_set", "pools")
_NAMES = {
    "best_of": "series of battles, best of",
    "battles": "battles per pairing and team set:",
    "budget": "battles in total:",
    "minutes": "time limit in minutes:",
    "think_limit": "time limit per decision in seconds:",
    "max_turns": "turn limit:",
    "verify_every": "battles of the engine replayed on Showdown: one in",
    "stock": "simulator without speed-ups",
    "visitor": "open battles and requests per visitor:",
    "total": "open battles and requests in total:",
}


def describe_run(db: Path, run_id: str, sources: list[SourceOfBattles]) -> RunSummary:
    """The run's row of the store, with the command that repeats it and where its battles come from.

    sources: of `ReportCounts.sources`. Raises BadInput for an unknown run.
    """
    stored = rows("SELECT kind, status, started, ended, git, config, versions FROM runs WHERE run_id = ?", db, [run_id])
    if not stored:
        latest = [name for (name,) in rows("SELECT run_id FROM runs ORDER BY rowid DESC LIMIT 3", db)]
        raise BadInput(f"run '{run_id}': not in {db}; the latest runs are {', '.join(latest) or 'none'}")
    kind, status, started, ended, git, config_text, versions = stored[0]
    config = orjson.loads(config_text)
    if status == "running" and not _is_played(db):
        status = "killed"
    return {
        "id": run_id,
        "database": str(db),
        "kind": kind,
        "status": status,
        "started": started.isoformat(timespec="seconds"),
        "ended": None if ended is None else ended.isoformat(timespec="seconds"),
        "seconds": None if ended is None else round((ended - started).total_seconds(), 1),
        "git": git,
        "versions": orjson.loads(versions),
        "command": command(kind, config, db),
        "config": {key: value for key, value in config.items() if key != "pools"},
        "pools": [{"format": f, "team_set": s, "teams": len(ids)} for f, s, ids in config.get("pools", [])],
        "agents": _agents(db, run_id, config),
        "evidence": {
            "own": sum(source.battles for source in sources if source.run_id == run_id),
            "aborted": sum(source.aborted for source in sources),
            "earlier": [
                {"run": source.run_id, "battles": source.battles} for source in sources if source.run_id != run_id
            ],
        },
    }


def command(kind: str, config: dict[str, Any], db: Path) -> str:
    """Return the command line that plays the same battles again, quoted for a shell."""
    target = [] if db == DEFAULT else ["--db", str(db)]
    agents = [agent for agent in config["agents"] if agent not in config.get("challengers", [])]
    if kind in _WITH_REMOTE_PLAYERS:
        return shlex.join(["arena", kind, *_arguments_with_others(config), *target])
    arguments = ["arena", kind, *agents]
    sprt = config.get("sprt")
    if sprt:
        arguments += ["--sprt", *(f"{key}={_plain(value)}" for key, value in sprt.items())]
    known = {**config, **(config.get("rules") or {})}
    if config.get("schedule") == "adaptive":
        known["battles"] = None  # its budget says how many
    if config.get("venue") != "engine":
        known["verify_every"] = None
    if config.get("venue") == "simulator":
        known["venue"] = None  # the default
    if config.get("best_of") == 1:
        known["best_of"] = None
    if kind == "battle":
        known |= {name: None for name in Rules.model_fields if known.get(name) == default(name)} | {"fresh": None}
    for name, option in declared(_OPTIONS.get(kind, MatchOptions)).items():
        value, flag = known.get(option.in_settings), "--" + name.replace("_", "-")
        if value is True:
            arguments.append(flag)
        elif value is not None and value is not False:
            for each in value if option.several else [value]:
                arguments += [flag, _plain(each)]
    return shlex.join([*arguments, *target])


def _arguments_with_others(config: dict[str, Any]) -> list[str]:
    """The options of a run that plays with whoever is there (its battles will be others)."""
    arguments = ["--server", config["server"], "--agent", config["agent"]] if "server" in config else []
    for format_id in config["formats"]:
        arguments += ["--format", series_format(format_id, config.get("best_of", 1))]
    arguments += ["--teams", config["team_set"]]
    arguments += ["--agents", *config["agents"]] if "server" not in config else []
    for key, option in (("battles", "--battles"), ("challenge", "--challenge")):
        arguments += [option, str(config[key])] if config.get(key) else []
    return [*arguments, *(["--accept"] if config.get("accept") else [])]


def _plain(value: Any) -> str:
    """A value as short text that is read as the same value."""
    if not isinstance(value, float):
        return str(value)
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def describe_settings(config: dict[str, Any]) -> str:
    """The settings of a run as text, without those that are not set and those that the report shows elsewhere."""
    known = {key: value for key, value in config.items() if key not in _SHOWN_ELSEWHERE}
    known |= (known.pop("rules", None) or {}) | (known.pop("limits", None) or {})
    if config.get("schedule") == "adaptive":
        known.pop("battles", None)  # its budget says how many
    if config.get("venue") != "engine":
        known.pop("verify_every", None)
    if known.get("best_of") == 1:
        known.pop("best_of")
    test = known.pop("sprt", None)
    parts = [
        name if value is True else f"{name} {', '.join(map(str, value)) if isinstance(value, list) else _plain(value)}"
        for name, value in ((_NAMES.get(key, key.replace("_", " ")), value) for key, value in known.items())
        if value is not None and value is not False and value not in ("", [], {})
    ]
    if test:
        parts.append("SPRT " + " ".join(f"{key}={_plain(value)}" for key, value in test.items()))
    return "; ".join(parts)


def notes(run: RunSummary, formats: list[FormatSummary]) -> list[str]:
    """Return notes on the interpretation of the results, one sentence each."""
    users = sorted({row["agent"] for each in formats for row in each["ranking"] if row["agent"].startswith("user:")})
    return [
        *_notes_on_run(run),
        *_notes_on_users(users),
        *(note for each in formats for note in _notes_on_format(each)),
    ]


def _notes_on_run(run: RunSummary) -> list[str]:
    notes = []
    target = "" if run["database"] == str(DEFAULT) else f" --db {run['database']}"
    resume = ""
    if run["kind"] not in ("battle", *_WITH_REMOTE_PLAYERS):
        resume = f"; `arena {run['kind']} --resume {run['id']}{target}` continues it"
    if run["status"] == "running":
        notes.append(
            "The run is still in progress: the numbers will change, and tables may differ from each other by a few battles."
        )
    elif run["status"] == TIME_LIMIT:
        notes.append(f"{_time_limit(run)}{resume}.")
    elif run["status"] != "finished":
        notes.append(f"The run was {run['status']} before its end{resume}.")
    vague = [agent["agent"] for agent in run["agents"] if agent["repeatable"] is False]
    if vague:
        notes.append(f"Not repeatable, so their battles may differ in another run: {', '.join(vague)}.")
    earlier = sum(source["battles"] for source in run["evidence"]["earlier"])
    if earlier:
        runs = len(run["evidence"]["earlier"])
        notes.append(
            f"{earlier:,} of {counted(earlier + run['evidence']['own'], 'battle')} were reused from "
            f"{counted(runs, 'earlier run')}, played by the same agents under the same conditions."
        )
    if run["evidence"]["aborted"]:
        notes.append(
            "Aborted by the simulator or server, counted for neither agent: "
            f"{counted(run['evidence']['aborted'], 'battle')}; `detail` in the table `battles` says why, and --resume plays "
            "such battles again."
        )
    commit = run["git"] or ""
    if commit.endswith("+"):
        notes.append(
            f"The checkout had uncommitted changes on top of commit {commit[:10]}: the commit alone does not reproduce "
            "the run."
        )
    return notes


def _time_limit(run: RunSummary) -> str:
    """How far a run came until its time limit: "Time limit of 2 minutes reached: 412 of 684 battles"."""
    own, planned = run["evidence"]["own"], run["config"].get("planned")
    reached = f"Time limit of {counted_minutes(run['config']['minutes'])} reached"
    if (
        planned is None or run["evidence"]["earlier"]
    ):  # reused battles are among the planned ones, but not all of them need be
        return f"{reached} after {counted(own, 'battle')}"
    return f"{reached}: {own:,} of {counted(planned, 'battle')}"


def _notes_on_users(users: list[str]) -> list[str]:
    """users: the names of those that are no agents of ours."""
    notes = []
    elsewhere = [user for user in users if "@" in user]
    if len(elsewhere) < len(users):
        notes.append(
            "user:NAME is a remote player who signed in under that name: without passwords it can be a different player "
            "each time."
        )
    if elsewhere:
        notes.append(
            f"user:NAME@HOST ({counted(len(elsewhere), 'opponent')}) played on a server that shows our side only: their "
            "teams, choices and think times are unknown and missing below, and these battles cannot be replayed from "
            "their seeds."
        )
    return notes


def _notes_on_format(format_summary: FormatSummary) -> list[str]:
    format_id, ranking = format_summary["format"], format_summary["ranking"]
    notes = []
    battles = sorted(cell["battles"] for cell in format_summary["cross"])
    if battles and battles[len(battles) // 2] < 30:
        middle = battles[len(battles) // 2]
        notes.append(
            f"{format_id}: the median pairing has {counted(middle, result_unit(format_summary))}: single cells of the "
            "tables are imprecise, the joint ratings are more precise."
        )
    if len({row["group"] for row in ranking}) > 1:
        notes.append(
            f"{format_id}: not all agents are connected by battles: ratings are comparable within a group only (marked by "
            "letters)."
        )
    marked = [f"{row['agent']} ({row['mark']})" for row in ranking if row["mark"]]
    if marked:
        notes.append(f"{format_id}: ratings that are bounds, not estimates: {', '.join(marked)}.")
    return notes


def _agents(db: Path, run_id: str, config: dict[str, Any]) -> list[AgentOfRun]:
    """The run's agents in the order in which they were named."""
    query = "SELECT agent, about, fingerprint, repeatable FROM agents WHERE run_id = ?"
    order = {agent: place for place, agent in enumerate(config.get("agents", []))}
    known: list[AgentOfRun] = [
        {"agent": agent, "about": about, "fingerprint": fingerprint, "repeatable": repeatable}
        for agent, about, fingerprint, repeatable in rows(query, db, [run_id])
    ]
    return sorted(known, key=lambda agent: (order.get(agent["agent"], len(order)), agent["agent"]))


def _is_played(db: Path) -> bool:
    """Return whether a process is writing to the database now."""
    try:
        with writer_lock(db):
            return False
    except BadDatabase:
        return True
