"""`train preferences`: pairs of a better and a worse answer, from stored battles."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import click
from rich.progress import track

from agents.llm.prompts import STYLES
from arena.report.numbers import counted
from arena.terminal.commands import db_option, json_option, print_json
from arena.terminal.console import Console
from teamsets.errors import BadInput
from training.preferences.build import BuildSettings, SourceKind, Venue, build_pairs
from training.preferences.garbling import GARBLES
from training.preferences.pairs import describe_pair, read_pairs
from training.preferences.playing import Tries
from training.preferences.rules import Bar

_TRIES, _BAR = Tries(), Bar()
_POSITION = "position"


@click.group()
def preferences() -> None:
    """Build and read pairs of answers for `train dpo`.

    A pair is a better and a worse answer at the same decision."""


def _baseline(context: click.Context, option: click.Parameter, value: str) -> float | None:
    if value == _POSITION:
        return None
    try:
        score = float(value)
    except ValueError:
        score = -1.0
    if not 0 <= score <= 1:
        raise BadInput(f"--baseline {value}: must be a score from 0 to 1, or {_POSITION}")
    return score


@preferences.command()
@db_option
@click.option("--where", default="true", show_default=True, help="SQL condition that selects sides of battles.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder of the pairs.")
@click.option(
    "--source",
    type=click.Choice(get_args(SourceKind)),
    default="forks",
    show_default=True,
    help="forks: choices are tried and played on; expert: an expert's choice against the learner's (coached battles); "
    "answers: what a language model answers several times (--answers-of), played on.",
)
@click.option(
    "--decisions", type=click.IntRange(0), default=_TRIES.decisions, show_default=True, help="Per side; 0: all."
)
@click.option(
    "--choices",
    type=click.IntRange(0),
    default=_TRIES.choices,
    show_default=True,
    help="Tried at each decision: the one played, and others at random, in doubles of one slot; 0: all legal ones.",
)
@click.option(
    "--answers-of",
    default="",
    metavar="SPEC",
    help="The language model of --source answers: llm:PATH?temperature=1, or llm:openai?…&temperature=1.",
)
@click.option(
    "--answers", type=click.IntRange(2), default=4, show_default=True, help="Asked for at each decision (--answers-of)."
)
@click.option(
    "--playouts", type=click.IntRange(1), default=_TRIES.playouts, show_default=True, help="Battles for each choice."
)
@click.option(
    "--play-on",
    default="",
    show_default="array:max-damage, in doubles heuristic:max-damage",
    metavar="SPEC",
    help="Who plays both seats on: policy:PATH?temperature=1, or on the engine random or array:NAME, or on Showdown any.",
)
@click.option(
    "--venue",
    type=click.Choice(get_args(Venue)),
    default="auto",
    show_default=True,
    help="Where battles are forked; auto: on the engine where it plays the format.",
)
@click.option("--max-turns", type=click.IntRange(1), default=_TRIES.max_turns, show_default=True, help="Later: a tie.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the decisions, the choices and the playouts.")
@click.option(
    "--baseline",
    default=str(_BAR.baseline),
    show_default=True,
    callback=_baseline,
    metavar="SCORE",
    help=f"Score from 0 to 1 that a gain is measured from; `{_POSITION}`: the mean of what was tried at the decision.",
)
@click.option(
    "--min-gain", type=click.FloatRange(0, 1), default=_BAR.min_gain, show_default=True, help="Above the baseline."
)
@click.option(
    "--min-margin",
    type=click.FloatRange(0, 1),
    default=_BAR.min_margin,
    show_default=True,
    help="Between the scores of chosen and rejected.",
)
@click.option("--sure", is_flag=True, help="Only pairs whose margin's 95% interval is above 0.")
@click.option(
    "--garble",
    type=click.Choice(GARBLES),
    default="legal",
    show_default=True,
    help="Rejected where everything worked: another legal choice, an illegal one, a corrupted text; with --answers-of what "
    "it says at a high temperature; worse: the worst that worked; none: no pair.",
)
@click.option(
    "--garble-temperature",
    type=click.FloatRange(0, min_open=True),
    default=BuildSettings.garble_temperature,
    show_default=True,
    help="At which --answers-of is asked once more at each decision, for --garble temperature.",
)
@click.option(
    "--rejected",
    type=click.Choice(("real", "garbled")),
    default="real",
    show_default=True,
    help="garbled: every rejected answer is a garbled one, for comparisons.",
)
@click.option(
    "--hold-out",
    type=click.FloatRange(0, 0.9),
    default=0.0,
    show_default=True,
    metavar="SHARE",
    help="Fraction of the battles whose pairs go to pairs-held-out.jsonl and train-held-out.",
)
@click.option(
    "--style",
    type=click.Choice(tuple(STYLES)),
    default=BuildSettings.style,
    show_default=True,
    help="Of the prompts, as the style of llm: players: answers are an action, or a plan and an action. With --answers-of "
    "they are those of the model.",
)
@click.option("--replace", is_flag=True, help="Try everything again, also what the folder has.")
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def build(db: Path, where: str, out: Path, replace: bool, as_json: bool, **options: Any) -> None:
    """Build pairs from stored battles. The same command goes on after an interruption.

    --where is an SQL condition on one side of a battle, as for `train data build`. Other rules (--baseline, --min-margin …)
    for the same tries need no playing: what was tried is kept. See docs/preferences.md.

    \b
    Examples:
      train preferences build --where "format = 'gen1ou'" --play-on policy:gen1ou-tiny?temperature=1 --out data/preferences
      train preferences build --where "format = 'gen9ou'" --decisions 1 --out data/gen9
      train preferences build --where "format = 'gen9championsvgc2026regma'" --choices 4 --out data/doubles
      train preferences build --source expert --where "agent LIKE 'coached%'" --out data/expert
      train preferences build --source answers --answers-of "llm:models/base?temperature=1" --out data/answers
    """
    _check(options)
    settings = BuildSettings(
        db=db,
        where=where,
        source=options["source"],
        tries=Tries(
            choices=options["answers" if options["answers_of"] else "choices"],
            **{name: options[name] for name in ("decisions", "playouts", "max_turns", "seed")},
        ),
        play_on=options["play_on"],
        venue=options["venue"],
        bar=Bar(**{name: options[name] for name in ("baseline", "min_gain", "min_margin", "sure")}),
        garble=options["garble"],
        rejected=options["rejected"],
        hold_out=options["hold_out"],
        style=options["style"],
        answers_of=options["answers_of"],
        garble_temperature=options["garble_temperature"],
    )
    counts = build_pairs(settings, out, _track, replace_all=replace)
    if as_json:
        print_json(counts)
        return
    print(f"{out}: {counted(counts['pairs'], 'pair')}, {counts['held_out']:,} held out")
    for name, number in counts["in_datasets"].items():
        print(f"{out / name}: {counted(number, 'pair')} for policies")
    for name, label in (
        ("pairs", "pairs"),
        ("rejected", "rejected"),
        ("outcomes", "attempts"),
        ("dropped", "no pair"),
        ("skipped", "sides skipped"),
    ):
        for reason, number in counts["by"][name].items():
            print(f"{label}: {number:,} {reason}")
    print(f"decisions played: {counts['decisions_played']:,}")


@preferences.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--number", type=click.IntRange(1), default=10, show_default=True, help="How many.")
@click.option("--rule", help="Only pairs of this rule, for example some-worked.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which ones.")
@json_option
def show(folder: Path, number: int, rule: str | None, seed: int, as_json: bool) -> None:
    """Print some pairs of a folder as a person would read them.

    \b
    Examples:
      train preferences show data/preferences
      train preferences show data/preferences --rule everything-worked --number 3
    """
    pairs = list(read_pairs(folder))
    wanted = [pair for pair in pairs if rule is None or pair["rule"] == rule]
    if not wanted:
        rules = ", ".join(sorted({pair["rule"] for pair in pairs}))
        raise BadInput(f"--rule {rule}: no pair in {folder}; there are {rules}")
    chosen = random.Random(seed).sample(range(len(wanted)), min(number, len(wanted)))
    if as_json:
        print_json([wanted[place] for place in sorted(chosen)])
        return
    print("\n\n".join(describe_pair(wanted[place]) for place in sorted(chosen)))


def _check(options: dict[str, Any]) -> None:
    """Refuse options that have no meaning together. Raises BadInput."""
    source, spec, garble = options["source"], options["answers_of"], options["garble"]
    if (source == "answers") != bool(spec):
        fix = "add --answers-of llm:PATH?temperature=1" if not spec else "use --source answers"
        given = f"--answers-of {spec}" if spec else "--source answers"
        raise BadInput(f"{given}: --source answers and --answers-of belong together: {fix}")
    if garble == "temperature" and not spec:
        raise BadInput("--garble temperature: needs a language model to ask: use --source answers, or another --garble")
    if garble == "worse" and options["rejected"] == "garbled":
        raise BadInput("--garble worse: makes no garbled answers for --rejected garbled: use another --garble")


def _track(items: Sequence[Any], doing: str) -> Iterator[Any]:
    yield from track(items, doing, console=Console(stderr=True), transient=True)
