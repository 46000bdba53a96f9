"""What workers are told to do about a kind of failure, and about the strategy that answers it (N12, L5, K3, K4)."""

from collections.abc import Mapping

from noface.core.taxonomy import Category, FailureKind

INSTRUCTIONS: Mapping[str, str] = {
    "SYNTAX_ERROR": "The code does not parse or compile. Mend the syntax first, at the place named, and check that the "
    "file parses; then look at the rest.",
    "RUNTIME_ERROR": "The code ran into an error that is not a failed assertion. Follow the stack trace from its end "
    "to the cause, and mend that; do not catch the error to make it disappear.",
    "TEST_FAILURE": "Tests fail. Compare what they expect with what the code does, and correct the code, not the "
    "tests.",
    "LINT_FAILURE": "A check of style, types or format failed. Correct what it names; do not switch the check off.",
    "NO_TESTS": "The test command found no tests to run. Find out why (names, folders, configuration), and see to it "
    "that it runs them.",
    "NO_DIFF": "You must change code; your previous attempt changed nothing.",
    "TIMEOUT": "The previous attempt did not finish in time. Work in small steps, finish each, and start no command "
    "that runs long or waits for input.",
    "RESOURCE_EXHAUSTED": "The previous attempt ran out of turns, context or budget. Read only what you need, change "
    "only what you must, and finish early.",
    "REVIEW_REJECTED": "A reviewer rejected the work. Answer every point that was raised, and keep what was not "
    "objected to.",
    "OUTPUT_FORMAT": "The previous answer was not in the form asked for. Answer in exactly that form.",
    "AGENT_CRASH": "The previous run broke off before it was done. Look at what is there, and complete it.",
    "AGENT_CONFUSION": "The previous run was not sure what to do. Choose the simplest reading of the issue that "
    "satisfies the commands under Rules, and say in your report how you read it.",
    "AGENT_REFUSED": "The previous run declined the task. Do what the issue plainly asks for. If a part of it must not "
    "be done, do the rest, and report that part and the reason.",
    "MERGE_CONFLICT": "Main has moved on, and the change no longer fits. Look at how the files are now, and make the "
    "change again on top of that.",
    "BOUNDARY_VIOLATION": "The previous attempt changed files outside its limits, or added a key or password or what "
    "cannot be pushed. Stay within the paths given, and undo what is named. If the work cannot be done there, stop, "
    "and report it as blocked.",
    "GATE_TAMPERING": "The previous attempt weakened tests, or what runs them. Leave them as strong as they are on "
    "main, and mend the code, so that main's own tests pass on it. If one of them is wrong, leave it, and report which "
    "and why. New tests run and pass; what cannot be tested here belongs into the report.",
    "NO_PROGRESS": "The previous attempts made the same change and failed in the same way. Do not make that change "
    "again: look for another cause.",
    "UNKNOWN": "It is not known what kind of failure this is. Read what was printed, find the cause before you change "
    "anything, and say in your report what it was.",
}
"""What a worker is told about a kind of failure. Every kind stands here or in NEVER_TOLD."""

NEVER_TOLD: frozenset[str] = frozenset(
    kind.value for kind in FailureKind if kind.category in {Category.TRANSIENT, Category.ENVIRONMENT}
)
"""The kinds that no worker is told of: nothing it does can mend them (law 8)."""

STRATEGY_INSTRUCTIONS: Mapping[str, str] = {
    "FirstAttempt": "",
    "RetrySame": "The last run was ended from outside, through no fault of the work. Do the task as described.",
    "RetryWithFeedback": "Do not start over. Begin at the point of failure: find out what exactly goes wrong there "
    "and why, mend that, and leave alone what works.",
    "Escalate": "Look at this with fresh eyes. What others tried and how it failed is listed below: find out for "
    "yourself what the cause is, and take a different approach if theirs does not lead there.",
    "ThinkLonger": "Think it through before you edit anything. You have more time than the earlier attempts had; they "
    "failed because they did not find the cause.",
    "ReduceScope": "Do less, and finish it: the smallest part of the issue that is of use by itself and makes the "
    "commands under Rules pass.",
    "AddContext": "The earlier run did not know enough. What is known now stands below: read it before you decide "
    "anything, and report what is still missing.",
    "SwitchModel": "Another model worked on this and cannot go on. Judge for yourself what is there before you build "
    "on it.",
}
"""What a worker is told about the strategy, by the name of the action that starts the attempt."""
