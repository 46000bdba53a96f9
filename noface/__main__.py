"""Starts noface: what the command `noface` and `python -m noface` run."""

import gc

from noface.process.startup import leave_project_out


def main() -> None:
    """Run noface; nothing of it is imported before the project's own files are out of the way."""
    leave_project_out()
    gc.set_threshold(1_000_000)  # what modules define is no garbage, and most verbs are over before a look could pay
    from noface.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
