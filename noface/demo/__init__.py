"""A sample project with real bugs, and a scripted worker that plays the part of a coding agent in it.

`sample.build` makes the repository; `python -m noface.demo.worker` is an ordinary `command` worker without a key or a
network. Bugs and edits are data (`catalogue.toml`, `library/`). Nothing here imports the rest of noface.
"""
