import subprocess
import sys

import pytest

from noface.config.load import find, load
from noface.errors import ConfigError


def test_load_reads_the_visible_file(tmp_path):
    (tmp_path / "noface.toml").write_text("[run]\nworkers = 3\n")
    assert load(tmp_path).run.workers == 3


def test_load_reads_the_hidden_file(tmp_path):
    (tmp_path / ".noface.toml").write_text("[run]\nworkers = 4\n")
    assert find(tmp_path, None) == tmp_path / ".noface.toml"
    assert load(tmp_path).run.workers == 4


def test_both_files_are_an_error(tmp_path):
    (tmp_path / "noface.toml").write_text("")
    (tmp_path / ".noface.toml").write_text("")
    with pytest.raises(ConfigError, match=r"both noface\.toml and \.noface\.toml"):
        load(tmp_path)


def test_no_file_points_to_init(tmp_path):
    with pytest.raises(ConfigError) as caught:
        load(tmp_path)
    assert caught.value.hint.startswith("run `noface init`")


def test_an_explicit_file_wins_over_those_at_the_top(tmp_path):
    (tmp_path / "noface.toml").write_text("")
    other = tmp_path / "other.toml"
    other.write_text("[run]\nworkers = 5\n")
    assert load(tmp_path, other).run.workers == 5


def test_an_explicit_file_that_is_missing_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"no file .*nope\.toml"):
        load(tmp_path, tmp_path / "nope.toml")


def test_problems_of_an_explicit_file_name_its_path(tmp_path):
    other = tmp_path / "other.toml"
    other.write_text("[run]\nworkers = 0\n")
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, other)
    assert f"{other}:2: run.workers" in caught.value.message


def test_a_file_that_is_no_utf8_is_refused_with_the_line(tmp_path):
    (tmp_path / "noface.toml").write_bytes(b"# ok\n# \xff\n")
    with pytest.raises(ConfigError, match=r"noface\.toml:2: not UTF-8"):
        load(tmp_path)


def test_a_byte_order_mark_does_no_harm(tmp_path):
    (tmp_path / "noface.toml").write_bytes(b"\xef\xbb\xbf[run]\r\nworkers = 2\r\n")
    assert load(tmp_path).run.workers == 2


def test_a_folder_called_noface_toml_is_an_error_not_a_crash(tmp_path):
    (tmp_path / "noface.toml").mkdir()
    with pytest.raises(ConfigError, match="cannot read"):
        load(tmp_path)


def test_finding_detecting_and_writing_a_file_need_no_pydantic():
    modules = "noface.config.load, noface.config.edit, noface.detection.detect"
    code = f"import sys, {modules}; print([name for name in ('pydantic', 'regex') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
