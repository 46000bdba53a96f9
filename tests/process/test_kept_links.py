"""A worker puts a link in the place of a kept path: setup, which may run outside the sandbox, writes through none."""

import pytest

SETUP = """
[project]
setup = "rm -rf {kept}/*; mkdir -p {kept}; echo tool > {kept}/tool"
setup_inputs = ["deps.lock"]
keep = ["{kept}"]
"""


@pytest.mark.parametrize(
    ("kept", "link"),
    [pytest.param("node_modules", "node_modules", marks=pytest.mark.thorough), ("web/node_modules", "web")],
)
def test_setup_does_not_write_through_a_link_that_a_worker_put_in_place_of_a_kept_path(project, kept, link):
    precious = project.folder / "precious"
    (precious / "node_modules").mkdir(parents=True)
    files = (precious / "x", precious / "node_modules/x")
    for file in files:
        file.write_text("mine\n")
    project.config(SETUP.format(kept=kept))
    project.write("deps.lock", "1\n")
    planted = f"rm -rf {link}; ln -s {precious} {link}; echo 2 > deps.lock; touch bad"
    project.play(("*", 1, [{"shell": planted}]), ("*", 2, [{"shell": "rm -f bad; echo x > b.txt"}]))
    project.issue(1, max_attempts=2)
    project.commit()
    project.run()
    assert project.statuses() == {"1": "merged"}
    assert [file.read_text() for file in files] == ["mine\n", "mine\n"]
    assert not (precious / "tool").exists()
    assert not (precious / "node_modules/tool").exists()
