"""The repair worker on a retry, and as a process."""

import json
import os
import subprocess
import sys
import time
from functools import partial

import pytest
from support.repair_ground import BROKEN, DOUBLE_TEST, PYTEST, order_of, repair, small_project

from noface.demo.order import Earlier


@pytest.fixture
def project(tmp_path):
    return partial(small_project, tmp_path)


def test_a_retry_that_learnt_nothing_goes_on_where_the_last_one_stopped(project):
    test = "from lib import double\n\n\ndef test_double():\n    assert double(2) == 'four'\n"
    root = project(files={"lib.py": BROKEN, "acceptance/test_7.py": test})
    earlier = [Earlier(1, "tier1", "NO_DIFF", ())]
    summary, _ = repair(root, order_of(f"{PYTEST} acceptance/test_7.py", earlier=earlier))
    assert "earlier attempts have tried all" in summary
    later, _ = repair(root, order_of(f"{PYTEST} acceptance/test_7.py", earlier=earlier, model="tier2"), tier=2)
    assert "candidates, best 0/1 tests pass" in later


def git(root, *arguments):
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.strip()


def test_an_earlier_patch_that_broke_the_suite_is_undone_and_another_one_found(project):
    """The workspace holds the earlier attempt's overfitted patch; main doesn't."""
    wrong = "def gap(one, other):\n    return max(0, one - other)\n"
    suite = "from lib import gap\n\n\ndef test_none():\n    assert gap(4, 4) == 0\n"
    accept = "from lib import gap\n\n\ndef test_gap():\n    assert gap(0, 3) == 3\n"
    root = project(files={"lib.py": wrong, "tests/test_l.py": suite, "acceptance/test_7.py": accept})
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message=start")
    main = git(root, "rev-parse", "HEAD")
    command, gate = f"{PYTEST} acceptance/test_7.py", f"{PYTEST} tests"
    first, _ = repair(root, order_of(command, gates=[gate], main=main))
    assert first.startswith("patch found")
    assert (root / "lib.py").read_text() == wrong.replace("one - other", "one + other")
    earlier = [Earlier(1, "tier1", "TEST_FAILURE", ("tests/test_l.py::test_none",))]
    second, lines = repair(root, order_of(command, gates=[gate], main=main, earlier=earlier))
    assert second.startswith("patch found")
    assert any("starting again from main's version" in line for line in lines)
    assert (root / "lib.py").read_text() == wrong.replace("one - other", "other - one")


def test_an_earlier_patch_that_helped_is_kept_and_gone_on_from(project):
    wrong = "def double(n):\n    return n + n + 1\n\n\ndef triple(n):\n    return n * 3 + 1\n"
    accept = "from lib import double, triple\n\n\ndef test_double():\n    assert double(2) == 4\n\n\ndef test_triple():\n    assert triple(2) == 6\n"
    root = project(files={"lib.py": wrong, "acceptance/test_7.py": accept})
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message=start")
    main = git(root, "rev-parse", "HEAD")
    first, _ = repair(root, order_of(f"{PYTEST} acceptance/test_7.py", main=main))
    assert first.startswith("partial patch, 1/2")
    earlier = [Earlier(1, "tier1", "TEST_FAILURE", ("acceptance/test_7.py::test_triple",))]
    second, _ = repair(root, order_of(f"{PYTEST} acceptance/test_7.py", main=main, earlier=earlier))
    assert second.startswith("patch found")
    assert (root / "lib.py").read_text() == wrong.replace(" + 1", "")


def test_the_same_order_gives_the_same_patch(project):
    root = project(files={"lib.py": BROKEN, "acceptance/test_7.py": DOUBLE_TEST})
    summaries = []
    for _ in range(2):
        (root / "lib.py").write_text(BROKEN)
        summaries.append(repair(root, order_of(f"{PYTEST} acceptance/test_7.py"))[0])
    assert summaries[0] == summaries[1]


def test_the_worker_never_imports_the_catalogue_or_the_rest_of_noface():
    code = "import sys, noface.demo.worker; print('\\n'.join(m for m in sys.modules if m.startswith('noface')))"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "noface.demo.repair" in loaded
    assert not any(
        name.startswith(("noface.demo.catalogue", "noface.demo.draw", "noface.demo.sample")) for name in loaded
    )
    assert all(name == "noface" or name.startswith("noface.demo") for name in loaded)


def test_a_worker_that_is_ended_removes_its_copy(project, tmp_path):
    test = "import time\n\ndef test_slow():\n    time.sleep(100)\n"
    root = project(files={"acceptance/test_7.py": test})
    order = {
        "schema": 1,
        "run_id": "r",
        "attempt": 1,
        "gates": [],
        "earlier": [],
        "main": "",
        "start": "",
        "issue": {"id": "7", "paths": []},
        "model": {"name": "tier1"},
        "accept": [f"{PYTEST} acceptance/test_7.py"],
    }
    (tmp_path / "order.json").write_text(json.dumps(order))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    env = {**os.environ, "NOFACE_ORDER_FILE": str(tmp_path / "order.json"), "TMPDIR": str(scratch)}
    worker = subprocess.Popen(
        [sys.executable, "-I", "-m", "noface.demo.worker"], cwd=root, env=env, stdout=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while not list(scratch.glob("*/work/acceptance/test_7.py")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    worker.terminate()
    assert worker.wait(timeout=60) == 143
    assert list(scratch.iterdir()) == []
