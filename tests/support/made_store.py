"""A battle database that was never played: just the rows that a report is made from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from arena.store import connect

FAR = "Alakazam||]Tauros||]Chansey||"
NEAR = "Starmie||]Snorlax||]Exeggutor||"


@dataclass
class MadeStore:
    """Adds runs and pairs of battles to a new database."""

    path: Path
    battles: list[tuple[Any, ...]] = field(default_factory=list)
    decisions: list[tuple[Any, ...]] = field(default_factory=list)

    def run(
        self,
        run_id: str,
        agents: Sequence[str],
        *,
        status: str = "finished",
        started: str = "2026-01-02 03:04:05+00",
        vague: Sequence[str] = (),
        git: str | None = None,
        **config: Any,
    ) -> None:
        """A run of these agents; vague: those that are not repeatable."""
        settings = {
            "agents": list(agents),
            "formats": ["gen1ou"],
            "team_sets": ["far"],
            "battles": 2,
            "seed": 7,
            **config,
        }
        with connect(self.path, read_only=False) as connection:
            ended = None if status == "running" else "2026-01-02 04:00:00+00"
            row = [run_id, "evaluate", started, ended, status, json.dumps(settings), git, '{"arena": "0.1.0"}']
            columns = "run_id, kind, started, ended, status, config, git, versions"
            connection.execute(f"INSERT INTO runs ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
            for agent in agents:
                row = [run_id, agent, "f", agent not in vague, f"About {agent}."]
                columns = "run_id, agent, fingerprint, repeatable, about"
                connection.execute(f"INSERT INTO agents ({columns}) VALUES (?, ?, ?, ?, ?)", row)
            for team_id, packed in (("t-far", FAR), ("t-near", NEAR)):
                row = [team_id, "gen1ou", "far", team_id, packed]
                columns = "team_id, format, team_set, name, packed"
                connection.execute(f"INSERT INTO teams ({columns}) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", row)

    def pair(
        self,
        run_id: str,
        first: str,
        second: str,
        results: str,
        *,
        count: int = 1,
        team_set: str = "far",
        turns: int = 20,
        detail: str | None = None,
    ) -> None:
        """`count` pairs. results: a letter for each of the two battles, as the first agent sees it: W, L, T (tie),
        E (error of the first), X (turn limit), A (aborted)."""
        for _ in range(count):
            name = f"pair-{len(self.battles) // 2}"
            for (p1, p2), letter in zip(((first, second), (second, first)), results, strict=True):
                mine = "p1" if p1 == first else "p2"
                other = "p2" if mine == "p1" else "p1"
                winner = {"W": mine, "L": other, "E": other}.get(letter)
                reason = {"T": "tie", "E": "error", "X": "turn-limit", "A": "aborted"}.get(letter, "win")
                fault = {"E": mine, "A": "venue"}.get(letter)
                number = len(self.battles) + 1
                row = [number, run_id, f"key-{number}", name, "gen1ou", team_set, p1, p2, "t-far", "t-near", "seed"]
                self.battles.append((*row, winner, reason, fault, detail, turns))

    def decide(self, choice: str, think_ms: float, *, seat: str = "p1") -> None:
        """A decision in the battle that was added last."""
        number = len(self.battles)
        index = sum(row[0] == number and row[1] == seat for row in self.decisions)
        self.decisions.append((number, seat, index, 1, [choice], choice, think_ms))

    def reuse_battles(self, run_id: str, other: str) -> None:
        """Lets all battles of another run count for this one."""
        self.write()
        with connect(self.path, read_only=False) as connection:
            connection.execute(
                "INSERT INTO evidence (run_id, battle_id) SELECT ?, battle_id FROM battles WHERE run_id = ?",
                [run_id, other],
            )

    def write(self) -> Path:
        """Puts everything into the database."""
        with connect(self.path, read_only=False) as connection:
            connection.execute("BEGIN")
            _insert_battles(connection, self.battles)
            connection.execute("DELETE FROM decisions")
            for row in self.decisions:
                columns = "battle_id, seat, index, turn, legal, choice, think_ms"
                connection.execute(f"INSERT INTO decisions ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            connection.execute("COMMIT")
        return self.path


_COLUMNS = (
    "battle_id, run_id, key, pair, format, team_set, p1, p2, p1_team, p2_team, seed, winner, reason, fault, detail, turns, "
    "started, seconds, parse_warnings, input_log, p1_log, p2_log, venue"
)


def _insert_battles(connection: duckdb.DuckDBPyConnection, battles: list[tuple[Any, ...]]) -> None:
    """Many in one statement, because a statement takes milliseconds."""
    more = "'2026-01-02 03:05:00+00', 0.1, 0, ''::BLOB, ''::BLOB, ''::BLOB, 'simulator'"
    for begin in range(0, len(battles), 200):
        some = battles[begin : begin + 200]
        values = ", ".join([f"({', '.join('?' * 16)}, {more})"] * len(some))
        connection.execute(
            f"INSERT INTO battles ({_COLUMNS}) VALUES {values} ON CONFLICT DO NOTHING", [x for row in some for x in row]
        )
