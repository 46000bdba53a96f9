"""The state database: schema, migrations, the journal that writes and the reader."""
