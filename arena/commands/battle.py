"""`arena battle` plays one and tells it; `arena replay` plays a stored one again and checks it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import click

from arena.commands.options import db_option, isolate_option
from arena.replays import StoredBattle, play_again, stored_battle
from arena.report.words import narrate
from arena.store import Store, rows, writer_lock
from arena.store.recover import recover
from arena.tournament import EvaluateSettings, play, prepare


@click.command()
@click.argument("first", metavar="AGENT")
@click.argument("second", metavar="OPPONENT")
@click.option("--format", "format_id", default="gen1ou", show_default=True, metavar="F", help="The format.")
@click.option(
    "--teams", "team_set", default="competitive", show_default=True, metavar="SET", help="Set or folder of teams."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed: other teams, other luck.")
@isolate_option
@db_option
def battle(first: str, second: str, format_id: str, team_set: str, seed: int, isolate: bool, db: Path) -> None:
    """Play one battle of AGENT (p1) against OPPONENT (p2), keep it, and tell it turn by turn.

    \b
    Example:
      arena battle poke-env:SimpleHeuristicsPlayer random --format gen1ou
    """
    settings = EvaluateSettings((first, second), (format_id,), (team_set,), battles=1, seed=seed, isolate=isolate)
    with writer_lock(db):
        store = Store(db)
        run = prepare(store, settings, kind="battle")
        asyncio.run(play(run, store, workers=1, limit=1))
    ((battle_id,),) = rows("SELECT battle_id FROM battles WHERE run_id = ?", db, [run.run_id])
    _tell(stored_battle(db, battle_id))


@click.command()
@click.argument("battle_id", metavar="ID", type=int)
@click.option("--words", is_flag=True, help="Tell the battle, too.")
@click.option("--stock-simulator", "stock", is_flag=True, help="On Showdown's code untouched.")
@db_option
def replay(battle_id: int, words: bool, stock: bool, db: Path) -> None:
    """Play the stored battle ID again from its input log and compare it line by line. Exit code 1 when it differs.

    \b
    Example:
      arena replay 17 --words
    """
    recover(db)
    stored = stored_battle(db, battle_id)
    if words:
        _tell(stored)
    comparison = play_again(stored, stock=stock)
    if comparison.difference is None:
        print(f"battle {battle_id}: played again, the same in all {comparison.lines:,} lines of both sides")
    else:
        print(f"battle {battle_id}: differs: {comparison.difference}")
        sys.exit(1)


def _tell(stored: StoredBattle) -> None:
    print(f"Battle {stored.battle_id}, {stored.format}: {stored.agents['p1']} against {stored.agents['p2']}")
    seen = next((seat for seat, log in stored.logs.items() if log), "p1")
    print(f"(as {stored.agents[seen]} saw it: its own HP exactly, the other's in %)")
    for sentence in narrate(stored.logs[seen], stored.agents):
        print(sentence)
    if stored.detail:
        print(f"({stored.reason}: {stored.detail})")
