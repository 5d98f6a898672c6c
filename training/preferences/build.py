"""Builds pairs from stored battles: tries decisions, applies the rules, and writes JSON Lines and a dataset for policies.

OUT/attempts.jsonl          what was tried and what it came to; an interrupted command goes on after its last line
OUT/pairs.jsonl             the pairs: prompt, chosen, rejected, and our own columns
OUT/pairs-held-out.jsonl    those of the battles that are held out
OUT/train, OUT/train-held-out   the same as datasets: a side of a battle up to its last pair
OUT/counts.json             how many of each kind, and why decisions have no pair
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self

from agents.battle import SeatBattle
from agents.engine import HOSTED_FORMATS
from agents.llm.prompts import prompt_in_style
from arena.fixture import SEATS
from arena.record import unpacked
from teamsets.atomic import write_atomic
from teamsets.formats import get_format
from training.data.from_store import Candidate, StoredSide, selected, sides
from training.data.hold_out import parts
from training.data.rebuild_command import HELD_OUT, PREFERENCES
from training.data.shards import BadData, DatasetWriter
from training.data.trajectory import COLUMNS, MISSING, Trajectory, build_trajectory, decision_points
from training.preferences.answers import Answers
from training.preferences.attempts import AttemptsFile, TriedDecision, TriedSide
from training.preferences.expert import expert_pairs
from training.preferences.forks import ForkedSide, Forks, forks_of, stored_battles, venues_of
from training.preferences.garbling import Garble, garbler
from training.preferences.pairs import ATTEMPTS, COUNTS, DATASET, HELD_OUT_PAIRS, PAIRS, Pair, written
from training.preferences.players import acts_in_batches, player_of
from training.preferences.playing import NOT_ON_ENGINE, Asking, ForkPlayer, Tries
from training.preferences.rules import Bar, Judged, Part, baseline_of, judged, outcome

SourceKind = Literal["forks", "expert", "answers"]
Venue = Literal["auto", "engine", "showdown"]
PARTS: tuple[Part, ...] = ("plan", "action")
#: Sides whose logs are in memory at once.
_AT_ONCE = 64
#: Who plays on where nobody is named, by the number of slots: max-damage on arrays, which plays singles only, or by itself.
_PLAYERS = {1: "array:max-damage", 2: "heuristic:max-damage"}
#: (decision, turn, seed, pair) of a side.
_JudgedDecision = tuple[int, int, int | None, Judged]
#: Returns the prompt of a battle's present request.
_Prompt = Callable[[SeatBattle], str]


@dataclass(frozen=True)
class BuildSettings:
    """What is built. where: SQL condition on sides (`from_store.COLUMNS`). play_on: spec of who plays forks on, "" for
    that of _PLAYERS.

    garble: see garbling.py; rejected: `real`, or `garbled`: every rejected answer is a garbled one. hold_out: share of the
    battles. style: of the prompts, a style of language models as players. answers_of: with the source `answers`, the spec of
    the language model that is asked for `tries.choices` answers, and for one at garble_temperature; its prompts are used.
    """

    db: Path
    where: str
    source: SourceKind
    tries: Tries
    play_on: str
    venue: Venue
    bar: Bar
    garble: Garble
    rejected: Literal["real", "garbled"]
    hold_out: float
    style: str = "action"
    answers_of: str = ""
    garble_temperature: float = 2.0


def build_pairs(
    settings: BuildSettings,
    out: Path,
    track: Callable[[Sequence[Any], str], Iterator[Any]],
    *,
    replace_all: bool = False,
) -> dict[str, Any]:
    """Build pairs in the folder `out`, and return the counts. track: wraps a sequence to show progress.

    Raises BadData, also for battles of singles and of doubles together, and BadInput for a player that cannot play a format
    here.
    """
    chosen = [side for side in selected(settings.db, settings.where) if side.seat in SEATS]
    settings = replace(settings, play_on=settings.play_on or _PLAYERS[_slots_of(settings.where, chosen)])
    counts: dict[str, Counter[str]] = {
        name: Counter() for name in ("pairs", "rejected", "dropped", "skipped", "outcomes")
    }
    keys = [(side.battle_id, side.seat) for side in chosen]
    steps, asking = 0, None
    make_prompt: _Prompt = partial(prompt_in_style, style=settings.style)
    if settings.source == "answers":
        asking = Answers(settings.answers_of, settings.tries.choices, settings.garble_temperature, settings.tries.seed)
        make_prompt = asking.prompt
    if settings.source != "expert":
        if replace_all:
            (out / ATTEMPTS).unlink(missing_ok=True)
        tried = _try(settings, chosen, asking, AttemptsFile(out / ATTEMPTS, _tries_settings(settings), BadData), track)
        steps = sum(side.steps for side in tried)
        pairs = {key: _by_rules(side, settings, counts) for key, side in zip(keys, tried, strict=True)}
    else:
        labelled = expert_pairs(settings.db, keys, settings.bar.min_margin, counts["dropped"])
        pairs = {key: [(index, turn, None, side) for index, turn, side in labelled.get(key, [])] for key in keys}
    return _write(settings, chosen, pairs, out, counts, steps, make_prompt, track)


def _slots_of(where: str, chosen: Sequence[Candidate]) -> int:
    """Return the number of slots of a side. Raises BadData for singles and doubles: no dataset holds both."""
    formats = {get_format(side.format).slots: side.format for side in chosen}
    if len(formats) > 1:
        raise BadData(
            f'--where "{where}": selects singles ({formats[1]}) and doubles ({formats[2]}), and a dataset holds either: '
            f"add for example \"format = '{formats[2]}'\""
        )
    return next(iter(formats))


def _tries_settings(settings: BuildSettings) -> dict[str, Any]:
    """The settings of the tries: the rules may change without anything being played again."""
    tries_settings: dict[str, Any] = {
        "db": str(settings.db),
        "where": settings.where,
        "play_on": settings.play_on,
        "venue": settings.venue,
    }
    if settings.source == "answers":
        tries_settings |= {"answers_of": settings.answers_of, "garble_temperature": settings.garble_temperature}
    return {**tries_settings, **asdict(settings.tries)}


def _try(
    settings: BuildSettings,
    chosen: Sequence[Candidate],
    asking: Answers | None,
    file: AttemptsFile,
    track: Callable[[Sequence[Any], str], Iterator[Any]],
) -> list[TriedSide]:
    """Try the sides that were not tried yet, format by format."""
    untried = [side for side in chosen if (side.battle_id, side.seat) not in file.done]
    by_key = {(side.battle_id, side.seat): side for side in untried}

    def answered(battle: int, seat: str, decisions: Sequence[int]) -> dict[int, TriedDecision]:
        assert asking is not None
        return asking.at(settings.db, by_key[battle, seat], decisions)

    for format_id in dict.fromkeys(side.format for side in untried):
        mine = [side for side in untried if side.format == format_id]
        with _Venues(settings, format_id, None if asking is None else answered) as venues:
            for side in track(mine, f"trying {format_id}"):
                (stored,) = stored_battles(settings.db, [side.battle_id], [format_id])
                if isinstance(stored, str):
                    file.add(TriedSide(side.battle_id, side.seat, skipped=stored))
                else:
                    file.add(venues.tried(stored, SEATS.index(side.seat)))
    return file.of([(side.battle_id, side.seat) for side in chosen])


class _Venues:
    """Where a format's sides are tried: each on the first venue that can play it (`venues_of`)."""

    def __init__(self, settings: BuildSettings, format_id: str, asking: Asking | None) -> None:
        self._settings, self._format, self._asking = settings, format_id, asking
        self._engines = venues_of(format_id, settings.venue)
        self._made: dict[bool, tuple[Forks, ForkPlayer]] = {}
        self._player(self._engines[0])  # what cannot be played at all is said before anything is tried

    def _player(self, engine: bool) -> ForkPlayer:
        if engine not in self._made:
            slots, spec = get_format(self._format).slots, self._settings.play_on
            rows = self._settings.tries.rows(slots)
            in_batches = engine and (self._format not in HOSTED_FORMATS or acts_in_batches(spec))
            player = player_of(spec, rows, self._format, in_batches=in_batches)
            forks = forks_of(self._format, rows, engine=engine, in_batches=in_batches)
            self._made[engine] = forks, ForkPlayer(forks, player, self._settings.tries, slots, self._asking)
        return self._made[engine][1]

    def tried(self, stored: ForkedSide, seat: int) -> TriedSide:
        """Try a seat's decisions."""
        for engine in self._engines:
            side = self._player(engine).side(stored, seat)
            if not (side.skipped or "").startswith(NOT_ON_ENGINE):
                break
        return side

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for forks, _player in self._made.values():
            forks.close()


def _by_rules(side: TriedSide, settings: BuildSettings, counts: dict[str, Counter[str]]) -> list[_JudgedDecision]:
    """Apply the rules to the tried decisions of a side."""
    if side.skipped:
        counts["skipped"][side.skipped] += 1
    pairs: list[_JudgedDecision] = []
    for tried in side.tried:
        baseline = baseline_of(tried.attempts, settings.bar)
        counts["outcomes"].update(str(outcome(pair, settings.bar, baseline)[0]) for pair in tried.attempts)
        hot = settings.garble == "temperature" and tried.hot
        garbled = hot or garbler(settings.garble, tried.legal, tried.seed)
        real, worse = settings.rejected == "real", settings.garble == "worse"
        for part in PARTS:
            pair = judged(tried.attempts, part, settings.bar, garbled, real=real, worse=worse)
            if isinstance(pair, Judged):
                pairs.append((tried.decision, tried.turn, tried.seed, pair))
            elif pair is not None:
                counts["dropped"][pair] += 1
    return pairs


def _write(
    settings: BuildSettings,
    chosen: Sequence[Candidate],
    judgements: dict[tuple[int, str], list[_JudgedDecision]],
    out: Path,
    counts: dict[str, Counter[str]],
    steps: int,
    make_prompt: _Prompt,
    track: Callable[[Sequence[Any], str], Iterator[Any]],
) -> dict[str, Any]:
    with_pairs = [pair for pair in chosen if judgements[pair.battle_id, pair.seat]]
    if not with_pairs:
        reasons = ", ".join(
            f"{number} {reason}" for reason, number in (counts["dropped"] + counts["skipped"]).most_common()
        )
        raise BadData(
            f"{out}: no pairs ({reasons or 'nothing was tried'}): lower --min-margin, or select other battles"
        )
    held_out = parts(chosen, settings.hold_out, "pairs").measured
    pairs: dict[bool, list[Pair]] = {False: [], True: []}
    kept: dict[bool, list[Trajectory]] = {False: [], True: []}
    seen: set[tuple[str, str, str]] = set()
    batches = [with_pairs[start : start + _AT_ONCE] for start in range(0, len(with_pairs), _AT_ONCE)]
    for batch in track(batches, "writing"):
        for side in sides(settings.db, batch):
            key = (side.about["battle"], side.about["seat"])
            mine = _texts(side, judgements[key], settings.source, make_prompt)
            new = [pair for pair in mine if pair.key not in seen and not seen.add(pair.key)]  # type: ignore[func-returns-value]
            counts["dropped"]["the same pair again"] += len(mine) - len(new)
            pairs[key in held_out] += new
            trajectory = _trajectory(side, new)
            if trajectory is not None:
                kept[key in held_out].append(trajectory)
    for pair in (*pairs[False], *pairs[True]):
        counts["pairs"][f"{pair.judged.rule} ({pair.judged.part})"] += 1
        counts["rejected"][pair.judged.rejected_outcome.replace("garbled", f"garbled ({settings.garble})")] += 1
    if settings.hold_out and not (pairs[False] and pairs[True]):
        share = "every pair" if pairs[True] else "no pair"
        raise BadData(f"--hold-out {settings.hold_out:g}: selects {share} of {len(seen)}: use another share, or 0")
    _write_files(settings, out, pairs, kept)
    number = {"pairs": len(pairs[False]), "held_out": len(pairs[True])}
    in_datasets = {_name(place): sum(int((pair.rejected != MISSING).sum()) for pair in kept[place]) for place in kept}
    by_reason = {name: {reason: n for reason, n in counter.most_common() if n} for name, counter in counts.items()}
    summary = {**number, "in_datasets": in_datasets, "decisions_played": steps, "by": by_reason}
    write_atomic(out / COUNTS, json.dumps(summary, indent=1) + "\n")
    return summary


def _texts(side: StoredSide, pairs: Sequence[_JudgedDecision], source: str, make_prompt: _Prompt) -> list[Pair]:
    """The pairs of a side with their prompts."""
    wanted = {decision for decision, *_ in pairs}
    points = decision_points(side.seat, side.format, unpacked(side.log))
    prompts = {index: make_prompt(battle) for index, battle in enumerate(points) if index in wanted}
    about = side.about
    return [
        Pair(
            judgement, prompts[decision], source, side.format, about["battle"], about["pair"], side.seat, decision, turn,
            seed,
        )
        for decision, turn, seed, judgement in pairs
        if decision in prompts
    ]  # fmt: skip


def _trajectory(side: StoredSide, pairs: Sequence[Pair]) -> Trajectory | None:
    """The side up to its last pair, with actions at the pairs only; None if no pair is in the model's action space."""
    by_decision: list[tuple[str, str] | None] = [None] * len(side.choices)
    for one in pairs:
        if one.judged.part == "action":
            by_decision[one.decision] = one.judged.chosen, one.judged.rejected
    about = {**side.about, "pairs": len(pairs)}
    built = build_trajectory(
        side.seat, side.format, unpacked(side.log), side.choices, side.score, about, pairs=by_decision
    )
    if built is None:
        return None
    both = (built.actions != MISSING) & (built.rejected != MISSING)
    if not both.any():
        return None
    end = int(both.nonzero()[0][-1]) + 1
    columns: dict[str, Any] = {name: getattr(built, name)[:end] for name in COLUMNS}
    for name in ("actions", "rejected"):
        columns[name] = columns[name].copy()
        columns[name][~both[:end]] = MISSING
    return replace(built, **columns)


def _write_files(
    settings: BuildSettings, out: Path, pairs: dict[bool, list[Pair]], kept: dict[bool, list[Trajectory]]
) -> None:
    about = {
        "source": PREFERENCES, **_tries_settings(settings), "from": settings.source, **asdict(settings.bar),
        "garble": settings.garble, "rejected": settings.rejected, "hold_out": settings.hold_out,
    }  # fmt: skip
    out.mkdir(parents=True, exist_ok=True)
    for is_held_out, name in ((False, PAIRS), (True, HELD_OUT_PAIRS)):
        write_atomic(out / name, written(pairs[is_held_out]))
        if kept[is_held_out]:
            with DatasetWriter(out / _name(is_held_out), {**about, "held_out": is_held_out}, replace=True) as writer:
                for one in kept[is_held_out]:
                    writer.add(one)


def _name(is_held_out: bool) -> str:
    return DATASET + (HELD_OUT if is_held_out else "")
