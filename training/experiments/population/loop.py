"""Population based training (Jaderberg et al. 2017): train, rate, exploit, explore, round by round.

OUT/population.yaml               the configuration that it was started with
OUT/members/M/round-R/            a run of `train online`
OUT/rounds.jsonl                  a line per finished round: each member's settings, rating, and whom it took over

In a round every member trains on from its checkpoint with its own settings; all members then play the same pool in one
rating. The weakest take over weights and settings of one of the strongest, and each explored setting is multiplied or
divided by its factor. What a member does is drawn by the population's seed, its number and the round, so the same command
resumes a killed population at the run in which it was.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agents.policy import checkpoint
from arena.fixture import digest
from arena.report.summary import summarize
from arena.run.tournament import EvaluateSettings, play_into
from teamsets.atomic import write_atomic
from training.experiments.population.config import Population, member_config
from training.machines.cluster.scheduling import is_home, train_everywhere
from training.online.config import OnlineConfig
from training.runs.evaluation import BattlesStopped, check_evaluation, evaluate_checkpoint
from training.runs.process import train_in_process
from training.runs.run_folder import keep_settings, lock_folder

ROUNDS = "rounds.jsonl"
#: Settings that may change when a population is resumed.
_FREE = ("name", "out", "rounds", "evaluation.workers")
Round = dict[str, Any]


def ratings(population: Population, members: list[dict[str, Any]]) -> list[float]:
    """The Elo of each member, mean over the formats, from one rating of all of them and the pool.

    On the engine: the score of each against the pool, in %.
    """
    evaluation = population.evaluation
    specs = [f"policy:{member['checkpoint']}" for member in members]
    if evaluation.venue == "engine":
        return [evaluate_checkpoint(evaluation, spec).rating for spec in specs]
    settings = EvaluateSettings(
        agents=(*specs, *evaluation.opponents),
        formats=tuple(evaluation.formats),
        team_sets=tuple(evaluation.teams),
        battles=evaluation.battles,
        seed=evaluation.seed,
        anchor=evaluation.opponents[0],
    )
    played = play_into(Path(evaluation.database), settings, kind="training", workers=evaluation.workers)
    if not played.finished:
        raise BattlesStopped("stopped: finished battles are stored; run the same command again to resume")
    formats = summarize(Path(evaluation.database), played.run.run_id)["formats"]
    rows = [{row["agent"]: row["elo"] for row in part["ranking"]} for part in formats]
    return [sum(row[spec] for row in rows) / len(rows) for spec in specs]


def run_population(
    population: Population,
    say: Callable[[str], None],
    on_cluster: bool = False,
    *,
    train: Callable[[OnlineConfig], object] = train_in_process,
    rate: Callable[[Population, list[dict[str, Any]]], list[float]] = ratings,
) -> list[Round]:
    """Train all remaining rounds. Returns every round. say: called with lines of progress. Raises BadInput.

    on_cluster: train the members of a round side by side on the Ray cluster to which this process is connected.
    train(config): trains a member in its folder. rate(population, members): the members' ratings.
    """
    out = Path(population.out)
    check_evaluation(population.evaluation)
    with lock_folder(out, "in use by another process: wait, or name another folder"):
        keep_settings(out / "population.yaml", population, _FREE)
        rounds = finished(out)
        while len(rounds) < population.rounds:
            rounds.append(_round(population, rounds, say, on_cluster, train, rate))
            write_atomic(out / ROUNDS, "".join(json.dumps(each) + "\n" for each in rounds))
            say(summary(rounds[-1], len(rounds)))
    return rounds


def finished(out: Path) -> list[Round]:
    """The finished rounds of a population's folder."""
    file = out / ROUNDS
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []


def summary(record: Round, number: int) -> str:
    """A line about a round: members from the strongest."""
    members = sorted(record["members"], key=lambda member: -member["rating"])
    shown = ", ".join(f"{member['member']}: {member['rating']:.4g}" for member in members)
    return f"round {number}: {shown}"


def _round(
    population: Population,
    rounds: list[Round],
    say: Callable[[str], None],
    on_cluster: bool,
    train: Callable[[OnlineConfig], object],
    rate: Callable[[Population, list[dict[str, Any]]], list[float]],
) -> Round:
    number = len(rounds) + 1
    members = _next(population, rounds[-1]["members"], number) if rounds else _first(population)
    configs = []
    for member in members:
        folder = Path(population.out) / "members" / str(member["member"]) / f"round-{number}"
        seed = population.seed + 1000 * number + member["member"]
        configs.append(member_config(population, member["settings"], member["parent"], folder, seed))
    if on_cluster:
        train_everywhere(configs, say)
    for member, config in zip(members, configs, strict=True):
        say(f"round {number} of {population.rounds}: member {member['member']}, {_settings(member['settings'])}")
        if not is_home(config):
            train(config)
        member["checkpoint"] = f"{config.out}@{max(checkpoint.steps_of(Path(config.out)))}"
    for member, rating in zip(members, rate(population, members), strict=True):
        member["rating"] = rating
    return {"round": number, "members": members}


def _first(population: Population) -> list[dict[str, Any]]:
    """The members of the first round: every explored setting drawn log-uniformly from its range."""
    members = []
    for member in range(population.members):
        rng = random.Random(digest(["population", population.seed, member, 0]))
        chosen = {
            key: math.exp(rng.uniform(math.log(each.low), math.log(each.high)))
            for key, each in population.explore.items()
        }
        members.append({"member": member, "settings": chosen, "parent": "", "took": None})
    return members


def _next(population: Population, before: list[dict[str, Any]], number: int) -> list[dict[str, Any]]:
    """The members of the next round: the weakest take over one of the strongest, and explore."""
    ranked = sorted(before, key=lambda member: -member["rating"])
    share = max(1, int(population.exploit * len(ranked)))
    best, weakest = ranked[:share], {member["member"] for member in ranked[-share:]}
    members = []
    for member in before:
        rng = random.Random(digest(["population", population.seed, member["member"], number]))
        source, took = member, None
        chosen = dict(member["settings"])
        if member["member"] in weakest:
            source = rng.choice(best)
            took = source["member"]
            chosen = {
                key: min(each.high, max(each.low, source["settings"][key] * each.factor ** rng.choice([-1, 1])))
                for key, each in population.explore.items()
            }
        members.append({"member": member["member"], "settings": chosen, "parent": source["checkpoint"], "took": took})
    return members


def _settings(chosen: dict[str, float]) -> str:
    return ", ".join(f"{key} {value:.3g}" for key, value in chosen.items())
