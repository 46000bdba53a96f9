"""The verbs of the evening: who is told of a night, and when it begins."""
