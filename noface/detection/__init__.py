"""What a repository is by its files, for `noface init`: gates, setup, and what CI runs. Nothing is run here.

`detect` goes by the table of ecosystems; `python` and `node` know what their manifests say is installed; `ci` reads the
commands of CI as they stand; `proposal` asks a model about all of it, and checks what it answers.
"""
