"""What models are asked for between attempts, and a worker's report: one module an answer, listed in `table`.

Each module holds the JSON Schema that is published and checked (L4, L12), an example for the prompt, and `read`, which
makes a record of a value that satisfies the schema. Nothing but such a value is ever read.
"""
