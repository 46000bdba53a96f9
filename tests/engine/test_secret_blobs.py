"""A secret that no patch shows: in a file that git takes for binary, and beyond where the patch is cut (I12)."""

from types import SimpleNamespace

import pytest
from support.git_ground import a_bench, write

from noface.attempt.changes import added_secrets
from noface.gates.secrets import secret_failure
from noface.integrity.diff.rules import DiffLimits
from noface.model.failure import Failure
from noface.secrets.masking import Masker

VALUE = "sk-Wq8zT4nL2pX9vB7mK5dR3hJ6"
MASKER = Masker({VALUE: "SHOP_TOKEN"})


@pytest.fixture
def judged(tmp_path):
    def judge(after, before=None, test_keys=(), **limits):
        bench = a_bench(tmp_path, {"a.txt": "a\n", **(before or {})})
        write(bench.begin(), after)
        changes, keys = bench.take(()).snapshot.changes, DiffLimits(test_keys=test_keys)
        env = SimpleNamespace(plumbing=bench.plumbing, masker=MASKER, diff_limits=keys)
        found = added_secrets(env, bench.main, changes, **limits)
        return found if isinstance(found, Failure) else secret_failure(found, MASKER) if found else None

    return judge


@pytest.mark.parametrize(
    "data",
    [
        b"a\0b " + VALUE.encode(),
        b"\0" + VALUE.encode().hex().encode(),
        b"\0" * ((1 << 19) - 10) + VALUE.encode(),  # over the border of two pieces
    ],
)
def test_a_known_secret_in_a_binary_file_is_refused(judged, data):
    failure = judged({"x.bin": data})
    assert (failure.rule, failure.location) == ("secret-added", "x.bin")
    assert "SHOP_TOKEN in x.bin" in failure.message
    assert VALUE not in repr(failure)


KEY = "AKIA" + "Q7RZ2LXJ4M6VN3PB"


@pytest.mark.parametrize(
    "data",
    [b"\0 " + KEY.encode() + b" ", b"\0" * ((1 << 19) - 10) + KEY.encode(), f"key = {KEY}\n".encode("utf-16")],
    ids=["binary", "over the border of two pieces", "UTF-16"],
)
def test_a_key_is_known_by_its_shape_there_as_well(judged, data):
    assert "AWS key in x.bin" in judged({"x.bin": data}).message


def test_a_key_that_main_holds_or_that_a_person_allows_is_no_finding(judged):
    files = {"keys/x.bin": b"\0 AKIA" + KEY[:3:-1].encode(), "z.bin": b"\0a " + KEY.encode()}
    assert judged(files, {"x.txt": KEY}, test_keys=("keys/**",)) is None


def test_files_of_text_and_names_are_read(judged):
    failure = judged({"b.txt": f"key = {VALUE}\n", f"{VALUE}.md": "x\n"})
    assert "SHOP_TOKEN in b.txt" in failure.message
    assert "SHOP_TOKEN in [masked by noface: SHOP_TOKEN].md" in failure.message


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"x.bin": b"\0" + VALUE.encode()}, {"x.bin": b"\0\0more" + VALUE.encode()}),
        ({"x.bin": b"\0" + VALUE.encode()}, {"y.bin": b"\0" + VALUE.encode()}),
        ({"x.txt": VALUE}, {"y.bin": b"\0other" + VALUE.encode()}),
    ],
)
def test_what_main_holds_itself_is_no_finding(judged, before, after):
    assert judged(after, before) is None


def test_what_is_too_much_to_be_read_is_refused_and_named(judged):
    failure = judged({"x.bin": b"\0" * 50, "y.bin": b"\0" * 60}, bytes_max=100)
    assert (failure.rule, failure.location) == ("not-looked-through", "y.bin")
    assert "too large to search for secrets: y.bin" in failure.message


def test_it_does_not_land(project):
    shell = "printf 'a\\0b %s%s' sk-Wq8zT4nL2pX9 vB7mK5dR3hJ6 > f.bin"
    project.config("\n[recovery]\nenabled = false\n")
    project.play(("7", 1, [{"shell": shell}]))
    project.issue(7, max_attempts=1)
    project.commit()
    project.run(code=3, SHOP_TOKEN=VALUE)
    (attempt,) = project.attempts("7")
    assert attempt["failure"]["rule"] == "secret-added"
    assert "SHOP_TOKEN" in attempt["failure"]["message"]
    assert VALUE not in project.git("grep", "--text", "-h", "-c", VALUE, "main", check=False)
