"""Proves that what a replay is said to show is true: reconstructed choices and requests, against those of the battle.

Node plays battles on stock Pokémon Showdown. Of each, both sides are reconstructed (arena/replays) from what a replay has,
the lines for spectators, and compared with what the players truly were asked and chose. Differences, by kind:

- `wrong choice`: one that is called certain, and is another than the true one;
- `wrong lock`: a request with a single move ("recharge", the second turn of Outrage) where there was a choice, or with
  another move;
- `wrong trap`: a request that allows no switch where the true one does;
- `wrong move`: a move is disabled that could be chosen. Neither counts where item or ability was drawn and is not the true
  one, for they lock and free;
- `invented request`, `missed request`: the player was not asked there, or was;
- `refused`: a replay is refused.

Battles with a Pokémon of the ability Illusion are left out and counted.

The first difference is shown with the lines after the decision. Exit code 1 at a difference. The counts of certain and
uncertain choices are printed: where nothing is called certain, nothing is wrong.

    python scripts/parity/replay_parity.py gen4randombattle --battles 1000 --seed 1
    python scripts/parity/replay_parity.py gen4 --teams any --battles 1000 --policy rare --all
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import difflib
import itertools
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import orjson

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from state_parity import add_playing_options, chunks, format_of, oracle, playing_options

from agents.battle.choices import legal_choices
from agents.battle.joint_choices import slot_choices, stored_labels
from arena.replays.doubles.requests import UNKNOWN
from arena.replays.reading import UnusableReplay, public_battle
from arena.replays.reconstruction import SideLog, reconstruct
from teamsets.errors import BadInput
from teamsets.formats import is_doubles
from teamsets.loading import load_set

ORACLE = Path(__file__).parent / "replay_oracle.mjs"
#: Battles that one Node process plays.
CHUNK = 200
_REQUEST = "|request|"
_ILLUSION = "illusion"
#: Types into which Ogerpon terastallizes.
_OGERPON = ("Fire", "Grass", "Rock", "Water")
_SHOWN = 24


class Difference(NamedTuple):
    """A difference and where it is. after: the lines from shortly before the decision on."""

    kind: str
    battle: int
    role: str
    turn: int
    ours: object
    true: object
    after: tuple[str, ...]


@dataclass
class Tally:
    """What was compared. counts: battles, refused, decisions, certain, uncertain, and differences by kind."""

    counts: collections.Counter[str] = field(default_factory=collections.Counter)
    differences: list[Difference] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Count another one's battles too."""
        self.counts += other.counts
        self.differences += other.differences


class Decision(NamedTuple):
    """A request and the choice made. at: number of the battle's lines before it. foes: in doubles, which slots stand."""

    turn: int
    at: int
    request: dict[str, Any]
    choice: str | None
    foes: tuple[bool, ...] = ()

    @property
    def kind(self) -> str:
        """Return what the request asks for."""
        kinds = ("teamPreview", "forceSwitch", "active")
        return next(kind for kind in kinds if self.request.get(kind))


def compare(played: dict[str, Any], format_id: str) -> Tally:
    """Reconstruct a battle and compare both sides with the truth."""
    tally = Tally(collections.Counter(battles=1))
    lines = played["log"]
    if any(mon["baseAbility"] == _ILLUSION for each in played["asked"] for mon in each["ask"]["side"]["pokemon"]):
        tally.counts["with Illusion"] += 1  # while it holds, nothing tells who is on the field
        return tally
    try:
        sides = reconstruct(public_battle("\n".join(lines), f"{format_id}-{played['index'] + 1}"))
    except UnusableReplay as error:
        tally.counts["refused"] += 1
        tally.counts[f"refused: {error}"] += 1
        tally.differences.append(Difference("refused", played["index"], "", 0, str(error), "", ()))
        return tally
    turns = list(itertools.accumulate((line.startswith("|turn|") for line in lines), initial=0))
    for side in sides:
        true = [_true(each, turns[each["at"]]) for each in played["asked"] if each["role"] == side.role]
        _compare_side(side, true, lines, played["index"], tally)
    return tally


def _true(recorded: dict[str, Any], turn: int) -> Decision:
    request = recorded["ask"]
    if "foes" in recorded:
        return Decision(
            turn, recorded["at"], request, _joint_label(recorded["choice"], request), tuple(recorded["foes"])
        )
    label = next((c.label for c in legal_choices(request) if c.wire == recorded["choice"]), recorded["choice"])
    label = label and _without_ignored(label, request["side"]["pokemon"][0])
    return Decision(turn, recorded["at"], request, label)


def _joint_label(choice: str | None, request: dict[str, Any]) -> str | None:
    """The label of a choice of two slots in the simulator's words, in which switches have numbers."""
    if choice is None:
        return None
    names = {c.wire: c.label for slot in slot_choices(request)[:2] for c in slot if c.kind == "switch"}
    members = request["side"]["pokemon"]
    halves = zip(choice.split(", "), members, strict=False)
    return ", ".join(_without_ignored(names.get(half, half), member) for half, member in halves)


def _without_ignored(label: str, active: dict[str, Any]) -> str:
    """A choice without a Terastallization that Showdown ignores, without a line: of an Ogerpon with a type of others."""
    ignored = active["details"].startswith("Ogerpon") and active.get("teraType") not in _OGERPON
    return label.removesuffix(" terastallize") if ignored else label


def _reconstructed(side: SideLog, lines: list[str]) -> Iterator[Decision]:
    turn = 0
    choices = iter(side.choices)
    for line in side.lines:
        turn += line.startswith("|turn|")
        if line.startswith(_REQUEST):
            yield Decision(turn, 0, orjson.loads(line[len(_REQUEST) :]), next(choices))


def _compare_side(side: SideLog, true: list[Decision], lines: list[str], battle: int, tally: Tally) -> None:
    def differs(kind: str, at: int, turn: int, ours: object, truth: object) -> None:
        after = tuple(line for line in lines[max(0, at - 3) : at + _SHOWN] if not line.startswith("|t:|"))
        tally.counts[kind] += 1
        tally.differences.append(Difference(kind, battle, side.role, turn, ours, truth, after))

    reconstructed = list(_reconstructed(side, lines))
    keys = [[(each.turn, each.kind) for each in decisions] for decisions in (reconstructed, true)]
    for tag, i, j, k, m in difflib.SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
        if tag == "equal":
            for ours, truth in zip(reconstructed[i:j], true[k:m], strict=True):
                tally.counts["decisions"] += 1
                tally.counts["certain" if ours.choice is not None else "uncertain"] += 1
                for kind, seen, real in _differences(side, ours, truth):
                    differs(kind, truth.at, truth.turn, seen, real)
            continue
        for ours in reconstructed[i:j]:
            at = next((n for n, line in enumerate(lines) if line == f"|turn|{ours.turn}"), 0)
            differs("invented request", at, ours.turn, ours.kind, "")
        for truth in true[k:m]:
            differs("missed request", truth.at, truth.turn, "", truth.kind)


def _differences(side: SideLog, ours: Decision, truth: Decision) -> Iterator[tuple[str, object, object]]:
    """Yield (kind, ours, true) of a decision that both have."""
    if is_doubles(side.format_id):
        yield from _doubles_differences(ours, truth)
        return
    if ours.choice is not None and not _same(ours.choice, truth.choice):
        yield "wrong choice", ours.choice, truth.choice
    if truth.kind != "active":
        return
    active, real = ours.request["active"][0], truth.request["active"][0]
    listed, possible = ({m["id"] for m in each["moves"] if not m.get("disabled")} for each in (active, real))
    if len(active["moves"]) == 1 and "pp" not in active["moves"][0]:
        if possible != listed:
            yield "wrong lock", sorted(listed), sorted(possible)
        return
    if _drawn(ours) != _drawn(truth):
        return
    if active.get("trapped") and any(choice.kind == "switch" for choice in legal_choices(truth.request)):
        yield "wrong trap", "trapped", "free"
    if len(real["moves"]) == 1 and "pp" not in real["moves"][0]:
        return
    disabled = {m["id"] for m in active["moves"] if m.get("disabled")}
    if disabled & possible:
        yield "wrong move", sorted(disabled & possible), sorted(possible)


def _doubles_differences(ours: Decision, truth: Decision) -> Iterator[tuple[str, object, object]]:
    """Yield the slots whose choice is another, and the requests that forbid what was chosen."""
    if truth.choice is None:
        if ours.choice is not None:
            yield "wrong choice", ours.choice, truth.choice
        return
    if truth.kind == "teamPreview":
        given, real = ((each or "team ").removeprefix("team ") for each in (ours.choice, truth.choice))
        if given and (given[:2] != real[:2] or not set(given) <= set(real)):
            yield "wrong choice", ours.choice, truth.choice
        return
    labels = stored_labels(ours.request, doubles=True)
    pairs = zip("ab", (ours.choice or "?, ?").split(", "), truth.choice.split(", "), strict=True)
    possible = stored_labels(truth.request, doubles=True)
    for letter, half, real in pairs:
        if f"{letter}: {real}" not in possible and (half.startswith(real) or real.startswith(half)):
            continue  # Showdown's own default names no target, and it notes one for a move that goes on
        if half not in (UNKNOWN, real) and half != _led_elsewhere(real, truth.foes):
            yield "wrong choice", ours.choice, truth.choice
        if half != UNKNOWN and f"{letter}: {half}" not in labels:
            yield "choice that its request forbids", half, labels


def _led_elsewhere(choice: str, foes: tuple[bool, ...]) -> str:
    """A choice that names the empty slot of two, as one that names the other: they do the same."""
    parts = choice.split(" ")
    for place, word in enumerate(("+1", "+2")):
        if word in parts and not foes[place] and foes[1 - place]:
            parts[parts.index(word)] = "+2" if word == "+1" else "+1"
    return " ".join(parts)


def _drawn(decision: Decision) -> tuple[str, str]:
    active = decision.request["side"]["pokemon"][0]
    return active["item"], active["baseAbility"]


def _same(reconstructed: str, chosen: str | None) -> bool:
    """Whether two choices are one; of a team's order only the lead can be seen."""
    if chosen is not None and chosen.startswith("team "):
        return reconstructed[:6] == chosen[:6]
    return reconstructed == chosen


def run_chunk(options: dict[str, Any]) -> Tally:
    """Play and compare the battles of one Node process."""
    tally = Tally()
    for played in oracle(options, ORACLE):
        tally.add(compare(played, options["format"]))
    return tally


def explain(difference: Difference, options: dict[str, Any]) -> str:
    """Return a difference in words, with the lines after the decision."""
    where = f"{options['format']} seed {options['seed']} battle {difference.battle} {difference.role} turn {difference.turn}"
    return "\n".join([f"{where}: {difference.kind}: {difference.ours}, true {difference.true}", *difference.after])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("format", help="gen1randombattle … gen9randombattle; with --teams any: gen1 … gen9")
    add_playing_options(parser)
    parser.add_argument("--set", default="competitive", metavar="SET", help="in doubles: the team set that is played")
    parser.add_argument("--show", type=int, default=1, metavar="N", help="with --all: N examples of each kind")
    arguments = parser.parse_args()
    started = time.monotonic()
    try:
        gen, format_id = format_of(arguments.format, arguments.teams)
    except BadInput as error:
        print(f"replay_parity: {error}", file=sys.stderr)
        return 2
    options = playing_options(arguments, gen, format_id)
    if is_doubles(format_id) and arguments.teams != "any":
        options["packed"] = [team.packed for team in load_set(arguments.set, format_id).teams]
    tally = Tally()
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        for part in pool.map(run_chunk, chunks(options, arguments, CHUNK)):
            part.differences = [each for each in part.differences if arguments.only in each.kind]
            tally.add(part)
            if tally.differences and not arguments.all:
                pool.shutdown(wait=False, cancel_futures=True)
                break
    shown: collections.Counter[str] = collections.Counter()
    for difference in tally.differences:
        shown[difference.kind] += 1
        if shown[difference.kind] <= (arguments.show if arguments.all else len(shown) == 1):
            print(explain(difference, options), end="\n\n")
    for name, count in tally.counts.items():
        print(f"{count:9,} {name}")
    print(
        f"{format_id}, teams {arguments.teams}, policy {arguments.policy}: {arguments.battles} battles, "
        f"{len(tally.differences):,} differences ({time.monotonic() - started:.0f} s)"
    )
    return 1 if tally.differences else 0


if __name__ == "__main__":
    sys.exit(main())
