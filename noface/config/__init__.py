"""noface.toml: read, checked in one go with every problem named, described, edited and first written.

`load` reads it, `settings.Config` is what comes out, `schema` and `example` describe it from the same models,
`edit` changes one value and keeps the comments, `detect` and `starting_file` serve `noface init`.
"""
