"""A benchmark of recovery that ships with noface: a worker that fails on purpose, and succeeds only if it is told.

Each scenario of `catalogue.toml` provokes one kind of failure. The worker (`worker.py`, a stand-in for the command
line of Claude Code) gets it right only if the next attempt carries what it needs: the message, the earlier diff, a
hint, a stronger model, a planner's answer, a smaller part, the wait for a reset. What it needs is a secret, drawn anew
for every run and shown by one channel alone; `behaviour.py`, which decides what the worker does, is a pure function of
the prompt, the checkout and the strength of its model. So nothing but the channel can have helped.

Nothing here imports the rest of noface but the maker of the demonstration's project; `run.py` runs it from outside.
"""
