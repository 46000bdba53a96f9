-- From schema 3 to 4: the order of an attempt that is under way is kept here, out of its worker's reach.
ALTER TABLE attempts ADD COLUMN record TEXT;
-- What passed and changed its judges, as its issue wanted, is looked at before it lands.
ALTER TABLE attempts ADD COLUMN doubts TEXT NOT NULL DEFAULT '[]';
