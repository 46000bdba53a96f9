-- What was learnt from recoveries (S7). Every statement can be repeated harmlessly.

-- A recovery that worked: one row for a failure's signature and the strategy that led to it.
CREATE TABLE IF NOT EXISTS lessons (
    id          INTEGER PRIMARY KEY,
    signature   TEXT NOT NULL,
    kind        TEXT NOT NULL,
    rule        TEXT NOT NULL,
    message     TEXT NOT NULL,
    cause       TEXT NOT NULL,
    strategy    TEXT NOT NULL,
    advice      TEXT NOT NULL,                  -- what prompts quote
    tags        TEXT NOT NULL DEFAULT '[]',
    confidence  REAL NOT NULL,
    hits        INTEGER NOT NULL DEFAULT 0,     -- attempts whose prompt quoted it and whose end says something of it
    successes   INTEGER NOT NULL DEFAULT 0,     -- those of them that passed
    learned     INTEGER NOT NULL DEFAULT 1,     -- how often it was learnt anew
    issue_id    TEXT NOT NULL,                  -- where it was last learnt
    number      INTEGER NOT NULL,
    learned_at  REAL NOT NULL,
    dropped_at  REAL,                           -- set when it made no difference; the row stays
    parts       TEXT NOT NULL DEFAULT '[]',     -- JSON: the files it is about
    UNIQUE (signature, strategy)
);

-- Which lessons an attempt's prompt quotes. `judged` is 1 once they have been counted.
CREATE TABLE IF NOT EXISTS lessons_shown (
    lesson_id   INTEGER NOT NULL,
    issue_id    TEXT NOT NULL,
    number      INTEGER NOT NULL,
    token       TEXT NOT NULL,
    judged      INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (issue_id, number, lesson_id)
) WITHOUT ROWID;
