"""What models are asked for between attempts (`forms`), and a worker's own report (`report`).

The JSON Schemas that are published and checked (L4, L12) are data/answers.json, each with an example for the prompt.
Every string and list in them is bounded. Nothing but a value that satisfies its schema is ever read.
"""
