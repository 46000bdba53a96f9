"""noface.toml: read, checked in one go with every problem named, described, edited and first written.

`sections` defines each setting once; `lines` and `load` read the file, `problems` and `rules` say what is wrong with
it, `describe` makes the example and the JSON Schema, `edit` changes one value, `detect` serves `noface init`.
"""
