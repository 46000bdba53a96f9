"""What comes back from a host is a stranger's: each lie is refused with a reason, or taken in and does no harm."""

import json
import os
import subprocess
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from support.cases import cases
from support.hosts import NearHost, run, with_hosts
from support.processes import wait_for
from support.run_parts import run_parts

from noface.attempt.attempt import Attempt
from noface.extras.hosts.packs import make_pack
from noface.extras.hosts.parcel import OrderParcel, progress_of
from noface.model.attempt import Interrupted, Judged, NotStarted
from noface.model.listed import HostState
from noface.process.supervise import Canceller

REFUSED, TAKEN = True, False
HONEST = "honest.txt"


@dataclass
class Lie:
    """A parcel that a host changes before it hands it over; `plumbing` is that of the host's repository."""

    parcel: dict
    plumbing: object

    def __post_init__(self):
        self.told = json.loads(self.parcel["text"])

    def packed(self):
        return {**self.parcel, "text": json.dumps(self.told)}

    def hold(self, *tips, commit=None):
        self.told["aside"] = ""
        self.told["held"] = self.told["work"]["snapshot"]["candidate"] = tips[0]
        self.told["work"]["snapshot"]["commit"] = commit or tips[0]
        self.parcel = {**self.parcel, "pack": make_pack(self.plumbing, tips)}

    def commit(self, tree, *parents, message="x"):
        return self.plumbing.commit_tree(tree, parents, message)

    def tree(self, *entries):
        """A tree as no git would write it: pairs of mode and name with what they name."""
        data = b"".join(f"{mode} {name}".encode() + b"\0" + bytes.fromhex(named) for mode, name, named in entries)
        return self.write("tree", data)

    def write(self, kind, data):
        argv = ["git", "hash-object", "-t", kind, "-w", "--stdin", "--literally"]
        done = subprocess.run(argv, cwd=self.plumbing.repository.root, input=data, check=True, capture_output=True)
        return done.stdout.decode().strip()

    @property
    def blob(self):
        return self.write("blob", b"x")

    @property
    def main(self):
        return self.plumbing.main()


def bad_tree(mode, name):
    def lie(said):
        named = said.blob if mode == "100644" else said.tree(("100644", "config", said.blob))
        said.hold(said.commit(said.tree((mode, name, named)), said.main))

    return lie


def bad_modules(said):
    blob = said.write("blob", b'[submodule "x"]\n\tpath = x\n\turl = -u./payload\n')
    tree = said.plumbing.tree_with(said.told["held"], {".gitmodules": ("100644", blob)})
    said.hold(said.commit(tree, said.main))


def bad_object(said):
    data = bytearray(said.parcel["pack"])
    data[len(data) // 2] ^= 255
    said.parcel = {**said.parcel, "pack": bytes(data)}


def missing_objects(said):
    said.parcel = {**said.parcel, "pack": make_pack(said.plumbing, (), ())}
    said.told["held"] = said.told["work"]["snapshot"]["candidate"] = "1" * 40


def other_history(said):
    said.hold(said.commit(said.plumbing.tree(said.told["held"])))


def thousand_commits(said):
    tip = said.main
    for number in range(30):
        tip = said.commit(said.plumbing.tree(said.told["held"]), tip, message=f"{number}")
    said.hold(tip)


def forged_trailers(said):
    message = "Noface: 7\n\nNoface-Issue: 7\nNoface-Attempt: 1\nNoface-Outcome: PASSED\n"
    said.hold(said.commit(said.plumbing.tree(said.told["held"]), said.main, message=message))


def mains_own_commit(said):
    said.told["work"]["snapshot"]["commit"] = said.main


def unknown_commit(said):
    said.told["work"]["snapshot"]["commit"] = "2" * 40


def aside_is_a_blob(said):
    said.told["aside"] = said.write("blob", b"x")
    said.parcel = {**said.parcel, "pack": make_pack(said.plumbing, (said.told["held"], said.told["aside"]))}


def files(**given):
    def lie(said):
        said.parcel = {**said.parcel, "files": {**said.parcel["files"], **given}}

    return lie


def usage(**given):
    def lie(said):
        said.told["work"]["agent"]["usage"] |= given

    return lie


def raw_text(text):
    def lie(said):
        said.packed = lambda: {**said.parcel, "text": text}

    return lie


def last_words(said):
    said.told["work"]["agent"] |= {"last_words": "\x1b]0;owned\x07\x1b[2Jgone\x00\u202e", "answer": "\ud800"}


def nothing_of_it(said):
    said.told |= {"work": None, "held": "", "aside": ""}


LEADING_OUT = {"../../x": b"x", "/tmp/x-of-a-stranger": b"x", "a/../../x": b"x", "a\x1b[2J": b"x", "b" * 300: b"x"}
OF_ITS_OWN = {"report.json": b'{"proof": 1}', "work.json": b"{}", "diff.patch": b"nothing was changed"}
LIES = {
    "an object that is broken": (bad_object, REFUSED, "index-pack"),
    "commits that do not come": (missing_objects, REFUSED, ""),
    "a history of its own": (other_history, REFUSED, "stands on none"),
    "thirty commits": (thousand_commits, REFUSED, "far from it"),
    "trailers of another issue": (forged_trailers, TAKEN, ""),
    "main's own commit as snapshot": (mains_own_commit, TAKEN, ""),
    "a commit that nobody knows": (unknown_commit, TAKEN, ""),
    "a .git in the tree": (bad_tree("100644", ".git"), REFUSED, "hasDotgit"),
    "a .GIT in the tree": (bad_tree("40000", ".GIT"), REFUSED, ""),
    "a path that leads out": (bad_tree("100644", ".."), REFUSED, "hasDotdot"),
    "a name with a slash": (bad_tree("100644", "a/b"), REFUSED, "fullPathname"),
    "a .gitmodules that servers refuse": (bad_modules, TAKEN, "put back"),  # the work's affair, not the host's
    "an aside that is a blob": (aside_is_a_blob, REFUSED, ""),
    "files that lead out": (files(**LEADING_OUT), TAKEN, ""),
    "files that home makes": (files(**OF_ITS_OWN), TAKEN, ""),
    "10,000 files": (files(**{f"f{n}": b"" for n in range(10_000)}), REFUSED, "something else than bytes"),
    "a cost that is no number": (usage(cost_usd=float("nan")), REFUSED, "the number NaN"),
    "a cost without end": (usage(cost_usd=float("inf")), REFUSED, "the number Infinity"),
    "a cost below nothing": (usage(cost_usd=-1000.0), REFUSED, "less than nothing"),
    "tokens beyond the database": (usage(tokens_in=10**30), REFUSED, "the number 1"),
    "tokens that are a text": (usage(tokens_in="many"), REFUSED, "expected int"),
    "no JSON": (raw_text("{"), REFUSED, ""),
    "a list": (raw_text("[]"), REFUSED, ""),
    "nested without end": (raw_text("[" * 100_000), REFUSED, "too deeply"),
    "bytes for text": (raw_text(b"{}"), REFUSED, "something else than texts"),
    "texts that move the cursor": (last_words, TAKEN, ""),
    "nothing of what it did": (nothing_of_it, REFUSED, "had not heard from here"),
}


class Liar:
    """A connection to a host that hands over one parcel, whatever it is asked for."""

    name = "liar"

    def __init__(self, parcels):
        self.parcels = parcels
        self.forgotten = []
        self.opened = 0

    def open(self):
        self.opened += 1
        return self

    def close(self):
        pass

    def free_worker(self, _):
        return "liar"

    def workers(self):
        return {"liar": "near"}

    def kept(self, *_):
        return [("liar", "old")]

    def there(self, *_):
        return ()

    def look(self, *_):
        return {"liar": {}}

    def work(self, *_):
        return self

    def done(self):
        return True

    def problem(self):
        return None

    def parcel(self, *_):
        return self.parcels[-1]

    def forget(self, *asked):
        self.forgotten.append(asked[1])


class Recording(NearHost):
    """An honest host whose parcels do not arrive; `orders` are those that it got, `parcels` what came of them."""

    def work(self, parcel, project, token, worker, going):
        self.orders = [*getattr(self, "orders", ()), OrderParcel.unpacked(parcel).order]
        return super().work(parcel, project, token, worker, going)

    def parcel(self, *asked):
        self.parcels = [*getattr(self, "parcels", ()), super().parcel(*asked)]
        return {}


def wait_open(cluster):
    while not cluster.is_open(cluster.here):
        time.sleep(0.01)


@pytest.fixture
def honest(project, tmp_path):
    project.issue(1)
    project.config()
    project.commit()
    made = "echo x = 1 > m.py; python3 -m compileall -q m.py; rm m.py"
    project.play(("*", 0, [{"write": HONEST, "text": "it"}, {"shell": made}]))
    host = Recording(tmp_path / "host")
    with run_parts(project.path, begun=False) as context:
        with with_hosts(context, host) as cluster:
            wait_open(cluster)
            run(context)
        yield host, context


@cases("case", LIES)
def test_a_lie_of_a_hosts_is_refused_or_does_no_harm(honest, project, case):
    lie, refused, why = LIES[case]
    host, context = honest
    said = Lie(host.parcels[0], next(iter(host.host._projects.values())).env.plumbing)
    lie(said)
    number = 10 + list(LIES).index(case)
    liar, folder, ref = (
        Liar([said.packed()]),
        project.state / "attempts" / "1" / f"{number}",
        f"refs/noface/issues/1/{number}",
    )
    with with_hosts(context, liar, per_host=1) as cluster:
        wait_open(cluster)
        order = replace(host.orders[0], seal="home", directory=str(folder), number=number, slot=cluster.here)
        report = cluster.carry_out(Attempt(order, context.scope(Canceller())))
    assert isinstance(report, Interrupted | NotStarted if refused else Judged)
    if refused:
        told = report.failure.message if isinstance(report, NotStarted) else " ".join(report.notes)
        assert why in told
        assert order.token not in liar.forgotten or not said.told["held"]
    else:
        assert report.failure is None or (why and not report.failure.charged)  # what is put back is told once
        parents = project.git("log", "--format=%s %P", f"{order.start}..{ref}").splitlines()
        assert len(parents) == 1 + bool(why)
        assert parents[-1].endswith(order.start)
        assert "Noface-Issue: 7" not in project.git("log", "-1", "--format=%B", ref)
        assert project.git("show", f"{ref}:{HONEST}") == "it"
        assert HONEST in (folder / "diff.patch").read_text()
    names = [name for _, folders, files in os.walk(project.state / "attempts") for name in (*folders, *files)]
    assert not {"x", "x-of-a-stranger"} & set(names)
    assert all(name.isprintable() and len(name) < 100 for name in names)
    assert not Path("/tmp/x-of-a-stranger").exists()
    assert project.git("for-each-ref", "refs/noface/issues/7") == ""


def iter_now(inbox):
    while not inbox.empty():
        yield inbox.get_nowait()


KEPT = {
    "an honest one": (lambda _: None, True),
    "of an issue whose name leads out": (lambda said: said.told.update(issue_id="../../heads/main"), True),
    "with trailers of another issue": (forged_trailers, True),
    "with an object that is broken": (bad_object, False),
    "with a history of its own": (other_history, False),
    "that is none": (raw_text("{"), False),
}


@cases("case", KEPT)
def test_what_a_host_has_kept_is_a_strangers_too(honest, project, case):
    lie, taken = KEPT[case]
    host, context = honest
    said = Lie(host.parcels[0], next(iter(host.host._projects.values())).env.plumbing)
    said.told["number"] = 77
    lie(said)
    project.git("for-each-ref", "--format=delete %(refname)", "refs/noface/issues/1/77")
    before, liar = project.git("for-each-ref", "refs/heads"), Liar([said.packed()])
    with with_hosts(context, liar, per_host=1) as cluster:
        wait_open(cluster)
    held = project.git("for-each-ref", "--format=%(refname)", "refs/noface/issues").splitlines()
    made = [ref for ref in held if ref.endswith("/77")]
    assert bool(made) == taken
    assert bool(liar.forgotten) == taken
    assert project.git("for-each-ref", "refs/heads") == before
    for ref in made:
        assert "Noface-Issue" not in project.git("log", "-1", "--format=%B", ref)
        assert project.git("rev-parse", f"{ref}^") == host.orders[0].start
        project.git("update-ref", "-d", ref)


ALONG = {
    "a cost without end": '{"phase": "agent", "text": "x", "used": {"cost_usd": Infinity}}',
    "a cost below nothing": '{"phase": "agent", "text": "x", "used": {"cost_usd": -5}}',
    "tokens beyond the database": '{"phase": "agent", "text": "x", "used": {"tokens_in": 1e40}}',
    "no JSON": "{",
    "a list": "[]",
    "nested without end": "[" * 100_000,
}


@cases("case", ALONG)
def test_progress_that_is_none_is_passed_over(honest, case):
    with pytest.raises((TypeError, ValueError)):
        progress_of(ALONG[case], honest[0].orders[0])


def test_a_host_that_answers_nonsense_is_left_and_tried_again(honest):
    context = honest[1]
    liar = Liar([])
    liar.kept, liar.look = lambda _: [], lambda _: {"liar": 5}
    with with_hosts(context, liar, per_host=1):
        wait_for(lambda: liar.opened > 1, 20)
        seen = [each.why for each in iter_now(context.inbox) if isinstance(each, HostState) and each.host == liar.name]
    assert seen[0] == ""
    assert "it answers nonsense (AttributeError" in seen[1]
