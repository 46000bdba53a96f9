"""What a gate's processes left in the folder: anything may stand there."""

import json
import os

import pytest

import noface.gates.inventory as module
from noface.gates.inventory import instrumented, read_inventory

START = {"run": "pytest", "root": "/work"}


@pytest.fixture
def folder(tmp_path):
    instrumented((), tmp_path / "folder")
    return tmp_path / "folder"


def write(folder, *records, name="1.jsonl"):
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    (folder / "reports" / name).write_text("".join(f"{line}\n" for line in lines))


def read(folder, stdout="", command="make test"):
    found = read_inventory(folder, folder.parent, stdout, command)
    return None if found is None else ({name: outcome.value for name, outcome in found.tests}, found.complete)


def a_test(name, outcome="PASSED"):
    return {"id": name, "outcome": outcome}


def test_runs_of_several_processes_are_joined(folder):
    write(folder, START, a_test("t.py::a"), {"end": True}, START, a_test("t.py::b", "FAILED"), {"end": True})
    write(folder, {"run": "jest", "root": "/"}, a_test("/x.js::c"), a_test("/x.js::c"), {"end": True}, name="2.jsonl")
    tests = {"/work/t.py::a": "PASSED", "/work/t.py::b": "FAILED", "/x.js::c": "PASSED", "/x.js::c #2": "PASSED"}
    assert read(folder) == (tests, True)


def test_the_last_word_about_a_python_test_counts(folder):
    write(folder, START, a_test("t.py::a", "FAILED"), a_test("t.py::a"), {"end": True})
    assert read(folder) == ({"/work/t.py::a": "PASSED"}, True)


@pytest.mark.parametrize(
    "records",
    [
        (START, a_test("t.py::a")),
        (START, a_test("t.py::a"), {"end": False}),
        (START, a_test("t.py::a"), {"end": "yes"}),
        (START, a_test("t.py::a"), '{"id": "t.py::b", "outc', {"end": True}),
        (START, a_test("t.py::a"), "[" * 100_000, {"end": True}),
        (START, a_test("t.py::a"), {"id": 1, "outcome": "PASSED"}, {"end": True}),
        (START, a_test("t.py::a"), {"id": "t.py::b", "outcome": ["PASSED"]}, {"end": True}),
        (START, a_test("t.py::a"), {"id": "t.py::b", "outcome": "GOOD"}, {"end": True}),
        (START, a_test("t.py::a"), START),
        (START, a_test("t.py::a"), {"end": True}, a_test("t.py::b")),
        (START, a_test("t.py::a"), "7", {"end": True}),
    ],
    ids=range(11),
)
def test_a_run_without_an_orderly_end_is_not_complete(folder, records):
    write(folder, *records)
    assert read(folder) == ({"/work/t.py::a": "PASSED"}, False)


def link(path, folder):
    (folder / "elsewhere.jsonl").write_text(f"{json.dumps(START)}\n{json.dumps(a_test('t.py::x'))}\n")
    path.symlink_to(folder / "elsewhere.jsonl")


STRANGE = {
    "a link": link,
    "a FIFO": lambda path, _: os.mkfifo(path),
    "a folder": lambda path, _: path.mkdir(),
    "no text": lambda path, _: path.write_bytes(b"\xff\x00\n" * 3),
    "a large file": lambda path, _: os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), module.BYTES_MAX + 1),
}


@pytest.mark.parametrize("kind", STRANGE)
def test_what_is_no_report_makes_the_inventory_incomplete(folder, kind):
    write(folder, START, a_test("t.py::a"), {"end": True})
    STRANGE[kind](folder / "reports" / "0.jsonl", folder)
    assert read(folder) == ({"/work/t.py::a": "PASSED"}, False)


def test_a_link_in_place_of_the_folder_is_not_followed(folder, tmp_path):
    write(folder, START, a_test("t.py::a"), {"end": True})
    (folder / "reports").rename(tmp_path / "moved")
    (folder / "reports").symlink_to(tmp_path / "moved")
    assert read(folder) == ({}, False)


def test_more_files_than_are_read_make_it_incomplete(folder):
    for number in range(module.FILES_MAX):
        (folder / "reports" / f"{number}.jsonl").touch()
    assert read(folder) is None
    (folder / "reports" / "one-more.jsonl").touch()
    assert read(folder) == ({}, False)


def test_tap_is_left_to_a_runner_that_reported_itself(folder):
    tap = "1..1\nok 1 - adds\n"
    assert read(folder, tap) == ({"adds": "PASSED"}, True)
    write(folder, {"run": "node:test", "root": "/"}, a_test("/x.js::adds"), {"end": True})
    assert read(folder, tap) == ({"/x.js::adds": "PASSED"}, True)


def test_names_in_the_output_stand_beside_those_that_were_reported(folder):
    write(folder, START, a_test("t.py::a"), {"end": True})
    assert read(folder, "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \tp\t0.1s\n") == (
        {"/work/t.py::a": "PASSED", "p::TestA": "PASSED"},
        True,
    )


def test_the_environments_own_values_are_kept(tmp_path):
    own = (("PYTHONPATH", "a:b"), ("NODE_OPTIONS", "--no-warnings"), ("GOFLAGS", "-mod=mod"), ("X", "y"))
    values = dict(instrumented(own, tmp_path / "a folder"))
    assert values["PYTHONPATH"] == f"{tmp_path}/a folder/preload:a:b"
    assert values["NODE_OPTIONS"] == f'--no-warnings --require "{tmp_path}/a folder/preload/node_preload.cjs"'
    assert (values["GOFLAGS"], values["X"]) == ("-mod=mod -v", "y")


def test_each_folder_has_names_that_no_module_of_the_project_has(tmp_path):
    def modules(name):
        instrumented((), tmp_path / name)
        return {path.name for path in (tmp_path / name / "preload").glob("*.py")}

    assert modules("a") & modules("b") == {"sitecustomize.py", "python_tests.py"}
