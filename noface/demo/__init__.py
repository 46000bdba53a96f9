"""A sample project with real bugs, and a worker without a model that repairs some of them.

`sample.build` makes the repository; `python -m noface.demo.worker` is an ordinary `command` worker: search-based
program repair, no key, no network. Nothing here imports the rest of noface, and the worker never imports the
catalogue that the bugs are drawn from.
"""
