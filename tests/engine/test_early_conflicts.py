"""What will not merge is seen while it is judged or waits: with main each time that moves, and beside which other work."""

import queue
from types import SimpleNamespace

import pytest
from support.cases import cases
from support.git_ground import git, tree_of
from support.run_parts import run_parts

from noface.attempt.environment import AttemptProgress
from noface.attempt.executor import LocalExecutor
from noface.engine.early_conflicts import EarlyConflicts
from noface.engine.jobs import Job, JobKind, Jobs
from noface.engine.landing.entries import QueueEntry
from noface.engine.stations import Tick
from noface.model.issue import Issue
from noface.process.command import Canceller

LINES = "".join(f"{n}\n" for n in range(9))
TOP, BOTTOM, OTHER_TOP = f"mine\n{LINES}", f"{LINES}theirs\n", f"theirs\n{LINES}"


class Ground:
    """A run's parts, with works that a test makes."""

    def __init__(self, project, context):
        self.path, self.context = project.path, context
        self.jobs = Jobs(queue.SimpleQueue(), LocalExecutor(40))
        self.refused = {}
        self.queue = SimpleNamespace(entries=[], refuse=self.refuse)
        self.early = EarlyConflicts(context, self.jobs, self.queue)
        self.story = self.early.watch()
        self.base = git(self.path, "rev-parse", "main")
        next(self.story)

    def refuse(self, issue_id, number, why):
        assert number == 1
        self.refused[issue_id] = why

    def anew(self):
        git(self.path, "update-ref", "refs/heads/main", self.base)
        return Ground(SimpleNamespace(path=self.path), self.context)

    def commit(self, files, parent="", message="work"):
        parent = parent or self.base
        git(self.path, "read-tree", "--reset", "-u", parent)
        tree = tree_of(self.path, files)
        made = git(self.path, "commit-tree", "-p", parent, "-m", message, tree)
        git(self.path, "read-tree", "--reset", "-u", "HEAD")
        return made

    def move_main(self, files, parent=""):
        git(self.path, "update-ref", "refs/heads/main", self.commit(files, parent, "A person's"))

    def judged(self, name, files, number=1):
        """Have an attempt begin and be judged; its job."""
        job = Job(JobKind.ATTEMPT, name, lambda cancel: cancel, began_at=self.context.clock.now(), number=number)
        self.jobs._jobs.append(job)
        self.judge(job, files, number)
        return job

    def judge(self, job, files, number=1):
        told = frozenset(files)
        self.jobs.progressed(AttemptProgress(job.issue_id, number, "gate", "", changed=told, work=self.commit(files)))

    def lands(self, job, *, at_once=False):
        self.jobs._jobs.remove(job)
        if not at_once:
            self.queue.entries.append(QueueEntry(Issue(job.issue_id, ""), job.judged.number, job.judged.work))

    def look(self):
        """Have a tick come; how many merges were made, and whether another look is due."""
        asked = self.story.send(None)
        if isinstance(asked, Tick):
            return 0
        assert asked.kind is JobKind.LANDING
        self.between()
        result = asked.run(Canceller())
        merges = len(asked.run.args[2]) + len(asked.run.args[3]) if hasattr(asked.run, "args") else 1
        assert isinstance(self.story.send(result), Tick)
        return merges

    def between(self):
        """Do what happens between the look and what follows of it."""


@pytest.fixture
def ground(project):
    project.config(workers=2)
    project.write("f.txt", LINES)
    project.write("dir/g.txt", LINES)
    (project.path / "b.bin").write_bytes(b"\0\1\2" * 100)
    project.commit()
    with run_parts(project.path) as context:
        yield Ground(project, context)


def failed(job):
    return job.cancel.why.evidence if job.cancel.why is not None else None


@cases(
    ("mine", "theirs", "conflicts"),
    [
        ({"f.txt": TOP}, {"f.txt": BOTTOM}, None),
        ({"f.txt": TOP}, {"f.txt": OTHER_TOP}, ("f.txt",)),
        ({"f.txt": TOP}, {"f.txt": TOP}, None),  # the same change is none
        ({"f.txt": TOP}, {"f.txt": None}, ("f.txt",)),
        ({"f.txt": None}, {"f.txt": TOP}, ("f.txt",)),
        ({"f.txt": None}, {"f.txt": None}, None),
        ({"f.txt": TOP}, {"f.txt": None, "moved.txt": LINES}, None),  # git follows a rename
        ({"f.txt": TOP}, {"f.txt": None, "moved.txt": OTHER_TOP}, ("moved.txt",)),
        ({"f.txt": None, "one.txt": LINES}, {"f.txt": None, "two.txt": LINES}, ("f.txt", "one.txt", "two.txt")),
        ({"dir/new.txt": "x\n"}, {"dir/g.txt": None, "to/g.txt": LINES}, ("to/new.txt",)),  # no file in common
        ({"b.bin": b"\0\1" * 100}, {"b.bin": b"\0\2" * 100}, ("b.bin",)),
        ({"new.txt": "a\n"}, {"new.txt": "b\n"}, ("new.txt",)),
        ({"F.txt": "a\n"}, {"f.txt": TOP}, None),  # to git these are two files
        ({"new/a.txt": "a\n"}, {"new": "a file\n"}, ("new~main",)),
    ],
)
def test_what_conflicts_with_a_main_that_moves_fails_at_once_as_its_landing_would(ground, mine, theirs, conflicts):
    """The landing would make the same merge: of honest work none fails that could have landed."""
    ground = ground.anew()
    job = ground.judged("1", mine)
    assert ground.look() == 1
    assert failed(job) is None
    ground.move_main(theirs)
    ground.look()
    main = git(ground.path, "rev-parse", "main")
    merged = ground.context.env.plumbing.merge(main, job.judged.work)
    named = tuple(name.replace(main, "main") for name in failed(job) or ()) or None
    assert (named, bool(merged.tree)) == (conflicts, conflicts is None)
    assert job.cancel.cancelled is (conflicts is not None)
    assert conflicts is None or not job.cancel.why.charged


def test_two_changes_of_a_submodule_conflict_without_its_repository(ground):
    def with_link(commit):
        git(ground.path, "read-tree", ground.base)
        git(ground.path, "update-index", "--add", "--cacheinfo", f"160000,{commit},sub")
        tree = git(ground.path, "write-tree")
        made = git(ground.path, "commit-tree", "-p", ground.base, "-m", "link", tree)
        git(ground.path, "read-tree", "HEAD")
        return made

    job = ground.judged("1", {})
    ground.jobs.progressed(AttemptProgress("1", 1, "gate", "", changed=frozenset({"sub"}), work=with_link("1" * 40)))
    git(ground.path, "update-ref", "refs/heads/main", with_link("2" * 40))
    ground.look()
    assert failed(job) == ("sub",)


def test_what_waits_to_land_is_refused_and_what_a_person_moves_back_is_left(ground):
    job = ground.judged("1", {"f.txt": TOP})
    ground.look()
    ground.lands(job)
    ground.move_main({"f.txt": OTHER_TOP})
    ground.between = lambda: git(ground.path, "update-ref", "refs/heads/main", ground.base)
    ground.look()
    assert ground.refused == {}  # main moved while git merged: what it says is of no main
    ground.between = lambda: None
    ground.look()
    assert ground.refused == {}
    ground.move_main({"f.txt": OTHER_TOP})
    ground.look()
    assert ground.refused["1"].evidence == ("f.txt",)
    assert "A person's" in ground.refused["1"].message


def test_who_was_withdrawn_or_ended_while_git_merged_is_left_alone(ground):
    job, late = ground.judged("1", {"f.txt": TOP}), ground.judged("2", {"f.txt": TOP})
    ground.look()
    ground.move_main({"f.txt": OTHER_TOP})

    def meanwhile():
        ground.jobs._jobs.remove(job)
        ground.jobs._jobs.remove(late)
        ground.judged("2", {"dir/g.txt": TOP}, number=2)

    ground.between = meanwhile
    ground.look()
    assert (failed(job), failed(late)) == (None, None)
    assert [each.cancel.cancelled for each in ground.jobs.judged] == [False]


def test_work_whose_objects_are_gone_has_nothing_to_say(ground):
    job, other = ground.judged("1", {"f.txt": TOP}), ground.judged("2", {"f.txt": OTHER_TOP})
    job.judged = AttemptProgress("1", 1, "gate", "", changed=frozenset({"f.txt"}), work="1" * 40)
    ground.look()
    assert (failed(job), failed(other), dict(ground.early.met)) == (None, None, {})


def test_each_work_is_merged_once_with_each_main_and_with_each_other_of_its_files(ground):
    """30 workers: so many merges for a move of main, and a look makes 64 at most, so that none takes long."""
    jobs = [ground.judged(str(n), {"f.txt" if n < 12 else f"{n}.txt": f"of {n}\n{LINES}"}) for n in range(30)]
    looks = []
    while merges := ground.look():
        looks.append(merges)
    assert sum(looks) == 30 + 12 * 11 // 2
    assert max(looks) <= 64
    assert ground.early.met["f.txt"] == ground.early.conflicted["f.txt"] == 66
    ground.move_main({"g.txt": "x\n"})
    assert ground.look() == 30
    assert ground.look() == 0
    ground.lands(jobs[0])  # the same work as an entry of the queue, whose commit is another
    assert ground.look() == 0


def test_works_meet_only_if_they_were_made_at_the_same_time(ground):
    """Who begins once another has landed builds on it: that they go together says nothing of the file."""
    first, beside = ground.judged("1", {"f.txt": TOP}), ground.judged("2", {"f.txt": BOTTOM})
    ground.look()
    assert (ground.early.met["f.txt"], ground.early.conflicted["f.txt"]) == (1, 0)
    ground.lands(first, at_once=True)
    late = ground.judged("3", {"f.txt": OTHER_TOP})
    ground.look()
    assert ground.early.met["f.txt"] == 2  # with the second only
    ground.lands(late, at_once=True)
    ground.judged("3", {"f.txt": OTHER_TOP}, number=2)  # nobody meets an attempt at the same issue
    ground.lands(beside, at_once=True)
    ground.look()
    assert ground.early.met["f.txt"] == 2
