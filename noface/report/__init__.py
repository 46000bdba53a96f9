"""The night on one page: what to look at, what needs a person, what landed, and what it took."""
