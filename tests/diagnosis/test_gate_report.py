"""Reports: JUnit XML and TAP are read, what is no report or left over is not, and the reason is said."""

import os
import shutil
import subprocess
from pathlib import Path

from noface.gates.report import parse_report, read_report
from noface.secrets.masking import Masker

JUNIT = """<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="s" tests="4"><testcase classname="tests.test_a" name="test_ok"/>
<testcase classname="tests.test_a" name="test_total"><failure message="AssertionError: assert 4 == 3">E   assert 4 == 3</failure></testcase>
<testcase classname="tests.test_a" name="test_db"><error message="failed on setup" type="ConnectionError"/></testcase>
<testcase classname="tests.test_a" name="test_later"><skipped/></testcase></testsuite></testsuites>
"""


def test_junit_tells_failures_from_errors_and_skips():
    report, note = parse_report(JUNIT.encode())
    assert note == ""
    assert report is not None
    assert (report.tests, report.failures, report.errors, report.skipped) == (4, 1, 1, 1)
    assert report.failing == ("tests.test_a.test_total", "tests.test_a.test_db")
    assert report.cases[0].message.splitlines()[0] == "AssertionError: assert 4 == 3"


def test_nested_suites_are_read_to_the_bottom():
    nested = "<testsuites><testsuite name='a'><testsuite name='b'><testcase name='x'><failure/></testcase></testsuite></testsuite></testsuites>"
    report, _ = parse_report(nested.encode())
    assert report is not None
    assert report.failing == ("x",)
    assert report.tests == 1


def test_tap_is_read_too():
    report, _ = parse_report(b"TAP version 13\n1..3\nok 1 - a\nnot ok 2 - b\nnot ok 3 - c # TODO later\n")
    assert report is not None
    assert report.failing == ("b",)
    assert report.tests == 3


def test_a_report_that_is_not_xml_is_ignored_and_said():
    for data in (b"", b"<testsuites><testsuite>", b"\x00\xff\xfe", b"all good\n", b"<html><body/></html>"):
        report, note = parse_report(data, "report.xml")
        assert report is None or report.tests == 0
        assert report is not None or "report.xml" in note


def test_a_report_with_entities_is_refused():
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><testsuites/>'
    report, note = parse_report(bomb)
    assert report is None
    assert "entities" in note


def test_a_report_older_than_the_gate_is_ignored_and_said(tmp_path: Path):
    path = tmp_path / "report.xml"
    path.write_text(JUNIT)
    os.utime(path, (1_000.0, 1_000.0))
    report, note = read_report(path, started_at=2_000.0)
    assert report is None
    assert "1000.0 s older" in note
    fresh, note = read_report(path, started_at=900.0)
    assert fresh is not None
    assert note == ""


def test_a_missing_report_and_a_folder_are_said(tmp_path: Path):
    assert read_report(tmp_path / "none.xml") == (None, "the gate wrote no none.xml")
    report, note = read_report(tmp_path)
    assert report is None
    assert "not a file" in note


def test_a_report_is_read_through_no_link_and_of_no_fifo(tmp_path: Path):
    slot, outside = tmp_path / "slot", tmp_path / "outside"
    slot.mkdir()
    outside.mkdir()
    (outside / "r.xml").write_text(JUNIT)
    (slot / "rep").symlink_to(outside)
    (slot / "r.xml").symlink_to(outside / "r.xml")
    os.mkfifo(slot / "fifo.xml")
    for name in ("rep/r.xml", "r.xml", "fifo.xml"):
        assert read_report(slot / name, None, slot)[0] is None


def test_a_report_that_cannot_be_written_is_read_all_the_same(tmp_path):
    report = tmp_path / "report.xml"
    shutil.copy(shutil.which("sleep"), report)
    report.chmod(0o755)
    with subprocess.Popen([report, "1000"]) as running:  # what runs can be written by nobody, root neither
        found, why = read_report(report, masker=Masker({"abcdefgh1234567": "TOKEN"}))
        running.kill()
    assert found is None
    assert "cannot be read" not in why
