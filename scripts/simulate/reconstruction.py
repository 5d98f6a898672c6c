"""How much of a battle comes back from its public log? Reconstructed points of view beside the true ones.

Rule players play battles on the simulator. Of each battle only what a spectator sees is kept (health in percent, nobody's
requests); both sides are reconstructed from that (arena/replays) and compared with their true logs and choices. Printed for
each format, with 95% intervals (resampled by battles: decisions of one battle are not independent):

- asked: the share of the true moments of choice that were found, and how many were found that were none;
- revealed: the share of the true choices which the public log shows, or which were the only way;
- right: of those revealed, the share that was recovered; wrong: of all recovered, the share that differs from the truth;
- the share of moments at which each of the facts is as it was: health (to 2% of the whole), status, boosts, side
  conditions, weather and fields, what is known of the other side, which switches are legal; of our own moves the share
  that was revealed or guessed, and how often all legal choices are the same.

    python scripts/simulate/reconstruction.py [--formats gen1ou gen4ou gen9ou] [--battles 40] [--seed 0] [--show 0]
        [--agents heuristic:expert heuristic:emerald]
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson

from agents.battle import SeatBattle
from arena.record import BattleRecord
from arena.replays.reading import PublicBattle
from arena.replays.reconstruction import SideLog, reconstruct
from arena.run.entrants import load_pools
from arena.schedules.plan import Plan, round_robin
from arena.venue import Rules
from arena.venues.simulator.simulator import play_all
from teamsets.formats import get_format

RULES = Rules(think_limit=60.0, max_turns=300)
_REQUEST = "|request|"


@dataclass
class Tally:
    """Of one battle: how often each thing was looked at, how often it was so; and the differences in words."""

    seen: Counter[str] = field(default_factory=Counter)
    held: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def note(self, name: str, holds: bool) -> None:
        self.seen[name] += 1
        self.held[name] += holds


def public(record: BattleRecord, number: int) -> PublicBattle:
    """What a spectator would have seen of a battle, as a replay has it."""
    one, two = ([line for line in log if not line.startswith(_REQUEST)] for log in record.logs)
    lines, at = [], 0
    for line in one:
        if line not in two[at : at + 1] and two[at + 1 : at + 2] == [line]:
            at += 1  # a line for p2 alone
        other = two[at] if at < len(two) else ""
        if line != other and line.split("|")[1:3] != other.split("|")[1:3]:
            continue  # a line for p1 alone
        lines.append(other if line.split("|")[2:3] and line.split("|")[2].startswith("p1") else line)
        at += 1
    format_id = record.fixture.format
    end = "tie" if record.winner is None else "win"
    gen = get_format(format_id).gen
    name = f"{format_id}-{number}"
    return PublicBattle(name, format_id, gen, ("p1", "p2"), (None, None), None, record.winner, end, tuple(lines))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Moment:
    """One request of a side: what it said, what the side knew, what was chosen, and the lines until it was asked again."""

    request: dict[str, Any]
    facts: dict[str, Any]
    choice: str | None
    legal: list[str]
    after: list[str]
    turn: int


def moments(log: list[str], choices: list[str | None], role: str, format_id: str) -> list[Moment]:
    """Every request of a side's log, as poke-env understands the battle there."""
    battle = SeatBattle(f"battle-{format_id}-1", role, role, get_format(format_id).gen, format_id, random.Random(0))
    # A choice that the simulator refused (a trap that had not shown itself) was asked for again at once: the last counts.
    after = [*log[1:], ""]
    places = [at for at, line in enumerate(log) if line.startswith(_REQUEST) and not after[at].startswith(_REQUEST)]
    side_moments: list[Moment] = []
    since = 0
    for number, (place, end) in enumerate(zip(places, [*places[1:], len(log)], strict=True)):
        battle.feed([line for line in log[since:place] if not line.startswith(_REQUEST)])
        request = orjson.loads(log[place][len(_REQUEST) :])
        battle.ask(request)
        since = place + 1
        choice = choices[number] if number < len(choices) else None
        legal = [each.label for each in battle.legal]
        side_moments.append(Moment(request, facts(battle, request), choice, legal, log[since:end], battle.turn))
    return side_moments


def facts(battle: SeatBattle, request: dict[str, Any]) -> dict[str, Any]:
    """What is known at a request, by name; what is ours and was never shown is not among it."""
    own, other = battle.active_pokemon, battle.opponent_active_pokemon
    entries = {mon["ident"]: mon["condition"] for mon in request["side"]["pokemon"]}
    return {
        "turn": battle.turn,
        "field": (dict(battle.weather), dict(battle.fields)),
        "side conditions": (dict(battle.side_conditions), dict(battle.opponent_side_conditions)),
        "on the field": (own and own.species, other and other.species),
        "boosts": (own and own.boosts, other and other.boosts),
        "effects": (own and sorted(e.name for e in own.effects), other and sorted(e.name for e in other.effects)),
        "theirs": {
            ident: (mon.species, mon.current_hp, mon.status, sorted(mon.moves), mon.item, mon.ability)
            for ident, mon in battle.opponent_team.items()
        },
        "health": {ident: _share(condition) for ident, condition in entries.items()},
        "status": {ident: condition.partition(" ")[2] for ident, condition in entries.items()},
    }


def _share(condition: str) -> float:
    now, _, most = condition.partition(" ")[0].partition("/")
    return float(now) / float(most) if most else 0.0


def compare(record: BattleRecord, number: int) -> Tally:
    """A played battle beside what is reconstructed of it."""
    tally = Tally()
    sides = reconstruct(public(record, number))
    for seat, side in enumerate(sides):
        chosen = [row[4] for row in record.decisions if row[0] == seat]
        truth = moments(record.logs[seat], list(chosen), side.role, side.format_id)
        _compare_side(truth, moments(side.lines, side.choices, side.role, side.format_id), side, tally)
    return tally


def _compare_side(truth: list[Moment], ours: list[Moment], side: SideLog, tally: Tally) -> None:
    waiting = defaultdict(list)
    for moment in ours:
        waiting[_key(moment)].append(moment)
    for moment in truth:
        match = waiting[_key(moment)].pop(0) if waiting[_key(moment)] else None
        tally.note("asked", match is not None)
        if moment.choice is None:
            continue
        shows = revealed(moment, side.role)
        tally.note("revealed", shows)
        if shows:
            tally.note("right", match is not None and _same(match.choice, moment.choice))
        if match is None:
            continue
        if match.choice is not None:
            wrong = not _same(match.choice, moment.choice)
            tally.note("wrong", wrong)
            if wrong:
                tally.wrong.append(f"turn {moment.turn} {side.role}: chose {moment.choice}, found {match.choice}")
        elif shows:
            tally.wrong.append(f"turn {moment.turn} {side.role}: chose {moment.choice}, not found")
        _compare_facts(moment, match, side, tally)
    invented = sum(map(len, waiting.values()))
    tally.seen["asked for nothing"] += len(ours)
    tally.held["asked for nothing"] += invented
    if invented:
        tally.wrong.append(
            f"{side.role}: asked for nothing at {[_key(m) for remaining in waiting.values() for m in remaining]}"
        )


def _key(moment: Moment) -> tuple[int, str]:
    return moment.turn, next(kind for kind in ("active", "forceSwitch", "teamPreview") if moment.request.get(kind))


def _same(reconstructed: str | None, chosen: str) -> bool:
    """Whether two choices are one; of a team's order only the lead can be seen."""
    if reconstructed is not None and chosen.startswith("team "):
        return reconstructed[:6] == chosen[:6]
    return reconstructed == chosen


def revealed(moment: Moment, role: str) -> bool:
    """Whether a true choice can be read off the lines that follow it, judged with the truth at hand."""
    kind, name, *_ = f"{moment.choice} ".split(" ")
    stays = [label for label in moment.legal if not label.startswith("switch")]
    if kind == "team" or (
        kind == "move" and stays == [moment.choice] and "pp" not in moment.request["active"][0]["moves"][0]
    ):
        return True
    for line in moment.after:
        parts = line.split("|")
        if kind == "switch" and parts[1] == "switch" and parts[2].startswith(role):
            return True
        if kind == "move" and parts[1] == "move" and parts[2].startswith(role) and "[from]" not in line:
            return _id(parts[3]) == name or name.startswith("hiddenpower")
    return False


def _id(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _compare_facts(truth: Moment, ours: Moment, side: SideLog, tally: Tally) -> None:
    shown = {member.ident for member in side.team if member.shown}
    for name in ("turn", "field", "side conditions", "on the field", "boosts", "effects", "theirs"):
        tally.note(name, truth.facts[name] == ours.facts[name])
    for ident in shown:
        true, rebuilt = truth.facts["health"].get(ident), ours.facts["health"].get(ident)
        tally.note("health", true is not None and rebuilt is not None and abs(true - rebuilt) <= 0.02)
        tally.note("status", truth.facts["status"].get(ident) == ours.facts["status"].get(ident))
    if "active" in truth.request and "active" in ours.request:
        switches = [{w for w in moment.legal if w.startswith("switch")} for moment in (truth, ours)]
        tally.note("whether it may switch", bool(switches[0]) == bool(switches[1]))
        names = {w.split()[1] for w in truth.legal if w.startswith("move")}
        tally.note(
            "the number of legal moves", len(names) == len({w.split()[1] for w in ours.legal if w[:4] == "move"})
        )
        for move in names:
            tally.note("our moves", f"move {move}" in ours.legal)
        tally.note("all legal choices", set(truth.legal) == set(ours.legal))
        terastallize = [any(label.endswith("terastallize") for label in m.legal) for m in (truth, ours)]
        tally.note("whether it may terastallize", terastallize[0] == terastallize[1])


def report(format_id: str, tallies: list[Tally], show: int) -> None:
    drawn = np.random.default_rng(0).integers(len(tallies), size=(2000, len(tallies)))
    print(f"{format_id}: {len(tallies)} battles, {sum(t.seen['asked'] for t in tallies)} choices")
    names = list(dict.fromkeys(name for tally in tallies for name in tally.seen))
    for name in names:
        counts = np.array([[tally.held[name], tally.seen[name]] for tally in tallies])
        sums = counts[drawn].sum(axis=1)
        shares = sums[:, 0] / np.maximum(sums[:, 1], 1)
        low, high = np.quantile(shares, [0.025, 0.975])
        held, seen = counts.sum(axis=0)
        print(f"  {name:28} {held:6} of {seen:6}  {held / max(seen, 1):7.2%} [{low:.2%}, {high:.2%}]")
    for number, tally in enumerate(tallies):
        for problem in tally.wrong[: show if show > 0 else 0]:
            print(f"  battle {number}: {problem}")


def play(format_id: str, battles: int, seed: int, agents: tuple[str, ...]) -> list[BattleRecord]:
    plan = Plan(agents, load_pools((format_id,))[0], battles, seed)
    return asyncio.run(play_all(round_robin(plan), RULES))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--formats", nargs="+", default=["gen1ou", "gen4ou", "gen9ou"])
    parser.add_argument("--battles", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--agents", nargs="+", default=["heuristic:expert", "heuristic:emerald"])
    options = parser.parse_args()
    for format_id in options.formats:
        records = play(format_id, options.battles, options.seed, tuple(options.agents))
        report(format_id, [compare(record, number) for number, record in enumerate(records)], options.show)


if __name__ == "__main__":
    main()
