"""Diagnostics that cannot be kept are dropped, with the reason in the record; the battle goes on as without them."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

import numpy as np
import orjson

from arena.battles.diagnostics import MAX_BATTLE, MAX_DECISION, DiagnosticsBudget, DiagnosticsTooLarge
from arena.battles.guard import UNTIMED_SECONDS, StepGuard
from arena.fixture import Fixture, FixtureTeam, showdown_seed
from arena.processes.child import ChildProcess
from arena.record import BattleRecord
from arena.venue import Rules
from arena.venues.simulator.simulator import play_all

TEAMS = (FixtureTeam("a", "a", seed=showdown_seed(1)), FixtureTeam("b", "b", seed=showdown_seed(2)))


def _played(*names: str, max_turns: int = 3, untimed_limit: float = UNTIMED_SECONDS) -> list[BattleRecord]:
    """A short battle of each agent against `random`."""
    specs = [f"worse_agents:{name}" for name in names]
    fixtures = [
        Fixture("gen1randombattle", (spec, "random"), TEAMS, showdown_seed(3), "pair", "drawn") for spec in specs
    ]
    return asyncio.run(
        play_all(fixtures, Rules(think_limit=60.0, max_turns=max_turns), guard=StepGuard(untimed_limit=untimed_limit))
    )


def _thoughts(record: BattleRecord) -> list[Any]:
    """p1's diagnostics as the record's line has them."""
    decisions = orjson.loads(record.to_line("run"))["decisions"]
    return [orjson.loads(d["diagnostics"]) if d["diagnostics"] else None for d in decisions if d["seat"] == "p1"]


DROPPED = {
    "ThinksDeep": "nested more than 100 deep",
    "ThinksUnreadably": "they could not be read: RuntimeError",
    "ThinksALot": "more than 65,536 characters in one decision",
    "ThinksABomb": "more than 65,536 characters in one decision",
    "ThinksThroughAProperty": "they could not be read: RuntimeError",
}


def test_diagnostics_that_cannot_be_kept_are_dropped_and_counted() -> None:
    plain, *records = _played("Plays", *DROPPED)
    for record, why in zip(records, DROPPED.values(), strict=True):
        thoughts = _thoughts(record)
        assert thoughts[0] == {"dropped": why, "dropped_so_far": 1}
        assert [thought["dropped_so_far"] for thought in thoughts] == list(range(1, len(thoughts) + 1))
        assert (record.reason, record.fault) == ("turn-limit", None)
        assert record.input_log == plain.input_log
        assert len(record.to_line("run")) < 50_000


def test_diagnostics_that_take_for_ever_are_read_once() -> None:
    (record,) = _played("ThinksEndlessly", untimed_limit=0.05)
    thoughts = _thoughts(record)
    assert {thought["dropped"] for thought in thoughts} == {"they took longer than 0.05 s to read"}
    assert len(thoughts) >= 3 and record.fault is None


def test_a_battle_has_a_limit_of_its_own() -> None:
    budget, large = DiagnosticsBudget(), {"text": "x" * 60_000}  # each is small enough for one decision
    kept = [budget.accept(large) for _ in range(MAX_BATTLE // 60_000 + 2)]
    whole = kept.index({"dropped": f"more than {MAX_BATTLE:,} characters in this battle", "dropped_so_far": 1})
    assert kept[:whole] == [large] * (MAX_BATTLE // 60_010) and kept[-1]["dropped_so_far"] == len(kept) - whole
    assert "dropped" in budget.accept({"text": "x"}), "what would fit is not read either"


def test_odd_keys_and_numbers_are_kept_as_text() -> None:
    (record,) = _played("ThinksOddKeys")
    expected = {"nan": None, "None": str(1 << 70), "('a', 1)": "b'bytes'", "3": "\\udcff\0"}
    assert _thoughts(record)[0] == expected


def test_agents_of_earlier_versions_set_them_as_thought() -> None:
    (record,) = _played("SetsTheFormerName")
    assert _thoughts(record)[0] == {"win_probability": 0.25}


@dataclasses.dataclass
class _Visits:
    share: np.float32
    prior: tuple[float, ...]


def test_what_agents_usually_think_is_kept_as_it_is() -> None:
    thought = {"value": 0.25, "visits": {"move surf": 7}, "best": None, "sure": True, "list": [1, "a"]}
    assert DiagnosticsBudget().accept(thought) == thought
    assert DiagnosticsBudget().accept(thought) is not thought
    numpy = {"array": np.arange(3), "one": np.float32(0.5), "odd": {1}, "data": _Visits(np.float32(0.5), (1.0,))}
    expected = {"array": [0, 1, 2], "one": 0.5, "odd": "{1}", "data": {"share": 0.5, "prior": [1.0]}}
    assert DiagnosticsBudget().accept(numpy) == expected
    assert DiagnosticsBudget().accept([1]) == {"value": [1]}
    assert DiagnosticsBudget().accept(None) is None


def test_a_text_whose_length_lies_is_measured() -> None:
    class Lies(str):
        def __len__(self) -> int:
            return 0

    assert "dropped" in DiagnosticsBudget().accept({"text": Lies("x" * (MAX_DECISION + 1))})
    assert issubclass(DiagnosticsTooLarge, ValueError)


class _Lines(ChildProcess):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[bytes] = []

    def line_received(self, line: bytes) -> None:
        self.lines.append(line)


def test_a_childs_line_is_joined_once_however_many_pieces_it_comes_in() -> None:
    child = _Lines()
    for data in (b"one\ntwo", b" and", b" a half\n\nthr", b"ee", b"\n"):
        child.pipe_data_received(1, data)
    assert child.lines == [b"one", b"two and a half", b"", b"three"]

    class Counted(bytes):
        """Counts the bytes that are copied when it is added to another."""

        added = 0

        def __radd__(self, other: bytes) -> bytes:
            Counted.added += len(other)
            return bytes(other) + bytes(self)

    for _ in range(1000):
        child.pipe_data_received(1, Counted(b"x" * 64))
    child.pipe_data_received(1, b"\n")
    assert child.lines[-1] == b"x" * 64_000 and Counted.added == 0
