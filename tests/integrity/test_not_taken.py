"""Files that no snapshot holds, and gates that miss them."""

import pytest

from noface.integrity.not_taken import NOT_TAKEN, earlier_notes, is_source, only_these, with_missing
from noface.model.attempt import NotTaken
from noface.model.failure import Failure, PriorFailure
from noface.model.taxonomy import FailureKind

COMMIT = "0123456789abcdef"


def ignored(path, source=".gitignore"):
    where = f"{source}:3 (build/)" if source else "the excludes of git on this machine (build/)"
    return NotTaken(path, f"ignored by {where}", source, ignored=True)


def missing(path, message, kind=FailureKind.RUNTIME_ERROR, paths=(), **more):
    return with_missing(Failure(kind, message, "rule", **more), (ignored(path),), COMMIT, paths)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("shop/build/loader.py", "ModuleNotFoundError: No module named 'shop.build'"),
        ("shop/data/loader.py", "ModuleNotFoundError: No module named 'shop.data.loader'"),
        ("env/settings.py", "ImportError: cannot import name 'settings' from 'env'; No module named env.settings"),
        ("lib/build/helper.js", "Error: Cannot find module '../lib/build/helper'"),
        ("lib/build/index.ts", "src/a.ts(1,20): error TS2307: Cannot find module './build' or its type declarations"),
        ("src/logs/view.vue", 'Failed to resolve import "./logs/view.vue" from "src/App.vue". Does the file exist?'),
        ("internal/cache/cache.go", "package example.com/app/internal/cache is not in std"),
        ("build/tool.go", "no required module provides package example.com/app/build; to add it:"),
        ("src/build.rs", "error[E0583]: file not found for module `build`"),
        ("src/target/mod.rs", "error[E0432]: unresolved import `crate::target`: could not find `target`"),
        ("src/main/java/com/acme/build/Tool.java", "error: package com.acme.build does not exist"),
        ("include/out/config.h", "fatal error: out/config.h: No such file or directory"),
        ("templates/build/page.html", "jinja2.exceptions.TemplateNotFound: build/page.html"),
        ("data/rates.json", "FileNotFoundError: [Errno 2] No such file or directory: '/slots/gate-0/data/rates.json'"),
        ("lib/tasks/build.rb", "LoadError: cannot load such file -- tasks/build"),
    ],
)
def test_a_gate_that_misses_an_ignored_file_tells_so_in_every_language(path, message):
    failure = missing(path, message)
    assert failure is not None
    assert f"{path} is ignored by .gitignore:3 (build/)" in failure.message
    assert f"git show 0123456789ab:{path}" in failure.message
    assert failure.kind is FailureKind.RUNTIME_ERROR


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("shop/build/loader.py", "ModuleNotFoundError: No module named 'requests'"),
        ("shop/build/loader.py", "AssertionError: loader gave 1, not 2"),
        ("src/index.js", "Error: Cannot find module './other/index'"),
        ("data/rates.json", "No such file or directory: 'data/prices.json'"),
        ("out/vite.config.js", "sh: 1: vite: not found"),
    ],
)
def test_a_gate_that_misses_something_else_is_told_nothing(path, message):
    assert missing(path, message) is None


def test_an_own_module_that_looks_like_a_library_is_the_workers_to_mend():
    failure = missing("build/core.py", "No module named 'build.core'", FailureKind.ENVIRONMENT, charged=False)
    assert (failure.kind, failure.charged) == (FailureKind.RUNTIME_ERROR, True)


def test_an_order_never_asks_for_what_the_paths_of_an_issue_forbid():
    files = (ignored("src/build/a.py"),)
    assert "change .gitignore so that" in only_these(files, COMMIT, ()).message
    assert "change .gitignore so that" in only_these(files, COMMIT, (".gitignore", "src/**")).message
    assert "change" not in only_these(files, COMMIT, ("src/**",)).message.partition("To have it in the change, ")[2]
    machine = only_these((ignored("a.py", ""),), None, ()).message
    assert "so that it is not ignored, or" not in machine
    assert "git show" not in machine


def test_what_a_worker_was_told_is_left_out_is_taken_when_it_comes_again():
    failure = only_these((NotTaken("dist/a.js", "build output"),), COMMIT, ())
    assert (failure.kind, failure.rule) == (FailureKind.NO_DIFF, NOT_TAKEN)
    assert "is taken if it is left again" in failure.message
    earlier = PriorFailure(1, "m", "NO_DIFF", failure.message, None, "")
    assert "dist/a.js" in earlier_notes([earlier])
    assert earlier_notes([PriorFailure(1, "m", "LINT_FAILURE", "dist/a.js is wrong", None, "")]) == ""


@pytest.mark.parametrize("path", ["src/build/a.py", "web/page.html", "data/rates.csv", "include/a.h", "x/y.proto"])
def test_what_people_write_is_told_of(path):
    assert is_source(path)


@pytest.mark.parametrize(
    "path",
    [
        ".env", ".env.local", "config/secrets.yml", "settings.local.py", "node_modules/x/i.js", ".venv/a.py",
        "dist/a.js", "a.min.js", "vendor/x/a.go", ".claude/notes.md", "package-lock.json", "a.pyc", "db.sqlite3",
        "logs/a.txt", "tmp/a.py",
    ],
)  # fmt: skip
def test_secrets_settings_dependencies_and_output_are_nobodys_work(path):
    assert not is_source(path)
