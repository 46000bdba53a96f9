"""What noface's state must agree on: git, the database, the state folder."""
