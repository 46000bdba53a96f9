"""The state database: its schema, the journal that writes and the reader."""
