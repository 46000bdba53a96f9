-- From schema 2 to 3: an attempt remembers its agent's session.
ALTER TABLE attempts ADD COLUMN session_id TEXT;
