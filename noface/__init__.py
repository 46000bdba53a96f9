"""noface works through a backlog unattended and merges to main only what the project's own gates prove."""

__version__ = "0.1.0"
