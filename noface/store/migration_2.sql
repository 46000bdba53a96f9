-- From schema 1 to 2: the recovery system's columns and tables. schema.sql says what each is for.
ALTER TABLE issues ADD COLUMN satisfied INTEGER NOT NULL DEFAULT 0;
ALTER TABLE issues ADD COLUMN wanted_model TEXT;
ALTER TABLE issues ADD COLUMN wanted_attempts INTEGER;
ALTER TABLE issues ADD COLUMN granted_paths TEXT NOT NULL DEFAULT '[]';
ALTER TABLE issues ADD COLUMN needs TEXT NOT NULL DEFAULT '[]';
ALTER TABLE issues ADD COLUMN parent TEXT;
UPDATE issues SET satisfied = 1 WHERE status = 'skipped';
ALTER TABLE attempts ADD COLUMN think INTEGER NOT NULL DEFAULT 0;
ALTER TABLE attempts ADD COLUMN changed TEXT NOT NULL DEFAULT '[]';
ALTER TABLE attempts ADD COLUMN lines INTEGER NOT NULL DEFAULT 0;
ALTER TABLE attempts ADD COLUMN report TEXT;
ALTER TABLE attempts ADD COLUMN partial TEXT;
ALTER TABLE waits ADD COLUMN since REAL NOT NULL DEFAULT 0;
CREATE TABLE advice (
    id          INTEGER PRIMARY KEY,
    issue_id    TEXT NOT NULL,
    after       INTEGER NOT NULL,
    epoch       INTEGER NOT NULL,
    topic       TEXT NOT NULL,
    model       TEXT NOT NULL,
    run_id      TEXT NOT NULL,
    asked_at    REAL NOT NULL,
    answered_at REAL,
    outcome     TEXT,
    answer      TEXT,
    cost_usd    REAL,
    directory   TEXT NOT NULL DEFAULT ''
);
CREATE INDEX advice_by_issue ON advice (issue_id, id);
CREATE TABLE approvals (
    id         INTEGER PRIMARY KEY,
    issue_id   TEXT NOT NULL,
    attempt    INTEGER NOT NULL,
    epoch      INTEGER NOT NULL,
    verdict    TEXT NOT NULL,
    note       TEXT NOT NULL,
    at         REAL NOT NULL
);
CREATE INDEX approvals_by_issue ON approvals (issue_id, id);
CREATE TABLE children (
    id         TEXT PRIMARY KEY,
    parent     TEXT NOT NULL,
    position   INTEGER NOT NULL,
    issue      TEXT NOT NULL,
    at         REAL NOT NULL
) WITHOUT ROWID;
