"""Plays written situations in gen9ou on stock Pokémon Showdown and on agents/engine/gen9, and compares every decision.

A situation has two small teams and what both sides choose. Nothing is expected of it but that both play the same: state,
legal choices, lines of the protocol and random draws, as gen9_parity.py compares them. They are data, by kind:
tests/agents/engine/gen9/scenarios/*.yaml. Exit code 1 at a difference; the first of each situation is shown.

    python scripts/parity/gen9_scenarios.py                       # all, with their own seeds
    python scripts/parity/gen9_scenarios.py abilities --only gas --seeds 40 --seed 7
    python scripts/parity/gen9_scenarios.py --after 20            # each goes on at random for 20 turns
    python scripts/parity/gen9_scenarios.py --coverage            # also: what acted, and what has no situation
    python scripts/parity/gen9_scenarios.py --until 500 --ledger parity9.jsonl   # again, until each has acted so often

A Pokémon is "species @item (ability) move move … | level=50 evs=hp252/spe252 nature=Jolly gender=F ivs=atk0 tera=Water".
A turn is "choice / choice", each a move's id (with " tera": its user terastallizes), "switch species", "send species" for
one that has to come in, or "." where that side is not asked; "x3" after it repeats it. In place of a choice that cannot be
made (an attack has missed, or knocked out) comes the first that can; "as written" counts the battles without one, of which
each situation needs at least one.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import engine_ledger
import engine_ranges
import gen9_coverage
import gen9_parity
import yaml
from engine_ledger import Counts, add_coverage

from agents.engine.gen9.library import announce, build, digest
from teamsets.errors import BadInput, MissingTool

FOLDER = Path(__file__).resolve().parents[2] / "tests/agents/engine/gen9/scenarios"
#: Files of situations, in the order of the table.
KINDS = (
    "abilities",
    "items",
    "moves",
    "field",
    "terastallization",
    "combinations",
    "ring3",
    "plain_moves",
    "showdown3",
)
#: Showdown's own tests that are not played, with the reason.
NOT_PLAYED = FOLDER / "not_played.yaml"
SEEDS = 4
#: Of --until: battles of a situation in a round, and of all situations that are kept at once.
ROUND, KEPT = 25, 500
_MEMBER = re.compile(
    r"(?P<species>\w+)(?: @(?P<item>\w+))? \((?P<ability>\w+)\) (?P<moves>[\w ]+?)(?: \| (?P<fields>.+))?"
)
_STATS = ("hp", "atk", "def", "spa", "spd", "spe")
_DEFAULTS = {"nature": "Serious", "evs": "", "gender": "", "ivs": "", "level": "", "tera": "Normal"}
_KEYS = {"name", "of", "showdown", "p1", "p2", "turns", "seeds", "differs"}


class Situation(NamedTuple):
    """A written situation.

    of: the ids that it is about; showdown: file of Showdown's tests -> how many of its situations it stands for; teams: both
    packed; turns: both sides' choices; seeds: how many battles; differs: what is known to differ, in a sentence.
    """

    kind: str
    name: str
    of: tuple[str, ...]
    showdown: dict[str, int]
    teams: tuple[str, str]
    turns: list[list[str]]
    seeds: int
    differs: str


class Manner(NamedTuple):
    """How situations are played. seed: of their draws; after: random turns after each; simulator: `stock` or `fast`."""

    seed: int = 1
    after: int = 0
    simulator: str = "stock"


PLAIN = Manner()


def _points(text: str, otherwise: str) -> str:
    """ "hp252/spe4" as six numbers with commas between them."""
    given = dict(re.findall(r"([a-z]+)(\d+)", text))
    if given.keys() - set(_STATS) or "/".join(map("".join, given.items())) != text:
        raise BadInput(f"'{text}': the stats are {' '.join(_STATS)}, as in hp252/spe4.")
    return ",".join(given.get(stat, otherwise) for stat in _STATS)


def packed(member: str) -> str:
    """A Pokémon of a situation as Showdown packs it. Raises BadInput for a text that is none."""
    found = _MEMBER.fullmatch(member)
    fields = dict(field.split("=", 1) for field in ((found and found["fields"]) or "").split())
    if not found or fields.keys() - _DEFAULTS.keys():
        raise BadInput(
            f"'{member}' is no Pokémon: species @item (ability) move move | {' '.join(_DEFAULTS)}, each as key=value."
        )
    of = _DEFAULTS | fields
    evs = _points(of["evs"], "0") if of["evs"] else ",".join(["84"] * 6)
    moves = ",".join(found["moves"].split())
    head = f"{found['species']}||{found['item'] or ''}|{found['ability']}|{moves}|{of['nature']}|{evs}"
    return f"{head}|{of['gender']}|{_points(of['ivs'], '31')}||{of['level']}|,,,,,{of['tera']}"


def turns_of(lines: Sequence[str]) -> list[list[str]]:
    """Both sides' choices by turn. Raises BadInput for a line that is no turn."""
    turns = []
    for line in lines:
        found = re.fullmatch(r"(\S.*?) / (\S.*?)(?: x(\d+))?", str(line))
        if not found:
            raise BadInput(f"'{line}' is no turn: 'surf / switch toxapex', '. / recover x3'.")
        turns += [[found[1], found[2]]] * int(found[3] or 1)
    return turns


def _team(members: str | list[str]) -> str:
    return "]".join(map(packed, [members] if isinstance(members, str) else members))


def _counts(listed: str | list[str]) -> dict[str, int]:
    """ "moves/haze" or "moves/haze x2", or a list of these."""
    parts = [entry.partition(" x") for entry in ([listed] if isinstance(listed, str) else listed)]
    return {name: int(times or 1) for name, _, times in parts}


def situation(kind: str, entry: dict[str, Any]) -> Situation:
    """A situation of a file. Raises BadInput with its name for what is none."""
    name = entry.get("name", "?")
    if entry.keys() - _KEYS or not {"name", "of", "p1", "p2", "turns"} <= entry.keys():
        raise BadInput(f"{kind}.yaml, {name}: the keys are {', '.join(sorted(_KEYS))}.")
    known = {id for ids in gen9_parity.NUMBERS.values() for id in ids}
    strange = set(entry["of"].split()) - known
    if strange:
        raise BadInput(f"{kind}.yaml, {name}: the engine knows no {' '.join(sorted(strange))}.")
    try:
        teams, turns = (_team(entry["p1"]), _team(entry["p2"])), turns_of(entry["turns"])
    except BadInput as error:
        raise BadInput(f"{kind}.yaml, {name}: {error}") from error
    rest = entry.get("seeds", SEEDS), entry.get("differs", "")
    return Situation(kind, name, tuple(entry["of"].split()), _counts(entry.get("showdown", [])), teams, turns, *rest)


@functools.cache
def _read(path: Path) -> Any:
    return yaml.load(path.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def situations(kinds: Sequence[str] = KINDS) -> list[Situation]:
    """The situations of files, in their order. Raises BadInput for what is none, and for a name that stands twice."""
    found = [situation(kind, entry) for kind in kinds for entry in _read(FOLDER / f"{kind}.yaml")]
    twice = [name for name, times in Counter(one.name for one in found).items() if times > 1]
    if twice:
        raise BadInput(f"two situations are called '{twice[0]}': give one another name.")
    return found


def _options(chosen: Sequence[tuple[Situation, int]], how: Manner) -> dict[str, Any]:
    """Options of the oracle for situations, each with the number of one of its seeds."""
    digests = [hashlib.sha256(f"{how.seed} {one.name} {number}".encode()).hexdigest()[:16] for one, number in chosen]
    scripts = [{"seed": f"gen5,{hexed}", "turns": one.turns} for hexed, (one, _) in zip(digests, chosen, strict=True)]
    return {
        "seed": how.seed,
        "first": 0,
        "battles": len(chosen),
        "pairs": [one.teams for one, _ in chosen],
        "scripts": scripts,
        "after": how.after,
        "simulator": how.simulator,
    }


class Result(NamedTuple):
    """What became of a situation: battles, decisions, battles as written, that differ; in words what its first battle could
    not do, and the first difference; the ids that acted, where the library counts."""

    battles: int
    decisions: int
    written: int
    different: int
    other: str
    shown: str
    acted: frozenset[str]

    def plus(self, more: Result) -> Result:
        """Both together."""
        return Result(
            battles=self.battles + more.battles,
            decisions=self.decisions + more.decisions,
            written=self.written + more.written,
            different=self.different + more.different,
            other=self.other or more.other,
            shown=self.shown or more.shown,
            acted=self.acted | more.acted,
        )


def play(
    chosen: Sequence[Situation],
    how: Manner = PLAIN,
    seeds: int | None = None,
    total: Counts | None = None,
) -> tuple[list[Result], list[str]]:
    """Plays situations on both sides.

    seeds: battles of each, None: as many as it asks for; total: counts are added to it.
    Returns a result each, and what Showdown keeps and nothing is compared with.
    """
    runs = [(one, number) for one in chosen for number in range(seeds or one.seeds)]
    battles = gen9_parity.oracle(_options(runs, how))
    unread = [] if "decisions" in battles[-1] else battles.pop()["unread"]
    results, begin = [], 0
    for one in chosen:
        end = begin + (seeds or one.seeds)
        results.append(_result(battles[begin:end], [_options([run], how) for run in runs[begin:end]], total))
        begin = end
    return results, unread


def _acted(total: Counts) -> dict[str, int]:
    """How often each ability, item and move has acted, without those that cannot or that are idle."""
    return {
        id: times
        for kind in ("abilities", "items", "moves")
        for id in gen9_parity.gen9_teams.played()[kind]
        if id not in gen9_coverage.IMPOSSIBLE
        and not gen9_coverage.is_idle(kind, id, times := total.get(kind, {}).get(id, [0, 0])[1])
    }


def _seldom(total: Counts, bar: int) -> dict[str, int]:
    """Those of `_acted` that acted fewer than `bar` times, each with how often."""
    return {id: times for id, times in _acted(total).items() if times < bar}


def play_until(
    listed: Sequence[Situation], bar: int, how: Manner, total: Counts
) -> tuple[dict[str, Result], list[str]]:
    """Plays situations with ever new draws until what they are about has acted `bar` times, or does not act any more.

    total: what acted before, to which all is added. Returns a result for each situation that was played, by its name, and
    what Showdown keeps and nothing is compared with.
    """
    results: dict[str, Result] = {}
    unread: set[str] = set()
    wanted = _seldom(total, bar)
    while True:
        chosen = [one for one in listed if wanted.keys() & set(one.of)]
        for first in range(0, len(chosen), KEPT // ROUND):
            part = chosen[first : first + KEPT // ROUND]
            played, uncompared = play(part, how, ROUND, total)
            unread.update(uncompared)
            for situation, result in zip(part, played, strict=True):
                name = situation.name
                results[name] = results[name].plus(result) if name in results else result
        now = _seldom(total, bar)
        wanted = {id: now[id] for id, before in wanted.items() if now.get(id, 0) > before}
        how = how._replace(seed=how.seed + 1)
        if not wanted:
            return results, sorted(unread)


def reached(listed: Sequence[Situation], bar: int, total: Counts) -> str:
    """Which of the abilities, items and moves that situations are about have acted `bar` times, and which have not."""
    about = {id for situation in listed for id in situation.of}
    acted = {id: times for id, times in _acted(total).items() if id in about}
    seldom = [f"{id} {times}" for id, times in sorted(acted.items()) if times < bar]
    return (
        f"{len(acted) - len(seldom)} of {len(acted)} acted {bar} times or more; given up: {', '.join(seldom) or 'none'}"
    )


def counted_in(ledger: Path) -> Counts:
    """What acted in the ranges of a ledger that were played on the engine as it is. Raises BadInput where there are none."""
    if not ledger.is_file():
        raise BadInput(f"--ledger {ledger}: no such file.")
    total: Counts = {}
    for record in engine_ledger.read(ledger).values():
        if record["engine"] == digest() and "coverage" in record:
            add_coverage(total, record["coverage"])
    if not total:
        raise BadInput(f"--ledger {ledger}: no range with --coverage was played on the engine as it is ({digest()}).")
    return total


def _result(battles: list[dict[str, Any]], options: list[dict[str, Any]], total: Counts | None) -> Result:
    """Compares the battles of a situation. options: by which the oracle plays each alone."""
    different, shown = gen9_parity.compare(battles), ""
    counted = {} if total is None else gen9_coverage.counts()
    if total is not None:
        add_coverage(total, counted)
    if different:
        first = min(different)
        shown = gen9_parity.explain(options[first], {**battles[first], "index": 0}, different[first])
    return Result(
        battles=len(battles),
        decisions=sum(len(battle["decisions"]) for battle in battles),
        written=sum(not battle["other"] for battle in battles),
        different=len(different),
        other="; ".join(battles[0]["other"]),
        shown=shown,
        acted=frozenset(name.split()[0] for of in counted.values() for name, (_, times) in of.items() if times),
    )


def table(chosen: Sequence[Situation], results: Sequence[Result]) -> str:
    """What was played by kind, as a Markdown table."""
    lines = [
        "| kind | situations | battles | as written | decision points | situations that differ | known to differ |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind in (*KINDS, "all"):
        of = [n for n, one in enumerate(chosen) if kind in (one.kind, "all")]
        if of:
            sums = [sum(getattr(results[n], name) for n in of) for name in ("battles", "written", "decisions")]
            differ = sum(results[n].different > 0 for n in of)
            known = sum(bool(chosen[n].differs) for n in of)
            lines.append(
                f"| {kind} | {len(of):,} | {' | '.join(f'{number:,}' for number in sums)} | {differ} | {known} |"
            )
    return "\n".join(lines)


def without(chosen: Sequence[Situation]) -> str:
    """The abilities, items and moves of the rings that no situation is about."""
    about = {id for one in chosen for id in one.of}
    lines = []
    for kind in ("abilities", "items", "moves"):
        ids = gen9_parity.gen9_teams.played()[kind]
        none = [id for id in ids if id not in about]
        lines.append(f"{len(ids) - len(none)} of {len(ids)} {kind} have a situation; none: {', '.join(none) or '–'}")
    return "\n".join(lines)


def showdowns() -> str:
    """How many situations of Showdown's own tests are played, and why the others are not."""
    played: Counter[str] = Counter()
    for one in situations():
        played.update(one.showdown)
    listed = _read(NOT_PLAYED)
    reasons: Counter[str] = Counter()
    for counts in listed["files"].values():
        reasons.update(counts)
    total = played.total() + reasons.total()
    lines = [f"Showdown's own tests ({listed['commit'][:12]}): {total:,} situations, {played.total():,} of them played"]
    return "\n".join(
        [*lines, *(f"  {count:,}: {listed['reasons'][reason]}" for reason, count in reasons.most_common())]
    )


def idle(chosen: Sequence[Situation], results: Sequence[Result]) -> str:
    """The ids that acted in none of the situations that are about them."""
    about = {id for one in chosen for id in one.of}
    acted = {id for one, result in zip(chosen, results, strict=True) for id in one.of if id in result.acted}
    return ", ".join(sorted(about - acted)) or "none"


def main() -> int:
    """Returns the exit code: 1 at a difference that is not known, or where a situation was never played as written."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", help=f"files: {', '.join(KINDS)}; all without one")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="situations with this text in their name, or about this id"
    )
    parser.add_argument("--seeds", type=int, help=f"battles of each; without it as many as it says, else {SEEDS}")
    parser.add_argument("--seed", type=int, default=1, help="another number plays each with other random draws")
    parser.add_argument("--after", type=int, default=0, help="random turns after each situation")
    parser.add_argument("--coverage", action="store_true", help="count what acted (compiles a library that counts)")
    parser.add_argument(
        "--until",
        type=int,
        default=0,
        metavar="N",
        help="on with other random draws until what each is about has acted N times",
    )
    engine_ranges.add_simulator(parser)
    parser.add_argument("--ledger", type=Path, help="of gen9_parity.py: what acted there counts for --until")
    arguments = parser.parse_args()
    try:
        engine_ranges.check_least(arguments, seeds=1, after=0, until=0)
        if arguments.ledger and not arguments.until:
            raise BadInput("--ledger: what acted there counts for --until alone: add it.")
        if set(arguments.kinds) - set(KINDS):
            raise BadInput(f"{' '.join(arguments.kinds)}: the kinds are {', '.join(KINDS)}.")
        listed = situations(arguments.kinds or KINDS)
        chosen = [one for one in listed if arguments.only.lower() in one.name.lower() or arguments.only in one.of]
        if not chosen:
            raise BadInput(f"--only {arguments.only}: no situation is called so or is about it.")
        how = Manner(arguments.seed, arguments.after, arguments.simulator)
        total: Counts | None = {} if arguments.coverage or arguments.until else None
        if total is not None:
            gen9_coverage.compile_counting()
        build(say=announce)
        listed = chosen
        if arguments.until:
            total = counted_in(arguments.ledger) if arguments.ledger else {}
            by_name, unread = play_until(listed, arguments.until, how, total)
            chosen = [one for one in listed if one.name in by_name]
            results = [by_name[one.name] for one in chosen]
        else:
            results, unread = play(chosen, how, arguments.seeds, total)
    except (BadInput, MissingTool) as error:
        print(f"gen9_scenarios: {error}", file=sys.stderr)
        return 2
    failed = bool(unread)
    for one, result in zip(chosen, results, strict=True):
        if result.different:
            failed |= not one.differs
            print(
                f"{one.kind}: {one.name}: {result.different} of {result.battles} differ. {one.differs}\n{result.shown}\n"
            )
        elif one.differs:
            failed = True
            print(f"{one.kind}: {one.name}: differs no longer; take its line 'differs' out\n")
        if not result.written and not arguments.seeds and not arguments.until:
            failed = True
            print(f"{one.kind}: {one.name}: in none of {result.battles} battles as written: {result.other}\n")
    print(table(chosen, results))
    if len(chosen) == len(situations()):
        print(f"\n{without(chosen)}\n\n{showdowns()}")
    if unread:
        print(f"\nShowdown keeps what is compared with nothing: {', '.join(unread)}")
    if total is not None and arguments.until:
        print(f"\n{reached(listed, arguments.until, total)}")
    if total is not None and arguments.coverage:
        print(f"\nActed in no situation that is about them: {idle(chosen, results)}\n\n{gen9_coverage.report(total)}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
