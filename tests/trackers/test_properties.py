"""Properties of the files tracker: nothing in a file crashes it, and whatever `add` accepts comes back."""

import os
import tempfile
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from noface.model.issue import Issue
from noface.trackers.files import FilesTracker

TOML_PIECES = st.lists(
    st.sampled_from(
        [
            "+++", "---", "\n", "title = 'T'", 'title = "\\u0000"', "priority = 1", "priority = 1e400", "labels = [", "]",
            "depends_on = [1, 2]", "paths = ['..']", "accept = ", '"""', "[table]", "[[tables]]", "a.b.c = 1", "# Heading",
            "= ", "nan", "1979-05-27T07:32:00Z", "{", "}", "\r", "\ufeff", "\x00", "```", "~~~~", "model = 'm'", "é",
        ]
    ),
    max_size=30,
)  # fmt: skip
HOSTILE = st.one_of(
    st.binary(max_size=300),
    st.binary(max_size=200).map(lambda data: b"+++\n" + data + b"\n+++\nbody\n"),
    TOML_PIECES.map(lambda pieces: "".join(pieces).encode()),
    TOML_PIECES.map(lambda pieces: "\n".join(["+++", *pieces, "+++", "body"]).encode()),
)
NAMES = st.binary(min_size=1, max_size=60).filter(lambda name: b"/" not in name and b"\0" not in name)


@settings(max_examples=40)
@given(HOSTILE)
@example(b"+++\n" + b"a." * 4000 + b"b = 1\n+++\n")
@example(b"+++\nx = " + b"{a = " * 3000 + b"\n+++\n")
@example(b"# " + b" " * 500_000 + b"#" * 500_000)
def test_no_bytes_crash_the_tracker_and_the_other_files_still_load(data):
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root, "issues")
        folder.mkdir()
        (folder / "1-hostile.md").write_bytes(data)
        (folder / "90-sound.md").write_text("# Sound\n\nb\n")
        backlog = FilesTracker(Path(root)).backlog()
        assert "90" in [issue.id for issue in backlog.issues]
        assert len(backlog.issues) + len(backlog.faults) == 2
        for fault in backlog.faults:
            assert fault.source == "issues/1-hostile.md"
            assert fault.problem.isprintable()


@settings(max_examples=40)
@given(NAMES)
def test_no_file_name_crashes_the_tracker(name):
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root, "issues")
        folder.mkdir()
        (folder / "90-sound.md").write_text("# Sound\n\nb\n")
        with open(os.fsencode(folder) + b"/x" + name + b".md", "w") as file:  # noqa: PTH123 - the name is bytes
            file.write("# T\n\nb\n")
        tracker = FilesTracker(Path(root))
        tracker.fingerprint()
        backlog = tracker.backlog()
        assert "90" in [issue.id for issue in backlog.issues]
        assert len(backlog.issues) + len(backlog.faults) == 2
        for fault in backlog.faults:
            assert f"{fault.source}{fault.problem}".isprintable()


TITLES = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=300).filter(
    lambda title: title.strip() != ""
)
BODIES = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=200),
    TOML_PIECES.map(lambda pieces: "\n".join(pieces).replace("\0", "")),
)
COMMANDS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=40).filter(
    lambda command: command.strip() != ""
)
PLAIN = st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1, max_size=20)
PATHS = PLAIN.filter(lambda path: not path.startswith(("/", "~", "./")) and ".." not in path.split("/"))


@settings(max_examples=40)
@given(
    title=TITLES,
    body=BODIES,
    priority=st.integers(0, 9),
    labels=st.lists(PLAIN, max_size=3, unique=True),
    paths=st.lists(PATHS, max_size=3),
    accept=st.lists(COMMANDS, max_size=3),
    model=st.none() | PLAIN,
)
@example('"""quotes\'\'\' \\" \\', "+++\ntitle = 'forged'\n+++", 2, [], [], [], None)
@example("+++", "---", 0, ["+++"], ["+++"], ["+++", "'''\n\"\"\""], "+++")
@example("# [x] = {y}", "# not the title", 2, [], [], [], None)
@example("ü" * 300, "", 2, [], [], [], None)
def test_whatever_is_added_comes_back(title, body, priority, labels, paths, accept, model):
    draft = Issue(
        "",
        title=title,
        body=body,
        priority=priority,
        labels=tuple(labels),
        paths=tuple(paths),
        accept=tuple(accept),
        model=model,
    )
    with tempfile.TemporaryDirectory() as root:
        added = FilesTracker(Path(root)).add(draft)
        backlog = FilesTracker(Path(root)).backlog()
    assert backlog.faults == ()
    assert backlog.issues == (added,)
    assert added == Issue(
        id="001",
        title=title.strip(),
        body=body.replace("\r\n", "\n").replace("\r", "\n").strip("\n"),
        priority=priority,
        labels=tuple(labels),
        paths=tuple(paths),
        accept=tuple(accept),
        model=model,
        source=added.source,
        content_hash=added.content_hash,
    )
