import pytest

from noface.integrity.named_files import named_paths, run_scripts


@pytest.mark.parametrize(
    ("command", "scripts"),
    [
        ("./run-tests", ("run-tests",)),
        ("bash -eu scripts/check.sh fast", ("scripts/check.sh",)),
        ("CI=1 sh tests/test.sh && make lint", ("tests/test.sh",)),
        ("python app.py", ()),
        ("cmp lock deps/lock; ./a | ./b", ("a", "b")),
        ("/bin/sh x.sh", ("x.sh",)),
        ("exec env A=1 ./agent.sh {prompt_file}", ("agent.sh",)),
        ("'unclosed", ()),
        ("", ()),
    ],
)
def test_scripts_are_what_a_command_runs_and_not_what_it_reads(command, scripts):
    assert run_scripts((command,)) == scripts


def test_paths_are_named_without_pytests_names_and_stay_inside():
    command = "python -m pytest -q ./checks/test_a.py::test_x /etc/passwd ../out src/"
    assert named_paths((command,)) == ("checks/test_a.py", "pytest", "python", "src")
