"""`noface tools`: what is set up once, serves scripts, or repairs. Its verbs stand in the table of `cli/main.py`."""

from functools import partial

from noface.cli.verb import grouped

group = partial(grouped, "Set up nights, try noface, serve scripts, and repair.", {})
