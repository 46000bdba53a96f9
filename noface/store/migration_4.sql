-- From schema 3 to 4: the order of an attempt that is under way is kept here, out of its worker's reach.
ALTER TABLE attempts ADD COLUMN record TEXT;
-- What passed and changed its judges, as its issue wanted, is looked at before it lands.
ALTER TABLE attempts ADD COLUMN doubts TEXT NOT NULL DEFAULT '[]';
-- Which tests a gate ran on a tree, so that a change can be held to them after a restart.
ALTER TABLE gate_memo ADD COLUMN tests BLOB;
