-- Keeps which issues a connection changes, so that a run reads the states of those alone anew.
PRAGMA temp_store = MEMORY;
CREATE TEMP TABLE IF NOT EXISTS changed_issues (id TEXT);
CREATE TEMP TRIGGER IF NOT EXISTS issue_added AFTER INSERT ON main.issues
BEGIN INSERT INTO changed_issues VALUES (NEW.id); END;
CREATE TEMP TRIGGER IF NOT EXISTS issue_changed AFTER UPDATE ON main.issues
BEGIN INSERT INTO changed_issues VALUES (NEW.id); END;
CREATE TEMP TRIGGER IF NOT EXISTS pull_added AFTER INSERT ON main.pull_requests
BEGIN INSERT INTO changed_issues VALUES (NEW.issue_id); END;
CREATE TEMP TRIGGER IF NOT EXISTS pull_changed AFTER UPDATE ON main.pull_requests
BEGIN INSERT INTO changed_issues VALUES (NEW.issue_id); END;
