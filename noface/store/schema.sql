-- The state of one repository. Written by the one noface that holds the lock (and by short commands that
-- record a person's decision); read by everything that looks.

-- A noface process working through the backlog.
CREATE TABLE runs (
    id          TEXT PRIMARY KEY,
    pid         INTEGER NOT NULL,
    started_at  REAL NOT NULL,
    ended_at    REAL,
    exit_code   INTEGER,
    ended_why   TEXT NOT NULL DEFAULT ''
);

-- One row an issue: what people see, kept up to date with every event, so that looking is cheap.
CREATE TABLE issues (
    id             TEXT PRIMARY KEY,
    position       INTEGER NOT NULL DEFAULT 0,
    present        INTEGER NOT NULL DEFAULT 1,
    title          TEXT NOT NULL DEFAULT '',
    priority       INTEGER NOT NULL DEFAULT 2,
    source         TEXT NOT NULL DEFAULT '',
    content_hash   TEXT NOT NULL DEFAULT '',
    depends_on     TEXT NOT NULL DEFAULT '[]',
    status         TEXT NOT NULL DEFAULT 'ready',
    reason         TEXT NOT NULL DEFAULT '',
    until          REAL,
    epoch          INTEGER NOT NULL DEFAULT 0,  -- counts unblockings; the counters look at the newest only
    attempts       INTEGER NOT NULL DEFAULT 0,  -- charged ones of this epoch
    model          TEXT,
    last_kind      TEXT,
    last_message   TEXT,
    branch         TEXT,
    merged_commit  TEXT,
    cost_usd       REAL,
    blocked_hash   TEXT NOT NULL DEFAULT '',    -- the content last worked on, blocked or skipped: another one unblocks
    block          TEXT,                        -- JSON: what a person needs to know
    satisfied      INTEGER NOT NULL DEFAULT 0,  -- skipped because main holds already what it asks for
    wanted_model   TEXT,                        -- what a person chose when they unblocked it
    wanted_attempts INTEGER,
    needs          TEXT NOT NULL DEFAULT '[]',  -- JSON: issues the work turned out to depend on
    parent         TEXT,                        -- the issue that was broken down into this one
    read_after     INTEGER NOT NULL DEFAULT 0,  -- the newest landing when its text was first read as it is now
    cause          TEXT NOT NULL DEFAULT ''     -- what a program has to know of the reason: model/taxonomy.Cause
) WITHOUT ROWID;

-- Every worker run. `outcome` is NULL while it is under way.
CREATE TABLE attempts (
    token          TEXT PRIMARY KEY,            -- fences late results
    issue_id       TEXT NOT NULL,
    number         INTEGER NOT NULL,
    epoch          INTEGER NOT NULL,
    run_id         TEXT NOT NULL,
    model          TEXT NOT NULL,
    tier           INTEGER NOT NULL,
    slot           INTEGER NOT NULL,
    main           TEXT NOT NULL,
    start          TEXT NOT NULL,
    directory      TEXT NOT NULL,
    started_at     REAL NOT NULL,
    finished_at    REAL,
    outcome        TEXT,
    charged        INTEGER NOT NULL DEFAULT 0,
    commit_id      TEXT,
    candidate      TEXT,
    patch_hash     TEXT NOT NULL DEFAULT '',
    signature      TEXT NOT NULL DEFAULT '',
    gates_passed   INTEGER NOT NULL DEFAULT 0,
    failing_tests  INTEGER,
    cost_usd       REAL,
    tokens_in      INTEGER,
    tokens_out     INTEGER,
    failure        TEXT,                        -- JSON of model.failure.Failure
    action         TEXT,                        -- JSON: kind and reason
    gates          TEXT NOT NULL DEFAULT '[]',  -- JSON: name, passed, seconds, kind
    notes          TEXT NOT NULL DEFAULT '[]',
    think          INTEGER NOT NULL DEFAULT 0,
    changed        TEXT NOT NULL DEFAULT '[]',  -- JSON: the paths it changed
    lines          INTEGER NOT NULL DEFAULT 0,  -- how many lines it added and deleted
    report         TEXT,                        -- JSON of model.worker_run.WorkerReport
    partial        TEXT,                        -- JSON: what each step left (P4)
    session_id     TEXT,                        -- what the agent calls its session: to go on with it by hand
    doubts         TEXT NOT NULL DEFAULT '[]',  -- JSON: what somebody has to look at before it lands
    record         TEXT,                        -- JSON of model.attempt.AttemptOrder, while it is under way
    resumed        TEXT,                        -- JSON of model.worker_run.Resumed: the session it went on with
    UNIQUE (issue_id, number)
) WITHOUT ROWID;

-- Gate results by tree, gate definition and environment: a green tree is never gated again.
CREATE TABLE gate_memo (
    key        TEXT PRIMARY KEY,
    tree       TEXT NOT NULL,
    gate       TEXT NOT NULL,
    result     TEXT NOT NULL,
    at         REAL NOT NULL,
    tests      BLOB                             -- zlib, JSON of integrity.inventory.Inventory: the tests that it ran
) WITHOUT ROWID;

-- Intended and finished moves of main.
CREATE TABLE landings (
    id         INTEGER PRIMARY KEY,
    issue_id   TEXT NOT NULL,
    number     INTEGER NOT NULL,
    old        TEXT NOT NULL,
    new        TEXT NOT NULL,
    tree       TEXT NOT NULL,
    gates      TEXT NOT NULL,                   -- JSON: the memo keys that prove the tree
    state      TEXT NOT NULL,                   -- intent, landed, dropped
    at         REAL NOT NULL
);

-- Circuit breakers: models whose provider is away (N1), shared by all issues. A row is there until the model answers.
CREATE TABLE waits (
    model      TEXT PRIMARY KEY,
    until      REAL NOT NULL,
    failures   INTEGER NOT NULL,                -- incidents in a row; failures of one incident count once
    kind       TEXT NOT NULL,
    reason     TEXT NOT NULL,
    since      REAL NOT NULL DEFAULT 0          -- when the newest incident was noticed
) WITHOUT ROWID;

-- What was asked about an issue between two attempts, and the answer. `outcome` is NULL while it is being asked, and
-- INTERRUPTED where that was cut short: it is asked again, and only what it cost counts.
CREATE TABLE advice (
    id          INTEGER PRIMARY KEY,
    issue_id    TEXT NOT NULL,
    after       INTEGER NOT NULL,               -- the attempt it is about
    epoch       INTEGER NOT NULL,
    topic       TEXT NOT NULL,
    model       TEXT NOT NULL,
    run_id      TEXT NOT NULL,
    asked_at    REAL NOT NULL,
    answered_at REAL,
    outcome     TEXT,
    answer      TEXT,                           -- JSON of model.history.Advice
    cost_usd    REAL,
    directory   TEXT NOT NULL DEFAULT ''
);
CREATE INDEX advice_by_issue ON advice (issue_id, id);

-- What people decided about issues, in whatever way (L10), each with its scope: model/history.Decided.
CREATE TABLE decisions (
    id         INTEGER PRIMARY KEY,
    issue_id   TEXT NOT NULL,
    attempt    INTEGER NOT NULL,
    verdict    TEXT NOT NULL,                   -- approved, rejected, noted
    epoch      INTEGER NOT NULL,
    note       TEXT NOT NULL,
    at         REAL NOT NULL,
    paths      TEXT NOT NULL,                   -- JSON
    tests      TEXT NOT NULL,                   -- JSON
    work       TEXT NOT NULL,                   -- the hash of a patch
    question   TEXT NOT NULL
);
CREATE INDEX decisions_by_issue ON decisions (issue_id, id);

-- Issues, with what people said of them in all.
CREATE VIEW told_issues AS SELECT *,
    (SELECT COALESCE(GROUP_CONCAT(note, char(10, 10)), '') FROM (
        SELECT note FROM decisions WHERE issue_id = issues.id AND note != '' GROUP BY note ORDER BY MIN(id)
    )) AS note,
    (SELECT json_group_array(value) FROM (
        SELECT path.value AS value FROM decisions, json_each(decisions.paths) AS path
        WHERE issue_id = issues.id AND verdict = 'approved' GROUP BY path.value ORDER BY MIN(decisions.id), MIN(path.id)
    )) AS granted_paths
FROM issues;

-- The issues that breakdowns made; the tracker does not know them.
CREATE TABLE children (
    id         TEXT PRIMARY KEY,
    parent     TEXT NOT NULL,
    position   INTEGER NOT NULL,
    issue      TEXT NOT NULL,                   -- JSON of model.issue.Issue
    at         REAL NOT NULL
) WITHOUT ROWID;

-- What happened, in order. Never updated.
CREATE TABLE events (
    id         INTEGER PRIMARY KEY,
    at         REAL NOT NULL,
    run_id     TEXT NOT NULL,
    kind       TEXT NOT NULL,
    issue_id   TEXT,
    data       TEXT NOT NULL
);
CREATE INDEX events_by_issue ON events (issue_id, id);

-- Pull requests, one an issue: the intent is recorded before anything is pushed.
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

-- What was last said of an issue in its tracker, so that it is said again only where something has changed.
CREATE TABLE publications (
    issue_id   TEXT PRIMARY KEY,
    digest     TEXT NOT NULL,                   -- of what was last said: labels, comment, open or closed
    comment    INTEGER,                         -- the id of noface's comment there
    heard      TEXT NOT NULL DEFAULT '{}',      -- JSON: what people said there that has been acted on
    at         REAL NOT NULL
) WITHOUT ROWID;

-- Small facts: the backlog's fingerprint, faults and warnings.
CREATE TABLE facts (
    name       TEXT PRIMARY KEY,
    value      TEXT NOT NULL
) WITHOUT ROWID;

-- A recovery that worked: one row for a failure's signature and the strategy that led to it.
CREATE TABLE lessons (
    id          INTEGER PRIMARY KEY,
    signature   TEXT NOT NULL,
    kind        TEXT NOT NULL,
    rule        TEXT NOT NULL,
    message     TEXT NOT NULL,
    cause       TEXT NOT NULL,
    strategy    TEXT NOT NULL,
    advice      TEXT NOT NULL,                  -- what prompts quote
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
CREATE TABLE lessons_shown (
    lesson_id   INTEGER NOT NULL,
    issue_id    TEXT NOT NULL,
    number      INTEGER NOT NULL,
    token       TEXT NOT NULL,
    judged      INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (issue_id, number, lesson_id)
) WITHOUT ROWID;
