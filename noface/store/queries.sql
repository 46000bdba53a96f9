-- The longer statements, by name. A name is followed by what the statement is for.

-- name: put_issue
-- Brings an issue's row up to the tracker's state. Where a landed one was written stays: its number may come again.
INSERT INTO issues (id, position, title, priority, source, content_hash, depends_on, parent, read_after)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, (SELECT COALESCE(MAX(id), 0) FROM landings))
ON CONFLICT (id) DO UPDATE SET
    read_after = CASE WHEN content_hash = excluded.content_hash THEN read_after ELSE excluded.read_after END,
    present = 1,
    position = excluded.position,
    title = excluded.title,
    priority = excluded.priority,
    source = CASE WHEN status = 'merged' AND source != '' THEN source ELSE excluded.source END,
    content_hash = excluded.content_hash,
    depends_on = excluded.depends_on,
    parent = excluded.parent;

-- name: present_issues
SELECT id, position, title, priority, source, content_hash, depends_on, parent FROM issues WHERE present = 1;

-- name: unblock
-- The counters look at the newest epoch only, so they start again.
UPDATE issues SET
    epoch = epoch + 1,
    attempts = 0,
    block = NULL,
    blocked_hash = '',
    wanted_model = ?,
    wanted_attempts = ?
WHERE id = ?;

-- name: recount
-- Counts charged attempts and adds up costs anew from the rows, so that neither can drift. A cost of NULL: unknown.
UPDATE issues SET
    attempts = (
        SELECT COALESCE(SUM(charged), 0) FROM attempts AS a
        WHERE a.issue_id = issues.id AND a.epoch = issues.epoch AND a.outcome IS NOT NULL
    ),
    cost_usd = (
        SELECT SUM(cost_usd) FROM (
            SELECT cost_usd FROM attempts AS a WHERE a.issue_id = issues.id
            UNION ALL SELECT cost_usd FROM advice AS q WHERE q.issue_id = issues.id
        )
    )
WHERE id = ?;

-- name: overrule
-- An attempt that passed alone fails on the merge with main.
UPDATE attempts SET outcome = ?, charged = ?, failure = ?, signature = ?, action = NULL
WHERE issue_id = ? AND number = ?;

-- name: accept
-- An attempt that only main's tests contradicted passes, since its issue asks for that.
UPDATE attempts SET outcome = 'PASSED', failure = NULL, signature = '', action = NULL,
    notes = json_insert(notes, '$[#]', ?)
WHERE issue_id = ? AND number = ?;

-- name: interrupt
-- A question that was cut short keeps what it cost.
UPDATE advice SET answered_at = ?, outcome = 'INTERRUPTED', answer = ?, cost_usd = ?
WHERE id = ? AND outcome IS NULL;

-- name: marks
-- Which budgets ended a question.
SELECT json_extract(answer, '$.mark') AS mark FROM advice
WHERE issue_id = ? AND topic = ? AND after = ? AND epoch = ? AND outcome = 'INTERRUPTED';

-- name: interrupted
-- What the interrupted questions of an issue used.
SELECT SUM(cost_usd) AS usd, SUM(json_extract(answer, '$.tokens')) AS tokens FROM advice
WHERE issue_id = ? AND epoch = ? AND outcome = 'INTERRUPTED';

-- name: breakdown
-- The newest answer that broke an issue down.
SELECT id, answer FROM advice WHERE issue_id = ? AND topic = 'breakdown' AND outcome = 'ADVISED'
ORDER BY id DESC LIMIT 1;

-- name: happened_since
SELECT issue_id, MAX(at) FROM events
WHERE at >= ? AND issue_id IS NOT NULL AND (kind GLOB 'issue_*' OR kind IN ('attempt_started', 'attempt_finished'))
GROUP BY issue_id;

-- name: landed
-- What has come to main, and when; of what several landings brought the newest.
SELECT issue_id, MAX(number), MAX(at) AS at FROM (
    SELECT issue_id, number, at FROM landings WHERE state = 'landed'
    UNION ALL SELECT issue_id, attempt, at FROM pull_requests WHERE state = 'merged'
) GROUP BY issue_id ORDER BY at, issue_id;

-- name: night_began
-- When the newest run began, or the first of those right before it that were cut off, or ended by a fault of the
-- machine's or noface's (1): it went on with their work.
SELECT MIN(started_at) FROM runs WHERE rowid > COALESCE((
    SELECT MAX(rowid) FROM runs WHERE COALESCE(exit_code, 1) != 1 AND rowid < (SELECT MAX(rowid) FROM runs)
), 0);

-- name: left
SELECT COUNT(*) FROM issues WHERE present = 1 AND cause != 'held' AND (
    status IN ('ready', 'running', 'landing', 'waiting')
    OR status IN ('blocked', 'skipped') AND blocked_hash NOT IN ('', content_hash)
);

-- name: gaps
-- What workers of a run report as missing, each once, in the order reported.
SELECT a.issue_id, MIN(a.number), gap.value FROM attempts AS a, json_each(a.report, '$.gaps') AS gap
WHERE a.run_id = ? AND a.report IS NOT NULL
GROUP BY a.issue_id, gap.value
ORDER BY a.issue_id, MIN(a.number), MIN(gap.id) LIMIT ?;

-- name: states
SELECT id, status, reason, until, epoch, note, satisfied, wanted_model, wanted_attempts, granted_paths, needs, cause,
    COALESCE(NULLIF(blocked_hash, ''), content_hash) AS content_hash,
    (SELECT number FROM pull_requests WHERE issue_id = issues.id) AS pull_request
FROM told_issues AS issues;

-- name: conflicts
-- The issues under way that have conflicted with main since they were last unblocked.
SELECT DISTINCT i.id, i.epoch FROM attempts AS a JOIN issues AS i ON i.id = a.issue_id AND i.epoch = a.epoch
WHERE a.outcome = 'MERGE_CONFLICT' AND i.status IN ('ready', 'waiting', 'running', 'landing');

-- name: pull_results
-- The results that prove an issue's pull request, in the order of the keys that it holds.
SELECT m.result FROM pull_requests AS p, json_each(p.gates) AS key JOIN gate_memo AS m ON m.key = key.value
WHERE p.issue_id = ? ORDER BY key.key;

-- name: family_outcomes
WITH RECURSIVE
    up(id, parent) AS (
        SELECT id, parent FROM issues WHERE id = ?
        UNION SELECT issues.id, issues.parent FROM issues JOIN up ON issues.id = up.parent
    ),
    family(id, epoch) AS (
        SELECT id, epoch FROM issues WHERE id IN (SELECT id FROM up WHERE parent IS NULL)
        UNION SELECT issues.id, issues.epoch FROM issues JOIN family ON issues.parent = family.id
    )
SELECT attempts.outcome FROM attempts JOIN family ON attempts.issue_id = family.id AND attempts.epoch = family.epoch
WHERE attempts.outcome IS NOT NULL AND (SELECT count(*) FROM family) > 1;

-- name: mains
SELECT main FROM attempts UNION SELECT old FROM landings UNION SELECT new FROM landings WHERE state = 'landed'
UNION SELECT base FROM pull_requests;

-- name: touched
SELECT issue_id FROM attempts UNION SELECT issue_id FROM advice UNION SELECT issue_id FROM decisions;

-- name: kept
SELECT a.issue_id, a.number, a.directory, a.finished_at, COALESCE(i.status = 'merged', 0)
FROM attempts AS a LEFT JOIN issues AS i ON i.id = a.issue_id
WHERE a.outcome IS NOT NULL ORDER BY a.finished_at, a.issue_id, a.number;

-- name: open_attempts
SELECT token, issue_id, number, directory, record FROM attempts WHERE outcome IS NULL ORDER BY started_at, token;

-- name: agreements
SELECT issue_id, paths FROM decisions WHERE paths != '[]' UNION ALL SELECT id, needs FROM issues WHERE needs != '[]'
ORDER BY 1, 2;

-- name: deaths
-- A death without evidence says nothing; an attempt that came to its own end breaks the row.
SELECT issues.id, MAX(json_extract(data, '$.deaths')) AS deaths, json_extract(data, '$.evidence') AS evidence
FROM events JOIN issues ON issues.id = issue_id
WHERE kind = 'noface_died' AND json_extract(data, '$.evidence') IS NOT NULL
    AND json_extract(data, '$.epoch') = issues.epoch
    AND json_extract(data, '$.number') > (
        SELECT COALESCE(MAX(number), 0) FROM attempts
        WHERE attempts.issue_id = issues.id AND outcome IS NOT NULL AND outcome != 'INTERRUPTED'
    )
GROUP BY issues.id;

-- name: repeats
SELECT COUNT(*) FROM events
WHERE issue_id = ? AND kind = 'gate_repeated' AND json_extract(data, '$.number') IN (
    SELECT number FROM attempts WHERE issue_id = ? AND epoch = ?
);

-- name: peaks
-- The most that one of each model's newest runs used. A run that failed before it began cost nothing, which says
-- nothing of the next; nor does one that was cut short.
SELECT model, MAX(usd) AS usd, MAX(tokens) AS tokens FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY model, topic ORDER BY at DESC) AS age FROM (
        SELECT model, '' AS topic, finished_at AS at, NULLIF(cost_usd, 0) AS usd,
            NULLIF(COALESCE(tokens_in, 0) + COALESCE(tokens_out, 0), 0) AS tokens
        FROM attempts WHERE outcome != 'INTERRUPTED'
        UNION ALL
        SELECT model, topic, answered_at, NULLIF(cost_usd, 0), NULLIF(json_extract(answer, '$.tokens'), 0)
        FROM advice WHERE outcome != 'INTERRUPTED'
    ) WHERE usd IS NOT NULL OR tokens IS NOT NULL
) WHERE age <= ? GROUP BY model;

-- name: spent
-- What a run's attempts and questions used.
SELECT SUM(usd), SUM(tokens) FROM (
    SELECT cost_usd AS usd, COALESCE(tokens_in, 0) + COALESCE(tokens_out, 0) AS tokens FROM attempts WHERE run_id = ?
    UNION ALL
    SELECT cost_usd, json_extract(answer, '$.tokens') FROM advice WHERE run_id = ?
);

-- name: costs_known
-- How many attempts have an estimated cost, and of how many nobody knows it though they used something.
SELECT COALESCE(SUM(notes LIKE ?), 0) AS estimated,
    COALESCE(SUM(cost_usd IS NULL AND COALESCE(tokens_in, 0) + COALESCE(tokens_out, 0) > 0), 0) AS unknown
FROM attempts;

-- name: under_way
SELECT model, think FROM attempts WHERE outcome IS NULL
UNION ALL SELECT model, 0 FROM advice WHERE outcome IS NULL AND model != '';

-- name: issue_facts
-- What a check holds against git; `charged` and `spent` are the counters counted anew.
SELECT id, status, COALESCE(merged_commit, '') AS merged_commit, attempts, cost_usd,
    (SELECT COALESCE(SUM(charged), 0) FROM attempts AS a
     WHERE a.issue_id = issues.id AND a.epoch = issues.epoch AND a.outcome IS NOT NULL) AS charged,
    (SELECT SUM(cost_usd) FROM (
        SELECT cost_usd FROM attempts AS a WHERE a.issue_id = issues.id
        UNION ALL SELECT cost_usd FROM advice AS q WHERE q.issue_id = issues.id)) AS spent
FROM issues ORDER BY id;

-- name: attempt_facts
SELECT issue_id AS issue, number, COALESCE(outcome, '') AS outcome, COALESCE(commit_id, '') AS "commit",
    COALESCE(candidate, '') AS candidate, directory
FROM attempts ORDER BY issue_id, number;

-- name: landing_facts
SELECT issue_id AS issue, old, new, tree, gates, state FROM landings ORDER BY id;

-- name: lessons_by_signature
SELECT * FROM lessons WHERE signature = ? AND signature != '' AND dropped_at IS NULL
ORDER BY (learned + successes) * 1.0 / (learned + hits + 1) DESC, id DESC LIMIT ?;

-- name: lessons_of_kind
SELECT * FROM lessons WHERE kind = ? AND signature != ? AND dropped_at IS NULL ORDER BY id DESC LIMIT ?;

-- name: lessons_to_judge
SELECT l.id, l.kind, l.strategy, l.learned, l.hits, l.successes FROM lessons_shown AS s JOIN lessons AS l ON l.id = s.lesson_id
WHERE s.issue_id = ? AND s.number = ? AND s.judged = 0;

-- name: attempts_without_lessons
-- How attempts ended whose prompt quoted no lesson, after a failure of a kind: passed, or with the same failure again.
SELECT COALESCE(SUM(outcome = 'PASSED'), 0) AS passed,
    COALESCE(SUM(outcome != 'PASSED' AND signature != '' AND signature = signature_before), 0) AS again
FROM (
    SELECT issue_id, number, outcome, signature,
        LAG(outcome) OVER same_issue AS kind_before, LAG(signature) OVER same_issue AS signature_before
    FROM attempts WHERE charged AND outcome IS NOT NULL
    WINDOW same_issue AS (PARTITION BY issue_id, epoch ORDER BY number)
) AS a
WHERE kind_before = ?
    AND NOT EXISTS (SELECT 1 FROM lessons_shown AS s WHERE s.issue_id = a.issue_id AND s.number = a.number);

-- name: to_say
-- The issues of which their tracker may have to be told something: what is new, or has been mentioned and not settled.
-- What has landed without an attempt of noface's here is another machine's to tell.
SELECT issues.* FROM told_issues AS issues LEFT JOIN publications ON publications.issue_id = issues.id
WHERE issues.parent IS NULL
    AND CASE
        WHEN publications.digest LIKE ? THEN issues.status != 'merged'
        WHEN publications.digest LIKE ? THEN issues.present = 1
        WHEN publications.issue_id IS NOT NULL THEN 1
        WHEN issues.status = 'merged' THEN EXISTS (
            SELECT 1 FROM events
            WHERE events.issue_id = issues.id AND events.kind = 'issue_merged' AND events.at >= ?
        ) AND EXISTS (SELECT 1 FROM attempts WHERE attempts.issue_id = issues.id)
        ELSE issues.present = 1 AND (issues.status NOT IN ('ready', 'waiting') OR EXISTS (
            SELECT 1 FROM attempts WHERE attempts.issue_id = issues.id
        ))
    END
ORDER BY issues.position, issues.id;

-- name: worked
SELECT number, model, started_at, outcome FROM attempts WHERE issue_id = ? ORDER BY number;

-- name: landed_since_read
SELECT id, issue_id, number, old, new FROM landings
WHERE state = 'landed' AND id > (SELECT read_after FROM issues WHERE id = ?) ORDER BY id;

-- name: columns
SELECT m.name || '.' || c.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c
WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\_%' ESCAPE '\';
