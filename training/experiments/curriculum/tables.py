"""The tables of curricula in a battle database, and what a report says of the runs that were played for one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from arena.extensions import Extension, Section

if TYPE_CHECKING:
    from training.experiments.curriculum.lineage import Lineage

#: As in arena/store/schema.py. IF NOT EXISTS: the arena made these tables itself until they became an extension.
MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE IF NOT EXISTS curricula (
        curriculum VARCHAR PRIMARY KEY,   -- its name
        folder     VARCHAR NOT NULL,
        base       VARCHAR NOT NULL,      -- the spec of the checkpoint that it began with
        config     VARCHAR NOT NULL,      -- JSON
        started    TIMESTAMPTZ NOT NULL,
        ended      TIMESTAMPTZ            -- NULL while stages are left
    );
    CREATE TABLE IF NOT EXISTS stages (   -- one row for each attempt at a stage
        curriculum VARCHAR NOT NULL,
        stage      INTEGER NOT NULL,      -- from 1
        attempt    INTEGER NOT NULL,      -- from 1; more than one where the gate said no
        name       VARCHAR NOT NULL,
        status     VARCHAR NOT NULL,      -- 'running', 'kept', 'rejected'
        parent     VARCHAR NOT NULL,      -- the spec of the checkpoint that learned
        settings   VARCHAR NOT NULL,      -- JSON: the stage as this attempt has it
        learner    VARCHAR,               -- the spec under which it played
        quotas     VARCHAR,               -- JSON: [opponent, team set, battles], as they were drawn
        play_run   VARCHAR,               -- the run of its battles
        datasets   VARCHAR,               -- JSON: [{path, trajectories, decisions}] made from them
        checkpoint VARCHAR,               -- the spec of what came out
        started    TIMESTAMPTZ NOT NULL,
        ended      TIMESTAMPTZ,
        PRIMARY KEY (curriculum, stage, attempt)
    );
    CREATE TABLE IF NOT EXISTS gates (   -- what a checkpoint had to pass to be kept
        curriculum VARCHAR NOT NULL,
        stage      INTEGER NOT NULL,
        attempt    INTEGER NOT NULL,
        gate       VARCHAR NOT NULL,      -- 'parent', 'pool'
        run_id     VARCHAR NOT NULL,
        passed     BOOLEAN,               -- NULL while it is not decided
        words      VARCHAR,
        told       VARCHAR,               -- JSON: the numbers
        PRIMARY KEY (curriculum, stage, attempt, gate)
    );
    CREATE TABLE IF NOT EXISTS checkpoints (   -- the lineage: the base (stage 0), and what every attempt came to
        curriculum VARCHAR NOT NULL,
        checkpoint VARCHAR NOT NULL,      -- its spec
        parent     VARCHAR,
        stage      INTEGER NOT NULL,
        attempt    INTEGER NOT NULL,
        kept       BOOLEAN,               -- NULL while it is not decided
        run_id     VARCHAR,               -- of its battles against the pool
        elo        DOUBLE,                -- its rating there, with a 95% interval
        low        DOUBLE,
        high       DOUBLE,
        told       VARCHAR,               -- JSON: where it wins, where it fails, what changed since its parent
        PRIMARY KEY (curriculum, checkpoint)
    );
    CREATE TABLE IF NOT EXISTS costs (   -- one row for each time that a process worked on a phase of an attempt
        curriculum VARCHAR NOT NULL,
        stage      INTEGER NOT NULL,
        attempt    INTEGER NOT NULL,
        phase      VARCHAR NOT NULL,      -- 'play', 'data', 'learn', 'gate: parent', 'gate: pool', 'evaluate', 'pool'
        session    VARCHAR NOT NULL,
        seconds    DOUBLE NOT NULL,
        battles    BIGINT NOT NULL,       -- of the whole phase, in the row of the session that ended it; 0 in others
        decisions  BIGINT NOT NULL,
        steps      BIGINT NOT NULL,
        PRIMARY KEY (curriculum, stage, attempt, phase, session)
    );
    """,
    """
    ALTER TABLE gates RENAME COLUMN words TO summary;      -- the result in one sentence
    ALTER TABLE gates RENAME COLUMN told TO details;       -- its numbers as JSON
    ALTER TABLE checkpoints RENAME COLUMN told TO details;
    """,
)


def _lineage_of(db: Path, run_id: str) -> Lineage | None:
    """The curriculum that a run was played for, or None."""
    from training.experiments.curriculum.lineage import curriculum_of, lineage

    name = curriculum_of(db, run_id)
    return None if name is None else lineage(db, name)


def _section(known: Lineage) -> Section:
    from training.experiments.curriculum.page.section import section

    return section(known)


def _live(db: Path) -> Section | None:
    from training.experiments.curriculum.page.live import live_section

    return live_section(db)


EXTENSION = Extension("curriculum", MIGRATIONS, _lineage_of, _section, _live)
