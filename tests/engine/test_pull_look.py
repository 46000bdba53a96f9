"""A look at a pull request asks the forge for no more than it needs."""

from collections import Counter
from dataclasses import replace

from support.git_ground import a_bench

from noface.model.pull_request import Check, CheckState, LandingRules, PullRequest, PullState
from noface.recovery.pull_rounds import Followed, PullSeen, StillOpen, WaitsFor
from noface.remote.pull_look import CHECKS_EACH, PullReader, look_at
from noface.secrets.masking import Masker


class CountingForge:
    """A pull request with one check, and how often each part of it was asked for."""

    def __init__(self, head):
        self.pull = PullRequest(12, "u", PullState.OPEN, "noface/7", head, updated_at=100.0)
        self.state = CheckState.PASSED
        self.asked = Counter()

    def read(self, _number):
        self.asked["read"] += 1
        return self.pull

    def checks(self, _commit):
        self.asked["checks"] += 1
        return (Check("ci", self.state, "https://example.com/ci"),)

    def reviews(self, _number):
        self.asked["reviews"] += 1
        return ()


def test_what_has_not_changed_is_not_asked_for_again_while_it_waits_for_people(tmp_path):
    bench = a_bench(tmp_path)
    forge = CountingForge(bench.main)
    eyes = PullReader(forge, bench.plumbing, LandingRules(pull_request=True), Masker())
    seen = PullSeen(heads=(bench.main,), waits_for="review")
    followed, before = Followed("7", 12, bench.main, bench.main, 0, seen), None
    for _ in range(2 + 2 * CHECKS_EACH):
        looked = look_at(eyes, followed, before, 1000.0, tmp_path / "checks")
        assert looked.decision == StillOpen(WaitsFor.REVIEW, "its checks have passed: waits for a review or its merge")
        before = looked.look
    assert forge.asked == {"read": 8, "reviews": 2, "checks": 4}
    forge.pull = replace(forge.pull, updated_at=101.0)
    look_at(eyes, followed, before, 1000.0, tmp_path / "checks")
    assert forge.asked == {"read": 9, "reviews": 3, "checks": 5}


def test_while_checks_run_each_look_asks_for_them(tmp_path):
    bench = a_bench(tmp_path)
    forge = CountingForge(bench.main)
    forge.state = CheckState.PENDING
    eyes = PullReader(forge, bench.plumbing, LandingRules(pull_request=True), Masker())
    followed, before = Followed("7", 12, bench.main, bench.main, 0, PullSeen(heads=(bench.main,), since=990.0)), None
    for _ in range(4):
        looked = look_at(eyes, followed, before, 1000.0, tmp_path / "checks")
        followed, before = replace(followed, seen=replace(looked.seen, waits_for="checks")), looked.look
    assert forge.asked["checks"] == 4
