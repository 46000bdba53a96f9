"""A world that answers whatever the policy wants, as the loop would carry it out, to see how every story ends.

`Story` plays an issue from its first attempt to its end. `turns` are what the worker runs come to and `words` what
anybody answers, each list over and over again, so that nothing ends by itself.
"""

from dataclasses import dataclass, field, replace

from noface.model.actions import Action, Ask, AwaitIssues, Block, Land, RequestApproval, RunWorker, Skip, WaitUntil
from noface.model.attempt import Interrupted, Judged, NotStarted, PastAttempt
from noface.model.failure import Failure
from noface.model.history import Advice, AdviceOutcome, Decided, History, Topic, Verdict
from noface.model.issue import Issue
from noface.model.taxonomy import Category
from noface.recovery.policy import next_action
from noface.recovery.policy_state import charged, excused
from noface.recovery.reported import of_report
from noface.recovery.retry_policy import Policy, rejection

from .policy_story import NOW, TIER_OF, K
from .policy_turns import Turn, Word, report_of

CUTS_MAX = 2
"""How often noface itself is interrupted in a story; every interruption is a person's doing."""


@dataclass(frozen=True)
class Decision:
    """One decision, with what it was made from."""

    history: History
    now: float
    away: dict[str, float]
    action: Action

    @property
    def last(self) -> PastAttempt:
        return self.history.attempts[-1]


@dataclass
class Story:
    """An issue's story under a policy."""

    policy: Policy
    issue: Issue
    turns: list[Turn]
    words: list[Word]
    jitter: float = 0.5
    now: float = NOW
    cuts: int = 0
    settled: int = 0
    asked: int = 0
    ended: bool = False
    history: History = field(init=False)
    away: dict[str, float] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)
    runs: list[Decision] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.history = History(self.issue)

    def play(self, decisions_max: int = 100) -> "Story":
        """Go on until the story ends, or for as long as one cares to look."""
        for _ in range(decisions_max):
            action = next_action(self.history, self.policy, self.now, self.jitter, dict(self.away))
            self.decisions.append(Decision(self.history, self.now, dict(self.away), action))
            self._note(action)
            if not self._carry_out(action):
                self.ended = True
                break
        return self

    def _note(self, action: Action) -> None:
        if self.history.attempts:
            self._mend(answer=action.name)

    def _mend(self, **changes: object) -> None:
        *rest, last = self.history.attempts
        self.history = replace(self.history, attempts=(*rest, replace(last, **changes)))

    def _carry_out(self, action: Action) -> bool:
        """Do what the loop does; False where nothing follows."""
        match action:
            case Block() | Skip():
                return False
            case Land():
                return self._land()
            case RequestApproval():
                self._approve(action)
            case AwaitIssues(needs=needs):
                issue = replace(self.history.issue, depends_on=(*self.history.issue.depends_on, *needs))
                self.history = replace(self.history, issue=issue)
            case Ask():
                return self._ask(action)
            case WaitUntil(provider=False, until=until) if until > self.now:
                self.now = until
            case WaitUntil(until=until) if self._settles():
                self._rest(self.history.attempts[-1].model, until)
                self.now = until
            case RunWorker(instead_of=(model, until)) if self._settles():
                self._rest(model, until)
            case _:
                self._run(action)
        return True

    def _settles(self) -> bool:
        """Whether a decision is the first after its attempt, when the provider's breaker is tripped."""
        first = self.settled < len(self.history.attempts)
        self.settled = len(self.history.attempts)
        return first

    def _rest(self, model: str, until: float) -> None:
        self.away[model] = max(until, self.away.get(model, until))

    def _waits_for(self, model: str) -> bool:
        """Whether nobody may start with a model yet; then its time comes."""
        if self.away.get(model, self.now) <= self.now:
            return False
        self.now = self.away[model]
        return True

    def _run(self, action: Action) -> None:
        if self._waits_for(action.model):
            return
        self.runs.append(replace(self.decisions[-1], action=action))
        attempt = self._attempt(action, self.turns[len(self.history.attempts) % len(self.turns)])
        self.now = attempt.finished_at
        if attempt.failure is None or attempt.failure.category is not Category.TRANSIENT:
            self.away.pop(action.model, None)
        self.history = replace(self.history, attempts=(*self.history.attempts, attempt))

    def _attempt(self, action: Action, turn: Turn) -> PastAttempt:
        number, worker = len(self.history.attempts) + 1, report_of(turn)
        cut = turn.cut and self.cuts < CUTS_MAX
        self.cuts += cut
        failure = None if cut or turn.kind is None else of_report(worker) or self._failure(turn)
        if failure is not None:
            report = NotStarted("t", self.issue.id, number, failure)
        else:
            report = (Interrupted if cut else Judged)("t", self.issue.id, number, None, None)
        return PastAttempt(
            number,
            action.model,
            TIER_OF[action.model],
            report.outcome,
            charged(report, self.history.attempts),
            signature=failure.signature if failure is not None else "",
            patch_hash=turn.diff,
            candidate=f"c{number}",
            failure=failure,
            cost_usd=turn.cost,
            think=action.think,
            changed=turn.changed,
            lines=turn.lines,
            report=worker,
            started_at=self.now,
            finished_at=self.now + 1,
        )

    def _failure(self, turn: Turn) -> Failure:
        category = turn.kind.category
        innocent = category is Category.TRANSIENT or turn.kind is K.MERGE_CONFLICT
        blamed = turn.theirs if category is Category.ENVIRONMENT else not innocent
        until = self.now + turn.reset if turn.reset is not None and category is Category.TRANSIENT else None
        return Failure(turn.kind, turn.message, "r", signature=turn.said, retry_at=until, charged=blamed)

    def _land(self) -> bool:
        """Merge it, unless main has moved under it too often for this turn."""
        number = len(self.history.attempts)
        if self.turns[(number - 1) % len(self.turns)].lands:
            return False
        failure = Failure(K.MERGE_CONFLICT, "conflict", "r", signature="c", charged=False)
        self._overrule(failure)
        return True

    def _overrule(self, failure: Failure) -> None:
        signature = failure.signature
        self._mend(outcome=failure.kind.value, charged=failure.charged, failure=failure, signature=signature)

    def _word(self) -> Word:
        self.asked += 1
        return self.words[self.asked % len(self.words)]

    def _approve(self, action: RequestApproval) -> None:
        number = len(self.history.attempts)
        verdict = Verdict.APPROVED if self._word().approved else Verdict.REJECTED
        self.history = replace(self.history, decisions=(*self.history.decisions, Decided(number, verdict)))
        if verdict is Verdict.REJECTED and action.kind is None:
            note = f"person-rejected:{number}"
            self._overrule(Failure(K.REVIEW_REJECTED, "rejected", "person-rejected", signature=note))

    def _ask(self, action: Ask) -> bool:
        """Ask, once the one who is asked is there; False where the issue is divided and its parts do the work."""
        if self._waits_for(action.model):
            return True
        word, number = self._word(), len(self.history.attempts)
        advice = self._advice(action, word, number)
        if advice.outcome is AdviceOutcome.UNAVAILABLE:
            self._rest(action.model, self.now + 30)
        if (failure := excused(advice, self.history)) is not None:
            self._mend(charged=False, failure=failure)
        self.history = replace(self.history, advice=(*self.history.advice, advice))
        if advice.topic is Topic.REVIEW and advice.strategy == "request_changes":
            self._overrule(rejection(advice))
        return not (advice.topic is Topic.BREAKDOWN and advice.outcome is AdviceOutcome.ADVISED)

    def _advice(self, action: Ask, word: Word, number: int) -> Advice:
        match action:
            case Ask(topic=Topic.DEPENDENCY):
                known = self.history.issue.depends_on
                needs = tuple(name for name in self.history.attempts[-1].report.needs if name not in known)
                return Advice(Topic.DEPENDENCY, number, needs=needs)
            case Ask(topic=Topic.DIAGNOSIS):
                told = self._said(Topic.DIAGNOSIS, word, number, word.strategy)
                return replace(told, recoverable=word.recoverable, delay_s=word.delay)
            case Ask(topic=Topic.REVIEW):
                return self._said(Topic.REVIEW, word, number, word.verdict)
            case Ask(topic=Topic.REFLECTION):
                return self._said(Topic.REFLECTION, word, number, "")
            case Ask(topic=Topic.BREAKDOWN):
                return self._said(Topic.BREAKDOWN, word, number, "")
            case _:
                return self._said(action.topic, word, number, word.resolution)

    @staticmethod
    def _said(topic: Topic, word: Word, number: int, strategy: str) -> Advice:
        helps = word.outcome in (AdviceOutcome.ADVISED, AdviceOutcome.PARTS_FAILED)
        outcome = AdviceOutcome.ADVISED if helps and topic is not Topic.BREAKDOWN else word.outcome
        paths = ("db/a.sql",) if strategy == "expand" else ()
        text, strategy = (word.text, strategy) if helps else ("", "")
        return Advice(
            topic, number, outcome, cause="odd", strategy=strategy, text=text, paths=paths, cost_usd=word.cost
        )
