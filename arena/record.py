"""A battle record: the stored result of a fixture, sent from a worker to the store as one line of JSON."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson
import zstandard

from arena.fixture import Fixture
from teamsets.errors import BadInput

#: How a battle can end. The first two are the game's own ends; "aborted": the venue failed again and again.
REASONS = ("win", "tie", "timeout", "illegal", "error", "turn-limit", "aborted")


#: A decision as a record keeps it: (seat 0|1, index, turn, legal choices, choice, think ms, diagnostics or None).
DecisionRow = tuple[int, int, int, list[str], str, float, dict[str, Any] | None]


class LadderRating(NamedTuple):
    """Our rating on a server's ladder: Elo before and after a battle; the rest from the user's page, if it has it."""

    server: str
    elo_before: int
    elo_after: int
    gxe: float | None = None
    glicko: float | None = None
    deviation: float | None = None


@dataclass(frozen=True)
class BattleRecord:
    """What is kept of a played fixture.

    winner: "p1", "p2" or None (tie, turn limit, aborted). reason: one of REASONS. fault: which side failed, "p1",
    "p2", "venue" or None; detail: its message. seconds: from start to end by the wall clock; started: Unix time.
    input_log: Showdown's own (seed, teams, choices); logs: each side's protocol lines, requests included.
    decisions: of both seats, p1's first; diagnostics hold JSON types only (arena/battles/diagnostics.py).
    parse_warnings: number of protocol lines that poke-env could not parse. venue: where it was played: "simulator",
    "server" or "engine", whose logs are empty (arena/venues/simulator/reproduction.py makes them from the input log).
    ladder: of a rated battle on other people's servers.
    """

    fixture: Fixture
    winner: str | None
    reason: str
    fault: str | None = None
    detail: str | None = None
    turns: int = 0
    started: float = 0.0
    seconds: float = 0.0
    input_log: list[str] = field(default_factory=list)
    logs: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))
    decisions: list[DecisionRow] = field(default_factory=list)
    parse_warnings: int = 0
    venue: str = "simulator"
    ladder: LadderRating | None = None

    def header(self, serial: int) -> dict[str, Any]:
        """What the coordinator must know at once. serial: its number for the fixture."""
        return {
            "serial": serial,
            "format": self.fixture.format,
            "best_of": self.fixture.best_of,
            "agents": self.fixture.agents,
            "winner": self.winner,
            "reason": self.reason,
            "fault": self.fault,
            "turns": self.turns,
        }

    def to_line(self, run: str) -> bytes:
        """One line of JSON, without its newline, for the journal of `run`. The logs are zstd-compressed, base64."""
        fixture = self.fixture
        return orjson.dumps(
            {
                "run": run,
                "key": fixture.key,
                "pair": fixture.pair,
                "format": fixture.format,
                "team_set": fixture.team_set,
                "p1": fixture.agents[0],
                "p2": fixture.agents[1],
                "p1_team": fixture.teams[0].id,
                "p2_team": fixture.teams[1].id,
                "seed": fixture.seed,
                "winner": self.winner,
                "reason": self.reason,
                "fault": self.fault,
                "detail": None if self.detail is None else _clean(self.detail),
                "turns": self.turns,
                "started": self.started,
                "seconds": round(self.seconds, 4),
                "parse_warnings": self.parse_warnings,
                "input_log": _packed(self.input_log),
                "p1_log": _packed(self.logs[0]),
                "p2_log": _packed(self.logs[1]),
                "venue": self.venue,
                "series": fixture.series,
                "game": fixture.game if fixture.series else None,
                "best_of": fixture.best_of if fixture.series else None,
                "open_sheets": fixture.open_sheets,
                "ladder": None if self.ladder is None else self.ladder._asdict(),
                "decisions": [
                    {
                        "seat": f"p{seat + 1}",
                        "index": index,
                        "turn": turn,
                        "legal": legal,
                        "choice": choice,
                        "think_ms": round(think_ms, 3),
                        "diagnostics": None if diagnostics is None else orjson.dumps(diagnostics).decode(),
                    }
                    for seat, index, turn, legal, choice, think_ms, diagnostics in self.decisions
                ],
            }
        )


def score(winner: str | None, reason: str) -> float | None:
    """The score of p1: 1 won, 0.5 tie or turn limit, 0 lost; None for an aborted battle, which is no result."""
    if winner is not None:
        return float(winner == "p1")
    return 0.5 if reason in ("tie", "turn-limit") else None


def _clean(text: str) -> str:
    """Text that every reader accepts: no unpaired surrogates, no NUL."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "")


_COMPRESSOR = zstandard.ZstdCompressor(level=3)


def _packed(lines: list[str]) -> str:
    return base64.b64encode(compressed(lines)).decode()


def compressed(lines: list[str]) -> bytes:
    """The lines as the store keeps a log: the inverse of `unpacked`."""
    return _COMPRESSOR.compress("\n".join(lines).encode())


class DamagedLog(BadInput):
    """A log in the database cannot be unpacked. Who knows its battle adds the id."""


def unpacked(blob: bytes) -> list[str]:
    """The lines of a stored log (a `log` or `input_log` column of the table `battles`). Raises DamagedLog."""
    try:
        text = zstandard.ZstdDecompressor().decompress(blob, max_output_size=256 * 1024 * 1024).decode()
    except (zstandard.ZstdError, UnicodeDecodeError, MemoryError) as error:
        raise DamagedLog(f"a stored log is damaged ({' '.join(str(error).split())[:100]})") from None
    return text.split("\n") if text else []
