"""Starts noface: what the command `noface` and `python -m noface` run."""

from noface.process.startup import leave_project_out


def main() -> None:
    """Run noface; nothing of it is imported before the project's own files are out of the way."""
    leave_project_out()
    from noface.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
