-- Lessons of before 0.2 know no part of the project: they fit nothing, and stay to be read.
ALTER TABLE lessons ADD COLUMN parts TEXT NOT NULL DEFAULT '[]';
