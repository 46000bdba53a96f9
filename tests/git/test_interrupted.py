"""A Ctrl-C that reaches a git command before it has a session of its own."""

from dataclasses import replace

import pytest

from noface.git.command import Git

ENDED = 'echo >> "$0"; if [ $(wc -l < "$0") -lt {} ]; then kill -INT $$; fi; exec "$@"'


@pytest.mark.parametrize(("works_at", "code"), [(1, 0), (2, 0), (9, -2)])
def test_a_command_that_ctrl_c_ends_before_it_has_begun_is_begun_again(tmp_path, works_at, code):
    git = Git.sealed(str(tmp_path))
    git = replace(git, prefix=("bash", "-c", ENDED.format(works_at), str(tmp_path / "calls"), *git.prefix))
    assert git.run("hash-object", "--stdin", stdin="a\n").code == code
    assert len((tmp_path / "calls").read_text()) == min(works_at, 3)
