"""noface.toml: read, checked in one go with every problem named, described and edited.

`sections` defines each setting once; `lines` and `load` read the file, `problems` and `rules` say what is wrong with
it, `describe` makes the example and the JSON Schema, `edit` changes values.
"""
