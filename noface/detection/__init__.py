"""What a repository is by its files, for `noface init`: its CI's checks, its setup, its tools. Nothing is run.

`detect` makes suggestions of everything; `ci` follows what CI runs, from `workflows` through `starters`, `sessions` and
`recipes` to `checks`; `python` and `node` know how an environment is made there.
"""
