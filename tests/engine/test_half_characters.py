"""An agent's JSON may name half of a character, which neither a file nor the database takes: the run goes on."""

import json


def test_an_answer_with_half_of_a_character_ends_no_run(project):
    said = {"type": "result", "subtype": "success", "is_error": False, "result": "a\ud800b done", "session_id": "s"}
    program = project.folder / "claude"
    program.write_text(f"#!/bin/sh\ncat > /dev/null\necho b > b.txt\ncat <<'END'\n{json.dumps(said)}\nEND\n")
    program.chmod(0o755)
    project.config()
    text = (project.path / "noface.toml").read_text()
    project.write(
        "noface.toml",
        text.replace(f'agent = "scripted"\ncommand = "{project.script}"', f'agent = "claude"\ncommand = "{program}"'),
    )
    project.issue(7)
    project.commit()
    project.run()
    assert project.statuses() == {"7": "merged"}
    (attempt,) = project.attempts("7")
    assert attempt["outcome"] == "PASSED"
