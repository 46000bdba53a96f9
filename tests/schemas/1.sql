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

-- One row an issue: what a person is shown, kept up to date with every event, so that looking is cheap.
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
    note           TEXT NOT NULL DEFAULT '',
    attempts       INTEGER NOT NULL DEFAULT 0,  -- charged ones of this epoch
    model          TEXT,
    last_kind      TEXT,
    last_message   TEXT,
    branch         TEXT,
    merged_commit  TEXT,
    cost_usd       REAL,
    blocked_hash   TEXT NOT NULL DEFAULT '',    -- the content last worked on, blocked or skipped: another one unblocks
    block          TEXT                         -- JSON: what a person needs to know
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
    prompt_hash    TEXT NOT NULL,
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
    failure        TEXT,                        -- JSON of core.model.Failure
    action         TEXT,                        -- JSON: kind and reason
    gates          TEXT NOT NULL DEFAULT '[]',  -- JSON: name, passed, seconds, kind
    notes          TEXT NOT NULL DEFAULT '[]',
    UNIQUE (issue_id, number)
) WITHOUT ROWID;

-- Gate results by tree, gate definition and environment: a green tree is never gated again.
CREATE TABLE gate_memo (
    key        TEXT PRIMARY KEY,
    tree       TEXT NOT NULL,
    gate       TEXT NOT NULL,
    result     TEXT NOT NULL,
    at         REAL NOT NULL
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

-- Models that wait for a provider (N1), shared by all issues.
CREATE TABLE waits (
    model      TEXT PRIMARY KEY,
    until      REAL NOT NULL,
    failures   INTEGER NOT NULL,
    kind       TEXT NOT NULL,
    reason     TEXT NOT NULL
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

-- Small facts: the backlog's fingerprint, faults and warnings.
CREATE TABLE facts (
    name       TEXT PRIMARY KEY,
    value      TEXT NOT NULL
) WITHOUT ROWID;
