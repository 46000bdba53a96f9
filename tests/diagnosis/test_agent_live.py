"""noface run with programs that print what the real CLIs printed: the verdict reaches the attempt, and `noface show --why`."""

import pytest
from support.agent_recordings import run

MODEL = """
[models.real]
agent = "{cli}"
command = "{program}"
model = "some/model"

[retry]
default_model = "real"
max_total_attempts = 1
"""


def replaying(project, cli, name):
    """Make the project's worker a program that prints a recording."""
    each = run(cli, name)
    for part, data in (("out", each.stdout), ("err", each.stderr.encode())):
        (project.folder / part).write_bytes(data)
    program = project.folder / "program"
    program.write_text(
        f'#!/bin/sh\necho "$@" > {project.folder}/argv\ncat {project.folder}/out\ncat {project.folder}/err >&2\nexit {each.exit_code}\n'
    )
    program.chmod(0o755)
    text = (project.path / "noface.toml").read_text().split("[retry]")[0]
    rest = f'[run]\nslots_dir = "{project.folder}/slots"\n[sandbox]\nkind = "none"\n'
    (project.path / "noface.toml").write_text(text + MODEL.format(cli=cli, program=program) + rest)
    project.issue(1)


@pytest.mark.parametrize(
    ("cli", "name", "kind", "rule"),
    [
        ("aider", "auth401", "AUTH", "aider-auth"),  # exit code 0
        ("opencode", "credit", "AUTH", "opencode-billing"),
    ],
)
def test_a_worker_s_recorded_failure_is_charged_to_its_cause(project, cli, name, kind, rule):
    replaying(project, cli, name)
    project.run("--once", code=3)
    (attempt,) = project.attempts("1")
    assert (attempt["outcome"], attempt["failure"]["rule"], attempt["charged"]) == (kind, rule, False)
    document = project.shown("show", "1", "--why")
    assert document["failure"]["rule"] == rule
    assert document["logs"]
    if name == "credit":
        assert [also[0] for also in document["failure"]["also_matched"]][:1] in ([f"{cli}-rate-limit"], [])
    assert "some/model" in (project.folder / "argv").read_text()
