-- From schema 7 to 8: what a program has to know of why an issue stands where it stands. It was read from the reason.
ALTER TABLE issues ADD COLUMN cause TEXT NOT NULL DEFAULT '';
UPDATE issues SET cause = 'claimed' WHERE status = 'waiting' AND reason LIKE 'claimed by %';
UPDATE issues SET cause = 'held' WHERE status = 'landing' AND reason NOT LIKE 'passed%';
