-- From schema 6 to 7: what had landed when an issue's text was first read.
ALTER TABLE issues ADD COLUMN read_after INTEGER NOT NULL DEFAULT 0;
UPDATE issues SET read_after = (SELECT COALESCE(MAX(id), 0) FROM landings);
