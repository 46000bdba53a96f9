"""What a change does beyond what was asked: one chapter a file, its rows in data/unasked.toml."""
