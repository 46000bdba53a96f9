-- The words of the lessons, by the lesson's id. Apart from the other tables, since not every SQLite has FTS5.
CREATE VIRTUAL TABLE IF NOT EXISTS lessons_text USING fts5 (message, cause, advice);
