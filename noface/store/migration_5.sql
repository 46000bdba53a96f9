-- From schema 4 to 5: with which session of an earlier attempt an attempt went on, or was to (model.worker_run.Resumed).
ALTER TABLE attempts ADD COLUMN resumed TEXT;
