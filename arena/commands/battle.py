"""`arena battle` plays and narrates a battle; `arena replay` re-simulates a stored one, or writes it as a replay."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Unpack

import click

from arena.commands.options import run_options
from arena.options import OneBattleOptions
from arena.report.narration import narrate
from arena.report.runs import command
from arena.report.showdown_replay import VIEWER_SITE, replay_log, replay_page
from arena.report.story import stories
from arena.run.settings import battle_settings
from arena.run.terminal import stoppable
from arena.run.tournament import Run, play, prepare
from arena.schedules.plan import round_robin
from arena.store import open_store, rows
from arena.store.recover import recover
from arena.terminal.commands import db_option, json_option, print_json, say
from arena.terminal.console import Console
from arena.terminal.targets import TARGET, check_target, write_target
from arena.venues.simulator.reproduction import StoredBattle, replay_battle, stored_battle


@click.command()
@click.argument("first", metavar="AGENT")
@click.argument("second", metavar="OPPONENT")
@run_options(
    OneBattleOptions,
    single=True,
    texts={
        "teams": {"help": "Set or folder of teams."},
        "seed": {
            "help": "Seed of the teams and of the battle.",
            "default_text": "0; with --fresh, an unused one",
        },
        "fresh": {"help": "Play a new battle even if this one is stored."},
    },
)
@json_option
@db_option
def battle(first: str, second: str, as_json: bool, db: Path, **options: Unpack[OneBattleOptions]) -> None:
    """Play one battle and describe it turn by turn.

    AGENT is p1, OPPONENT is p2; the battle is stored. --json prints it as `arena watch ID --json` does.

    If a battle with the same agents, teams and seed is stored already, that one is shown.

    \b
    Examples:
      arena battle poke-env:SimpleHeuristicsPlayer random --format gen1ou
      arena battle poke-env:SimpleHeuristicsPlayer random --format gen1ou --fresh
    """
    console = Console(stderr=as_json)
    with open_store(db) as store:
        if options.get("fresh") and options.get("seed") is None:
            options["seed"] = _unused_seed(db)
        settings = battle_settings(first, second, options)
        run = prepare(store, settings, kind="battle")
        stored = _stored(db, run)
        if stored:
            store.forget_run(run.run_id)
            battle_id, earlier = stored[0]
        else:
            with stoppable(console, store, run.run_id, command("battle", run.settings.model_dump(), db)):
                if asyncio.run(play(run, store, workers=1, limit=1)).stopped:
                    raise KeyboardInterrupt
            ((battle_id,),) = rows("SELECT battle_id FROM battles WHERE run_id = ?", db, [run.run_id])
    if stored:
        same = "with the same agents, teams and seed"
        say(console, f"Battle {battle_id} is stored already, from run {earlier}, {same}: --fresh plays a new one.")
    if as_json:
        print_json(stories(db, [battle_id])[0])
    else:
        _print_narration(stored_battle(db, battle_id))


def _stored(db: Path, run: Run) -> list[tuple[int, str]]:
    """The id and the run of a stored battle with the same fixture as this run's; empty if there is none."""
    query = (
        "SELECT battle_id, run_id FROM battles WHERE key = ? AND battle_id IN "
        "(SELECT battle_id FROM evidence WHERE run_id = ?)"
    )
    return rows(query, db, [next(round_robin(run.plan)).key, run.run_id])


def _unused_seed(db: Path) -> int:
    """A seed that no run in the database has used."""
    ((highest,),) = rows("SELECT max((config->>'seed')::BIGINT) FROM runs", db)
    return 0 if highest is None else highest + 1


@click.command()
@click.argument("battle_id", metavar="ID", type=int)
@click.option(
    "--html", "html_path", type=TARGET, metavar="FILE", help="Write a page that plays it in Showdown's viewer."
)
@click.option(
    "--log", "log_path", type=TARGET, metavar="FILE", help="Write its log as spectators have it; - for stdout."
)
@click.option("--narrate", "narrated", is_flag=True, help="Also print the battle, a sentence for each event.")
@click.option("--stock-simulator", "stock", is_flag=True, help="Use unmodified Showdown code (slower).")
@json_option
@db_option
def replay(
    battle_id: int,
    html_path: Path | None,
    log_path: Path | None,
    narrated: bool,
    stock: bool,
    as_json: bool,
    db: Path,
) -> None:
    """Re-simulate a stored battle, or write it as a replay.

    The battle ID is played from its input log and compared line by line. Exit code 1 if they differ.

    Of a battle of the generation-1 engine, which has no logs, it compares winner, turns, and the legal choices at each
    decision.

    With --html or --log it is written in the format of Showdown's replays instead. Writing needs no network; opening the
    page loads the viewer from play.pokemonshowdown.com.

    \b
    Examples:
      arena replay 17 --narrate
      arena replay 17 --html battle.html --log battle.log
    """
    for path in (html_path, log_path):
        check_target(path)
    recover(db)
    stored = stored_battle(db, battle_id)
    if narrated:
        _print_narration(stored)
    if html_path is not None:
        write_target(html_path, lambda: replay_page(stored), f"; opening it loads the viewer from {VIEWER_SITE}")
    if log_path is not None:
        write_target(log_path, lambda: "\n".join(replay_log(stored)) + "\n")
    if (html_path, log_path) == (None, None):
        _compare(stored, stock, as_json)


def _compare(stored: StoredBattle, stock: bool, as_json: bool) -> None:
    comparison = replay_battle(stored, stock=stock)
    if as_json:
        print_json({"battle": stored.battle_id, "has_logs": stored.has_logs, **asdict(comparison)})
        sys.exit(comparison.difference is not None)
    if comparison.difference is not None:
        print(f"battle {stored.battle_id}: differs: {comparison.difference}")
        sys.exit(1)
    if stored.has_logs:
        print(f"battle {stored.battle_id}: replayed, all {comparison.lines:,} lines of both sides are identical")
    else:
        print(
            f"battle {stored.battle_id}: replayed on Showdown: winner, turns, input log and the legal choices of all "
            f"{comparison.lines:,} decisions are identical"
        )


def _print_narration(stored: StoredBattle) -> None:
    print(f"Battle {stored.battle_id}, {stored.format}: {stored.agents['p1']} against {stored.agents['p2']}")
    seen = next((seat for seat, log in stored.logs.items() if log), "p1")
    print(f"(as {stored.agents[seen]} saw it: its own HP exactly, the other's in %)")
    for sentence in narrate(stored.logs[seen], stored.agents):
        print(sentence)
    if stored.detail:
        print(f"({stored.reason}: {stored.detail})")
