"""`train evaluate`: what a checkpoint scores against others, in thousands of battles on the engine."""

from __future__ import annotations

import json
import re
import sys
import time
from dataclasses import asdict
from pathlib import Path

import click

from agents.braces import expand_all
from arena.report.numbers import counted
from arena.terminal.commands import Integer64
from training.commands.configuring import device_option, threads_option
from training.commands.running import need_packages, progress_of_battles


@click.command()
@click.argument("checkpoint")
@click.argument("opponents", nargs=-1, required=True, metavar="OPPONENT...")
@click.option(
    "--format",
    "formats",
    multiple=True,
    default=("gen1ou",),
    show_default=True,
    metavar="F",
    help="gen1ou, gen1randombattle or gen9ou. Can be repeated.",
)
@click.option(
    "--teams",
    multiple=True,
    default=("competitive",),
    show_default=True,
    metavar="SET",
    help="A team set or a folder of teams. Can be repeated.",
)
@click.option(
    "--battles",
    type=click.IntRange(min=2),
    default=4000,
    show_default=True,
    metavar="N",
    help="Battles against each opponent on each team set, in pairs with the seats exchanged.",
)
@click.option(
    "--seed", type=Integer64(), default=0, show_default=True, metavar="N", help="Of the teams and of the battles."
)
@device_option
@threads_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the score of every pair.")
def evaluate(
    checkpoint: str,
    opponents: tuple[str, ...],
    formats: tuple[str, ...],
    teams: tuple[str, ...],
    battles: int,
    seed: int,
    device: str,
    threads: int,
    as_json: bool,
) -> None:
    """Score a checkpoint in thousands of battles on the engine.

    CHECKPOINT, and each OPPONENT: a run's folder, RUN@STEP, or an agent. Those that act on arrays (policy:, ensemble:,
    array:, random) are fast; others (heuristic:, search:) decide one at a time, and in gen1ou play on Showdown.

    Two battles with the same teams and seed and with the seats exchanged are a pair; the 95% interval is from the spread
    between pairs. The same seed gives every checkpoint the same teams and battles. Nothing is stored: `arena match` stores
    battles, and plays with external programs, too.

    \b
    Examples:
      train evaluate runs/ppo policy:gen1ou
      train evaluate runs/ppo@best runs/ppo@40 policy:gen1ou --teams competitive --teams variety --seed 7
      train evaluate policy:gen1ou array:set-up --battles 1000 --threads 1 --json
      train evaluate policy:gen9ou array:max-damage heuristic:expert --format gen9ou --battles 400
    """
    need_packages()
    print("loading torch ...", file=sys.stderr)
    from training.runs.engine_pairs import play_pairs
    from training.runs.evaluation import score_of, score_text
    from training.runs.threads import use_threads

    use_threads(threads)
    start = time.monotonic()
    blocks = play_pairs(
        _spec(checkpoint),
        [_spec(opponent) for opponent in expand_all(opponents)],
        formats=formats,
        team_sets=teams,
        battles=battles,
        seed=seed,
        device=device,
        show=progress_of_battles(),
    )
    if as_json:
        print(json.dumps([asdict(block) for block in blocks]))
        return
    for block in blocks:
        score = score_of([block])
        played = f"{score_text(score)} in {counted(2 * score.pairs, 'battle')}"
        pairs = ", ".join(map(str, score.counts))
        print(
            f"{block.opponent}, {block.format} {block.team_set}: {played}; pairs with 0, 0.5, 1, 1.5, 2 points: {pairs}"
        )
    print(f"took {time.monotonic() - start:,.0f} s", file=sys.stderr)


def _spec(player: str) -> str:
    """An agent's spec; that of a run's folder, if there is one."""
    return f"policy:{player}" if Path(re.split("[@?]", player, maxsplit=1)[0]).is_dir() else player
