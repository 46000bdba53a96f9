"""What a repository is by its files, for `noface init`: gates, setup, and what CI runs. Nothing is run here."""
