"""noface.toml: read, checked in one go with every problem named, described and edited."""
