"""Lets `python -m noface` do what the command `noface` does."""

from noface.cli.main import main

if __name__ == "__main__":
    main()
