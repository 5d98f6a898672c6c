"""The tables and views of a battle database, and how an older one becomes a current one.

`MIGRATIONS[n]` turns schema n into schema n + 1; a new file starts at 0. Released migrations are never edited.
Views are not migrated: they hold no data and are made anew whenever the schema is brought up to date.
"""

from __future__ import annotations

#: `runs.status`. A run that was killed stays "running" until it is resumed. Until "time limit" was written, a run that
#: reached its time limit ended as "stopped".
RUNNING, FINISHED, STOPPED, TIME_LIMIT = "running", "finished", "stopped", "time limit"

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE runs (
        run_id     VARCHAR PRIMARY KEY,
        kind       VARCHAR NOT NULL,      -- 'evaluate'
        started    TIMESTAMPTZ NOT NULL,
        ended      TIMESTAMPTZ,           -- NULL while it goes on, or when it was killed
        status     VARCHAR NOT NULL,      -- 'running', 'finished', 'stopped'
        config     VARCHAR NOT NULL,      -- JSON: all that is needed to go on with it
        git        VARCHAR,               -- commit, '+' behind it when files had changed; NULL outside a checkout
        versions   VARCHAR NOT NULL       -- JSON: python, node, pokemon-showdown, poke-env, arena
    );
    CREATE TABLE agents (
        run_id      VARCHAR NOT NULL,
        agent       VARCHAR NOT NULL,     -- the spec
        fingerprint VARCHAR NOT NULL,     -- over the code that played and its options
        repeatable  BOOLEAN NOT NULL,
        about       VARCHAR,
        PRIMARY KEY (run_id, agent)
    );
    CREATE TABLE teams (
        team_id  VARCHAR PRIMARY KEY,     -- content hash
        format   VARCHAR NOT NULL,
        team_set VARCHAR NOT NULL,        -- the set it was first seen in
        name     VARCHAR NOT NULL,
        packed   VARCHAR,                 -- Showdown's packed text; NULL where Showdown draws the team by the seed
        seed     VARCHAR
    );
    CREATE TABLE battles (
        battle_id BIGINT PRIMARY KEY,
        run_id    VARCHAR NOT NULL,
        key       VARCHAR NOT NULL,       -- the fixture's key
        pair      VARCHAR NOT NULL,       -- shared by the two battles that differ only in who sits where
        format    VARCHAR NOT NULL,
        team_set  VARCHAR NOT NULL,
        p1        VARCHAR NOT NULL,       -- agent specs
        p2        VARCHAR NOT NULL,
        p1_team   VARCHAR NOT NULL,
        p2_team   VARCHAR NOT NULL,
        seed      VARCHAR NOT NULL,
        winner    VARCHAR,                -- 'p1', 'p2'; NULL: tie, turn limit, aborted
        reason    VARCHAR NOT NULL,       -- win tie timeout illegal error turn-limit aborted
        fault     VARCHAR,                -- whose failure: 'p1', 'p2', 'venue'
        detail    VARCHAR,                -- of the failure
        turns     INTEGER NOT NULL,
        started   TIMESTAMPTZ NOT NULL,
        seconds   DOUBLE NOT NULL,
        oddities  INTEGER NOT NULL,       -- protocol lines that poke-env could not take in
        input_log BLOB NOT NULL,          -- zstd: Showdown's input log
        p1_log    BLOB NOT NULL,          -- zstd: what p1 saw, its requests included
        p2_log    BLOB NOT NULL,
        UNIQUE (run_id, key)
    );
    CREATE TABLE decisions (
        battle_id BIGINT NOT NULL,
        seat      VARCHAR NOT NULL,
        index     INTEGER NOT NULL,       -- from 0, for each seat
        turn      INTEGER NOT NULL,
        legal     VARCHAR[] NOT NULL,
        choice    VARCHAR NOT NULL,
        think_ms  FLOAT NOT NULL,
        thought   VARCHAR                 -- JSON, when the agent gave one
    );
    """,
    """
    CREATE TABLE evidence (               -- battles of earlier runs that count for a run, too
        run_id    VARCHAR NOT NULL,
        battle_id BIGINT NOT NULL,
        PRIMARY KEY (run_id, battle_id)
    );
    """,
    "",  # tables of an extension, which makes them itself (arena/extensions.py)
    "ALTER TABLE battles ADD COLUMN venue VARCHAR",  # 'simulator', 'server', 'engine'; NULL: stored before this was noted
    """
    ALTER TABLE battles RENAME COLUMN oddities TO parse_warnings;
    ALTER TABLE decisions RENAME COLUMN thought TO diagnostics;
    """,
    """
    CREATE TABLE ladder_ratings (         -- rated battles on other people's servers
        battle_id  BIGINT PRIMARY KEY,
        server     VARCHAR NOT NULL,
        elo_before INTEGER NOT NULL,      -- our agent's, as the server announced it
        elo_after  INTEGER NOT NULL,
        gxe        DOUBLE,                -- of the user's page after the battle; NULL where there is none
        glicko     DOUBLE,
        deviation  DOUBLE
    );
    """,
    """
    ALTER TABLE battles ADD COLUMN series VARCHAR;        -- shared by the battles of a series; NULL for a single battle
    ALTER TABLE battles ADD COLUMN game INTEGER;          -- its number in the series, from 1
    ALTER TABLE battles ADD COLUMN best_of INTEGER;       -- of the series
    ALTER TABLE battles ADD COLUMN open_sheets BOOLEAN;   -- each side has seen the other's sheet; NULL: not noted
    """,
    """
    CREATE TABLE best_responses (         -- players that were trained against one frozen agent, and what they score
        agent       VARCHAR NOT NULL,     -- the frozen agent's spec
        fingerprint VARCHAR NOT NULL,     -- as in `agents`
        format      VARCHAR NOT NULL,
        team_sets   VARCHAR NOT NULL,     -- of the battles that measured it, comma-separated; '' where Showdown draws them
        seed        BIGINT NOT NULL,      -- of these battles
        response    VARCHAR NOT NULL,     -- the spec of the best response
        started_as  VARCHAR NOT NULL,     -- its initial weights
        decisions   BIGINT NOT NULL,      -- that it learned from
        seconds     DOUBLE NOT NULL,      -- that it played and learned
        venue       VARCHAR NOT NULL,     -- of the measuring battles: 'simulator', 'engine'
        battles     BIGINT NOT NULL,      -- that count
        score       DOUBLE NOT NULL,      -- of the best response, with a 95% interval from the spread between pairs
        low         DOUBLE NOT NULL,
        high        DOUBLE NOT NULL,
        measured    TIMESTAMPTZ NOT NULL,
        PRIMARY KEY (agent, fingerprint, format, team_sets, seed, response)
    );
    """,
)

VERSION = len(MIGRATIONS)

#: What the macro `views_version` of a database says; raise it when VIEWS changes. A database whose views are older gets
#: these when it is next opened for writing.
VIEWS_VERSION = "views 4"


def _results(seat: str, other: str) -> str:
    """The rows of `results` of one seat. Not by a LATERAL join, for which DuckDB holds all battles in memory."""
    return f"""
    SELECT
        battle_id, run_id, format, team_set, pair, '{seat}' AS seat,
        {seat} AS agent, {other} AS opponent, {seat}_team AS team_id, {other}_team AS opponent_team_id,
        CASE
            WHEN fault = '{seat}' THEN reason
            WHEN winner = '{seat}' THEN 'win'
            WHEN winner IS NOT NULL THEN 'loss'
            ELSE reason
        END AS outcome,
        CASE
            WHEN winner = '{seat}' THEN 1.0
            WHEN winner IS NOT NULL THEN 0.0
            WHEN reason IN ('tie', 'turn-limit') THEN 0.5
        END AS score,
        coalesce(fault = '{seat}', false) AS at_fault,
        reason, turns, seconds, started, series, game, best_of
    FROM battles"""


#: The 95% Wilson interval of a score in [0, 1] over n battles, a tie as half a win: {'low', 'high'}, NULL for no battles.
WILSON = """
    MACRO wilson(score, n) AS CASE WHEN n > 0 THEN {
        'low': greatest(0, (score + 3.841459 / (2 * n) - 1.959964 * sqrt(greatest(0, score * (1 - score)) / n
            + 3.841459 / (4 * n ** 2))) / (1 + 3.841459 / n)),
        'high': least(1, (score + 3.841459 / (2 * n) + 1.959964 * sqrt(greatest(0, score * (1 - score)) / n
            + 3.841459 / (4 * n ** 2))) / (1 + 3.841459 / n))
    } END;
"""

VIEWS = f"""
    CREATE OR REPLACE {WILSON}
    -- One row for each agent in each battle. score: 1 win, 0.5 tie or turn limit, 0 loss or own fault, NULL aborted.
    CREATE OR REPLACE VIEW results AS
    {_results("p1", "p2")}
    UNION ALL
    {_results("p2", "p1")};
    CREATE OR REPLACE MACRO views_version() AS '{VIEWS_VERSION}';

    -- The results that count for a run (for_run): those of its own battles, and of earlier ones that it took over.
    CREATE OR REPLACE VIEW evidence_results AS
    SELECT run_id AS for_run, * FROM results
    UNION ALL
    SELECT e.run_id, r.* FROM evidence e JOIN results r USING (battle_id);

    -- One row for each agent in each series of several battles that counts for a run. It is won as Showdown has it: with t
    -- ties by (best_of - t) // 2 + 1 battles. score: 1 won, 0.5 tied, 0 lost, NULL unfinished.
    CREATE OR REPLACE VIEW series_results AS
    SELECT *,
        CASE score WHEN 1 THEN 'win' WHEN 0 THEN 'loss' WHEN 0.5 THEN 'tie' ELSE 'unfinished' END AS outcome,
        CASE score WHEN 1 THEN agent WHEN 0 THEN opponent END AS winner
    FROM (
        SELECT *, CASE
            WHEN wins > (best_of - ties) // 2 THEN 1.0
            WHEN losses > (best_of - ties) // 2 THEN 0.0
            WHEN battles >= best_of THEN 0.5
        END AS score
        FROM (
            SELECT for_run, series, best_of, format, team_set, pair, seat, agent, opponent, team_id, opponent_team_id,
                count(score) AS battles, count(*) FILTER (score = 1) AS wins, count(*) FILTER (score = 0) AS losses,
                count(*) FILTER (score = 0.5) AS ties, max(battle_id) AS last_battle
            FROM evidence_results WHERE series IS NOT NULL GROUP BY ALL
        )
    );

    -- The results that ratings count for a run: each single battle, and each series as one. battle_id: of its last battle.
    CREATE OR REPLACE VIEW counted_results AS
    SELECT for_run, battle_id, format, team_set, pair, seat, agent, opponent, team_id, opponent_team_id, score
    FROM evidence_results WHERE series IS NULL
    UNION ALL
    SELECT for_run, last_battle, format, team_set, pair, seat, agent, opponent, team_id, opponent_team_id, score
    FROM series_results;

    CREATE OR REPLACE VIEW head_to_head AS
    SELECT
        agent, opponent, format, team_set,
        count(score) AS battles,
        count(*) FILTER (score = 1) AS wins,
        count(*) FILTER (score = 0) AS losses,
        count(*) FILTER (score = 0.5) AS ties,
        count(*) FILTER (at_fault) AS faults,
        avg(score) AS win_rate
    FROM results
    GROUP BY ALL;

    -- One row for each battle in which something went wrong, and whose failure it was ('venue': nobody's).
    CREATE OR REPLACE VIEW faults AS
    SELECT
        CASE fault WHEN 'p1' THEN p1 WHEN 'p2' THEN p2 ELSE coalesce(fault, 'nobody') END AS agent,
        reason, detail, battle_id, run_id, format, team_set, turns, started
    FROM battles
    WHERE reason NOT IN ('win', 'tie');

    CREATE OR REPLACE VIEW team_results AS
    SELECT
        r.format, r.team_set, coalesce(t.name, r.team_id) AS team, r.team_id, r.agent,
        count(r.score) AS battles,
        avg(r.score) AS win_rate
    FROM results r LEFT JOIN teams t USING (team_id)
    GROUP BY ALL;
"""
