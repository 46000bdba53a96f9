"""What a worker had put out when its run failed is kept, whatever ended it: told to the next one and shown (K3)."""

SAID = "echo reading the code; echo 'found: the price is in cents'; echo 'still red: test_price'; "
ENDS = {
    "1": "echo 'warn: deprecated' >&2; exit 3",
    "2": "kill -KILL $$",
    "3": "sleep 60",
    "4": "exit 127",
    "5": "touch bad",
}
"""How the first worker of each issue ends: a crash, a signal, a time limit, no fault of its own, a red gate."""


def test_what_a_plain_worker_printed_is_told_to_the_next_one_and_shown(project):
    worker = project.folder / "worker.sh"
    ends = "".join(f"{issue}) {SAID}echo h > half$NOFACE_ISSUE_ID.txt; {end} ;;\n" for issue, end in ENDS.items())
    again = 'test "$NOFACE_ATTEMPT" = 1 || { rm -f bad; echo b > $NOFACE_ISSUE_ID.txt; exit 0; }\n'
    worker.write_text(f"{again}case $NOFACE_ISSUE_ID in\n{ends}esac\n")
    project.config(workers=5)
    own = (project.path / "noface.toml").read_text()
    own = own.replace('agent = "scripted"', 'agent = "command"').replace(f'"{project.script}"', f'"bash {worker}"')
    project.write("noface.toml", own.replace('timeout = "60s"', 'timeout = "1s"'))
    for issue in ENDS:
        project.issue(issue)
    project.commit()
    project.run()
    found = "found: the price is in cents"
    for issue, end in ENDS.items():
        first, told = project.attempts(issue)[0], project.prompt(issue, 2)
        assert found in first["partial"]["partial_output"], end
        assert "still red: test_price" in told, end
        assert found in told or first["failure"]["gate"], end
        assert first["task_failure"]["details"]["partial_output"] == first["partial"]["partial_output"], end
    assert "warn: deprecated" in project.prompt("1", 2)
    assert found in project.noface("show", "3").stdout
    assert found in project.noface("show", "3", "1").stdout
    failed = [project.attempts(issue)[0]["task_failure"]["details"]["failed_step"] for issue in ("3", "5")]
    assert failed == [0, 2]  # the agent; the gate, after agent and snapshot
