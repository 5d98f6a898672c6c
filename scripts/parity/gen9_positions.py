"""Compares the positions that `search:exact` builds in gen9ou with the engine's own rows, word by word.

Battles are played as in gen9_parity.py. At each decision of each seat a position is built from what the seat has been shown
(its lines and its request) and the opponent's true sets. All words must be those of the engine's row, but those that are
listed here: what no player is shown (HIDDEN), and what is not read again before it is written (UNREAD). Exit code 1 at a
difference. Battles in which Pokémon of a team have the same name are left out: by the log alone nobody can tell them apart.

    python scripts/parity/gen9_positions.py --battles 100 --seed 1 --teams ring2 --policy rare

--teams, --policy: as of gen9_parity.py.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gen9_parity
import numpy as np
from engine_ranges import Battle
from gen9_state import Columns, shown

from agents.engine.gen9.engine import Engine, records
from agents.engine.gen9.log import for_seat
from agents.engine.gen9.requests import Team, members_of, request
from agents.engine.gen9.teams import NUMBERS
from agents.search.exact.gen9.battle_log import BattleLog
from agents.search.exact.gen9.position import FALSE, PENDING, Known, Root, position

#: What no player is shown, and what stands in its place.
HIDDEN = {
    "seed": "each iteration draws its own",
    "queueLength": "what the opponent chose and has not done yet is drawn by each iteration",
    "statusState.counter of slp": "turns of sleep left: drawn by each iteration, given the turns slept",
    "statusState.extra of slp": "as its counter",
    "volatiles.counter of confusion": "turns left: drawn by each iteration, given the turns so far",
    "volatiles.counter of lockedmove": "turns left of a rampage: drawn, given the turns so far",
    "volatiles.duration of partiallytrapped": "5 or 6 turns: drawn, given the turns so far",
    "volatiles.counter of substitute": "its HP: halved by each hit that it took",
    "volatiles of chillyreception": "begins before others act, shown when its user moves",
    "volatiles of mirrorcoat": "begins before others act, shown when its user moves",
    "hp": "the opponent's: from percent, which must be the same; of one that regenerated on the bench within 1",
}
#: What is written before it is read again, or read for the log's lines alone.
UNREAD = {
    "moveSlots.used": "read by nothing",
    "lastMove of the row": "read by nothing",
    "lastSuccessfulMoveThisTurn": "read by nothing",
    "moveThisTurn": "read by nothing",
    "lastMoveUsed": "read by nothing",
    "lastItem": "read by nothing",
    "ateBerry": "read by nothing",
    "timesAttacked": "read by nothing: Rage Fist is not played",
    "previouslySwitchedIn": "read by nothing",
    "faintedThisTurn": "read by nothing",
    "faintedLastTurn": "read by nothing",
    "statusState.source": "read by nothing",
    "conditions.source": "read by nothing",
    "conditions.sourceSlot": "read by nothing",
    "volatiles.source": "read by nothing, but of partiallytrapped and trapped",
    "volatiles.sourceSlot": "as source",
    "sourceEffect": "names causes in the log's lines",
    "apparentTypes": "for the log's lines",
    "moveThisTurnResult": "becomes moveLastTurnResult, of which is read whether it is FALSE",
    "moveLastTurnResult": "compared in that",
    "lastMoveTargetLoc": "read for a charging move alone, for which it is compared",
    "hurtThisTurn": "read within the attack that wrote it",
    "attackedBy": "of this turn by whom; the rest is read within the attack that wrote it",
    "abilityState.counter of berserk": "read within the attack that wrote it",
    "speed": "renewed as the next choices are made",
    "effectOrder": "orders what began at the same event; as far as shown in the log's order",
    "pendingStaleness": "for the clause on endless battles",
    "volatileStaleness": "for the clause on endless battles",
    "disabled, trapped, maybe… of a Pokémon that is not asked for a move": "renewed at the end of the turn",
    "…ThisTurn of a Pokémon that is not out": "renewed as it comes in",
    "statusState.counter of a Pokémon with tox that is not out": "0 as it comes in",
}
_ANYWHERE = re.compile(
    r"(^seed\.\d|^queueLength|^lastMove|^lastSuccessfulMoveThisTurn|\.used|\.moveThisTurn|\.lastMoveUsed|\.lastItem|\.ateBerry|"
    r"\.timesAttacked|\.previouslySwitchedIn|\.fainted(This|Last)Turn|\.statusState\.source|\.conditions\.\d+\.source(Slot)?|"
    r"[sS]ourceEffect|\.apparentTypes\.\d|\.moveThisTurnResult|\.hurtThisTurn|\.attackedBy(Count|\..*)|\.speed|ffectOrder|"
    r"\.pendingStaleness|\.volatileStaleness)$"
)
_MEMBER = re.compile(r"(sides\.\d\.pokemon\.\d\.)(.*)$")
_VOLATILE = re.compile(r"(sides\.\d\.active\.0\.)volatiles\.(\d+)\.(.*)$")
_OF_ASKED = ("disabled", "trapped", "maybeTrapped", "maybeDisabled", "maybeLocked")
_DRAWN = {
    ("confusion", "counter"),
    ("lockedmove", "counter"),
    ("partiallytrapped", "duration"),
    ("substitute", "counter"),
}
_SOURCES_READ = ("partiallytrapped", "trapped")
_CONDITIONS = {number: name for name, number in NUMBERS["conditions"].items()}
_CHOSEN_BEFORE = ("chillyreception", "mirrorcoat")
_TWO_TURNS = NUMBERS["conditions"]["twoturnmove"]
_MOVE_ACTION = 9
COLUMNS = Columns()
_PLACES = {name: place for place, name in enumerate(COLUMNS.names)}


@dataclass(frozen=True)
class Decision:
    """A seat's decision: the engine's true row [WORDS], and the position built for it."""

    battle: int
    number: int
    seat: int
    true: Any
    root: Root
    switching: bool


def decisions(battle: Battle) -> Iterator[Decision]:
    """A battle's decisions, with their positions."""
    teams = battle["teams"][0], battle["teams"][1]
    engine = Engine(1)
    before = records(engine.previewed([teams], [battle["seed"]]))[0]
    entries = [Team(packed, seat) for seat, packed in enumerate(teams)]
    known = Known(teams, tuple([member.name for member in members_of(packed)] for packed in teams))  # type: ignore[arg-type]
    logs, lines = [BattleLog(), BattleLog()], [list[list[str]](), list[list[str]]()]
    for seat, log in enumerate(logs):
        log.follow([], {"side": entries[seat].request(before["sides"][seat])})
    engine.record(0)
    engine.reset([teams], [battle["seed"]], orders=[battle["orders"]])
    for number, decision in enumerate(battle["decisions"]):
        written, locked = engine.lines(0), engine.locked(np.array([0]))[0, :, 0].tolist()
        for seat in range(2):
            lines[seat] += [line.split("|") for line in for_seat(written, seat)]
            seat_request = request(records(engine.words)[0]["sides"][seat], entries[seat], locked[seat])
            if decision[1 + seat] and seat_request is not None:
                logs[seat].follow(lines[seat], seat_request)
                root = position(logs[seat], seat, seat_request, known)
                yield Decision(
                    battle["index"], number, seat, engine.words[0].copy(), root, "forceSwitch" in seat_request
                )
        engine.step(np.array([[[decision[3], 0], [decision[4], 0]]], np.int32))


def _percent(hp: int, most: int) -> int:
    percent = (100 * hp + most - 1) // most
    return 99 if percent == 100 and hp < most else percent


def _without_the_unshown(side: Any) -> None:
    """Takes the volatiles out that begin before their user's move is shown."""
    active = side["active"][0]
    kept = [
        v.copy() for v in active["volatiles"][: active["volatileCount"]] if _CONDITIONS[v["id"]] not in _CHOSEN_BEFORE
    ]
    active["volatiles"] = 0
    active["volatileCount"] = len(kept)
    for place, volatile in enumerate(kept):
        active["volatiles"][place] = volatile


def unequal(decision: Decision) -> list[str]:
    """What differs though it is in neither list: "sides.0.pokemon.3.item: 123 (leftovers), built 0"."""
    true, built = decision.true.copy(), decision.root.row.copy()
    for words in (true, built):
        for side in records(words[None])[0]["sides"]:
            _without_the_unshown(side)
    ours, theirs = COLUMNS.of(built[None])[0], COLUMNS.of(true[None])[0]
    wrong = [
        f"{name}: {shown(name, int(theirs[place]), NUMBERS)}, built {shown(name, int(ours[place]), NUMBERS)}"
        for name, place in ((COLUMNS.names[n], int(n)) for n in np.flatnonzero(ours != theirs))
        if not _listed(decision, name, theirs, ours)
    ]
    row, foe = records(true[None])[0], 1 - decision.seat
    for seat, side in enumerate(row["sides"]):
        if decision.switching and side["pokemon"]["isActive"].any():
            sources = [
                {
                    int(a["source"])
                    for a in records(words[None])[0]["sides"][seat]["active"][0]["attackedBy"]
                    if a["thisTurn"] and a["damage"] > 0
                }
                for words in (true, built)
            ]
            if sources[0] != sources[1]:
                wrong.append(f"sides.{seat}: attacked in this turn by {sources[0]}, built {sources[1]}")
    waits = row["sides"][foe]["pokemon"]["isActive"].any() and any(
        action["choice"] == _MOVE_ACTION and (action["pokemon"] - 1) // 6 == foe
        for action in row["queue"][: row["queueLength"]]
    )
    if waits != (decision.root.hidden[foe, PENDING] == 1):
        wrong.append(f"whether the opponent is still to move: {waits}")
    return wrong


def _listed(decision: Decision, name: str, true: Any, built: Any) -> bool:
    """Whether a word that differs is one of HIDDEN or UNREAD."""
    if _ANYWHERE.search(name):
        return True
    place = _PLACES[name]
    if name.endswith("moveLastTurnResult"):
        return bool((true[place] == FALSE) == (built[place] == FALSE))
    volatile = _VOLATILE.match(name)
    if volatile:
        condition = _CONDITIONS.get(int(true[_PLACES[f"{volatile[1]}volatiles.{volatile[2]}.id"]]), "")
        if volatile[3] in ("source", "sourceSlot"):
            return condition not in _SOURCES_READ
        return (condition, volatile[3]) in _DRAWN
    member = _MEMBER.match(name)
    if not member:
        return False
    word, out = member[2], bool(true[_PLACES[f"{member[1]}isActive"]])
    if (word.startswith("moveSlots") and word.endswith("disabled")) or word in _OF_ASKED:
        return decision.switching or not out
    if word == "lastMoveTargetLoc":
        active = records(decision.true[None])[0]["sides"][int(name[6])]["active"][0]
        return not out or _TWO_TURNS not in active["volatiles"]["id"]
    if word.endswith("ThisTurn"):
        return not out
    if word in ("statusState.counter", "statusState.extra"):
        return not out or true[_PLACES[f"{member[1]}statusState.id"]] == NUMBERS["conditions"]["slp"]
    if word == "abilityState.counter":
        return bool(true[_PLACES[f"{member[1]}ability"]] == NUMBERS["abilities"]["berserk"])
    if word == "hp" and not name.startswith(f"sides.{decision.seat}."):
        most = int(true[_PLACES[f"{member[1]}maxhp"]])
        return abs(_percent(int(true[place]), most) - _percent(int(built[place]), most)) <= (not out)
    return False


def named_apart(battle: Battle) -> bool:
    """Whether all Pokémon of each team have names of their own."""
    names = [[member.name for member in members_of(packed)] for packed in battle["teams"]]
    return all(len(set(team)) == len(team) for team in names)


def main() -> int:
    """Prints how many decisions were compared, and what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--battles", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--teams", default="ring2")
    parser.add_argument("--policy", default="random")
    options = vars(parser.parse_args())
    battles = [b for b in gen9_parity.oracle(options) if "decisions" in b and named_apart(b)]
    compared, differing, words = 0, 0, Counter[str]()
    examples: dict[str, str] = {}
    for battle in battles:
        for decision in decisions(battle):
            wrong = unequal(decision)
            compared, differing = compared + 1, differing + bool(wrong)
            for line in wrong:
                word = re.sub(r"\.\d+", "", line.partition(":")[0])
                words[word] += 1
                examples.setdefault(
                    word, f"battle {decision.battle}, decision {decision.number}, p{decision.seat + 1}: {line}"
                )
    print(f"{len(battles)} battles, {compared} positions: {differing} differ")
    for word, count in words.most_common():
        print(f"{count:6} {word}: {examples[word]}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
