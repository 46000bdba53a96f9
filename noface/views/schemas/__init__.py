"""The JSON Schemas of what other programs read from noface, and of what it reads from a worker: `noface schema`."""
