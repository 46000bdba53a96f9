-- From schema 5 to 6: pull requests, and what was last said of an issue in its tracker.
CREATE TABLE pull_requests (
    issue_id   TEXT PRIMARY KEY,
    attempt    INTEGER NOT NULL,                -- the attempt whose work it shows
    branch     TEXT NOT NULL,                   -- on the remote, without refs/heads/
    head       TEXT NOT NULL,                   -- the proven commit that noface pushed, or is about to push
    pushed     TEXT NOT NULL DEFAULT '',        -- what noface last knew its own on that branch, '' before anything was
    base       TEXT NOT NULL,                   -- the commit of the remote's main that it was proven on
    tree       TEXT NOT NULL,                   -- the tree that passed every hard gate
    gates      TEXT NOT NULL DEFAULT '[]',      -- JSON: the memo keys that prove the tree
    number     INTEGER,                         -- of the pull request, NULL before it is open
    url        TEXT NOT NULL DEFAULT '',
    state      TEXT NOT NULL,                   -- intent, pushed, open, merged, closed, taken
    rounds     INTEGER NOT NULL DEFAULT 0,      -- how often checks or reviews were answered in this epoch
    seen       TEXT NOT NULL DEFAULT '{}',      -- JSON: the checks and reviews as they were last seen and answered
    checks     TEXT NOT NULL DEFAULT '',        -- how the checks stand: pending, passed, failed, none
    at         REAL NOT NULL                    -- when the state was last changed
) WITHOUT ROWID;

CREATE TABLE publications (
    issue_id   TEXT PRIMARY KEY,
    digest     TEXT NOT NULL,                   -- of what was last said: labels, comment, open or closed
    comment    INTEGER,                         -- the id of noface's comment there
    heard      TEXT NOT NULL DEFAULT '{}',      -- JSON: what people said there that has been acted on
    at         REAL NOT NULL
) WITHOUT ROWID;
